/** Recomputes the figures of the market endpoints from the random test chain with plain code. */
import type { PoolRow, PoolStateRow, SwapRow } from '../../../../src/clickhouse/schema/tables';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import type { World, WorldBlock } from '../../../support/worlds/world';
import { plainPrice, type PlainPrice } from '../../../support/worlds/worldPrices';

/** Rows of the canonical blocks, up to the snapshot's newest block. */
export function upTo<Row>(
  world: World,
  head: HeadSnapshot,
  pick: (block: WorldBlock) => readonly Row[],
): Row[] {
  return world.blocks.filter(({ number }) => number <= head.number).flatMap(pick);
}

/** Swaps later than `since`, up to and including `until`. */
export function swapsIn(world: World, head: HeadSnapshot, since: number, until = head.timestamp): SwapRow[] {
  return upTo(world, head, (block) => block.swaps).filter(
    ({ timestamp }) => timestamp > since && timestamp <= until,
  );
}

type UsdField = 'amount_usd' | 'untracked_usd' | 'fee_usd';

/** Fee of a swap in USD, times 10^12. */
export const feeOf = (swap: SwapRow): bigint => (swap.amount_usd * BigInt(swap.fee_pips)) / 1_000_000n;

/** The sum of a USD value over tracked swaps (with a trusted price). The fields of untracked volume sum over
 * the other swaps. */
export function sumUsd(swaps: readonly SwapRow[], field: UsdField): number {
  const counted = swaps.filter(({ tracked }) => tracked === (field !== 'untracked_usd'));
  return (
    Number(counted.reduce((sum, swap) => sum + (field === 'fee_usd' ? feeOf(swap) : swap[field]), 0n)) / 1e12
  );
}

export function decimalsOf(world: World, token: string): number {
  return world.tokens.find(({ address }) => address === token)!.decimals ?? 0;
}

export function priceNow(world: World, head: HeadSnapshot, token: string): PlainPrice {
  return plainPrice(world.blocks, head.number, token);
}

export const trusted = ({ usd, confidence }: PlainPrice): boolean => usd !== null && confidence >= 0.5;

/** TVL of raw reserves at current prices, in USD. */
function plainTvl(
  world: World,
  head: HeadSnapshot,
  pool: PoolRow,
  reserve0: number,
  reserve1: number,
): number {
  const sides = [
    { price: priceNow(world, head, pool.token0), whole: reserve0 / 10 ** decimalsOf(world, pool.token0) },
    { price: priceNow(world, head, pool.token1), whole: reserve1 / 10 ** decimalsOf(world, pool.token1) },
  ].filter(({ price }) => trusted(price));
  const sum = sides.reduce((total, { price, whole }) => total + whole * price.usd!, 0);
  return sides.length === 1 && pool.pool_type === 2 ? 2 * sum : sum;
}

export function statesOf(world: World, head: HeadSnapshot, pool: PoolRow): PoolStateRow[] {
  return upTo(world, head, (block) => block.states).filter(({ pair }) => pair === pool.address);
}

/** TVL of a pool at the snapshot, in USD. */
export function tvlNow(world: World, head: HeadSnapshot, pool: PoolRow): number {
  const now = statesOf(world, head, pool).at(-1);
  return now === undefined ? 0 : plainTvl(world, head, pool, Number(now.reserve0), Number(now.reserve1));
}

/**
 * LP fees over a window, in percent a year of the mean TVL. The TVL between two changes uses the pool's
 * balances at that time. Prices come from the last earlier swap of the window, or from its first swap, or
 * from now.
 */
