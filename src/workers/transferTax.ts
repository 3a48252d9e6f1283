/**
 * Measures the tax of a token from swaps. For a buy, compares the amount that left the pool with the amount
 * that arrived at the buyer. For a sale, compares the amount that the seller sent with the amount that
 * arrived at the pool. Pure.
 */
import type { Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';

/** Largest distance in logs between a transfer and the transfer of its tax. */
const NEAR_LOGS = 3;

/** The place of a log in the chain. */
interface LogPlace {
  /** Position of the log in the chain. */
  readonly ord: number;
  readonly txIndex: number;
}

/** One swap of the token. */
export interface MeasuredSwap extends LogPlace {
  readonly pair: Hex;
  readonly recipient: Hex;
  /** Amount of the token that the pool received, raw units; negative for a buy. */
  readonly amount: bigint;
}

/** One transfer of the token, in the transaction of a measured swap. */
export interface TaxedMove extends LogPlace {
  readonly sender: Hex;
  readonly recipient: Hex;
  readonly amount: bigint;
}

/** The median tax of one side, 0 to 1, and the number of swaps behind it. */
interface SideTax {
  readonly swaps: number;
  readonly tax: number;
}

/**
 * Measures the tax of buys and of sales. `moves` are in the order of their logs. Swaps without matching
 * transfers are ignored.
 */
export function measureTax(
  swaps: readonly MeasuredSwap[],
  moves: readonly TaxedMove[],
): { readonly buy: SideTax; readonly sell: SideTax } {
  const taxesBySide: Record<'buy' | 'sell', number[]> = { buy: [], sell: [] };
  const swapsByOrd = [...swaps].sort((a, b) => a.ord - b.ord);
  swapsByOrd.forEach((swap, index) => {
    const isOfTx = (other: LogPlace): boolean =>
      blockOfOrd(other.ord) === blockOfOrd(swap.ord) && other.txIndex === swap.txIndex;
    const previousSwap = swapsByOrd
      .slice(0, index)
      .findLast((other) => isOfTx(other) && other.pair === swap.pair);
    // A pool sends the bought tokens and takes the sold tokens before it emits the Swap log.
    const movesOfSwap = moves.filter(
      (move) => isOfTx(move) && move.ord < swap.ord && move.ord > (previousSwap?.ord ?? 0),
    );
    const tax = swap.amount < 0n ? buyTax(swap, movesOfSwap) : sellTax(swap, movesOfSwap);
    if (tax !== null) taxesBySide[swap.amount < 0n ? 'buy' : 'sell'].push(tax);
  });
  return { buy: sideOf(taxesBySide.buy), sell: sideOf(taxesBySide.sell) };
}

/** Returns the part of the bought amount that did not arrive at the recipient. */
function buyTax({ pair, recipient, amount }: MeasuredSwap, moves: readonly TaxedMove[]): number | null {
  const arrivedAmount = moves
    .filter((move) => move.sender === pair && move.recipient === recipient)
    .reduce((sum, move) => sum + move.amount, 0n);
  return arrivedAmount === 0n || arrivedAmount > -amount ? null : 1 - ratio(arrivedAmount, -amount);
}

/** Returns the part of the sent amount that did not arrive at the pool. */
function sellTax({ pair, amount }: MeasuredSwap, moves: readonly TaxedMove[]): number | null {
  const movesIntoPool = moves.filter((move) => move.recipient === pair && move.amount > 0n);
  const isTax = (move: TaxedMove): boolean =>
    move.recipient !== pair &&
    movesIntoPool.some(
      (poolMove) => poolMove.sender === move.sender && Math.abs(poolMove.ord - move.ord) <= NEAR_LOGS,
    );
  const sumAmounts = (someMoves: readonly TaxedMove[]): bigint =>
    someMoves.reduce((total, move) => total + move.amount, 0n);
  const sentAmount = sumAmounts(movesIntoPool) + sumAmounts(moves.filter(isTax));
  return amount <= 0n || movesIntoPool.length === 0 || amount > sentAmount
    ? null
    : 1 - ratio(amount, sentAmount);
}

function sideOf(sideTaxes: readonly number[]): SideTax {
  const sortedTaxes = [...sideTaxes].sort((a, b) => a - b);
  return { swaps: sideTaxes.length, tax: sortedTaxes[sortedTaxes.length >> 1] ?? 0 };
}

/** The ratio of two amounts, cut to nine decimal places. */
const ratio = (part: bigint, whole: bigint): number => Number((part * 1_000_000_000n) / whole) / 1e9;
