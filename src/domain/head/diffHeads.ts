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

export function diffHeads(oldHead: Chain, newHead: Chain): HeadDiff {
  const finalFloor = Math.max(oldHead.finalTo, newHead.finalTo);
  const isShared = hashAt(oldHead, finalFloor) === hashAt(newHead, finalFloor);
  const blocksOnlyIn = (chain: Chain, otherChain: Chain): HeadBlock[] => {
    const commits = new Set(otherChain.blocks.map(({ commit }) => commit));
    return chain.blocks.filter(
      ({ number, commit }) => (!isShared || number > finalFloor) && !commits.has(commit),
    );
  };
  const newestShared = oldHead.blocks.findLast(
    ({ number, hash }) => number > finalFloor && hashAt(newHead, number) === hash,
  );
  return {
    fork: isShared ? (newestShared?.number ?? finalFloor) : null,
    gone: blocksOnlyIn(oldHead, newHead),
    come: blocksOnlyIn(newHead, oldHead),
  };
}

/** The hash of a block from the last final block on; null above the head. */
function hashAt({ finalTo, hash, blocks }: Chain, number: number): Hex | null {
  if (number === finalTo) return blocks[0]?.parentHash ?? hash;
  return blocks[number - finalTo - 1]?.hash ?? null;
}
