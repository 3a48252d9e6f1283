/**
 * Who holds one token, as counts that can follow single changes: a token with a million holders is counted once, and then
 * moves with those whose balance moved. Pure.
 */

/** The largest balances that answers show; and that the counting query gives, so that some may fall out again. */
export const LARGEST_SHOWN = 40;
const LARGEST_COUNTED = 64;

/** Who holds one token, in raw units. */
export interface TokenHolding {
  /** Addresses with a balance above zero, the zero address left out. */
  readonly holders: number;
  /** What was minted and not burnt; null where the logs do not add up: somebody sent what it never got. */
  readonly supply: bigint | null;
  /** What lies at 0x…dEaD: out of reach, yet part of the supply. */
  readonly dead: bigint;
  /** The largest balances, at most forty, falling. */
  readonly largest: readonly bigint[];
  /** Addresses that ever held it: what counting it costs. */
  readonly addresses: number;
}

export interface HolderCount extends TokenHolding {
  /** Addresses with a balance below zero. */
  readonly negatives: number;
  /** Of the zero address: minus what is out. */
  readonly zero: bigint;
  /** Every balance above `floor`, falling; null: those are not all known. */
  readonly top: readonly bigint[] | null;
  readonly floor: bigint;
}

/** What a counting query answers. */
export interface CountedHolders {
  readonly holders: number;
  readonly negatives: number;
  readonly addresses: number;
  readonly zero_balance: string;
  readonly dead_balance: string;
  readonly largest: readonly string[];
}

/** One address whose balance moved. */
export interface HolderChange {
  readonly holder: string;
  readonly before: bigint;
  readonly after: bigint;
}

export const ZERO_HOLDER = `0x${'0'.repeat(40)}`;
export const DEAD_HOLDER = '0x000000000000000000000000000000000000dead';

export function countOf(row: CountedHolders): HolderCount {
  const all = row.largest.map(BigInt);
  // Of balances like the last one there may be more.
  const floor = all.length < LARGEST_COUNTED ? 0n : (all.at(-1) ?? 0n);
  const { holders, negatives, addresses } = row;
  const zero = BigInt(row.zero_balance);
  const dead = BigInt(row.dead_balance);
  const top = topOrNull(
    all.filter((balance) => balance > floor),
    floor,
  );
  const largest = all.slice(0, LARGEST_SHOWN);
  return {
    holders,
    negatives,
    addresses,
    zero,
    dead,
    top,
    floor,
    largest,
    supply: supplyOf(zero, negatives),
  };
}

function supplyOf(zero: bigint, negatives: number): bigint | null {
  return negatives > 0 || zero > 0n ? null : -zero;
}

function topOrNull(top: readonly bigint[], floor: bigint): readonly bigint[] | null {
  return floor === 0n || top.length >= LARGEST_SHOWN ? top : null;
}

/** The count after the changes; null: too many of the largest are gone, it has to be counted anew. */
export function moveCount(count: HolderCount, changes: readonly HolderChange[]): HolderCount | null {
  let { holders, negatives, zero, dead } = count;
  const { floor } = count;
  if (count.top === null) return null;
  const top = [...count.top];
  for (const { holder, before, after } of changes) {
    if (holder === ZERO_HOLDER) {
      zero += after - before;
      continue;
    }
    if (holder === DEAD_HOLDER) dead += after - before;
    holders += Number(after > 0n) - Number(before > 0n);
    negatives += Number(after < 0n) - Number(before < 0n);
    if (before > floor) top.splice(placeOf(top, before), 1);
    if (after > floor) top.splice(placeOf(top, after), 0, after);
  }
  const known = topOrNull(top, floor);
  if (known === null) return null;
  const supply = supplyOf(zero, negatives);
  // A token that all hold would keep all of them.
  const kept = known.length <= 4 * LARGEST_COUNTED ? { top: known, floor } : cutTop(known);
  const largest = known.slice(0, LARGEST_SHOWN);
  return { ...count, ...kept, holders, negatives, zero, dead, supply, largest };
}

/** The largest alone. */
function cutTop(top: readonly bigint[]): Pick<HolderCount, 'top' | 'floor'> {
  const floor = top[LARGEST_COUNTED] ?? 0n;
  return {
    floor,
    top: topOrNull(
      top.filter((balance) => balance > floor),
      floor,
    ),
  };
}

/** Place of the first balance that is not larger, among falling ones. */
function placeOf(top: readonly bigint[], balance: bigint): number {
  let [low, high] = [0, top.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((top[middle] ?? 0n) > balance) low = middle + 1;
    else high = middle;
  }
  return low;
}
