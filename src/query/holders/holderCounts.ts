/**
 * Counts the holders of one token, and updates the count by single balance changes. A token with a million
 * holders is counted once; later heads only apply changes. Pure.
 */
import { address, array, i256, u64 } from '../../clickhouse/rows/columns';
import { rowType, tuple, type RowOf } from '../../clickhouse/rows/rowType';

/**
 * Answers show the largest 40 balances. The query returns 64, so that some may leave the list before the token must
 * be counted again.
 */
const LARGEST_SHOWN = 40;
const LARGEST_COUNTED = 64;

/** Holders of one token. Amounts are raw. */
export interface TokenHolding {
  /** Number of addresses with a positive balance, without the zero address. */
  readonly holders: number;
  /** Minted minus burnt; null if the logs do not add up, because an address sent more than it received. */
  readonly supply: bigint | null;
  /** Balances of the watched holders, by address. A holder that never had the token may be missing. */
  readonly watched: ReadonlyMap<string, bigint>;
  /** Balance of the zero address, for LP tokens of a constant-product pool. It is part of the supply. Absent means 0. */
  readonly atZero?: bigint;
  /** The largest balances, at most 40, descending. */
  readonly largest: readonly bigint[];
  /** Number of addresses that ever held the token. It determines the cost of a count. */
  readonly addresses: number;
}

export interface HolderCount extends TokenHolding {
  /** Number of addresses with a negative balance. */
  readonly negatives: number;
  /** Balance of the zero address, which is the negative of the supply. */
  readonly zero: bigint;
  /** Every balance above `smallestKept`, descending; null if not all are known. */
  readonly top: readonly bigint[] | null;
  readonly smallestKept: bigint;
}

/** A row of count_holders.sql. */
export const countedRow = rowType({
  token: address,
  holders: u64,
  negatives: u64,
  addresses: u64,
  zero_balance: i256,
  watched: array(tuple(address, i256)),
  largest: array(i256),
});

/** One address whose balance changed. */
export interface HolderChange {
  readonly holder: string;
  readonly before: bigint;
  readonly after: bigint;
}

const ZERO_HOLDER = `0x${'0'.repeat(40)}`;

export function countOf(row: Omit<RowOf<typeof countedRow>, 'token'>): HolderCount {
  const { holders, negatives, addresses, zero_balance: zero, largest: balances } = row;
  // At this limit, addresses outside the list may have the same balance as its last item. The list is complete only
  // above that balance.
  const smallestKept = balances.length < LARGEST_COUNTED ? 0n : (balances.at(-1) ?? 0n);
  const watched = new Map<string, bigint>(row.watched);
  const top = completeTop(
    balances.filter((balance) => balance > smallestKept),
    smallestKept,
  );
  const largest = balances.slice(0, LARGEST_SHOWN);
  return {
    holders,
    negatives,
    addresses,
    zero,
    watched,
    top,
    smallestKept,
    largest,
    supply: supplyOf(zero, negatives),
  };
}

function supplyOf(zero: bigint, negatives: number): bigint | null {
  return negatives > 0 || zero > 0n ? null : -zero;
}

function completeTop(top: readonly bigint[], smallestKept: bigint): readonly bigint[] | null {
  return smallestKept === 0n || top.length >= LARGEST_SHOWN ? top : null;
}

/**
 * The count after the changes. Null if too many of the largest balances left the list, and the token must be counted
 * again. `isWatched` says whose balances the count keeps.
 */
export function moveCount(
  count: HolderCount,
  changes: readonly HolderChange[],
  isWatched: (holder: string) => boolean,
): HolderCount | null {
  let { holders, negatives, zero } = count;
  const { smallestKept } = count;
  const watched = new Map(count.watched);
  if (count.top === null) return null;
  const topBalances = [...count.top];
  for (const { holder, before, after } of changes) {
    if (holder === ZERO_HOLDER) {
      zero += after - before;
      continue;
    }
    if (isWatched(holder)) watched.set(holder, after);
    holders += Number(after > 0n) - Number(before > 0n);
    negatives += Number(after < 0n) - Number(before < 0n);
    if (before > smallestKept) topBalances.splice(indexOfBalance(topBalances, before), 1);
    if (after > smallestKept) topBalances.splice(indexOfBalance(topBalances, after), 0, after);
  }
  const keptBalances = completeTop(topBalances, smallestKept);
  if (keptBalances === null) return null;
  const supply = supplyOf(zero, negatives);
  // Limits the length of the list, for a token with many new large holders.
  const keptTop =
    keptBalances.length <= 4 * LARGEST_COUNTED
      ? { top: keptBalances, smallestKept }
      : keepLargest(keptBalances);
  const largest = keptBalances.slice(0, LARGEST_SHOWN);
  return { ...count, ...keptTop, holders, negatives, zero, watched, supply, largest };
}

/** Keeps only the largest balances. */
function keepLargest(top: readonly bigint[]): Pick<HolderCount, 'top' | 'smallestKept'> {
  const smallestKept = top[LARGEST_COUNTED] ?? 0n;
  return {
    smallestKept,
    top: completeTop(
      top.filter((balance) => balance > smallestKept),
      smallestKept,
    ),
  };
}

/** Index of the first balance not larger than `balance` in a descending list. */
function indexOfBalance(top: readonly bigint[], balance: bigint): number {
  let [low, high] = [0, top.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((top[middle] ?? 0n) > balance) low = middle + 1;
    else high = middle;
  }
  return low;
}
