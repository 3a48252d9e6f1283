/**
 * A background task that asks for each final block that is not proven in full a second time, later and from another
 * endpoint if there is one. A node can leave logs out under an unchanged block hash, and only its later or another
 * answer shows it. Blocks whose logs differ are read again and repaired. The calls per second are limited, and a restart
 * continues where the task ended.
 */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { Clock } from '../../node/rpc/clock';
import type { EndpointPool } from '../../node/rpc/endpointPool';
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import { cutRanges, PROOF_ROWS_MAX, proofRow, toProofRanges } from '../../clickhouse/schema/proofRanges';
import { isWeaker, PROOF_LEVELS, type ChainBlock, type ProofLevel } from '../../domain/block';
import { BlockMismatch } from '../../node/blocks/blockMismatch';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { CallBudget } from '../olderPools/callBudget';
import type { IngestStatus } from '../session/status';
import { startRow } from '../store/storedState';
import { repeatStep } from '../../workers/repeatStep';

/** Name of the stored number of the last block that was asked for a second time. */
const LAST_COMPARED = 'second_look';
/** A block is asked for again this time in ms after it was seen in the final tables, or later. */
const LATER_MS = 300_000;
const IDLE_MS = 5_000;
/** Number of blocks that are read and compared at once. */
const BLOCKS_MAX = 50;
/** Calls per block: header, receipts. */
const CALLS_PER_BLOCK = 2;
/** Later prices depend on earlier rows, so the blocks after a differing one are read again too, at most this many. */
export const REPAIRED_MAX = 20_000;
/** Times at which the last final block was seen. Older ones are dropped. */
const MARKS_MAX = 1_000;

interface SecondLookDeps {
  readonly database: Database;
  readonly pool: Pick<EndpointPool, 'endpoints' | 'reject'>;
  readonly source: BlockSource;
  readonly chainId: number;
  /** Numbers of the blocks whose stored logs differ from these. */
  readonly listDiffering: (blocks: readonly ChainBlock[]) => Promise<number[]>;
  readonly status: Pick<IngestStatus, 'phase' | 'finalTo' | 'disputed'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly callsPerSecond: number;
  /** Reads these final blocks again and replaces rows that differ; null if the storage allows no repair. */
  readonly repair: ((from: number, to: number, signal: AbortSignal) => Promise<void>) | null;
}

/** The last final block, as it was at a time in ms of the clock. */
interface Mark {
  readonly seenAt: number;
  readonly finalTo: number;
}

export class SecondLook {
  private readonly budget: CallBudget;
  private marks: readonly Mark[] = [];
  /** The last block that was asked for a second time. */
  private lastCompared: number | null = null;
  /** Number of comparisons so far. */
  private round = 0;

  constructor(private readonly deps: SecondLookDeps) {
    this.budget = new CallBudget(deps.clock, deps.callsPerSecond);
  }

  /** Runs until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.deps;
    const step = async (): Promise<number> => ((await this.step(signal)) ? 0 : IDLE_MS);
    const onFailure = (error: string): void =>
      log.warn({ error }, 'asking for final blocks a second time failed; retrying');
    return repeatStep(clock, { firstMs: IDLE_MS, failedMs: IDLE_MS, step, onFailure }, signal);
  }

  /** Compares some blocks. Resolves to true if further blocks can be compared now. */
  async step(signal: AbortSignal): Promise<boolean> {
    const { database, status, clock } = this.deps;
    if (status.phase !== 'follow' || status.finalTo === null) return false;
    const dueTo = this.noteFinal({ seenAt: clock.now(), finalTo: status.finalTo });
    this.lastCompared ??=
      (await readOperations(database, [LAST_COMPARED])).get(LAST_COMPARED) ??
      (await blockBeforeStart(database, this.deps.chainId));
    const nextSpan = await nextPart(database, this.deps.chainId, this.lastCompared + 1, dueTo, (level) =>
      isWeaker(level, 'receipts'),
    );
    if (nextSpan === null) {
      this.lastCompared = Math.max(this.lastCompared, dueTo);
      return false;
    }
    const to = Math.min(nextSpan.to, nextSpan.from + BLOCKS_MAX - 1);
    await this.compare(nextSpan.from, to, signal);
    this.lastCompared = to;
    await writeOperation(database, LAST_COMPARED, to);
    return to < dueTo;
  }

