/** Composable pools of a Balancer V2 vault: pools that register their own share as a token. */
import { DAI, token } from '../../support/worlds/pools';
import { ONE, amountOutOf, REM, VaultPoolScript, VaultWorld } from '../../simulation/chain/vaultWorld';

const whole = (amount: number): bigint => BigInt(amount) * ONE;
/** The shares that a composable pool mints to itself (ComposableStablePool.sol). */
const PREMINTED = 1n << 111n;
const OTHER = token(60);

const stable = new VaultPoolScript('stable', [DAI, REM], []);
const [SHARE] = stable.tokens;

async function withStable(): Promise<VaultWorld> {
  const world = new VaultWorld();
  await world.create(stable, [PREMINTED, whole(100_000), whole(100_000)]);
  return world;
}

/** USD value of the swaps, in whole dollars. */
const volumeOf = (swaps: readonly { readonly amount_usd: bigint }[]): number =>
  Number(swaps.reduce((sum, { amount_usd }) => sum + amount_usd, 0n) / 10n ** 12n);

test('a swap for the share of its own pool is a mint, a swap of the share is a burn, and only swaps of two other tokens are volume', async () => {
  const world = await withStable();
  const { swaps, liquidity_events, pool_states, events } = await world.mine(
    [stable.swaps(DAI, SHARE!, whole(100_000), whole(99_000))],
    [stable.swaps(SHARE!, REM, whole(50_000), whole(51_000))],
    [stable.swaps(DAI, REM, whole(5_000), whole(4_990))],
  );
  expect(swaps.map(({ token0, token1, amount0 }) => [token0, token1, amount0])).toEqual([
    [DAI, REM, whole(5_000)],
  ]);
  expect(volumeOf(swaps)).toBe(5_000);
  expect(
    liquidity_events.map(({ kind, token0, token1, amount0, amount1 }) => [
      kind,
      token0,
      token1,
      amount0,
      amount1,
    ]),
  ).toEqual([
    ['mint', DAI, REM, whole(100_000), 0n],
    ['burn', DAI, REM, 0n, whole(51_000)],
  ]);
  expect(liquidity_events[0]!.amount0_usd).toBe(100_000n * 10n ** 12n);
  expect(events.map(({ kind }) => kind)).toEqual(['mint', 'burn', 'swap']);
  expect(pool_states.map(({ kind }) => kind)).toEqual(['mint', 'burn', 'swap']);
  // The vault's balances follow every event.
  expect(pool_states.at(-1)!.balances).toEqual([
    PREMINTED - whole(99_000) + whole(50_000),
    whole(205_000),
    whole(44_010),
  ]);
});

test('a join through a pool in a batch of swaps is no volume, and the trade in the next pool is', async () => {
  const world = await withStable();
  const outer = new VaultPoolScript('outer', [SHARE!, OTHER], [ONE / 2n, ONE / 2n]);
  await world.create(outer, [whole(100_000), whole(100_000)]);
  const out = amountOutOf([1e23, 1e23], [1, 1], 2e20);
  const { swaps, liquidity_events } = await world.mine([
    stable.swaps(DAI, SHARE!, whole(200), whole(200)),
    outer.swaps(SHARE!, OTHER, whole(200), out),
  ]);
  expect(swaps.map(({ pair, token0, token1 }) => [pair, token0, token1])).toEqual([
    [outer.address, SHARE, OTHER],
  ]);
  expect(liquidity_events.map(({ pair, kind }) => [pair, kind])).toEqual([[stable.address, 'mint']]);
  // Nobody trades the share or the other token for a token with a price, so the trade has no value.
  expect(swaps.map(({ tracked, amount_usd, untracked_usd }) => [tracked, amount_usd, untracked_usd])).toEqual(
    [[false, 0n, 0n]],
  );
});

test('shares that a pool minted to itself do not raise the limit of its volume, even if the share has a price', async () => {
  const world = await withStable();
  const market = new VaultPoolScript('market', [DAI, SHARE!], [ONE / 2n, ONE / 2n]);
  await world.create(market, [whole(100_000), whole(100_000)]);
  // Trades of two makers and some time make the price of the share trusted.
  await world.mine([market.swaps(DAI, SHARE!, ONE, amountOutOf([1e23, 1e23], [1, 1], 1e18))]);
  await world.mine([market.swaps(DAI, SHARE!, ONE, amountOutOf([100_001e18, 99_999e18], [1, 1], 1e18))]);
  await world.wait(140);
  expect(world.priceOf(SHARE!).usd).toBeCloseTo(1, 3);
  expect(world.priceOf(SHARE!).confidence).toBeGreaterThan(0.5);
  const there = stable.swaps(DAI, REM, whole(90_000), whole(90_000));
  const back = stable.swaps(REM, DAI, whole(90_000), whole(90_000));
  const { swaps } = await world.mine([there, back, there, back, there, back]);
  expect(swaps).toHaveLength(6);
  expect(volumeOf(swaps)).toBe(100_000);
});

test('a pool that claims a weight for its own share makes no price', async () => {
  const world = new VaultWorld();
  const claimed = new VaultPoolScript('claimed', [DAI, REM, OTHER], [ONE / 2n, ONE / 4n, ONE / 4n]);
  const tokens = [DAI, REM, claimed.address];
  const rows = await world.create(Object.assign(claimed, { tokens }), [
    whole(60_000),
    whole(30_000),
    PREMINTED,
  ]);
  expect(rows.pools.map(({ weights }) => weights)).toEqual([[]]);
  expect([world.priceOf(REM).usd, world.priceOf(claimed.address).usd]).toEqual([0, 0]);
});
