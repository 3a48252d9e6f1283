/**
 * Background worker that finds the code and the creators of contracts. Runs beside the ingester in small batches, and
 * only while the ingester follows the head. Each result is stored immediately, so a restart continues after the
 * last result. A failure of the node or the database is logged, and the work is retried later.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { EthCalls } from '../node/calls/askContracts';
import type { Database } from '../clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../clickhouse/client/namedQueries';
import { address } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';
import type { Hex } from '../domain/hex';
import { lastOrdOfBlock, toOrd } from '../domain/ord';
import { errorText } from '../errors';
import type { Logger } from '../log';
import { findCreators, type CreatorDeps } from './findCreators';
import { findNewCreations, WAITING_MAX } from './findNewCreations';
import { findUpgraded } from './findUpgraded';
import { lendSources } from './lendSources';
import { storeCodes } from './storeCodes';

/** Pause in ms between checks whether a new block may have new contracts. */
const INTERVAL_MS = 2_000;
/** Pause in ms between checks of all contracts, once a check has found fewer than LOOK_MAX contracts. */
const FULL_MS = 60_000;
const FAILED_MS = 30_000;
/** Time in ms after which a node that could not trace, or had no older state, is asked again. */
const BLIND_MS = 600_000;
/** Number of contracts per request batch and per insert. */
const BATCH = 50;
/** Pause in ms between batches, so that requests of the ingester come first. */
const PAUSE_MS = 200;
/** Largest number of contracts that one check finds and whose code is then read. */
const LOOK_MAX = 2_000;
/** Number of head blocks to check for new contracts. */
const NEW_BLOCKS = 64;
/** If a check finds more contracts than this, most of them are old, and their creators are not searched. */
const NEWCOMERS_MAX = 200;

const foundRow = rowType({ address });

export interface ContractWorkerDeps {
  readonly database: Database;
  readonly rpc: EthCalls & CreatorDeps['rpc'];
  readonly chainId: number;
  /** Name of the database with the verified contracts: the market chain's database. */
  readonly verifiedDb: string;
  readonly status: {
    readonly phase: string;
    /** Grows with each new block. */
    readonly blocks: number;
    readonly indexed: number | null;
    readonly finalTo: number | null;
  };
  readonly log: Logger;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

export class ContractWorker {
  private readonly runner: QueryRunner;
  private lookedBlocks = -1;
  private fullAt = 0;
  private creatorsAt = 0;
  /** New contracts with unknown creators. The contract that has waited longest comes first. */
  private readonly newcomers = new Set<Hex>();
  private readonly nullReceipts: CreatorDeps['nullReceipts'] = new Map();
  private tracesAt = 0;
  private upgradesAt = 0;
  private lendAt = 0;
  /** Final upgrades up to this position (`ord`) are processed, since this start of the program. */
  private upgradesTo = 0;
  /** The activity of contracts up to this position (`ord`) is processed, since this start of the program. */
  private activeTo = 0;
  private oldStatesAt = 0;

  constructor(private readonly deps: ContractWorkerDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { status, log } = this.deps;
    const tasks = [
      { run: () => this.lookIfDue(signal), failure: 'reading contract code from the node failed' },
      { run: () => this.lookForCreators(signal), failure: 'searching for the creators of contracts failed' },
      {
        run: () => this.lend(),
        failure: 'sharing verified sources with contracts of the same code failed',
      },
    ];
    for (let waitMs = INTERVAL_MS; !signal.aborted;) {
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = INTERVAL_MS;
      if (status.phase !== 'follow') continue;
      for (const { run, failure } of tasks) {
        try {
          await run();
        } catch (error) {
          if (signal.aborted) return;
          waitMs = FAILED_MS;
          log.warn({ error: errorText(error) }, failure);
        }
      }
    }
  }

  /** Looks after each new block, and when a longer pause is over. */
  private async lookIfDue(signal: AbortSignal): Promise<void> {
    const { status, now } = this.deps;
    const { blocks, finalTo } = status;
    const isFull = now() >= this.fullAt;
    const isDue = isFull || (finalTo !== null && now() >= this.upgradesAt);
    if (blocks === this.lookedBlocks && !isDue) return;
    await this.look(signal);
    // A check of all contracts does not read the blocks that are not final, so another check follows.
    if (!isFull) this.lookedBlocks = blocks;
  }

