/**
 * A gate through which blocks become final only if the majority of the endpoints has the last one of them. All blocks
 * before it follow by their parent hashes.
 */
import type { BlockRef } from '../../domain/block';
import type { Gate } from './gates';

/** Throws if the majority of the endpoints has another block. */
export type Confirm = (block: Pick<BlockRef, 'number' | 'hash'>) => Promise<void>;

/**
 * `vote` throws if the majority of the endpoints has another block. `link` throws if the block is not on the
 * chain of TRUSTED_BLOCK. The block before the first stored block is checked only by `vote`, because no block is
 * proven at that time.
 */
export function confirmGate(vote: Confirm, link: Confirm): Gate {
  let isNew = false;
  return {
    async before(commit) {
      if (commit.kind === 'start') return vote(commit.base);
      // Later blocks are confirmed when they become final: at the head, endpoints may differ for a moment.
      const block = commit.kind === 'range' ? commit.last : isNew ? commit.flip.canonical[0] : undefined;
      if (block !== undefined) {
        await vote(block);
        await link(block);
      }
      isNew = false;
    },
    after({ kind }) {
      if (kind === 'start') isNew = true;
    },
  };
}
