/**
 * Compares prices with known true prices: real contracts on a real node, the whole program, and the usual manipulations
 * of a price. Published prices must stay right, and the audit must name the reason.
 */
import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import type { WorldPool } from '../../../src/dev/world/world';
import type { TestAnvil, TestWorld } from '../../support/node/anvil';
import { waitForBlock, type Program } from '../../support/server/program';
import { TRUTH_POOLS, TRUTH_WORLD_PLAN } from '../../support/worlds/truthWorldPlan';
import { rawWorth, startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

/** Number of blocks after which routes use new pools: the required age of 100 blocks, and one epoch of 32 blocks. */
const GROWN_BLOCKS = 132;

let on: WorldProgram;
let anvil: TestAnvil;
let world: TestWorld;
let program: Program;
let head = 0;

interface Audit {
  readonly price_usd: string | null;
  readonly confidence: string;
  readonly confidence_score: number;
  readonly method: string;
  readonly hops: readonly {
    readonly pools: readonly { readonly address: string; readonly weight: string }[];
  }[];
  readonly excluded_pools: readonly { readonly address: string; readonly reason: string }[];
  readonly warnings: readonly { readonly code: string }[];
}

interface Pair {
  readonly price_usd: string | null;
  readonly liquidity_usd: number;
  readonly volume_24h_usd: number;
  readonly untracked_volume_24h_usd: number;
  readonly tx_24h: number;
}

interface TokenAnswer {
  readonly price_usd: string | null;
  readonly price_confidence: string;
  readonly volume_24h_usd: number;
  readonly liquidity_usd: number;
}

beforeAll(async () => {
  on = await startWorldProgram(TRUTH_WORLD_PLAN);
  ({ anvil, world, program } = on);
  // Two makers trade in each pool.
  for (const pool of world.pools)
    await mine(
      0,
      [0, 1].map((user) => sell(pool, pool.token0.key, 1, user)),
    );
  await mine(GROWN_BLOCKS);
});

afterAll(() => on?.close());

/** Mines empty blocks, or one block with these transactions, and waits until the blocks are indexed. */
async function mine(blocks: number, transactions: readonly DevTransaction[] = []): Promise<void> {
  if (transactions.length > 0) head = (await world.mineBlock(undefined, transactions)).number;
  for (let i = 0; i < blocks; i += 1) head = (await world.mineBlock()).number;
  await waitForBlock(program.url, head);
}

const tokenOf = (key: string) => world.tokens.find((token) => token.key === key)!;
const auditOf = (key: string): Promise<Audit> => on.get(`/tokens/${tokenOf(key).address}/audit`);
const token = (key: string): Promise<TokenAnswer> => on.get(`/tokens/${tokenOf(key).address}`);
const pair = (pool: WorldPool): Promise<Pair> => on.get(`/pairs/${pool.address}`);
const poolAt = (place: keyof typeof TRUTH_POOLS): WorldPool => world.pool(TRUTH_POOLS[place]);
const codes = (audit: Audit): string[] => audit.warnings.map(({ code }) => code);

/** The difference of two values in percent: |a / b − 1| · 100. */
const off = (a: string | number | null, b: number): number => Math.abs(Number(a) / b - 1) * 100;

/** Raw amount of the pool's token that is worth `usd` at its true price. */
const worth = (pool: WorldPool, ofToken0: boolean, usd: number): bigint =>
  rawWorth(ofToken0 ? pool.token0 : pool.token1, usd);

/** Sells `usd` worth of the token into the pool. */
function sell(pool: WorldPool, key: string, usd: number, user = 0): DevTransaction {
  const zeroForOne = pool.token0.key === key;
  const swap = { zeroForOne, amountIn: worth(pool, zeroForOne, usd), from: world.users[user]! };
  return pool.protocol === 'uniswap_v3' ? world.swapV3(pool, swap) : world.swapV2(pool, swap);
}

test('every token has its true price at any decimals, and a pool of two unpriced tokens has none', async () => {
  for (const { key, priceUsd } of world.tokens) {
    const audit = await auditOf(key);
    if (key === 'pepe' || key === 'floki') {
      expect(audit).toMatchObject({ price_usd: null, method: 'none', hops: [], confidence: 'none' });
      expect(codes(audit)).toContain('no_route');
      continue;
    }
    // The token's pool received 2 % less than the seller sent, because the token taxes transfers.
    const bound = key === 'taxed' ? 2.5 : 0.5;
    expect({ key, off: off(audit.price_usd, priceUsd) < bound }).toEqual({ key, off: true });
    expect(off((await token(key)).price_usd, Number(audit.price_usd))).toBeLessThan(1e-7);
    const anchor = ['usdc', 'usdt', 'dai'].includes(key);
    expect({ key, method: audit.method }).toEqual({
      key,
      method: anchor ? 'stable_anchor' : 'lp_weighted_multi_hop',
    });
    expect({ key, level: audit.confidence }).toEqual({ key, level: expect.stringMatching(/high|medium/) });
  }
});

test('the TVL of a pool equals the value of its deposits', async () => {
  for (const [place, index] of Object.entries(TRUTH_POOLS)) {
    const pool = world.pool(index);
    const { liquidity_usd } = await pair(pool);
    if (place === 'pepeFloki') expect(liquidity_usd).toBe(0);
    else if (pool.protocol === 'uniswap_v2')
      expect({ place, off: off(liquidity_usd, 2 * pool.sideUsd) < 1 }).toEqual({ place, off: true });
    else expect(liquidity_usd).toBeGreaterThan(0);
  }
});

test('trades between tokens without a price add no USD volume', async () => {
  const pool = poolAt('pepeFloki');
  for (let i = 0; i < 3; i += 1) {
    await mine(0, [sell(pool, 'pepe', 2_000), sell(pool, 'floki', 2_000, 1)]);
  }
  const answer = await pair(pool);
  expect(answer).toMatchObject({ volume_24h_usd: 0, price_usd: null, tx_24h: 8 });
});

test('wash trades make exactly their own volume and do not change the price', async () => {
  const pool = poolAt('hexdWpls');
  const before = await pair(pool);
  const price = Number((await token('hexd')).price_usd);
  for (let i = 0; i < 4; i += 1) await mine(0, [sell(pool, 'wpls', 3_000), sell(pool, 'hexd', 3_000, 1)]);
  const after = await pair(pool);
  expect(off(after.volume_24h_usd - before.volume_24h_usd, 8 * 3_000)).toBeLessThan(1);
  expect(off(after.liquidity_usd, before.liquidity_usd)).toBeLessThan(0.2);
  expect(off((await token('hexd')).price_usd, price)).toBeLessThan(0.2);
});

test('a thin pool whose price is pushed a thousandfold changes neither price nor TVL, and the audit excludes the pool', async () => {
  const thin = poolAt('hexdDaiThin');
  const before = await token('hexd');
  // Paying in √1000 − 1 times the pool's DAI multiplies the DAI by √1000 and divides the other balance by √1000. The
  // price rises a thousandfold. The factor 1.003 pays the fee.
  await mine(0, [sell(thin, 'dai', 100 * (Math.sqrt(1_000) - 1) * 1.003)]);
  await mine(40);
  const audit = await auditOf('hexd');
  expect(off(audit.price_usd, Number(before.price_usd))).toBeLessThan(0.5);
  expect(audit.hops.flatMap((hop) => hop.pools.map(({ address }) => address))).not.toContain(thin.address);
  expect(audit.excluded_pools.map(({ address }) => address)).toContain(thin.address);
  const held = await pair(thin);
  const dai = Number(await world.balanceOf(tokenOf('dai'), thin.address)) / 1e18;
  const hexd = Number(await world.balanceOf(tokenOf('hexd'), thin.address)) / 1e8;
  expect(off(held.liquidity_usd, dai + hexd * Number(audit.price_usd))).toBeLessThan(0.5);
});

test('a price pushed up and down within one block does not change the published price', async () => {
  const pool = poolAt('hexdWpls');
  const before = await token('hexd');
  const { reserve0, reserve1 } = await world.readReserves(pool);
  const zeroForOne = pool.token0.key === 'wpls';
  const hexdBefore = zeroForOne ? reserve1 : reserve0;
  const push = sell(pool, 'wpls', 90_000);
  // The swap back returns all tokens that the push took out. The constant product formula, with the fee,
  // gives the amount.
  const wplsIn = worth(pool, zeroForOne, 90_000) * 9_971n;
  const wplsHeld = (zeroForOne ? reserve0 : reserve1) * 10_000n;
  const out = (wplsIn * hexdBefore) / (wplsHeld + wplsIn);
  const back = world.swapV2(pool, { zeroForOne: !zeroForOne, amountIn: out, from: world.users[0]! });
  await mine(0, [push, back]);
  expect(off((await token('hexd')).price_usd, Number(before.price_usd))).toBeLessThan(0.1);
});

test('a token with a transfer tax is priced by its reserves', async () => {
  const pool = poolAt('taxedWpls');
  await mine(0, [sell(pool, 'taxed', 900), sell(pool, 'taxed', 700, 1)]);
  const { reserve0, reserve1 } = await world.readReserves(pool);
  const ratio = Number(reserve1) / Number(reserve0);
  const inWpls = pool.token0.key === 'taxed' ? ratio : 1 / ratio;
  const wpls = await token('wpls');
  expect(off((await token('taxed')).price_usd, inWpls * Number(wpls.price_usd))).toBeLessThan(1e-6);
});

test('a sync without a trade does not change the price until time confirms the new reserves', async () => {
  const pool = poolAt('wholeWpls');
  const before = Number((await token('whole')).price_usd);
  const { reserve0, reserve1 } = await world.readReserves(pool);
  const whole = pool.token0.key === 'whole' ? reserve0 : reserve1;
  // Doubles the balance of the pool, as a rebase does. A price from the reserves alone would halve.
  await giveWhole(pool, whole);
  await mine(0, [world.syncV2(pool)]);
  const audit = await auditOf('whole');
  expect(codes(audit)).toEqual(expect.arrayContaining(['spot_held_to_mean', 'price_deviates_from_twap']));
  expect(off(audit.price_usd, before)).toBeLessThan(2);
});

/** Transfers tokens to the pool: first the users' own tokens, then tokens of the trader's inventory. */
async function giveWhole(pool: WorldPool, amount: bigint): Promise<void> {
  const key = tokenOf('whole');
  for (const user of world.users) {
    const held = await world.balanceOf(key, user);
    await mine(0, [
      world.transfer(key, { from: user, to: pool.address, amount: held < amount ? held : amount }),
    ]);
  }
}

test('a stablecoin that lost its peg is no anchor, and the tokens paired with it keep their prices', async () => {
  const before = Number((await token('wpls')).price_usd);
  const pools = [poolAt('usdcUsdt'), poolAt('wplsUsdt')];
  for (const pool of pools) await mine(0, [sell(pool, 'usdt', 130_000)]);
  // The 30-minute mean price needs about an hour of blocks to follow a new price.
  for (let i = 0; i < 12; i += 1) await world.mineBlock((await lastTime()) + 600);
  await mine(40);
  const audit = await auditOf('usdt');
  const { reserve0, reserve1 } = await world.readReserves(pools[0]!);
  const usdtIsToken0 = pools[0]!.token0.key === 'usdt';
  const ratio = usdtIsToken0 ? Number(reserve1) / Number(reserve0) : Number(reserve0) / Number(reserve1);
  expect(codes(audit)).toContain('anchor_depeg');
  expect(audit.method).toBe('lp_weighted_multi_hop');
  expect(off(audit.price_usd, ratio)).toBeLessThan(3);
  expect(off((await token('wpls')).price_usd, before)).toBeLessThan(2);
});

async function lastTime(): Promise<number> {
  const block = (await anvil.rpc.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return Number(block.timestamp);
}
