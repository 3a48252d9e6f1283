/**
 * Wraps a store so that blocks become final only if the majority of the endpoints has the last one of them. All blocks
 * before it follow by their parent hashes.
 */
import type { BlockRef } from '../../domain/block';
import type { Store } from './store';

/** Throws if the majority of the endpoints has another block. */
export type Confirm = (block: Pick<BlockRef, 'number' | 'hash'>) => Promise<void>;

export function confirmedStore(store: Store, confirm: Confirm): Store {
  let isNew = false;
  return {
    ...store,
    async writeStart(base) {
      await confirm(base);
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
