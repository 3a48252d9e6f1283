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
interface Placed {
  /** Position of the log in the chain. */
  readonly ord: number;
  readonly txIndex: number;
}

/** One swap of the token. */
export interface MeasuredSwap extends Placed {
  readonly pair: Hex;
  readonly recipient: Hex;
  /** Amount of the token that the pool received, raw units; negative for a buy. */
  readonly amount: bigint;
}

/** One transfer of the token, in the transaction of a measured swap. */
export interface TaxedMove extends Placed {
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
  const taxes: Record<'buy' | 'sell', number[]> = { buy: [], sell: [] };
  const byOrd = [...swaps].sort((a, b) => a.ord - b.ord);
  byOrd.forEach((swap, index) => {
    const isOfTx = (other: Placed): boolean =>
      blockOfOrd(other.ord) === blockOfOrd(swap.ord) && other.txIndex === swap.txIndex;
    const last = byOrd.slice(0, index).findLast((other) => isOfTx(other) && other.pair === swap.pair);
    // A pool sends the bought tokens and takes the sold tokens before it emits the Swap log.
    const own = moves.filter((move) => isOfTx(move) && move.ord < swap.ord && move.ord > (last?.ord ?? 0));
    const tax = swap.amount < 0n ? buyTax(swap, own) : sellTax(swap, own);
    if (tax !== null) taxes[swap.amount < 0n ? 'buy' : 'sell'].push(tax);
  });
  return { buy: sideOf(taxes.buy), sell: sideOf(taxes.sell) };
}

/** Returns the part of the bought amount that did not arrive at the recipient. */
function buyTax({ pair, recipient, amount }: MeasuredSwap, moves: readonly TaxedMove[]): number | null {
  const arrived = moves
    .filter((move) => move.sender === pair && move.recipient === recipient)
    .reduce((sum, move) => sum + move.amount, 0n);
  return arrived === 0n || arrived > -amount ? null : 1 - ratio(arrived, -amount);
}

/** Returns the part of the sent amount that did not arrive at the pool. */
function sellTax({ pair, amount }: MeasuredSwap, moves: readonly TaxedMove[]): number | null {
  const into = moves.filter((move) => move.recipient === pair && move.amount > 0n);
  const isTax = (move: TaxedMove): boolean =>
    move.recipient !== pair &&
    into.some((main) => main.sender === move.sender && Math.abs(main.ord - move.ord) <= NEAR_LOGS);
  const sum = (some: readonly TaxedMove[]): bigint => some.reduce((total, move) => total + move.amount, 0n);
  const sent = sum(into) + sum(moves.filter(isTax));
  return amount <= 0n || into.length === 0 || amount > sent ? null : 1 - ratio(amount, sent);
}

function sideOf(taxes: readonly number[]): SideTax {
  const sorted = [...taxes].sort((a, b) => a - b);
  return { swaps: taxes.length, tax: sorted[sorted.length >> 1] ?? 0 };
}

/** The ratio of two amounts, cut to nine decimal places. */
const ratio = (part: bigint, whole: bigint): number => Number((part * 1_000_000_000n) / whole) / 1e9;
