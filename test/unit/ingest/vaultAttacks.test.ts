/** Attacks through pools of a Balancer V2 vault, from the logs to the prices and values of the rows. */
import { doubtCodes } from '../../../src/domain/pools/doubts';
import { DAI, NATIVE, token } from '../../support/worlds/pools';
import {
  ONE,
  amountOutOf,
  REM,
  transfer,
  VAULT,
  VaultPoolScript,
  VaultWorld,
} from '../../simulation/chain/vaultWorld';

const HALF = [ONE / 2n, ONE / 2n];
const TRADER = token(901);
const FAKE_USDC = token(60);
const whole = (amount: number): bigint => BigInt(amount) * ONE;
/** Blocks after which a pool with trades of two makers can be trusted. */
const MATURE = 140;

/** A pool with equal weights of DAI and REM, which follows its weights. */
const honest = new VaultPoolScript('honest', [DAI, REM], HALF);

/** A world in which REM has an honest pool that trades with many makers. */
async function withHonestPool(size = 175_000): Promise<VaultWorld> {
  const world = new VaultWorld();
  await world.create(honest, [whole(size), whole(size)]);
  await trade(world, honest, size);
  await world.wait(MATURE);
  return world;
}

/** Two small trades there and back, by two makers. */
async function trade(world: VaultWorld, pool: VaultPoolScript, size: number): Promise<void> {
  const [a, b] = [pool.tokens[0]!, pool.tokens[1]!];
  const side = size * 1e18;
  const out = amountOutOf([side, side], [1, 1], 1e18);
  await world.mine([pool.swaps(a, b, ONE, out)]);
  const back = amountOutOf([side - Number(out), side + 1e18], [1, 1], Number(out));
  await world.mine([pool.swaps(b, a, out, back)]);
}

const doubtsOf = (world: VaultWorld, pool: VaultPoolScript): string[] =>
  doubtCodes(world.registry.findManyTokenPool(pool.address)!.state.doubts);

describe('asset managers of vault pools cannot make a price', () => {
  const managed = new VaultPoolScript('managed', [DAI, REM], HALF, undefined, [token(70), 0n]);

  it('a vault pool whose asset manager declares 3 million DAI backs no price', async () => {
    const world = await withHonestPool();
    const before = world.priceOf(REM);
    expect(before.usd).toBeCloseTo(1, 4);
    await world.create(managed, [whole(100), whole(1_000_000)]);
    await world.mine([managed.manages(DAI, 0n, whole(3_000_000))]);
    await trade(world, managed, 3_000_000);
    await world.wait(MATURE);
    expect(world.priceOf(REM)).toEqual(before);
    expect(doubtsOf(world, managed)).toContain('managed_balance');
  });

  it('the balances in rows are the cash of a vault pool, without balances that an asset manager declares', async () => {
    const world = new VaultWorld();
    await world.create(managed, [whole(100), whole(50)]);
    const declared = await world.mine([managed.manages(DAI, 0n, whole(3_000_000))]);
    expect(declared.pool_states.map(({ balances }) => balances)).toEqual([[whole(100), whole(50)]]);
    const taken = await world.mine([managed.manages(DAI, -whole(30), whole(30))]);
    expect(taken.pool_states.map(({ balances }) => balances)).toEqual([[whole(70), whole(50)]]);
  });

  it('a vault pool with an asset manager has a doubt in its row and in every state, and its swaps have no price', async () => {
    const world = new VaultWorld();
    const rows = await world.create(managed, [whole(100), whole(50)]);
    expect(rows.pools.map(({ doubts }) => doubtCodes(doubts))).toEqual([['managed_balance']]);
    const { swaps, pool_states: states } = await world.mine([managed.swaps(DAI, REM, ONE, ONE / 3n)]);
    expect(states.map(({ doubts, price }) => [doubtCodes(doubts), price])).toEqual([
      [['managed_balance'], 0],
    ]);
    expect(swaps.map(({ price }) => price)).toEqual([0]);
  });

  it('a vault pool with an asset manager gives no price to a token that copies the name of an anchor', async () => {
    const world = await withHonestPool();
    const impostor = new VaultPoolScript('impostor', [DAI, FAKE_USDC], HALF, undefined, [token(70), 0n]);
    await world.create(impostor, [whole(100), whole(100_000_000)]);
    await world.mine([impostor.manages(DAI, 0n, whole(100_000_000))]);
    await trade(world, impostor, 100_000_000);
    await world.wait(MATURE);
    expect(world.priceOf(FAKE_USDC)).toEqual({ usd: 0, confidence: 0 });
  });

  it('a declared balance puts a vault pool in doubt even if its registration named no asset manager', async () => {
    const world = new VaultWorld();
    const plain = new VaultPoolScript('plain', [DAI, NATIVE], HALF);
    await world.create(plain, [whole(60_000), whole(60_000)]);
    expect(world.priceOf(NATIVE).usd).toBeCloseTo(1, 9);
    await world.mine([plain.manages(DAI, 0n, 1n)]);
    expect([world.priceOf(NATIVE).usd, doubtsOf(world, plain)]).toEqual([0, ['managed_balance']]);
  });

  it('a vault pool loses its price in the block that registers a token again with an asset manager', async () => {
    const world = new VaultWorld();
    const plain = new VaultPoolScript('again', [DAI, NATIVE], HALF);
    await world.create(plain, [whole(60_000), whole(60_000)]);
    const { pool_states: states } = await world.mine([plain.registersTokens([0n, token(70)])]);
    expect(states.map(({ kind, doubts }) => [kind, doubtCodes(doubts)])).toEqual([
      ['register', ['managed_balance']],
    ]);
    expect(world.priceOf(NATIVE).usd).toBe(0);
  });
});

