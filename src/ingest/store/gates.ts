/** Gates around the writes of a store that make blocks visible or final. A gate can delay or refuse a write, or learn of it. */
import type { BlockRef } from '../../domain/block';
import type { Store, StoredFlip } from './store';

/** A write of the store: the start, a change of the head, or a range of final blocks that ends with `last`. */
type Commit =
  | { readonly kind: 'start'; readonly base: BlockRef }
  | { readonly kind: 'head'; readonly flip: StoredFlip }
  | { readonly kind: 'range'; readonly last: Pick<BlockRef, 'number' | 'hash'> };

export interface Gate {
  /** If it rejects, nothing is written. */
  readonly before?: (commit: Commit) => Promise<void>;
  /** Runs when the write is stored. */
  readonly after?: (commit: Commit) => void;
}

/** A store whose writes pass the gates, in their order. */
export function gatedStore(store: Store, gates: readonly Gate[]): Store {
  const pass = async <T>(commit: Commit, write: () => Promise<T>): Promise<T> => {
    for (const { before } of gates) await before?.(commit);
    const result = await write();
    for (const { after } of gates) after?.(commit);
    return result;
  };
  return {
    ...store,
    writeStart: (base) => pass({ kind: 'start', base }, () => store.writeStart(base)),
    writeHead: (flip) => pass({ kind: 'head', flip }, () => store.writeHead(flip)),
    writeRange: (seq, batch, replayed) =>
      pass({ kind: 'range', last: batch.range.last }, () => store.writeRange(seq, batch, replayed)),
    promote: (intent, commits, replayed) =>
      pass({ kind: 'range', last: { number: intent.to, hash: intent.toHash } }, () =>
        store.promote(intent, commits, replayed),
      ),
  };
}
