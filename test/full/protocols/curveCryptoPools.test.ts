/**
 * CryptoSwap pools through the whole program: real contracts on a node, ingest, API. Answers must equal what the contracts
 * say, for pools seen from their creation, for older ones, and after a restart.
 */
import { formatUnits } from '../../../src/domain/amounts';
import {
  deployCrypto,
  quotedCryptoPrice,
  readCryptoBalances,
  readCryptoSupply,
  type CryptoMarket,
  type CryptoMarketPool,
} from '../../support/curveCrypto/cryptoMarket';
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
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';

const UNIT = 10n ** 18n;
const USD_PRICES = [1n, 3_000n, 60_000n];

let world: PoolWorld;
let market: CryptoMarket;
let program: Program;
let tokens: readonly MarketToken[];
let three: CryptoMarketPool;
let two: CryptoMarketPool;
/** A contract of 2025, whose balances change once without an event. */
let late: CryptoMarketPool;
/** Pools from before NG: one of the factory of 2021, and one of a registry. */
let old: CryptoMarketPool;
let first: CryptoMarketPool;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('crypto', () => ({
    usd: tokens[0]!,
    native: tokens[1]!,
    dexes: market.factories.map((factory, index) => ({
      name: `crypto${index}`,
      protocol: 'curve_crypto',
      factory,
    })),
  }));
  market = await deployCrypto(world.anvil.rpc, [6, 18, 8]);
  ({ tokens } = market);
  const create = (
    kind: CryptoMarketPool['kind'],
    places: number[],
    ann: bigint,
    gamma: bigint,
  ): Promise<CryptoMarketPool> =>
    market.createPool({
      kind,
      tokens: places.map((place) => tokens[place]!),
      ann,
      gamma,
      fees: [5_000_000n, 45_000_000n, 5_000_000_000_000_000n],
      rebalancing: [10n ** 9n, 10n ** 14n, 60n],
      prices: places.slice(1).map((place) => USD_PRICES[place]! * UNIT),
    });
  three = await create(0, [0, 2, 1], 540_000n, 80_500_000_000_000n);
  two = await create(1, [0, 1], 20_000_000n, 1_000_000_000_000_000n);
  late = await create(2, [0, 2], 400_000n, 145_000_000_000_000n);
  old = await create(4, [0, 1], 400_000n, 145_000_000_000_000n);
  first = await create(3, [0, 2, 1], 540_000n, 80_500_000_000_000n);
  for (const pool of pools())
    market.add(pool, 'add_liquidity', [pool.tokens.map((token) => worth(token, 900_000n))]);
  await market.mine();
  market.register(first);
  await market.mine();
  tradeAll(9_000n);
  await market.mine();
  market.add(three, 'ramp', [600_000n, 100_000_000_000_000n, 100]);
  market.add(three, 'remove_liquidity_one_coin', [10n ** 18n, 1]);
  market.add(two, 'setFees', [6_000_000n, 45_000_000n, 5_000_000_000_000_000n]);
  market.add(late, 'remove_liquidity_fixed_out', [10n ** 18n, 0, 100_000_000]);
  await market.mine();
  tradeAll(7_000n);
  for (const pool of [three, two, old]) market.add(pool, 'remove_liquidity', [10n ** 18n]);
  await market.mine();
  market.add(late, 'disturb', [1]);
  await market.mine();
  tradeAll(500n);
  await market.mine();
  await world.grow();
  tradeAll(600n);
  await market.mine();
  await world.anvil.rpc.call('anvil_mine', ['0x5', '0xa']);
  tradeAll(500n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

const pools = (): CryptoMarketPool[] => [three, two, late, old, first];

/** So many USD of a token, raw, at its first price. */
function worth({ address, decimals }: MarketToken, usd: bigint): bigint {
  const price = USD_PRICES[tokens.findIndex((token) => token.address === address)]!;
  return (usd * 10n ** BigInt(decimals)) / price;
}

/** Sells this many USD to each pool for each other token, and half as much of the other token for USD. */
function tradeAll(usd: bigint): void {
  for (const pool of pools())
    for (const [j, token] of pool.tokens.entries()) {
      if (j === 0) continue;
      market.add(pool, 'exchange', [0, j, worth(pool.tokens[0]!, usd)]);
      market.add(pool, 'exchange', [j, 0, worth(token, usd) / 2n]);
    }
}

const checkPool = (pool: CryptoMarketPool, from = program): Promise<PairAnswer> =>
  expectPrice(from, pool, (indexes) => quotedCryptoPrice(world.anvil.rpc, pool, indexes));

test.each([
  ['pool of three tokens', () => three, 5],
  ['pool of two tokens', () => two, 6],
  ['pool of a contract of 2025', () => late, 5],
  ['pool of the factory of 2021', () => old, 5],
  ['pool of a registry', () => first, 5],
] as const)(
  'a %s has the price and the balances of its contract, its type and its fee',
  async (_, poolOf, fee) => {
    const pool = poolOf();
    const pair = await checkPool(pool);
    expect(pair).toMatchObject({
      pool_type: 6,
      fee_bps: fee,
      flags: expect.not.arrayContaining(['price_not_followed']),
      total_supply: pool.kind > 2 ? null : formatUnits(await readCryptoSupply(world.anvil.rpc, pool), 18),
    });
    const balances = await readCryptoBalances(world.anvil.rpc, pool);
    const own = pool.tokens.map(
      ({ address }) => pair.balances.find((one) => one.address === address)!.balance_raw,
    );
    expect(own).toEqual(balances.map(String));
    expect(pair.liquidity_usd).toBeGreaterThan(500_000);
    for (const { address } of pool.tokens) {
      const { price_usd } = await getData<{ price_usd: string }>(program, `/tokens/${address}`);
      const first = USD_PRICES[tokens.findIndex((token) => token.address === address)]!;
      expect(off(price_usd, Number(first))).toBeLessThan(0.1);
      const audit = await getData<{ price_usd: string }>(program, `/tokens/${address}/audit`);
      // The audit multiplies the prices of the hops without rounding.
      expect(off(audit.price_usd, Number(price_usd))).toBeLessThan(1e-15);
    }
  },
);

test('each swap has the fee that the pool took, and bars close at the price', async () => {
  for (const pool of pools()) {
    const pair = await getPair(program, pool);
    const swaps = await listSwaps(program, pool);
    expect(swaps).toHaveLength(pool.tokens.length === 3 ? 20 : 10);
    for (const { amount_usd, fee_usd } of swaps) {
      const part = fee_usd! / amount_usd!;
      expect(part > 0.0004 && part < 0.005).toBe(true);
    }
    // Both swaps of the block after the change without an event have no price. The swaps of the next block have one.
    const unpriced = swaps.filter(({ price }) => price === null).length;
    if (pool.kind < 3) expect(unpriced).toBe(pool === late ? 2 : 0);
    // Of two swaps in one block, the first one has no price if both moved the price scale, and then neither has the second one.
    else expect(unpriced).toBeLessThanOrEqual(swaps.length / 2);
    // The last swap of the pool of three tokens may be on another leg than that of the pair.
    await expectTotals(program, pair, swaps, pool.tokens.length === 3 ? 1e-3 : 1e-9);
  }
});

test('deposits and withdrawals are listed', async () => {
  expect(await listMoves(program, three)).toEqual(['burn', 'burn', 'mint']);
  expect(await listMoves(program, two)).toEqual(['burn', 'mint']);
  expect(await listMoves(program, late)).toEqual(['burn', 'mint']);
  expect(await listMoves(program, old)).toEqual(['burn', 'mint']);
});

test('after a restart, answers are the same and prices go on', async () => {
  const before = await readFigures(program, pools());
  await program.end('SIGTERM');
  program = await world.start(0);
  expect(await readFigures(program, pools())).toEqual(before);
  tradeAll(400n);
  head = await market.mine();
  await waitForBlock(program.url, head);
  for (const pool of pools()) await checkPool(pool);
});

test('older pools have the same prices, fees and types', async () => {
  const newer = await world.start(head - 3);
  try {
    await eventually(
      async () => {
        tradeAll(100n);
        head = await market.mine();
        return (await getData<unknown[]>(newer, '/pairs')).length;
      },
      (count) => count === 5,
    );
    await waitForBlock(program.url, head);
    await waitForBlock(newer.url, head);
    for (const pool of pools()) {
      const [{ pool_type, fee_bps, price }, part] = [await checkPool(pool), await checkPool(pool, newer)];
      expect(part).toMatchObject({ pool_type, fee_bps });
      expect(off(part.price, Number(price))).toBeLessThan(1e-12);
    }
  } finally {
    await newer.end('SIGTERM');
  }
});
