/** What differs between two heads of one chain. Pure. */
import type { Hex } from '../hex';
import type { HeadBlock } from './foldHead';

/** The last final block, and the blocks above. */
interface Chain {
  readonly finalTo: number;
  /** Hash of the newest block. */
  readonly hash: Hex;
  readonly blocks: readonly HeadBlock[];
}

export interface HeadDiff {
  /** The newest block of both. Null if the last final block of one is not among the blocks of the other. */
  readonly fork: number | null;
  /** Blocks with rows that only the first head has, ascending. Blocks that the second has as final blocks count only
   * without a fork. */
  readonly gone: readonly HeadBlock[];
  /** Blocks with rows that only the second head has, ascending. */
  readonly come: readonly HeadBlock[];
}

export function diffHeads(old: Chain, next: Chain): HeadDiff {
  const floor = Math.max(old.finalTo, next.finalTo);
  const isShared = hashAt(old, floor) === hashAt(next, floor);
  const blocksOnlyIn = (one: Chain, other: Chain): HeadBlock[] => {
    const commits = new Set(other.blocks.map(({ commit }) => commit));
    return one.blocks.filter(({ number, commit }) => (!isShared || number > floor) && !commits.has(commit));
  };
  const common = old.blocks.findLast(({ number, hash }) => number > floor && hashAt(next, number) === hash);
  return {
    fork: isShared ? (common?.number ?? floor) : null,
    gone: blocksOnlyIn(old, next),
    come: blocksOnlyIn(next, old),
  };
}

/** The hash of a block from the last final block on; null above the head. */
function hashAt({ finalTo, hash, blocks }: Chain, number: number): Hex | null {
  if (number === finalTo) return blocks[0]?.parentHash ?? hash;
  return blocks[number - finalTo - 1]?.hash ?? null;
}