  /** Checks the new contracts, or at longer intervals all contracts. Resolves to the number of contracts stored. */
  async look(signal: AbortSignal): Promise<number> {
    const { chainId, verifiedDb, status, now } = this.deps;
    const full = now() >= this.fullAt;
    const indexed = status.indexed ?? 0;
    const headFrom = Math.max(0, indexed - NEW_BLOCKS);
    const params = {
      chain_id: chainId,
      verified_db: verifiedDb,
      limit: LOOK_MAX,
      from_ord: toOrd(headFrom, 0),
    };
    const name = full ? 'contracts/list_unchecked_contracts' : 'contracts/list_new_contracts';
    const uncheckedRows = await this.runner.run(name, params, foundRow);
    const active = await this.runner.run(
      'contracts/list_active_contracts',
      { chain_id: chainId, limit: LOOK_MAX, from_ord: Math.max(this.activeTo, params.from_ord) },
      foundRow,
    );
    const upgraded = await findUpgraded({
      runner: this.runner,
      chainId,
      indexed,
      headFrom,
      finalTo: now() >= this.upgradesAt ? status.finalTo : null,
      seenTo: this.upgradesTo,
    });
    const toCheck = [
      ...new Set([...[...uncheckedRows, ...active].map(({ address }) => address), ...upgraded.addresses]),
    ];
    for (let from = 0; from < toCheck.length && !signal.aborted; from += BATCH) {
      if (from > 0) await sleep(PAUSE_MS, undefined, { signal });
      await this.store(toCheck.slice(from, from + BATCH), signal);
    }
    this.noteNew(uncheckedRows.map(({ address }) => address));
    if (full && uncheckedRows.length < LOOK_MAX) this.fullAt = now() + FULL_MS;
    this.upgradesTo = upgraded.seenTo;
    this.activeTo = lastOrdOfBlock(indexed);
    if (upgraded.reached) this.upgradesAt = now() + FULL_MS;
    return toCheck.length;
  }

  /** Shares verified sources with contracts of the same code (lendSources.ts), at most once per FULL_MS. */
  private async lend(): Promise<void> {
    const { database, chainId, verifiedDb, now, log } = this.deps;
    if (now() < this.lendAt) return;
    const contracts = await lendSources({ database, runner: this.runner, chainId, verifiedDb });
    if (contracts > 0)
      log.info({ contracts }, 'source search now includes contracts with the code of a verified contract');
    this.lendAt = now() + FULL_MS;
  }

  /**
   * Looks up the creators of some contracts, unless the pause after the last complete search is running. Resolves to
   * the number of creations stored.
   */
  async lookForCreators(signal: AbortSignal): Promise<number> {
    const { database, rpc, chainId, verifiedDb, status, now } = this.deps;
    const { finalTo } = status;
    if (finalTo === null || now() < this.creatorsAt) return 0;
    const { runner, nullReceipts } = this;
    const deps = { database, runner, rpc, chainId, verifiedDb, finalTo, now, nullReceipts };
    const { found, more } = await findCreators(deps, signal);
    if (!more) this.creatorsAt = now() + FULL_MS;
    if (now() < this.tracesAt) return found;
    const creations = await findNewCreations(deps, [...this.newcomers], signal);
    for (const address of creations.done) this.newcomers.delete(address);
    if (creations.blind) this.tracesAt = now() + BLIND_MS;
    return found + creations.found;
  }

  /**
   * Remembers new contracts, whose creators must be searched. A short list contains only new contracts. A long list
   * consists mostly of old contracts that were never checked, so it is ignored.
   */
  private noteNew(addresses: readonly Hex[]): void {
    if (addresses.length > NEWCOMERS_MAX) return;
    for (const address of addresses) this.newcomers.add(address);
    for (const address of this.newcomers) {
      if (this.newcomers.size <= WAITING_MAX) break;
      this.newcomers.delete(address);
    }
  }

  private async store(addresses: readonly Hex[], signal: AbortSignal): Promise<void> {
    const { database, rpc, chainId, status, now } = this.deps;
    const indexed = status.indexed ?? 0;
    const { blind } = await storeCodes(
      {
        database,
        runner: this.runner,
        rpc,
        chainId,
        indexed,
        finalTo: status.finalTo ?? 0,
        looksBack: now() >= this.oldStatesAt,
        version: Math.floor(now()),
      },
      addresses,
      signal,
    );
    if (blind) this.oldStatesAt = now() + BLIND_MS;
  }
}
