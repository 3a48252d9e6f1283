/**
 * Computes how a swap of a bin pool of PancakeSwap Infinity changed each bin. Its event names only the sums, but the bins before
 * it determine the rest: BinPool.swap, BinHelper.sol and FeeHelper.sol of pancakeswap/infinity-core.
 */
import type { BinMove } from '../../domain/pools/binMoves';
import { exactBinPrice } from '../liquidityBook/binPrice';
import type { BinMap } from './binMap';

const PRICE_BITS = 128n;
const PRICE_ONE = 1n << PRICE_BITS;
const PIPS = 1_000_000n;
/**
 * Largest raw reserves of a bin that a swap skips, in the order in which a replay tries them; -1 skips no bin. Swaps skip a bin
 * whose last shares were burned, and no event names such bins. 1,000 shares stay locked in the bin. They are worth one unit of
 * each token, and at most one more each time that all other shares are burned. With a wrong bound, the sums of a swap differ,
 * or the next bin gets a few units too many.
 */
const DUST = [1_000n, 16n, -1n];

/** Bits of the id of a bin. */
const ID_BITS = 24n;

interface BinSwap {
  /** Changes of the pool's balances, positive into the pool, with all fees. */
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** The active bins before and after. */
  readonly from: number;
  readonly to: number;
  /** The whole fee, and the protocol's part of it, which leaves the bins. */
  readonly feePips: bigint;
  readonly protocolPips: bigint;
}

/** Packs the numbers that a replay needs, and that the row of the swap does not have, into one number. */
export function packReplay(protocolPips: bigint, from: number): bigint {
  return (protocolPips << ID_BITS) | BigInt(from);
}

export function unpackReplay(packed: bigint): Pick<BinSwap, 'protocolPips' | 'from'> {
  return { protocolPips: packed >> ID_BITS, from: Number(BigInt.asUintN(Number(ID_BITS), packed)) };
}

interface Step {
  readonly paid: bigint;
  readonly out: bigint;
  readonly fee: bigint;
}

/** Null unless the swap ends exactly with the amounts and in the bin of the event. */
export function replaySwap(bins: BinMap, swap: BinSwap): BinMove[] | null {
  const { amount0, amount1, from, to, feePips } = swap;
  if (amount0 === 0n && amount1 === 0n) return from === to ? [] : null;
  if (amount0 > 0n === amount1 > 0n || feePips >= PIPS) return null;
  for (const dust of DUST) {
    const path = listPath(bins, swap, dust);
    for (const isExactIn of [true, false]) {
      const moves = follow(bins, swap, path, isExactIn);
      if (moves !== null) return moves;
    }
  }
  return null;
}

/** The bins from the first to the last one, in the direction of the swap. */
function listPath(bins: BinMap, { amount0, from, to }: BinSwap, dust: bigint): number[] {
  const sign = amount0 > 0n ? -1 : 1;
  const isDust = (id: number): boolean => {
    const { amount0: x, amount1: y } = bins.reservesOf(id);
    return x <= dust && y <= dust;
  };
  const later = bins.ids().filter((id) => (id - from) * sign > 0 && (to - id) * sign >= 0 && !isDust(id));
  return [from, ...later.sort((a, b) => (a - b) * sign)];
}

function follow(
  bins: BinMap,
  { amount0, amount1, to, feePips, protocolPips }: BinSwap,
  path: readonly number[],
  isExactIn: boolean,
): BinMove[] | null {
  const isToken0In = amount0 > 0n;
  const [paid, out] = isToken0In ? [amount0, -amount1] : [amount1, -amount0];
  const moves: BinMove[] = [];
  let [left, other] = [isExactIn ? paid : out, 0n];
  for (const id of path) {
    const price = exactBinPrice(id, bins.binStep);
    const { amount0: x, amount1: y } = bins.reservesOf(id);
    const reserve = isToken0In ? y : x;
    if (price === 0n) return null;
    if (reserve > 0n) {
      const quote = isExactIn ? quoteIn : quoteOut;
      const step = quote({ reserve, left, price, isToken0In, feePips });
      left -= isExactIn ? step.paid : step.out;
      other += isExactIn ? step.out : step.paid;
      const kept = feePips === 0n ? 0n : (step.fee * protocolPips) / feePips;
      const [stayed, gone] = [step.paid - kept, -step.out];
      const [move0, move1] = isToken0In ? [stayed, gone] : [gone, stayed];
      if (step.paid > 0n) moves.push({ id, amount0: move0, amount1: move1 });
    }
    if (left === 0n) return id === to && other === (isExactIn ? out : paid) ? moves : null;
  }
  return null;
}

interface Quoted {
  /** What the bin has of the token that leaves. */
  readonly reserve: bigint;
  /** What is left of the amount that the trader named. */
  readonly left: bigint;
  readonly price: bigint;
  readonly isToken0In: boolean;
  readonly feePips: bigint;
}

/** BinHelper.getAmountsOut: the trader named what is paid. */
function quoteIn({ reserve, left, price, isToken0In, feePips }: Quoted): Step {
  const most = quoteOut({ reserve, left: reserve, price, isToken0In, feePips });
  if (left >= most.paid) return most;
  const fee = divideUp(left * feePips, PIPS);
  const net = left - fee;
  const out = isToken0In ? (net * price) >> PRICE_BITS : (net << PRICE_BITS) / price;
  return { paid: left, out: out > reserve ? reserve : out, fee };
}

/** BinHelper.getAmountsIn: the trader named what is paid out. */
function quoteOut({ reserve, left, price, isToken0In, feePips }: Quoted): Step {
  const out = reserve > left ? left : reserve;
  const net = isToken0In ? divideUp(out << PRICE_BITS, price) : divideUp(out * price, PRICE_ONE);
  const fee = divideUp(net * feePips, PIPS - feePips);
  return { paid: net + fee, out, fee };
}

function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
