/**
 * Balancer V3 pools through the whole program: the published contracts on a node, ingest, API. Answers must equal what the
 * vault says, for pools seen from their creation and for older ones.
 */
import type { Hex } from '../../../src/domain/hex';
import {
  deployV3,
  quotedV3Price,
  V3_NODE,
  V3_SWAP,
  type V3Market,
  type V3Pool,
} from '../../support/balancerV3/v3Vault';
import { openBuffers, type V3Buffers } from '../../support/balancerV3/v3Buffers';
import { bufferOf } from '../../support/oracle/oracleBuffers';
import type { MarketToken } from '../../support/protocols/poolMarket';
import {
  expectBarsClose,
  expectFromLate,
  getData,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';

const ONE = 10n ** 18n;
/** Enough units that whole units of the vault do not hide its price. */
const MILLIONS = 10n ** 12n;

interface V3Pair extends PairAnswer {
  readonly balances: readonly {
    readonly address: string;
    readonly balance: string;
    readonly balance_raw: string;
    readonly value_usd: number;
  }[];
}

let world: PoolWorld;
let market: V3Market;
let program: Program;
let weighted: V3Pool;
let stable: V3Pool;
/** A stable pool of a token and its wrapper, whose rate moves. */
let rated: V3Pool;
/** A pool of both wrappers, of which one trades only here and in its buffer. */
let boosted: V3Pool;
let buffers: V3Buffers;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('balancer-v3', describeMarket, ...V3_NODE);
  market = await deployV3(world.anvil.rpc, [6, 18, 8]);
  const [usd, native, third] = market.tokens as [MarketToken, MarketToken, MarketToken];
  const fee = ONE / 1_000n;
  weighted = await create([usd, native], [8n, 1n], [(4n * ONE) / 5n, ONE / 5n], fee);
  stable = await create([usd, third], [9n, 11n], 200, fee);
  rated = await create([usd, market.wrappers[0]!], [5n, 5n], 100, fee);
  boosted = await create(market.wrappers, [2n, 1n], [ONE / 2n, ONE / 2n], fee);
  buffers = openBuffers(world.anvil.rpc, market);
  buffers.initialize(market.wrappers[1]!.address, 9n * MILLIONS * ONE, 9n * MILLIONS * ONE);
  market.setFee(weighted, ONE / 100n);
  await market.mine();
  await tradeAll(1_000n);
  await world.grow();
  market.donate(market.wrappers[0]!, 7_000);
  await tradeAll(30n);
  // From this block on, a late start finds one pool by its swap, and the others and the buffer by their creation.
  market.swap(rated, V3_SWAP.exactIn, 0, 1, MILLIONS);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function describeMarket() {
  const [usd, native] = market.tokens;
  const dexes = [{ name: 'balancer', protocol: 'balancer_v3', factory: market.vault }];
  return { usd: usd!, native: native!, dexes };
}

async function create(
  tokens: readonly MarketToken[],
  millions: readonly bigint[],
  weights: readonly bigint[] | number,
  fee: bigint,
): Promise<V3Pool> {
  const amounts = tokens.map(({ decimals }, index) => millions[index]! * MILLIONS * 10n ** BigInt(decimals));
  const rates = tokens.map((token) =>
    market.wrappers.includes(token) ? { provider: token.address, paysYieldFees: true } : null,
  );
  const pool = await market.createPool({ tokens, amounts, weights, fee, rates });
  await market.mine();
  return pool;
}

/** Swaps this part of a billion of each balance in both directions, in two blocks. Wraps the same part of the buffer. */
async function tradeAll(part: bigint, pools = [weighted, stable, rated, boosted]): Promise<void> {
  for (const indexIn of [0, 1] as const) {
    market.sendAs(indexIn);
    const amount = (MILLIONS * ONE * part) / 10n ** 9n;
    buffers.exchange(market.wrappers[1]!.address, indexIn === 0 ? 'unwrap' : 'wrap', 'exactIn', amount);
    for (const pool of pools) {
      const balances = await market.balancesOf(pool);
      market.swap(pool, V3_SWAP.exactIn, indexIn, 1 - indexIn, (balances[indexIn]! * part) / 10n ** 9n);
    }
    await market.mine();
  }
}

const getPair = (from: Program, { address }: V3Pool): Promise<V3Pair> => getData(from, `/pairs/${address}`);

async function expectTruth(from: Program, pool: V3Pool, type: number, feeBps: number): Promise<V3Pair> {
  const pair = await getPair(from, pool);
  expect(pair).toMatchObject({ pool_type: type, fee_bps: feeBps });
  const base = pool.tokens.findIndex(({ address }) => address === pair.base_token.address);
  const perRaw = await quotedV3Price(market, pool, [base, 1 - base], (BigInt(feeBps) * ONE) / 10_000n);
  const price = perRaw * 10 ** (pool.tokens[base]!.decimals - pool.tokens[1 - base]!.decimals);
  expect(off(pair.price, price)).toBeLessThan(1e-9);
  await expectBalances(pair, pool);
  return pair;
}

async function expectBalances(pair: V3Pair, pool: V3Pool): Promise<void> {
  const balances = await market.balancesOf(pool);
  const own = pool.tokens.map(
    ({ address }) => pair.balances.find((one) => one.address === address)!.balance_raw,
  );
  expect(own).toEqual(balances.map(String));
}

async function expectAll(from: Program): Promise<void> {
  await expectTruth(from, weighted, 4, 100);
  await expectTruth(from, stable, 5, 10);
  const pair = await expectTruth(from, rated, 5, 10);
  // The pool gives the wrapper its price in USD.
  const [wrapper] = market.wrappers;
  const { balance, value_usd } = pair.balances.find(({ address }) => address === wrapper!.address)!;
  const price = pair.base_token.address === wrapper!.address ? Number(pair.price) : 1 / Number(pair.price);
  expect(off(value_usd, Number(balance) * price)).toBeLessThan(1e-9);
}

test('pools have the price, balances and newest fee of the vault', () => expectAll(program));

interface TokenAnswer {
  readonly price_usd: string;
}

interface AuditAnswer {
  readonly confidence_score: number;
  readonly excluded_pools: readonly { readonly address: string; readonly reason: string }[];
  readonly hops: readonly {
    readonly to_token: string;
    readonly pools: readonly { readonly address: string }[];
  }[];
}

/** The asset for one wrapper, by the vault's own quote. */
async function quotedRate(wrapper: Hex): Promise<number> {
  const unit = MILLIONS * ONE;
  return Number(await buffers.quote(wrapper, 'unwrap', unit)) / Number(unit);
}

/** The wrapper of the native token has the USD price of its asset times the rate that the vault quotes, by its buffer. */
async function expectWrapper(from: Program): Promise<void> {
  const [native, wrapper] = [market.tokens[1]!.address, market.wrappers[1]!.address];
  const buffer = bufferOf(wrapper);
  const rate = await quotedRate(wrapper);
  const [{ price_usd: nativeUsd }, { price_usd: wrapperUsd }] = await Promise.all(
    [native, wrapper].map((token) => getData<TokenAnswer>(from, `/tokens/${token}`)) as [
      Promise<TokenAnswer>,
      Promise<TokenAnswer>,
    ],
  );
  expect(off(wrapperUsd, Number(nativeUsd) * rate)).toBeLessThan(1e-9);
  const { hops, confidence_score } = await getData<AuditAnswer>(from, `/tokens/${wrapper}/audit`);
  expect(confidence_score).toBeGreaterThan(0.9);
  expect(hops[0]).toMatchObject({ to_token: native, pools: [{ address: buffer }] });
  const pair = await getData<V3Pair>(from, `/pairs/${buffer}`);
  expect(pair).toMatchObject({ pool_type: 5, fee_bps: 0, volume_24h_usd: 0 });
  const balances = (await buffers.balancesOf(wrapper)).map(String);
  expect(pair.balances.map(({ balance_raw }) => balance_raw)).toEqual(balances);
  // The pool of both wrappers has liquidity in USD, and volume since both have a price that is trusted.
  const swaps = await listSwaps(from, boosted);
  const values = swaps.map(({ amount_usd }) => amount_usd ?? 0);
  const { volume_24h_usd, liquidity_usd, balances: held } = await getPair(from, boosted);
  expect(Math.min(...values.slice(0, 2))).toBeGreaterThan(0);
  expect(
    off(
      volume_24h_usd,
      values.reduce((sum, value) => sum + value),
    ),
  ).toBeLessThan(1e-6);
  expect(
    off(
      liquidity_usd,
      held.reduce((sum, { value_usd }) => sum + value_usd, 0),
    ),
  ).toBeLessThan(1e-6);
}

test('a buffer gives its wrapper a price, and the pool of two wrappers has volume in USD', () =>
  expectWrapper(program));

test('each swap has the fee that was charged, and bars close at the price', async () => {
  for (const [pool, fee, count] of [
    [weighted, 0.01, 4],
    [stable, 0.001, 4],
    [rated, 0.001, 5],
  ] as const) {
    const swaps = await listSwaps(program, pool);
    expect(swaps).toHaveLength(count);
    for (const swap of swaps.slice(0, 2))
      expect(off(swap.fee_usd, swap.amount_usd! * fee)).toBeLessThan(1e-6);
    await expectBarsClose(program, pool);
  }
});

/**
 * A program that starts after the buffer was made and used. The buffer has no rate before its next exchange, so the wrapper has
 * a price by the boosted pool alone. From the epoch after the exchange on, it has the price by the buffer.
 */
async function expectLate(late: Program): Promise<void> {
  const [buffer, wrapper] = [bufferOf(market.wrappers[1]!.address), market.wrappers[1]!.address];
  expect(await getData(late, `/pairs/${buffer}`)).toMatchObject({
    pool_type: 5,
    price: null,
    price_reason: { code: 'price_not_followed' },
  });
  const before = await getData<AuditAnswer>(late, `/tokens/${wrapper}/audit`);
  expect(before.hops[0]?.pools).toMatchObject([{ address: boosted.address }]);
  expect(before.excluded_pools).toMatchObject([{ address: buffer, reason: 'no_price' }]);
  // Interest of less than 0.01 %, which no exchange before the start has seen.
  const rateBefore = await quotedRate(wrapper);
  market.donate(market.wrappers[1]!, 90);
  await tradeAll(20n);
  await waitForBlock(late.url, await market.mine());
  const rate = await quotedRate(wrapper);
  expect(rate / rateBefore - 1).toBeGreaterThan(5e-5);
  expect(off((await getData<V3Pair>(late, `/pairs/${buffer}`)).price, rate)).toBeLessThan(1e-9);
  await world.grow();
  await tradeAll(20n);
  await waitForBlock(late.url, await market.mine());
  await expectAll(late);
  await expectWrapper(late);
}

test('older pools and wrappers have the same facts, and a restart keeps them', async () => {
  await expectFromLate(world, head, 5, market.mine, expectLate);
  await program.end('SIGTERM');
  program = await world.start(0);
  market.setFee(stable, ONE / 500n);
  market.donate(market.wrappers[0]!, 900);
  await tradeAll(50n);
  await waitForBlock(program.url, await market.mine());
  await expectTruth(program, weighted, 4, 100);
  await expectTruth(program, stable, 5, 20);
  await expectTruth(program, rated, 5, 10);
  await expectWrapper(program);
});