export function plainApr(world: World, head: HeadSnapshot, pool: PoolRow, seconds: number, lpFees: number) {
  const since = head.timestamp - seconds;
  const states = statesOf(world, head, pool);
  const last = states.at(-1);
  if (last === undefined) return null;
  const tokens = [pool.token0, pool.token1] as const;
  const [d0, d1] = [decimalsOf(world, tokens[0]), decimalsOf(world, tokens[1])];
  const swaps = swapsIn(world, head, since).filter(({ pair, price }) => pair === pool.address && price > 0);
  /**
   * USD per whole token at a swap. The quote token's price follows from the base's USD price and the swap price, and
   * vice versa.
   */
  const usdAt = (swap: SwapRow, side: 0 | 1): number => {
    const ratio = swap.price * 10 ** (d0 - d1);
    const other = swap.base_is_token0 === (side === 0) ? swap.quote_price_usd : swap.price_usd;
    return side === 0 ? other * ratio : other / ratio;
  };
  const usdOf = (ord: number, side: 0 | 1): number => {
    const priced = swaps.filter((swap) => usdAt(swap, side) > 0);
    const swap = priced.filter((one) => one.ord <= ord).at(-1) ?? priced[0];
    return swap === undefined ? priceNow(world, head, tokens[side]).usd! : usdAt(swap, side);
  };
  const moments = [...states, ...swaps].sort((a, b) => a.ord - b.ord);
  const value = [0, 0];
  let held = 0;
  moments.forEach(({ ord, timestamp }, index) => {
    const end = Math.max(moments[index + 1]?.timestamp ?? head.timestamp, since);
    const lasts = end - Math.max(timestamp, since);
    const state = states.filter((one) => one.ord <= ord).at(-1) ?? states[0]!;
    held += lasts;
    value[0]! += usdOf(ord, 0) * (Number(state.reserve0) / 10 ** d0) * lasts;
    value[1]! += usdOf(ord, 1) * (Number(state.reserve1) / 10 ** d1) * lasts;
  });
  const sides = ([0, 1] as const).filter((side) => trusted(priceNow(world, head, tokens[side])));
  const sum = sides.reduce<number>((total, side) => total + value[side]! / held, 0);
  const whole = sides.length === 1 && pool.pool_type === 2 ? 2 * sum : sum;
  const tvl = held === 0 ? tvlNow(world, head, pool) : whole;
  return tvl === 0 ? null : ((lpFees * ((365 * 86_400) / seconds)) / tvl) * 100;
}

/** Whether both values are null, or equal up to a relative error. */
export function expectClose(
  got: string | number | null,
  wanted: string | number | null,
  tolerance = 1e-9,
): void {
  if (wanted === null || got === null) expect(got).toBe(wanted);
  else
    expect(Math.abs(Number(got) - Number(wanted))).toBeLessThanOrEqual(tolerance * Math.abs(Number(wanted)));
}

/** A change in percent. Near 0 and −100 the comparison uses the absolute error, because of float rounding. */
export function expectChange(got: number | null, now: number | null, before: number | null): void {
  if (now === null || before === null || before === 0) expect(got).toBeNull();
  else expect(Math.abs(got! / 100 + 1 - now / before)).toBeLessThanOrEqual(1e-9 * (now / before) + 1e-12);
}

/** The USD price that a change compares with: null if its confidence level is lower than that of the present price. */
export function likeWithLike(now: PlainPrice, then: PlainPrice): number | null {
  const rank = ({ confidence }: PlainPrice): number =>
    [0.9, 0.5, Number.MIN_VALUE].filter((limit) => confidence >= limit).length;
  return rank(then) < rank(now) ? null : then.usd;
}

/**
 * The USD price of the token that one swap implies. 0 if bars ignore this price or, with `countsIn` = `highs`, if highs
 * and lows ignore it.
 */
export function usdBySwap(swap: SwapRow, token: string, countsIn: 'bars' | 'highs'): number {
  const isToken0 = swap.token0 === token;
  const bit = (countsIn === 'bars' ? 1 : 4) * (isToken0 ? 1 : 2);
  if (Math.floor(swap.price_counts / bit) % 2 === 0) return 0;
  return isToken0 === swap.base_is_token0 ? swap.price_usd : swap.quote_price_usd;
}
