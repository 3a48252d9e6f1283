/** Answers the readers' query read_head from the model: the last final block, and all rows of heights above
 * it. */
import type { HeadRow } from '../../../src/query/head/headState';
import type { Hex } from '../../../src/domain/hex';
import type { ModelEngine } from './modelEngine';

/** The row that read_head returns. Throws if no start block is stored. */
export function headRowOf(engine: ModelEngine): HeadRow {
  const donePromotions = engine.promotions
    .filter(({ status }) => status === 'done')
    .sort((a, b) => b.seq - a.seq);
  const [newest] = donePromotions;
  const first = donePromotions.at(-1);
  if (newest === undefined || first === undefined) throw new Error('the store has no start block');
  return {
    seq: newest.seq,
    final_to: newest.to,
    final_hash: newest.toHash as Hex,
    final_timestamp: newest.toTimestamp,
    start_block: first.from,
    logs_from: first.from,
    heights: engine.heights
      .filter(({ number }) => number > newest.to)
      .map(({ number, version, hash, parentHash, timestamp, commit, finalNumber, proof }) => [
        number,
        version,
        hash as Hex,
        parentHash as Hex,
        timestamp,
        commit,
        finalNumber,
        proof,
      ]),
  };
}
