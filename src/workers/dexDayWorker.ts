/**
 * Background worker that computes the TVL of each DEX at the end of past UTC days, once per day, the newest day first.
 * It runs beside the ingester while the ingester follows the head, and reads final blocks only.
 */
import type { Clock } from '../node/rpc/clock';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType } from '../clickhouse/rows/rowType';
import { dexDaysTable } from '../clickhouse/schema/traitTables';
import { blockOfOrd } from '../domain/ord';
import type { Logger } from '../log';
import { computeTvl, readTvlDays } from '../query/dexes/tvlDays';
import { findBlockTime, findFinalBlockAt, findFinalTip } from '../query/head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../query/head/headSnapshot';
import { readPoolSearch } from '../query/olderPools/olderPools';
import type { PriceSources } from '../query/prices/tokenPrices';
import { Directory } from '../query/tokens/directory';
import { repeatStep } from './repeatStep';

const DAY_SECONDS = 86_400;
/** Pause in ms before the first day, and between two days. */
const DAY_PAUSE_MS = 1_000;
/** Interval in ms at which the worker looks for new final blocks when all past days are computed. */
const IDLE_POLL_MS = 60_000;
const RETRY_MS = 30_000;
/** Largest number of past days that the API shows. */
const DAYS_MAX = 366;

const foundRow = rowType({ ord: u64 });

interface DexDayDeps {
  readonly database: Database;
  readonly chainId: number;
  readonly sources: PriceSources;
  readonly status: {
    readonly phase: string;
    readonly finalTo: number | null;
    readonly poolSearch: { readonly state: string };
  };
  /** Reads the stored head. */
  readonly readHead: () => Promise<HeadSnapshot | null>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called after a computed day changed the answers of the API. */
  readonly onChange: () => void;
}

export class DexDayWorker {
  private readonly runner: QueryRunner;
  private readonly directory: Directory;

  constructor(private readonly deps: DexDayDeps) {
    this.runner = createQueryRunner(deps.database);
    this.directory = new Directory(this.runner);
  }

  /** Runs until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log, onChange } = this.deps;
    let hasNewDays = false;
    const step = async (): Promise<number | 'idle'> => {
      if (status.phase !== 'follow') return DAY_PAUSE_MS;
      const isComputed = await this.step();
      if (!isComputed && hasNewDays) onChange();
      hasNewDays = isComputed;
      return isComputed ? DAY_PAUSE_MS : 'idle';
    };
    const onFailure = (error: string): void =>
      log.warn({ error }, 'computing the TVL of a past day failed; retrying');
    const idle = { ms: IDLE_POLL_MS, input: () => `${status.finalTo} ${status.poolSearch.state}` };
    return repeatStep(clock, { firstMs: DAY_PAUSE_MS, failedMs: RETRY_MS, idle, step, onFailure }, signal);
  }

  /** Computes the newest day that is missing. Resolves to false if no day is missing. */
  async step(): Promise<boolean> {
    const { chainId } = this.deps;
    const head = await this.deps.readHead();
    const day = head === null ? null : await this.findMissingDay(head);
    if (head === null || day === null) return false;
    const block = await findFinalBlockAt(this.runner, chainId, head, day + DAY_SECONDS - 1);
    const tvlByDex = block === null ? new Map<string, number>() : await this.compute(head, block);
    const version = Math.floor(this.deps.clock.now());
    const rows = [...tvlByDex, ['', 0] as const].map(([dex, tvlUsd]) => ({
      day,
      dex,
      tvl_usd: tvlUsd,
      version,
    }));
    await insertRows(this.deps.database, dexDaysTable, rows);
    return true;
  }

  /**
   * Returns the start of the newest UTC day that has ended in the final blocks and is not computed yet. Null
   * if there is no such day.
   */
  private async findMissingDay(head: HeadSnapshot): Promise<number | null> {
    const { chainId } = this.deps;
    const finalTip = await findFinalTip(this.runner, chainId, head);
    const firstBlockTime = await findBlockTime(this.runner, chainId, head, head.startBlock);
    if (finalTip === null || firstBlockTime === null) return null;
    const today = startOfDay(finalTip.timestamp);
    const wholeFromTime = await this.findWholeFrom(head, firstBlockTime);
    if (wholeFromTime === null) return null;
    const firstDay = Math.max(startOfDay(wholeFromTime), today - DAYS_MAX * DAY_SECONDS);
    const storedDays = await readTvlDays(this.runner, firstDay, today);
    for (let day = today - DAY_SECONDS; day >= firstDay; day -= DAY_SECONDS)
      if (!storedDays.has(day)) return day;
    return null;
  }

  /**
   * Returns the time from which on the states of all pools are known. If the index starts after block 1, this
   * is the time at which the last found pool was added. Null while the pool search still runs.
   */
  private async findWholeFrom(head: HeadSnapshot, firstBlockTime: number): Promise<number | null> {
    const { chainId } = this.deps;
    if ((await readPoolSearch(this.runner, chainId, head)).searching) return null;
    const [row] = await this.runner.run('measure/find_last_found', snapshotParams(head), foundRow);
    const ord = row?.ord ?? 0;
    return ord === 0 ? firstBlockTime : findBlockTime(this.runner, chainId, head, blockOfOrd(ord));
  }

  private async compute(
    head: HeadSnapshot,
    { number, timestamp }: { readonly number: number; readonly timestamp: number },
  ): Promise<ReadonlyMap<string, number>> {
    const headThen = { ...head, number, timestamp, finalTo: number, finalNumber: number, blocks: [] };
    return computeTvl(this.runner, headThen, this.deps.sources, await this.directory.allTokens());
  }
}

function startOfDay(time: number): number {
  return time - (time % DAY_SECONDS);
}
