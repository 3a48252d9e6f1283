/**
 * Liquidity Book pools of both versions through the whole program: real contracts on a node, ingest, API. Answers must equal
 * what the contracts say, for pools seen from their creation and for older ones.
 */
import type { Hex } from '../../../src/domain/hex';
import { CAMELOT_TRADER, deployCamelot, type CamelotMarket } from '../../support/camelot/camelotMarket';
import { eventually } from '../../support/eventually';
import {
  askWithdrawal,
  BOOK_PAIR,
  BOOK_TRADER,
  depthOfBins,
  deployBook,
  readBoth,
  type BookMarket,
  type BookPool,
} from '../../support/liquidityBook/bookMarket';
import { inOrder, readBigInt, type MarketPool, type MarketToken } from '../../support/protocols/poolMarket';
import {
  getData,
  getPair,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { expectPaid, listPositions } from '../../support/protocols/positions';
import { waitForBlock, type Program } from '../../support/server/program';

/** An owner without tokens. */
const FRIEND: Hex = `0x${'f1'.repeat(20)}`;

let world: PoolWorld;
let market: BookMarket;
/** A constant product pool, which prices the native token: 1 native = 4 USD. */
let constant: CamelotMarket;
let reference: MarketPool;
let program: Program;
let usd: MarketToken;
let native: MarketToken;
/** tokenX is the USD token in the first pool, and the native token in the second. The third prices a token of its own. */
let pools: readonly [BookPool, BookPool, BookPool];
let third: MarketToken;
/** The bins around which the trader has provided liquidity. */
let startIds: readonly number[];
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('liquidity-book', describeMarket);
  const { rpc } = world.anvil;
  market = await deployBook(rpc, [6, 18, 8]);
  [usd, native, third] = market.tokens as [MarketToken, MarketToken, MarketToken];
  constant = await deployCamelot(rpc, [], 2);
  reference = await constant.createPair(usd, native);
  const { token0 } = reference;
  market.add(market.trader, BOOK_TRADER, 'pay', [usd.address, constant.trader, 10n ** 14n]);
  market.add(market.trader, BOOK_TRADER, 'pay', [native.address, constant.trader, 10n ** 26n]);
  await market.mine();
  const amounts =
    token0.address === usd.address ? [4n * 10n ** 12n, 10n ** 24n] : [10n ** 24n, 4n * 10n ** 12n];
  constant.add(constant.trader, CAMELOT_TRADER, 'mint', [reference.address, ...amounts]);
  await constant.mine();
  pools = [
    await market.createPair(false, usd, native, 25),
    await market.createPair(true, native, usd, 100),
    await market.createPair(false, third, usd, 10),
  ];
  startIds = [await mint(pools[0]), await mint(pools[1]), await mint(pools[2])];
  await market.mine();
  await trade(10n);
  // Two traders, before and after the pool has its age.
  for (const _ of [1, 2]) await tradeReference();
  await world.grow();
  for (const _ of [1, 2]) await tradeReference();
  await trade(3_000n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function describeMarket() {
  const dexes = [
    { name: 'camelot', protocol: 'camelot_v2', factory: constant.factory },
    { name: 'book_1', protocol: 'liquidity_book', factory: market.factories[0] },
    { name: 'book_2', protocol: 'liquidity_book', factory: market.factories[1] },
  ];
  return { usd, native, dexes };
}

const readActive = async ({ address }: BookPool): Promise<number> =>
  Number(await readBigInt(world.anvil.rpc, BOOK_PAIR, address, 'getActiveId'));

/** Ten bins on each side of a bin. */
const idsAround = (id: number): number[] => Array.from({ length: 21 }, (_, index) => id - 10 + index);

/** 1,000 tokens in each of ten bins on each side. Resolves to the active bin. */
async function mint(pool: BookPool): Promise<number> {
  const active = await readActive(pool);
  const ids = idsAround(active);
  const part = ({ decimals }: MarketToken): bigint => 1_000n * 10n ** BigInt(decimals);
  const amounts = ids.map((id) => [
    id < active ? 0n : part(pool.token0),
    id > active ? 0n : part(pool.token1),
  ]);
  market.add(market.trader, BOOK_TRADER, 'mint', [pool.address, ids, amounts]);
  return active;
}

/** Sells tokenX in the first pool and tokenY in the second. */
async function trade(tokens: bigint): Promise<void> {
  for (const [index, { address, token0, token1 }] of pools.entries()) {
    const tokenIn = index === 0 ? token0 : token1;
    const amount = tokens * 10n ** BigInt(tokenIn.decimals);
    market.add(market.trader, BOOK_TRADER, 'swap', [address, index === 0, amount]);
  }
  await market.mine();
}

async function tradeReference(): Promise<void> {
  const isFirst = inOrder(usd, native)[0] === usd;
  const values = [reference.address, isFirst, 10n ** 6n, `0x${'00'.repeat(20)}`];
  constant.add(constant.trader, CAMELOT_TRADER, 'swap', values);
  await constant.mine();
}

async function expectTruth(from: Program, pool: BookPool): Promise<PairAnswer> {
  const { rpc } = world.anvil;
  const pair = await getPair(from, pool);
  // A base factor of 5,000: half of the bin step.
  expect(pair).toMatchObject({ pool_type: 7, fee_bps: pool.binStep / 2 });
  const id = await readBigInt(rpc, BOOK_PAIR, pool.address, 'getActiveId');
  const perRaw = Number(await readBigInt(rpc, BOOK_PAIR, pool.address, 'getPriceFromId', [id])) / 2 ** 128;
  const price = perRaw * 10 ** (pool.token0.decimals - pool.token1.decimals);
  const isBaseX = pair.base_token.address === pool.token0.address;
  expect(off(pair.price, isBaseX ? price : 1 / price)).toBeLessThan(1e-9);
  const reserves = await readBoth(rpc, pool, 'getReserves');
  expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual(reserves.map(String));
  return pair;
}

test('pools have the price of their active bin, their reserves, their type and their base fee', async () => {
  for (const pool of pools) await expectTruth(program, pool);
});

test('a trade across bins is one swap for each bin, with its amounts, price and fee', async () => {
  for (const [index, pool] of pools.entries()) {
    const swaps = await listSwaps(program, pool);
    // Ten tokens within the active bin, then 3,000 across at least three bins.
    expect(swaps.length).toBeGreaterThanOrEqual(4);
    const amountOf = ({ amount0, amount1 }: { amount0: string; amount1: string }): number =>
      Number(index === 0 ? amount0 : amount1);
    const paid = swaps.reduce((sum, swap) => sum + amountOf(swap), 0);
    expect(off(paid, 3_010)).toBeLessThan(1e-9);
    const pair = await getPair(program, pool);
    expect(swaps[0]!.price).toBe(pair.price);
    const steps = swaps.slice(1).map((swap, at) => Number(swap.price) / Number(swaps[at]!.price));
    for (const step of steps) {
      const crossed = Math.round(Math.log(step) / Math.log1p(pool.binStep / 10_000));
      expect(off((1 + pool.binStep / 10_000) ** crossed, step)).toBeLessThan(1e-9);
    }
    // Later bins of a trade pay more, because the fee grows with the bins crossed.
    const rates = swaps.map(({ fee_usd, amount_usd }) => fee_usd! / amount_usd!).slice(0, 3);
    expect(rates[0]).toBeGreaterThan(rates[2]!);
    expect(rates[2]).toBeGreaterThanOrEqual(pool.binStep / 20_000 - 1e-9);
    const bars = await getData<{ close: string }[]>(
      program,
      `/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`,
    );
    expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(1e-9);
    expect(off(pair.volume_24h_usd, sum(swaps.map(({ amount_usd }) => amount_usd)))).toBeLessThan(1e-6);
    expect(off(pair.fees.h24, sum(swaps.map(({ fee_usd }) => fee_usd)))).toBeLessThan(1e-6);
  }
});

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((all, one) => all + (one ?? 0), 0);

interface DepthAnswer extends PairAnswer {
  readonly quote_token: { readonly address: string };
  readonly depth_2pct_usd: { readonly up: number; readonly down: number };
}

const getDepth = (from: Program, { address }: BookPool): Promise<DepthAnswer> =>
  getData(from, `/pairs/${address}`);

/** The depth in USD by the contract's bins, at most the balances, for pools whose quote token is the USD token. */
async function expectDepth(from: Program, pool: BookPool): Promise<void> {
  const pair = await getDepth(from, pool);
  expect(pair.quote_token.address).toBe(usd.address);
  const { price, liquidity } = await depthOfBins(world.anvil.rpc, pool);
  const isUsdLast = pool.token1.address === usd.address;
  const usdPerRoot = (liquidity * Math.sqrt(isUsdLast ? price : 1 / price)) / 1e6;
  const [base, quote] = isUsdLast
    ? [pair.reserve0_raw, pair.reserve1_raw]
    : [pair.reserve1_raw, pair.reserve0_raw];
  const baseDecimals = (isUsdLast ? pool.token0 : pool.token1).decimals;
  const baseUsd = (Number(base) / 10 ** baseDecimals) * Number(pair.price);
  const { up, down } = pair.depth_2pct_usd;
  expect(off(up, Math.min(usdPerRoot * (Math.sqrt(1.02) - 1), baseUsd))).toBeLessThan(1e-6);
  expect(off(down, Math.min(usdPerRoot * (1 / Math.sqrt(0.98) - 1), Number(quote) / 1e6))).toBeLessThan(1e-6);
}

test('a pool has the depth of its bins, and a token takes its price from them', async () => {
  for (const pool of pools) await expectDepth(program, pool);
  const { price_usd } = await getData<{ price_usd: string }>(program, `/tokens/${third.address}`);
  const { price } = await getPair(program, pools[2]);
  expect(off(price_usd, Number(price))).toBeLessThan(1e-9);
});

/** The position of an owner with shares of bins around a bin has what their withdrawal pays. */
async function expectShares(
  from: Program,
  pool: BookPool,
  owner: Hex,
  ids: readonly number[],
): Promise<void> {
  const { rpc } = world.anvil;
  const [position, ...others] = await listPositions(from, owner, pool.address);
  expect(others).toEqual([]);
  expect(position).toMatchObject({ id: `${pool.address}-${owner}`, pool_type: 7 });
  expectPaid(position!.tokens, pool, await askWithdrawal(rpc, pool, owner, ids));
  const active = await readActive(pool);
  expect(position).toMatchObject({
    ...{ tick_lower: ids[0], tick_upper: ids.at(-1), in_range: ids.includes(active) },
  });
  const shares = await Promise.all(
    ids.map((id) => readBigInt(rpc, BOOK_PAIR, pool.address, 'balanceOf', [owner, id])),
  );
  expect(position!.lp_balance_raw).toBe(String(shares.reduce((all, one) => all + one, 0n)));
}

test('shares of bins are one position for each pool and owner, with what a withdrawal pays', async () => {
  for (const [index, pool] of pools.entries()) {
    const ids = idsAround(startIds[index]!);
    await expectShares(program, pool, market.trader, ids);
    // A part of the shares in three bins goes to another owner, who had none.
    const sent = ids.slice(9, 12);
    market.add(market.trader, BOOK_TRADER, 'send', [pool.address, FRIEND, sent, sent.map(() => 10n ** 22n)]);
    await waitForBlock(program.url, await market.mine());
    await expectShares(program, pool, market.trader, ids);
    await expectShares(program, pool, FRIEND, sent);
  }
});

test('TVL is the value of the reserves', async () => {
  const { price_usd } = await getData<{ price_usd: string }>(program, `/tokens/${native.address}`);
  // The deeper pool sets the price. The bins trade at about 1 USD.
  expect(off(price_usd, 4)).toBeLessThan(0.001);
  for (const pool of pools.slice(0, 2)) {
    const pair = await getPair(program, pool);
    const isUsdFirst = pool.token0.address === usd.address;
    const [usdRaw, nativeRaw] = isUsdFirst
      ? [pair.reserve0_raw, pair.reserve1_raw]
      : [pair.reserve1_raw, pair.reserve0_raw];
    const value = Number(usdRaw) / 1e6 + (Number(nativeRaw) / 1e18) * Number(price_usd);
    expect(off(pair.liquidity_usd, value)).toBeLessThan(1e-6);
  }
});

test('older pools have the same facts, and a restart keeps the active bin', async () => {
  const late = await world.start(head - 1);
  try {
    await eventually(
      async () => {
        head = await market.mine();
        return (await getData<PairAnswer[]>(late, '/pairs')).length;
      },
      (count) => count === 4,
    );
    // The node is asked for the bins of older pools, and the next block uses them.
    await eventually(
      async () => {
        head = await market.mine();
        const details = await Promise.all(pools.map((pool) => getDepth(late, pool)));
        return details.map(({ depth_2pct_usd }) => depth_2pct_usd.up);
      },
      (depths) => depths.every((depth) => depth > 0),
    );
    for (const pool of pools) {
      await expectTruth(late, pool);
      await expectDepth(late, pool);
    }
    // Logs from before the first block are missing, so the contract tells the shares in bins of which logs are known.
    const ids = [await mint(pools[0]), await mint(pools[1]), await mint(pools[2])].map(idsAround);
    head = await market.mine();
    await waitForBlock(late.url, head);
    for (const [index, pool] of pools.entries()) await expectShares(late, pool, market.trader, ids[index]!);
  } finally {
    await late.end('SIGTERM');
  }
  await program.end('SIGTERM');
  for (const pool of pools) await mint(pool);
  await market.mine();
  program = await world.start(0);
  for (const pool of pools) {
    await expectTruth(program, pool);
    await expectDepth(program, pool);
  }
});
