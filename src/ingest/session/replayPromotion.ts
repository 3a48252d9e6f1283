/** Finishes a promotion that an earlier run of the program left unfinished. */
import type { BlockRef } from '../../domain/block';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import type { Cursor, OpenIntent, Store, StoredState } from '../store/store';
import { beginWork, endWork, type IngestStatus } from './status';

interface ReplayDeps {
  readonly store: Pick<Store, 'promote' | 'loadState'>;
  readonly status: IngestStatus;
  readonly log: Logger;
  readonly now: () => number;
}

export function baseOf(cursor: Cursor): BlockRef {
  const { number, hash, timestamp } = cursor;
  // The parent hash is a placeholder. Nothing reads it for the last final block.
  return { number, hash, parentHash: hash, timestamp };
}

export async function replayPromotion(
  deps: ReplayDeps,
  stored: StoredState,
  intent: OpenIntent,
): Promise<StoredState> {
  deps.log.warn({ from: intent.from, to: intent.to }, 'replaying an unfinished promotion');
  const blocks = stored.head.filter((block) => block.number >= intent.from && block.number <= intent.to);
  if (blocks.at(-1)?.hash !== intent.toHash || blocks.length !== intent.to - intent.from + 1) {
    throw new AppError(
      'broken_invariant',
      `the head tables do not contain blocks ${intent.from}-${intent.to} of an unfinished promotion`,
    );
  }
  beginWork(deps.status, { kind: 'promotion', from: intent.from, to: intent.to }, deps.now());
  await deps.store.promote(
    intent,
    blocks.map((block) => block.commit),
    true,
  );
  endWork(deps.status, 'promotion');
  const stateAfter = await deps.store.loadState();
  if (stateAfter === null) throw new AppError('broken_invariant', 'the cursor is missing after a promotion');
  return stateAfter;
}
