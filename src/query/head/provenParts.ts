/** Reads which part of the stored chain is proven at which level. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { steadyNow } from '../../domain/steadyTime';
import {
  findNewestPart,
  findProvenPart,
  PROOF_LEVELS,
  PROOF_ROWS_MAX,
  proofRowShape,
  toProofRanges,
  type ProofRange,
  type ProvenPart,
} from '../../clickhouse/schema/proofRanges';
import type { Proof } from '../../wire/proof';
import type { HeadSnapshot } from './headSnapshot';

/** Time in ms for which the last answer for the same head is repeated. */
const KEEP_MS = 1_000;
/** Longest wait in ms for the database. */
const WAIT_MS = 500;

async function readRanges(runner: QueryRunner, chainId: number): Promise<readonly ProofRange[]> {
  const params = { chain: chainId, limit: PROOF_ROWS_MAX };
  return toProofRanges(await runner.run('head/list_proof_ranges', params, proofRowShape));
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
  return toProof(findNewestPart(await readRanges(runner, chainId), storedOf(head)));
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

/**
 * For /readyz and /metrics: answers also while the database hangs, and limits how often the database is read.
 */
export function createProvenParts(runner: QueryRunner, chainId: number): ProvenParts {
  let known: readonly ProofRange[] = [];
  let readAt: { readonly version: string; readonly ms: number } | null = null;
  let reading: Promise<void> | null = null;
  const refresh = async (head: HeadSnapshot): Promise<void> => {
    if (readAt?.version === head.version && steadyNow() - readAt.ms < KEEP_MS) return;
    reading ??= readRanges(runner, chainId)
      .then((ranges) => {
        known = ranges;
        readAt = { version: head.version, ms: steadyNow() };
      })
      .catch(() => undefined)
      .finally(() => (reading = null));
    await Promise.race([reading, sleep(WAIT_MS, undefined, { ref: false })]);
  };
  return {
    async newest(head) {
      if (head !== null) await refresh(head);
      return toProof(head === null ? null : findNewestPart(known, storedOf(head)));
    },
    async all(head) {
      if (head === null) return [];
      await refresh(head);
      return PROOF_LEVELS.flatMap((level) => findProvenPart(known, storedOf(head), level) ?? []);
    },
  };
}