describe('vault pools with extreme terms make no price', () => {
  it('a vault pool with a weight below 1 % backs no price', async () => {
    const world = new VaultWorld();
    const thin = new VaultPoolScript('thin', [DAI, REM], [ONE / 100n - 1n, ONE - ONE / 100n + 1n]);
    const rows = await world.create(thin, [whole(600), whole(1_000)]);
    expect([world.priceOf(REM).usd, rows.pool_states.map(({ price }) => price)]).toEqual([0, [0]]);
    const fair = new VaultPoolScript('fair', [DAI, REM], [ONE / 100n, ONE - ONE / 100n]);
    await world.create(fair, [whole(60_000), whole(99_000)]);
    expect(world.priceOf(REM).usd).toBeCloseTo(60, 9);
  });

  it('a vault pool with a fee above 10 % backs no price, from the fee change on and for ever', async () => {
    const world = new VaultWorld();
    const pool = new VaultPoolScript('fees', [DAI, REM], HALF, ONE / 10n);
    await world.create(pool, [whole(60_000), whole(60_000)]);
    expect(world.priceOf(REM).usd).toBeCloseTo(1, 9);
    const { pool_states: states } = await world.mine([pool.changesFee(ONE)]);
    expect(states.map(({ kind, doubts }) => [kind, doubtCodes(doubts)])).toEqual([
      ['fee', ['extreme_terms']],
    ]);
    expect(world.priceOf(REM).usd).toBe(0);
    const lowered = await world.mine([pool.changesFee(ONE / 100n)]);
    expect([lowered.pool_states, world.priceOf(REM).usd]).toEqual([[], 0]);
  });
});

describe('vault pools make a price only if their swaps fit their weights', () => {
  it('a vault pool has no price from its first swap on that does not fit the weights', async () => {
    const world = await withHonestPool();
    const before = world.priceOf(REM);
    // The contract claims equal weights, and swaps as it likes.
    const liar = new VaultPoolScript('liar', [DAI, REM], HALF);
    await world.create(liar, [whole(900_000), whole(300_000)]);
    const { pool_states: states } = await world.mine([liar.swaps(REM, DAI, ONE, ONE)]);
    expect(states.map(({ doubts, price }) => [doubtCodes(doubts), price])).toEqual([
      [['weights_in_doubt'], 0],
    ]);
    await trade(world, liar, 600_000);
    await world.wait(MATURE);
    expect(world.priceOf(REM)).toEqual(before);
  });

  it('a vault pool keeps its price while its swaps fit the weights', async () => {
    const world = await withHonestPool();
    expect([doubtsOf(world, honest), world.priceOf(REM).usd > 0.99]).toEqual([[], true]);
  });

  it('a vault pool loses its doubt when a reorg removes the swap that did not fit the weights', async () => {
    const world = new VaultWorld();
    const liar = new VaultPoolScript('undone', [DAI, REM], HALF);
    await world.create(liar, [whole(900_000), whole(300_000)]);
    await world.mine([liar.swaps(REM, DAI, ONE, ONE)]);
    world.registry.rewindTo(1);
    expect(doubtsOf(world, liar)).toEqual([]);
  });
});

