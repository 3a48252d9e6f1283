/**
 * Camelot V2 pools through the whole program: real contracts on a node, ingest, API. Answers must equal what the contracts
 * say before and after a pool changes its curve, for pools seen from their creation and for older ones.
 */
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import {
  CAMELOT_PAIR,
  CAMELOT_TRADER,
  deployCamelot,
  type CamelotMarket,
} from '../../support/camelot/camelotMarket';
import { balancesOf, type MarketPool, type MarketToken } from '../../support/protocols/poolMarket';
import {
  expectBarsClose,
  expectFromLate,
  getPair,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';
import { quotedPrice } from '../../support/solidly/solidlyMarket';

let world: PoolWorld;
let market: CamelotMarket;
let program: Program;
/** Always volatile, with two fees; stable from its first block; changes its curve twice. */
let volatile: MarketPool;
let stable: MarketPool;
let switching: MarketPool;
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('camelot', describeMarket);
  market = await deployCamelot(world.anvil.rpc, [6, 18, 8, 0]);
  const [usd, native, third, fourth] = market.tokens as [MarketToken, MarketToken, MarketToken, MarketToken];
  volatile = await market.createPair(usd, native);
  stable = await market.createPair(usd, third);
  switching = await market.createPair(usd, fourth);
  setFees(volatile, usd, 100, 1_500);
  setStable(stable, true);
  mint(volatile, [usd, 4_000_000n], [native, 1_000_000n]);
  mint(stable, [usd, 900_000n], [third, 1_100_000n]);
  mint(switching, [usd, 2_000_000n], [fourth, 1_000_000n]);
  await market.mine();
  for (const pool of [volatile, stable, switching]) await trade(pool, 1_000n);
  setStable(switching, true);
  await market.mine();
  await world.grow();
  for (const pool of [volatile, stable, switching]) await trade(pool, 60n);
  head = await market.mine();
  program = await world.start(0);
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function describeMarket() {
  const [usd, native] = market.tokens;
  const dexes = [{ name: 'camelot', protocol: 'camelot_v2', factory: market.factory }];
  return { usd: usd!, native: native!, dexes };
}

function mint(pool: MarketPool, ...parts: readonly (readonly [MarketToken, bigint])[]): void {
  const amounts = [pool.token0, pool.token1].map((token) => {
    const [, tokens] = parts.find(([each]) => each.address === token.address)!;
    return tokens * 10n ** BigInt(token.decimals);
  });
  market.add(market.trader, CAMELOT_TRADER, 'mint', [pool.address, ...amounts]);
}

/** Sets the fees of swaps that pay in `token` and the other one, in units of 1/100,000. */
function setFees(pool: MarketPool, token: MarketToken, fee: number, otherFee: number): void {
  const isFirst = token.address === pool.token0.address;
  market.add(pool.address, CAMELOT_PAIR, 'setFeePercent', isFirst ? [fee, otherFee] : [otherFee, fee]);
}

const setStable = (pool: MarketPool, isStable: boolean): void =>
  market.add(pool.address, CAMELOT_PAIR, 'setStableSwap', [isStable]);

/** Swaps in both directions, in two blocks. */
async function trade({ address, token0, token1 }: MarketPool, tokens: bigint): Promise<void> {
  for (const [token, isToken0In] of [
    [token0, true],
    [token1, false],
  ] as const) {
    const values = [address, isToken0In, tokens * 10n ** BigInt(token.decimals), ZERO_ADDRESS];
    market.add(market.trader, CAMELOT_TRADER, 'swap', values);
    await market.mine();
  }
}

/** The contract's price in whole tokens, quote per base as the pair has them. */
async function expectedPrice(pool: MarketPool, base: string): Promise<number> {
  const reserves = await balancesOf(world.anvil.rpc, pool);
  const perRaw = await quotedPrice(world.anvil.rpc, pool, reserves);
  const price = perRaw * 10 ** (pool.token0.decimals - pool.token1.decimals);
  return base === pool.token0.address ? price : 1 / price;
}

async function expectTruth(
  from: Program,
  pool: MarketPool,
  type: number,
  feeBps: number,
): Promise<PairAnswer> {
  const pair = await getPair(from, pool);
  expect(pair).toMatchObject({ pool_type: type, fee_bps: feeBps });
  expect(off(pair.price, await expectedPrice(pool, pair.base_token.address))).toBeLessThan(1e-9);
  const reserves = await balancesOf(world.anvil.rpc, pool);
  expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual(reserves.map(String));
  return pair;
}

const expectAll = async (from: Program): Promise<void> => {
  // The larger fee of both directions.
  await expectTruth(from, volatile, 2, 150);
  await expectTruth(from, stable, 5, 30);
  await expectTruth(from, switching, 5, 30);
};

test('pools have the type, price, reserves and larger fee of their contracts', () => expectAll(program));

test('each swap has the type and price of its curve and the fee of its direction', async () => {
  const usd = market.tokens[0]!.address;
  const swaps = await listSwaps(program, volatile);
  expect(swaps.map(({ pool_type }) => pool_type)).toEqual([2, 2, 2, 2]);
  const paysUsd = ({ amount0, amount1 }: { amount0: string; amount1: string }): boolean =>
    Number(volatile.token0.address === usd ? amount0 : amount1) > 0;
  for (const swap of swaps.slice(0, 2))
    expect(off(swap.fee_usd, swap.amount_usd! * (paysUsd(swap) ? 0.001 : 0.015))).toBeLessThan(1e-6);
  const switched = await listSwaps(program, switching);
  expect(switched.map(({ pool_type }) => pool_type)).toEqual([5, 5, 2, 2]);
  expect(switched[0]!.price).toBe((await getPair(program, switching)).price);
  for (const pool of [volatile, switching]) await expectBarsClose(program, pool);
});

test('older pools have the same facts, and a restart keeps the curve and the fees', async () => {
  await expectFromLate(world, head - 1, 3, market.mine, expectAll);
  setStable(switching, false);
  await market.mine();
  await program.end('SIGTERM');
  program = await world.start(0);
  await trade(stable, 500n);
  await trade(volatile, 500n);
  await waitForBlock(program.url, await market.mine());
  await expectTruth(program, volatile, 2, 150);
  await expectTruth(program, stable, 5, 30);
  await expectTruth(program, switching, 2, 30);
  const [newest] = await listSwaps(program, volatile);
  const usdIn = volatile.token1.address === market.tokens[0]!.address;
  expect(off(newest!.fee_usd, newest!.amount_usd! * (usdIn ? 0.001 : 0.015))).toBeLessThan(1e-6);
});
