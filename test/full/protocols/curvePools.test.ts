/**
 * StableSwap pools through the whole program: real contracts on a node, ingest, API. Answers must equal what the contracts
 * say, for pools seen from their creation, for older ones, and after a restart.
 */
import { formatUnits } from '../../../src/domain/amounts';
import type { Hex } from '../../../src/domain/hex';
import type { Portfolio } from '../../../src/wire/portfolio';
import {
  CURVE_NODE,
  deployCurve,
  NATIVE,
  quotedPrice,
  readBalances,
  readHeld,
  readPool,
  readShareToken,
  type CurveMarket,
  type MarketPool,
} from '../../support/curve/curveMarket';
import { eventually } from '../../support/eventually';
import type { MarketToken } from '../../support/protocols/poolMarket';
import {
  expectPrice,
  expectTotals,
  getData,
  getPair,
  listMoves,
  listSwaps,
  off,
  openPoolWorld,
  readFigures,
  sum,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';

const FEE = 4_000_000n;
const UNIT = 10n ** 18n;

let world: PoolWorld;
let market: CurveMarket;
let program: Program;
let usd: MarketToken;
let native: MarketToken;
let three: MarketPool;
let ng: MarketPool;
/** A pool with a rebasing token. */
let rebasing: MarketPool;
/** A pool with a token whose rate grows every second. */
let rated: MarketPool;
/** A pool of the factory of 2021, one of a registry, and a meta pool on the latter. */
let old: MarketPool;
let first: MarketPool;
let meta: MarketPool;
/** A pool of a registry with the native coin and a token that grows, as that of stETH, and a meta pool of a registry. */
let staked: MarketPool;
let cached: MarketPool;
/** A pool of a cToken. */
let lending: MarketPool;
/** A pool whose factory is in no chain description, like that of PulseX. */
let lone: MarketPool;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld(
    'curve',
    () => ({
      usd,
      native,
      dexes: [market.factories[0], market.oldFactory, market.registry, lone.address].map(
        (factory, index) => ({ name: `curve${index}`, protocol: 'curve_stable', factory }),
      ),
    }),
    CURVE_NODE,
  );
  market = await deployCurve(world.anvil.rpc, [6, 18, 8, 12]);
  const tokenOf = (places: number): MarketToken => market.tokens.find(({ decimals }) => decimals === places)!;
  [usd, native] = [tokenOf(6), tokenOf(18)];
  const inOrder = (...places: number[]): MarketToken[] =>
    market.tokens.filter(({ decimals }) => places.includes(decimals));
  const plan = { fee: FEE, kind: 'pancake', second: 5_000_000_000n } as const;
  three = await market.createPool({ ...plan, amp: 300n, tokens: inOrder(6, 8, 12) });
  const ngPlan = { fee: FEE, kind: 'ng', second: 20_000_000_000n, amp: 50n } as const;
  ng = await market.createPool({ ...ngPlan, tokens: inOrder(6, 18) });
  rebasing = await market.createPool({ ...ngPlan, tokens: inOrder(6, 8) }, { types: [0, 2] });
  const tokens = inOrder(6, 12);
  rated = await market.createPool({ ...ngPlan, tokens, oracles: [tokens.indexOf(tokenOf(12))] });
  market.setRate(tokenOf(12), UNIT, 10n ** 9n);
  old = await market.createPool({ ...plan, kind: 'factory', amp: 80n, tokens: inOrder(6, 8, 12, 18) });
  first = await market.createPool({ ...plan, kind: 'registry', amp: 200n, tokens: inOrder(6, 8) });
  staked = await market.createPool({ ...plan, kind: 'held', amp: 60n, tokens: [NATIVE, usd] });
  const cToken = await market.createLending(native);
  lending = await market.createPool({
    ...plan,
    kind: 'fixed',
    amp: 110n,
    tokens: [cToken, usd],
    oracles: [0],
  });
  const factory = market.factories[1];
  lone = await market.createPool({ ...plan, amp: 100n, tokens: inOrder(6, 12) }, { factory });
  for (const [pool, units] of [
    [three, [900_000n, 1_100_000n, 1_000_000n]],
    [ng, [700_000n, 1_300_000n]],
    [rebasing, [50_000n, 50_000n]],
    [rated, [500_000n, 600_000n]],
    [old, [400_000n, 500_000n, 450_000n, 480_000n]],
    [first, [750_000n, 750_000n]],
    [staked, [900_000n, 850_000n]],
    [lending, [20_000_000n, 450_000n]],
    [lone, [800_000n, 900_000n]],
  ] as const)
    market.add(pool, 'add_liquidity', [pool.tokens.map((token, index) => raw(token, units[index]!))]);
  await market.mine();
  for (const pool of [first, staked, lending]) market.register(pool);
  await market.mine();
  meta = await market.createPool({
    ...plan,
    kind: 'factory',
    amp: 90n,
    tokens: [native, await market.shareOf(first)],
    base: first,
  });

  cached = await market.createPool({ ...plan, kind: 'cached', amp: 70n, tokens: meta.tokens, base: first });
  market.register(cached);
  for (const pool of [meta, cached])
    market.add(pool, 'add_liquidity', [pool.tokens.map((token) => raw(token, 300_000n))]);
  await market.mine();
  tradeAll(1_000n);
  await market.mine();
  market.add(three, 'ramp_A', [900n, 100]);
  market.add(three, 'remove_liquidity_one_coin', [1_000n * 10n ** 18n, 1]);
  market.add(ng, 'remove_liquidity_imbalance', [ng.tokens.map((token) => raw(token, 500n))]);
  market.add(ng, 'setFees', [2n * FEE, 30_000_000_000n]);
  await market.mine();
  tradeAll(700n);
  market.add(three, 'remove_liquidity', [5_000n * 10n ** 18n]);
  market.add(ng, 'remove_liquidity', [5_000n * 10n ** 18n]);
  await market.mine();
  market.add(lone, 'donate_admin_fees', []);
  await market.mine();
  market.grow(staked, usd, 1_000_000n);
  await world.grow();
  tradeAll(60n);
  await market.mine();
  await world.anvil.rpc.call('anvil_mine', ['0x5', '0xa']);
  tradeAll(50n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

/** The base pool of `meta` does not move after the last trade of `meta`. */
const allPools = (): MarketPool[] => [
  ...[three, ng, rebasing, rated, old, first],
  ...[staked, lending, cached, meta, lone],
];

const raw = ({ decimals }: MarketToken, tokens: bigint): bigint => tokens * 10n ** BigInt(decimals);

/** Sells this many USD to each pool for each other token, and half as many of the other token for USD. */
function tradeAll(tokens: bigint, pools = allPools()): void {
  for (const pool of pools) {
    if (pool === meta || pool === cached) {
      // Coin 2 is the second coin of the base pool.
      market.add(pool, 'exchange_underlying', [0, 2, raw(native, tokens), 0]);
      market.add(pool, 'exchange_underlying', [2, 0, raw(first.tokens[1]!, tokens), 0]);
      market.add(pool, 'exchange', [1, 0, raw(meta.tokens[1]!, tokens), 0]);
      continue;
    }
    const i = pool.tokens.indexOf(usd);
    if (pool === lending) {
      market.add(pool, 'exchange_underlying', [0, 1, raw(native, tokens), 0]);
      market.add(pool, 'exchange_underlying', [1, 0, raw(usd, tokens), 0]);
    }
    for (const [j, token] of pool.tokens.entries()) {
      if (j === i) continue;
      market.add(pool, 'exchange', [i, j, raw(usd, tokens), 0]);
      market.add(pool, 'exchange', [j, i, raw(token, tokens) / 2n, 0]);
    }
  }
}

const checkPool = (pool: MarketPool, from = program): Promise<PairAnswer> =>
  expectPrice(from, pool, async (indexes) =>
    quotedPrice(world.anvil.rpc, pool, await readBalances(world.anvil.rpc, pool), indexes),
  );

test.each([
  ['Pancake pool of three coins', () => three, 4],
  ['StableSwap-NG pool', () => ng, 8],
  ['pool without a known factory', () => lone, 4],
  ['pool with a moving rate', () => rated, 4],
  ['pool of the factory of 2021', () => old, 4],
  ['pool of a registry', () => first, 4],
  ['pool with a rebasing token', () => rebasing, 4],
  ['pool with the native coin and a growing token', () => staked, 4],
  ['pool of a cToken', () => lending, 4],
] as const)(
  'a %s has the price and the balances of its contract, its type and its fee',
  async (_, poolOf, fee) => {
    const pool = poolOf();
    const pair = await checkPool(pool);
    expect(pair).toMatchObject({
      pool_type: 5,
      fee_bps: fee,
      flags: expect.not.arrayContaining(['price_not_followed']),
    });
    const balances = await readBalances(world.anvil.rpc, pool);
    const own = pool.tokens.map(
      ({ address }) => pair.balances.find((one) => one.address === address)!.balance_raw,
    );
    expect(own).toEqual(balances.map(String));
    const whole = pool.tokens.map(({ decimals }, index) => Number(balances[index]) / 10 ** decimals);
    const prices = await Promise.all(
      pool.tokens.map(({ address }) => getData<{ price_usd: string }>(program, `/tokens/${address}`)),
    );
    const values = whole.map((amount, index) => amount * Number(prices[index]!.price_usd));
    for (const [index, { address }] of pool.tokens.entries()) {
      const audit = await getData<{ price_usd: string }>(program, `/tokens/${address}/audit`);
      expect(off(audit.price_usd, Number(prices[index]!.price_usd))).toBeLessThan(1e-12);
    }
    // A token counts with at most what the pools of its route can pay out in USD.
    const payable = values[pool.tokens.indexOf(usd)]!;
    const counted = values.map((value) => Math.min(value, payable));
    expect(off(pair.liquidity_usd, sum(counted))).toBeLessThan(pool === lone ? 1e-6 : 0.05);
  },
);

test('a pool that is its own LP token has its supply and holders, and a pool with another LP token has none', async () => {
  const supply = await readPool(world.anvil.rpc, ng, 'supply');
  expect(await getPair(program, ng)).toMatchObject({ total_supply: formatUnits(supply, 18), lp_holders: 1 });
  expect(await getPair(program, three)).toMatchObject({ total_supply: null, lp_holders: null });
});

test.each([
  ['meta pool', () => meta],
  ['meta pool of a registry', () => cached],
] as const)(
  'a %s has the price of its contract, also after swaps with coins of its base pool',
  async (_, poolOf) => {
    const pool = poolOf();
    const pair = await checkPool(pool);
    expect(pair.balances.map(({ balance_raw }) => balance_raw).sort()).toEqual(
      (await readBalances(world.anvil.rpc, pool)).map(String).sort(),
    );
    const swaps = await listSwaps(program, pool);
    expect(swaps).toHaveLength(12);
    for (const { price } of swaps) expect(price).not.toBeNull();
  },
);

test('each swap has what moved and the fee that the pool took, and bars close at the price', async () => {
  for (const pool of [three, ng, lone]) {
    const pair = await getPair(program, pool);
    const swaps = await listSwaps(program, pool);
    expect(swaps).toHaveLength(pool === three ? 16 : 8);
    for (const { amount_usd, fee_usd } of swaps) {
      // StableSwap-NG raises the fee of a pool that is off its balance.
      const part = fee_usd! / amount_usd!;
      if (pool !== ng) expect(Math.abs(part - 0.0004)).toBeLessThan(1e-9);
      else expect(part > 0.0004 && part < 0.0024).toBe(true);
    }
    // The last swap of the pool of three coins may be on another leg than that of the pair.
    await expectTotals(program, pair, swaps, pool === three ? 1e-4 : 1e-9);
  }
});

test('a swap of lent tokens is listed as one of the lending tokens, with a price', async () => {
  const swaps = await listSwaps(program, lending);
  expect(swaps).toHaveLength(16);
  for (const { price } of swaps) expect(price).not.toBeNull();
});

test('a deposit and the withdrawals are listed, and a donation of the fees only interrupts the price', async () => {
  expect(await listMoves(program, three)).toEqual(['burn', 'burn', 'mint']);
  expect(await listMoves(program, ng)).toEqual(['burn', 'burn', 'mint']);
  expect(await listMoves(program, lone)).toEqual(['mint']);
});

test('after a restart, answers are the same and prices go on', async () => {
  const before = await readFigures(program, allPools());
  await program.end('SIGTERM');
  program = await world.start(0);
  expect(await readFigures(program, allPools())).toEqual(before);
  tradeAll(40n);
  head = await market.mine();
  await waitForBlock(program.url, head);
  for (const pool of allPools()) await checkPool(pool);
});

test('older pools have the same prices, fees and types', async () => {
  const late = await world.start(head - 3);
  try {
    await eventually(
      async () => {
        // The pool search finds the pool of three coins, and trades show the others.
        tradeAll(10n, allPools().slice(1));
        head = await market.mine();
        return (await getData<unknown[]>(late, '/pairs')).length;
      },
      (count) => count === 11,
    );
    await waitForBlock(program.url, head);
    await waitForBlock(late.url, head);
    for (const pool of allPools()) {
      const [{ pool_type, fee_bps, price }, part] = [await checkPool(pool), await checkPool(pool, late)];
      expect(part).toMatchObject({ pool_type, fee_bps, price });
    }
  } finally {
    await late.end('SIGTERM');
  }
});

test('LP tokens in a wallet are worth what the pool pays for them', async () => {
  const wallet = market.trader;
  const other: Hex = `0x${'9a'.repeat(20)}`;
  // The LP tokens of a pool of StableSwap-NG cannot be transferred here, so the wallet owns all of them.
  for (const pool of [three, lone])
    market.add({ address: await readShareToken(world.anvil.rpc, pool) }, 'transfer', [
      other,
      300_000n * 10n ** 18n,
    ]);
  head = await market.mine();
  await waitForBlock(program.url, head);
  const { positions } = await getData<Portfolio>(program, `/portfolio/${wallet}`);
  for (const pool of [three, lone, ng]) {
    const token = await readShareToken(world.anvil.rpc, pool);
    const position = positions.find(({ pair_address }) => pair_address === pool.address)!;
    const shares = await readHeld(world.anvil.rpc, token, wallet);
    expect(position).toMatchObject({ id: token, lp_balance_raw: String(shares) });
    expect(position.value_usd).toBeGreaterThan(100_000);
    const read = () =>
      Promise.all(pool.tokens.map(({ address }) => readHeld(world.anvil.rpc, address, wallet)));
    const before = await read();
    market.add(pool, 'remove_liquidity', [shares]);
    head = await market.mine();
    const paid = (await read()).map((amount, index) => amount - before[index]!);
    const shown = pool.tokens.map(
      ({ address }) => position.tokens.find((each) => each.address === address)!.amount,
    );
    expect(shown).toEqual(paid.map((amount, index) => formatUnits(amount, pool.tokens[index]!.decimals)));
  }
});
