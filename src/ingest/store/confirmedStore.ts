/**
 * Wraps a store so that blocks become final only if the majority of the endpoints has the last one of them. All blocks
 * before it follow by their parent hashes.
 */
import type { BlockRef } from '../../domain/block';
import type { Store } from './store';

/** Throws if the majority of the endpoints has another block. */
export type Confirm = (block: Pick<BlockRef, 'number' | 'hash'>) => Promise<void>;

/**
 * `vote` throws if the majority of the endpoints has another block. `link` throws if the block is not on the
 * chain of TRUSTED_BLOCK. The block before the first stored block is checked only by `vote`, because no block is
 * proven at that time.
 */
export function confirmedStore(store: Store, vote: Confirm, link: Confirm): Store {
  let isNew = false;
  const confirm: Confirm = async (block) => {
    await vote(block);
    await link(block);
  };
  return {
    ...store,
    async writeStart(base) {
      await vote(base);
      await store.writeStart(base);
      isNew = true;
    },
    async writeRange(seq, batch, replayed) {
      await confirm(batch.range.last);
      isNew = false;
      return store.writeRange(seq, batch, replayed);
    },
    async promote(intent, commits, replayed) {
      await confirm({ number: intent.to, hash: intent.toHash });
      return store.promote(intent, commits, replayed);
    },
    async writeHead(flip) {
      // Later blocks are confirmed when they become final: at the head, endpoints may differ for a moment.
      const [first] = flip.canonical;
      if (isNew && first !== undefined) await confirm(first);
      isNew = false;
      await store.writeHead(flip);
    },
  };
}
