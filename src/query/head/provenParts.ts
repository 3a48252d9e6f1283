/** Reads which part of the stored chain is proven at which level. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { PROOF_LEVELS } from '../../domain/block';
import { steadyNow } from '../../domain/steadyTime';
import {
  findNewestPart,
  findProvenPart,
  PROOF_ROWS_MAX,
  proofRow,
  toProofRanges,
  withHead,
  type ProofRange,
  type ProvenPart,
} from '../../clickhouse/schema/proofRanges';
import type { Proof } from '../../wire/proof';
import type { HeadSnapshot } from './headSnapshot';

/** Time in ms after which the levels of final blocks are read again, because a repair may have changed them. */
const KEEP_MS = 5_000;
/** Longest wait in ms for the database. */
const WAIT_MS = 500;

/** The levels of the final blocks of the snapshot. */
async function readFinal(
  runner: QueryRunner,
  chainId: number,
  { finalTo }: HeadSnapshot,
): Promise<readonly ProofRange[]> {
  const params = { chain: chainId, final_to: finalTo, levels: PROOF_LEVELS, limit: PROOF_ROWS_MAX };
  return toProofRanges(await runner.run('head/list_proof_changes', params, proofRow), finalTo);
}

function storedOf({ startBlock, number }: HeadSnapshot): { start: number; head: number } {
  return { start: startBlock, head: number };
}

/** Converts a part to the fields that answers show. Without a part, all fields are null. */
function toProof(part: ProvenPart | null): Proof {
  return { level: part?.level ?? null, proven_from: part?.from ?? null, proven_to: part?.to ?? null };
}

/**
 * The newest part of the stored chain in which every block has at least the newest block's level of proof.
 */
export async function readProof(runner: QueryRunner, chainId: number, head: HeadSnapshot): Promise<Proof> {
  const ranges = withHead(await readFinal(runner, chainId, head), head.blocks);
  return toProof(findNewestPart(ranges, storedOf(head)));
}

/** The proven parts of the current head. If the database does not answer soon, the last answer counts. */
export interface ProvenParts {
  /**
   * The newest part of the stored chain in which every block has at least the newest block's level of proof.
   */
  newest(head: HeadSnapshot | null): Promise<Proof>;
  /** The newest part of each level that any block has. */
  all(head: HeadSnapshot | null): Promise<ProvenPart[]>;
}

interface Known {
  readonly ranges: readonly ProofRange[];
  readonly stored: { readonly start: number; readonly head: number };
}

/**
 * For /readyz and /metrics: answers also while the database hangs, and limits how often the database is read.
 */
export function createProvenParts(runner: QueryRunner, chainId: number): ProvenParts {
  let final: { readonly to: number; readonly ms: number; readonly ranges: readonly ProofRange[] } | null =
    null;
  let reading: Promise<void> | null = null;
  let known: Known | null = null;
  const refresh = async (head: HeadSnapshot): Promise<Known | null> => {
    if (final?.to !== head.finalTo || steadyNow() - final.ms >= KEEP_MS) {
      reading ??= readFinal(runner, chainId, head)
        .then((ranges) => {
          final = { to: head.finalTo, ms: steadyNow(), ranges };
        })
        .catch(() => undefined)
        .finally(() => (reading = null));
      await Promise.race([reading, sleep(WAIT_MS, undefined, { ref: false })]);
    }
    if (final?.to === head.finalTo)
      known = { ranges: withHead(final.ranges, head.blocks), stored: storedOf(head) };
    return known;
  };
  return {
    async newest(head) {
      const found = head === null ? null : await refresh(head);
      return toProof(found === null ? null : findNewestPart(found.ranges, found.stored));
    },
    async all(head) {
      const found = head === null ? null : await refresh(head);
      if (found === null) return [];
      // Every stored block has the level `none` or a stronger one.
      return PROOF_LEVELS.slice(1).flatMap(
        (level) => findProvenPart(found.ranges, found.stored, level) ?? [],
      );
    },
  };
}