  /** Last block that was final long enough ago. At the start, all final blocks count. */
  private noteFinal(newMark: Mark): number {
    if (this.marks.length === 0) this.marks = [{ seenAt: -Infinity, finalTo: newMark.finalTo }];
    if (this.marks.at(-1)?.finalTo !== newMark.finalTo)
      this.marks = [...this.marks, newMark].slice(-MARKS_MAX);
    const dueIndex = this.marks.findLastIndex(({ seenAt: at }) => at <= newMark.seenAt - LATER_MS);
    if (dueIndex > 0) this.marks = this.marks.slice(dueIndex);
    return this.marks[0]?.finalTo ?? 0;
  }

  private async compare(from: number, to: number, signal: AbortSignal): Promise<void> {
    const { pool, source } = this.deps;
    await this.budget.spend(CALLS_PER_BLOCK * (to - from + 1), signal);
    // Blocks usually come from the first endpoint, so the others are asked in turn.
    const otherEndpoints = pool.endpoints.slice(1);
    const otherEndpoint = otherEndpoints[(this.round += 1) % Math.max(1, otherEndpoints.length)];
    const endpointOption = otherEndpoint === undefined ? {} : { endpoint: otherEndpoint.id };
    const blocks = await source.fetchRange(from, to, { signal, roundsMax: 1, ...endpointOption });
    const differingBlocks = await this.deps.listDiffering(blocks);
    for (const block of differingBlocks) if (await this.settleDispute(block, signal)) return;
  }

  /**
   * Asks all endpoints for a block whose logs differ. If more than half of the answers agree, benches the other
   * endpoints, and repairs the block if the stored logs are wrong. Resolves to true after a repair.
   */
  private async settleDispute(number: number, signal: AbortSignal): Promise<boolean> {
    const { pool, log, status, repair } = this.deps;
    const answers = await this.askAll(number, signal);
    const largestGroup = answers.reduce<readonly Answer[]>((largest, { text }) => {
      const equalAnswers = answers.filter((answer) => answer.text === text);
      return equalAnswers.length > largest.length ? equalAnswers : largest;
    }, []);
    const [majorityAnswer] = largestGroup;
    if (majorityAnswer === undefined || 2 * largestGroup.length <= answers.length) {
      log.error(
        { block: number },
        'the endpoints send different logs of a block, and no majority of them agrees',
      );
      status.disputed = { block: number };
      return false;
    }
    for (const { id, text } of answers)
      if (text !== majorityAnswer.text)
        pool.reject(id, new BlockMismatch('majority', number, 'most endpoints have other logs'));
    if ((await this.deps.listDiffering([majorityAnswer.block])).length === 0) return false;
    log.error(
      { block: number },
      'the stored logs of a block differ from those of the node; reading the blocks again',
    );
    if (repair === null) {
      status.disputed = { block: number };
      return false;
    }
    const to = Math.min(status.finalTo ?? number, number + REPAIRED_MAX);
    await repair(number, to, signal);
    log.warn({ from: number, to }, 'the stored logs are corrected');
    return true;
  }

  private async askAll(number: number, signal: AbortSignal): Promise<Answer[]> {
    const { pool, source } = this.deps;
    await this.budget.spend(CALLS_PER_BLOCK * pool.endpoints.length, signal);
    const answers = await Promise.all(
      pool.endpoints.map(async ({ id }): Promise<Answer[]> => {
        try {
          const [block] = await source.fetchRange(number, number, { signal, endpoint: id, roundsMax: 1 });
          return block === undefined ? [] : [{ id, block, text: JSON.stringify([block.hash, block.logs]) }];
        } catch (error) {
          if (signal.aborted || !(error instanceof AppError)) throw error;
          return [];
        }
      }),
    );
    return answers.flat();
  }
}

/** The block before the first ingested one. */
export async function blockBeforeStart(database: Database, chainId: number): Promise<number> {
  const [start] = await selectNamed(database, 'ingest/store/find_start', { chain: chainId }, startRow);
  return (start?.from_block ?? 1) - 1;
}

/** The first consecutive final blocks from `from` to `to` whose level of proof satisfies `isWanted`; null if there are none. */
export async function nextPart(
  database: Database,
  chainId: number,
  from: number,
  to: number,
  isWanted: (level: ProofLevel) => boolean,
): Promise<{ readonly from: number; readonly to: number } | null> {
  if (from > to) return null;
  const params = { chain: chainId, final_to: to, levels: PROOF_LEVELS, limit: PROOF_ROWS_MAX };
  const rows = await selectNamed(database, 'head/list_proof_changes', params, proofRow);
  return cutRanges(toProofRanges(rows, to), from, to).find(({ level }) => isWanted(level)) ?? null;
}

interface Answer {
  readonly id: number;
  readonly block: ChainBlock;
  /** Hash and logs of the block as text, to compare two answers. */
  readonly text: string;
}