describe('the value of vault swaps is limited', () => {
  const SIZE = 175_000;
  const sumOf = (rows: { swaps: readonly { amount_usd: bigint }[] }): number =>
    rows.swaps.reduce((sum, { amount_usd: usd }) => sum + Number(usd) / 1e12, 0);

  /** Swaps that cancel out: the contract takes a huge amount for one raw unit, and gives it back for the same unit. */
  const wash = (pool: VaultPoolScript, times: number, amount: bigint) =>
    Array.from({ length: times }, (_, i) =>
      i % 2 === 0 ? pool.swaps(DAI, REM, amount, 1n) : pool.swaps(REM, DAI, 1n, amount),
    );

  it('all swaps of a transaction together are worth at most the cash of the vault pool before the transaction', async () => {
    const world = await withHonestPool(SIZE);
    const pool = new VaultPoolScript('wash', [DAI, REM], HALF);
    await world.create(pool, [whole(500), whole(500)]);
    const rows = await world.mine(wash(pool, 100, whole(1_000_000_000)));
    const cap = 500 * (1 + world.priceOf(REM).usd);
    expect(sumOf(rows)).toBeGreaterThan(0);
    expect(sumOf(rows)).toBeLessThanOrEqual(cap + 1e-6);
  });

  it('the limit for the value of vault swaps includes tokens that stayed in the vault, but no flash loan that came back', async () => {
    const world = await withHonestPool(SIZE);
    const pool = new VaultPoolScript('in', [DAI, REM], HALF);
    await world.create(pool, [whole(10), whole(10)]);
    const huge = whole(1_000_000_000);
    const cap = (kept: number): number => 10 * (1 + world.priceOf(REM).usd) + kept;
    const kept = await world.mine([transfer(DAI, TRADER, VAULT, whole(300)), ...wash(pool, 10, huge)]);
    expect(sumOf(kept)).toBeCloseTo(cap(300), 3);
    const flash = [transfer(DAI, VAULT, TRADER, whole(300)), transfer(DAI, TRADER, VAULT, whole(300))];
    expect(sumOf(await world.mine([...flash, ...wash(pool, 10, huge)]))).toBeCloseTo(cap(0), 3);
  });

  it('each transaction and each pool has a separate limit for the value of vault swaps', async () => {
    const world = await withHonestPool(SIZE);
    const pool = new VaultPoolScript('two', [DAI, REM], HALF);
    await world.create(pool, [whole(10), whole(10)]);
    const many = wash(pool, 10, whole(1_000));
    const cap = 10 * (1 + world.priceOf(REM).usd);
    expect(sumOf(await world.mine(many, many))).toBeCloseTo(2 * cap, 3);
    const side = SIZE * 1e18;
    const fair = honest.swaps(DAI, REM, whole(1_000), amountOutOf([side, side], [1, 1], 1e21));
    const mixed = await world.mine([...many, fair]);
    expect(sumOf(mixed)).toBeCloseTo(cap + 1_000, -1);
  });

  it('the value of an honest vault swap is unchanged', async () => {
    const world = await withHonestPool(SIZE);
    const side = SIZE * 1e18;
    const fair = honest.swaps(DAI, REM, whole(1_000), amountOutOf([side, side], [1, 1], 1e21));
    expect(sumOf(await world.mine([fair]))).toBeCloseTo(1_000, -1);
    expect(doubtsOf(world, honest)).toEqual([]);
  });
});
