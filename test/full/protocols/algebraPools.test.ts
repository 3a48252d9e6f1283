/**
 * Algebra pools of V1 and Integral through the whole program: real contracts on a node, ingest, API. Answers must equal
 * what the contracts say, for pools seen from their creation and for older ones, also after a restart.
 */
import { readContract } from '../../../src/dev/abi';
import type { Hex } from '../../../src/domain/hex';
import {
  ALGEBRA_NODE,
  ALGEBRA_POOL,
  ALGEBRA_TRADER,
  deployAlgebra,
  type AlgebraMarket,
  type AlgebraPool,
} from '../../support/algebra/algebraMarket';
import { balancesOf } from '../../support/protocols/poolMarket';
import { expectManagerPays, listPositions } from '../../support/protocols/positions';
import {
  getData,
  getPair,
  listSwaps,
  off,
  openPoolWorld,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';

const VERSIONS = ['v1', '1.1', '1.2.2'] as const;
/** The versions whose position managers hold positions. */
const WITH_POSITIONS = ['v1', '1.2.2'] as const;
const LIMITS = [4295128740n, 1461446703485210103287273052203988822378723970341n] as const;

let world: PoolWorld;
let market: AlgebraMarket;
let program: Program;
let pools: AlgebraPool[];
let head: number;
const managers = new Map<string, Hex>();
const poolOf = (of: string): AlgebraPool => pools.find(({ version }) => version === of)!;
/** Fees that the contracts charged, in pips, by pool, oldest swap first. V1 chooses its fees itself. */
const charged = new Map<AlgebraPool, number[]>();

beforeAll(async () => {
  world = await openPoolWorld('algebra', describeMarket, ALGEBRA_NODE);
  market = await deployAlgebra(world.anvil.rpc, [6, 18]);
  const [usd, native] = market.tokens;
  // 1 native = 4 USD.
  const isUsdFirst = usd!.address < native!.address;
  const price = isUsdFirst ? (2n ** 96n * 10n ** 6n) / 2n : (2n ** 96n * 2n) / 10n ** 6n;
  pools = [];
  for (const version of VERSIONS) pools.push(await market.createPool(version, usd!, native!, price));
  const [v1, dynamic, overriding] = pools as [AlgebraPool, AlgebraPool, AlgebraPool];
  for (const pool of pools) {
    market.add(market.trader, ALGEBRA_TRADER, 'mint', [pool.address, -840_000, 840_000, 10n ** 18n]);
    market.setCommunityFee(pool, 200);
  }
  for (const version of WITH_POSITIONS) managers.set(version, await market.deployPositions(version));
  await market.mine();
  // About 20,000 USD of both tokens around the price, and of the second token below it.
  const tick = Math.floor(Math.log(Number(price) / 2 ** 96) / Math.log(1.0001) / 30) * 60;
  const amounts = [v1.token0, v1.token1].map(
    (token) => (token === usd ? 20_000n : 5_000n) * 10n ** BigInt(token.decimals),
  );
  for (const version of WITH_POSITIONS)
    for (const ticks of [[tick - 6_000, tick + 6_000] as const, [tick - 12_000, tick - 6_000] as const])
      market.addPosition(managers.get(version)!, poolOf(version), ticks, [amounts[0]!, amounts[1]!]);
  await market.mine();
  market.setFees(dynamic, 2_500, 0, 0);
  market.setFees(overriding, 100, 0, 0);
  await trade([v1, 0], [dynamic, 2_500], [overriding, 100]);
  market.setFees(overriding, 0, 5_000, 400);
  // After 8 hours, Integral pays out the fees that wait for the community and the plugin.
  await trade([v1, 0], [dynamic, 2_500], [overriding, 5_400]);
  market.setFees(overriding, 700, 0, 0);
  await trade([v1, 0], [dynamic, 2_500], [overriding, 700]);
  await world.grow();
  await trade([v1, 0], [dynamic, 2_500], [overriding, 700]);
  head = Number(await world.anvil.rpc.call('eth_blockNumber'));
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

async function trade(...fees: readonly (readonly [AlgebraPool, number])[]): Promise<void> {
  for (const [index, [pool, fee]] of fees.entries()) {
    const zeroForOne = (index + (charged.get(pool)?.length ?? 0)) % 2 === 0;
    const amount = 1_000n * 10n ** BigInt((zeroForOne ? pool.token0 : pool.token1).decimals);
    const values = [pool.address, zeroForOne, amount, LIMITS[zeroForOne ? 0 : 1]];
    market.add(market.trader, ALGEBRA_TRADER, 'swap', values);
    charged.set(pool, [...(charged.get(pool) ?? []), fee]);
  }
  await market.mine(30_000);
  const v1 = pools[0]!;
  charged.get(v1)!.splice(-1, 1, await lastFee(v1));
}

/** The fee of the pool in globalState(). */
async function lastFee({ address }: AlgebraPool): Promise<number> {
  const data = ALGEBRA_POOL.encodeFunctionData('globalState');
  const answer = String(await world.anvil.rpc.call('eth_call', [{ to: address, data }, 'latest']));
  return Number(`0x${answer.slice(2 + 2 * 64, 2 + 3 * 64)}`);
}

function describeMarket() {
  const [usd, native] = market.tokens;
  const dexes = VERSIONS.map((version) => ({
    name: `algebra_${version.replaceAll('.', '_')}`,
    protocol: 'algebra',
    factory: market.factories.get(version)!,
    ...(managers.has(version) ? { positionManager: managers.get(version)! } : {}),
  }));
  return { usd: usd!, native: native!, dexes };
}

/** The contract's price in whole tokens, quote per base as the pair has them. */
async function expectedPrice({ address, token0, token1 }: AlgebraPool, base: string): Promise<number> {
  const root = Number(await readContract(world.anvil.rpc, ALGEBRA_POOL, address, 'globalState')) / 2 ** 96;
  const price = root * root * 10 ** (token0.decimals - token1.decimals);
  return base === token0.address ? price : 1 / price;
}

test('pools have the price, the balances and the newest fee of their contracts', async () => {
  for (const pool of pools) {
    const pair = await getPair(program, pool);
    expect(pair.pool_type).toBe(3);
    expect(off(pair.price, await expectedPrice(pool, pair.base_token.address))).toBeLessThan(1e-9);
    expect([pool.version, pair.fee_bps]).toEqual([pool.version, charged.get(pool)!.at(-1)! / 100]);
    const balances = await balancesOf(world.anvil.rpc, pool);
    expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual(balances.map(String));
  }
});

test('each swap has the fee that its contract charged', async () => {
  for (const pool of pools) {
    const swaps = (await listSwaps(program, pool)).reverse();
    const fees = charged.get(pool)!;
    expect(swaps).toHaveLength(fees.length);
    // The first swaps are older than the price of the native token, so they have no value in USD.
    const valued = swaps.flatMap(({ amount_usd, fee_usd }, index) =>
      amount_usd === null || amount_usd === 0 ? [] : [{ amount_usd, fee_usd, pips: fees[index]! }],
    );
    expect(valued.length).toBeGreaterThan(1);
    for (const { amount_usd, fee_usd, pips } of valued)
      expect(off(fee_usd, (amount_usd * pips) / 1e6)).toBeLessThan(1e-6);
  }
});

test('bars close at the price of the contract, and TVL is the value of its balances', async () => {
  const usd = market.tokens[0]!;
  for (const pool of pools) {
    const pair = await getPair(program, pool);
    const [newest] = await listSwaps(program, pool);
    const bars = await getData<{ close: string }[]>(
      program,
      `/pairs/${pool.address}/ticks?timeframe=1m&currency=quote`,
    );
    expect(off(bars.at(-1)!.close, Number(pair.price))).toBeLessThan(1e-9);
    expect(newest!.price).toBe(pair.price);
    const usdHeld = Number(pool.token0.address === usd.address ? pair.reserve0_raw : pair.reserve1_raw) / 1e6;
    expect(pair.liquidity_usd).toBeGreaterThan(1.9 * usdHeld);
    expect(pair.liquidity_usd).toBeLessThan(2.1 * usdHeld);
  }
});

test('positions have the amounts that the position manager would pay', async () => {
  const { owner } = market;
  for (const version of WITH_POSITIONS) {
    const [manager, pool] = [managers.get(version)!, poolOf(version)];
    const positions = await listPositions(program, owner, pool.address);
    expect(positions.map(({ in_range }) => in_range).sort()).toEqual([false, true]);
    for (const position of positions)
      await expectManagerPays(world.anvil.rpc, [manager, owner], pool, position);
    expect(positions.some(({ unclaimed_usd }) => Number(unclaimed_usd) > 0)).toBe(true);
  }
});

test('pools that are older than the start block have the same facts, also after a restart', async () => {
  const facts = async (from: Program) =>
    Promise.all(
      pools.map(async (pool) => {
        const { price, fee_bps, reserve0_raw, reserve1_raw } = await getPair(from, pool);
        return { price, fee_bps, reserve0_raw, reserve1_raw };
      }),
    );
  const whole = await facts(program);
  const late = await world.start(head);
  try {
    expect(await facts(late)).toEqual(whole);
  } finally {
    await late.end('SIGTERM');
  }
  await program.end('SIGTERM');
  program = await world.start(0);
  const dynamic = pools[1]!;
  await trade([pools[0]!, 0], [dynamic, 2_500], [pools[2]!, 700]);
  await waitForBlock(program.url, Number(await world.anvil.rpc.call('eth_blockNumber')));
  for (const pool of pools) {
    const [newest] = await listSwaps(program, pool);
    const pips = charged.get(pool)!.at(-1)!;
    expect(off(newest!.fee_usd, (newest!.amount_usd! * pips) / 1e6)).toBeLessThan(1e-6);
  }
});
