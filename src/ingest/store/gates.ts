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
    writeHead: (flip, check) => pass({ kind: 'head', flip }, () => store.writeHead(flip, check)),
    writeRange: (seq, batch, replayed) =>
      pass({ kind: 'range', last: batch.range.last }, () => store.writeRange(seq, batch, replayed)),
    promote: (intent, commits, replayed) =>
      pass({ kind: 'range', last: { number: intent.to, hash: intent.toHash } }, () =>
        store.promote(intent, commits, replayed),
      ),
  };
}

/** Throws if the majority of the endpoints has another block. */
export type Confirm = (block: Pick<BlockRef, 'number' | 'hash'>) => Promise<void>;

/**
 * A gate through which blocks become final only if the majority of the endpoints has the last one of them. All blocks
 * before it follow by their parent hashes. `vote` throws if the majority of the endpoints has another block. `link` throws if the block is not on the
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
