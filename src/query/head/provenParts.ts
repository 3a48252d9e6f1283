/** Reads which part of the stored chain is proven at which level. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { operationRow, SENDERS_CHECKED } from '../../clickhouse/schema/operations';
import { PROOF_LEVELS } from '../../domain/block';
import { steadyNow } from '../../domain/time/steadyTime';
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

/** Time in ms after which the levels of final blocks are read again, because `reindex` may have changed them. */
const KEEP_MS = 5_000;
/** Longest wait in ms for the database. */
const WAIT_MS = 500;

/** What is known of the proof of final blocks: their levels, and the last block whose senders are checked. */
interface FinalProof {
  readonly ranges: readonly ProofRange[];
  /** Last block up to which all senders were checked; null before the first check. */
  readonly sendersTo: number | null;
}

/** The proof of the final blocks of the snapshot. */
async function readFinal(
  runner: QueryRunner,
  chainId: number,
  { finalTo }: HeadSnapshot,
): Promise<FinalProof> {
  const params = { chain: chainId, final_to: finalTo, levels: PROOF_LEVELS, limit: PROOF_ROWS_MAX };
  const [rows, [sendersRow]] = await Promise.all([
    runner.run('head/list_proof_changes', params, proofRow),
    runner.run('engine/list_operations', { names: [SENDERS_CHECKED] }, operationRow),
  ]);
  return { ranges: toProofRanges(rows, finalTo), sendersTo: sendersRow?.value ?? null };
}

function storedRangeOf({ startBlock, number }: HeadSnapshot): { start: number; head: number } {
  return { start: startBlock, head: number };
}

/** Converts a part to the fields that answers show. Without a part, all fields are null. */
function toProof(part: ProvenPart | null, sendersTo: number | null): Proof {
  const isChecked = part?.level === 'full' && sendersTo !== null && sendersTo >= part.from;
  return {
    level: part?.level ?? null,
    proven_from: part?.from ?? null,
    proven_to: part?.to ?? null,
    senders_proven_to: isChecked ? Math.min(sendersTo, part.to) : null,
  };
}

/** The proven parts of the stored chain. */
export interface ProvenParts {
  /**
   * The newest part of the snapshot's chain in which every block has at least the newest block's level of proof. Rejects
   * if the database does not answer.
   */
  at(head: HeadSnapshot): Promise<Proof>;
  /** The same of the current head. If the database does not answer soon, the last answer counts. */
  newest(head: HeadSnapshot | null): Promise<Proof>;
  /** The newest part of each level that any block has. If the database does not answer soon, the last answer counts. */
  all(head: HeadSnapshot | null): Promise<ProvenPart[]>;
}

interface KnownProof extends FinalProof {
  readonly storedRange: { readonly start: number; readonly head: number };
}

/** Keeps the levels of the final blocks for a few seconds, for /overview, /readyz and /metrics. */
export function createProvenParts(runner: QueryRunner, chainId: number): ProvenParts {
  let finalRead: {
    readonly version: string;
    readonly readAtMs: number;
    readonly proof: Promise<FinalProof>;
  } | null = null;
  let lastKnown: KnownProof | null = null;
  const knownOf = async (head: HeadSnapshot): Promise<KnownProof> => {
    if (finalRead?.version !== head.version || steadyNow() - finalRead.readAtMs >= KEEP_MS) {
      const newRead = {
        version: head.version,
        readAtMs: steadyNow(),
        proof: readFinal(runner, chainId, head),
      };
      finalRead = newRead;
      newRead.proof.catch(() => {
        if (finalRead === newRead) finalRead = null;
      });
    }
    const { ranges, sendersTo } = await finalRead.proof;
    return { ranges: withHead(ranges, head.blocks), sendersTo, storedRange: storedRangeOf(head) };
  };
  const refresh = async (head: HeadSnapshot | null): Promise<KnownProof | null> => {
    if (head === null) return null;
    const knownRead = knownOf(head).then(
      (newKnown) => void (lastKnown = newKnown),
      () => undefined,
    );
    await Promise.race([knownRead, sleep(WAIT_MS, undefined, { ref: false })]);
    return lastKnown;
  };
  const newestOf = (knownProof: KnownProof | null): Proof =>
    knownProof === null
      ? toProof(null, null)
      : toProof(findNewestPart(knownProof.ranges, knownProof.storedRange), knownProof.sendersTo);
  return {
    at: async (head) => newestOf(await knownOf(head)),
    newest: async (head) => newestOf(await refresh(head)),
    async all(head) {
      const knownProof = await refresh(head);
      if (knownProof === null) return [];
      // Every stored block has the level `none` or a stronger one.
      return PROOF_LEVELS.slice(1).flatMap(
        (level) => findProvenPart(knownProof.ranges, knownProof.storedRange, level) ?? [],
      );
    },
  };
}
