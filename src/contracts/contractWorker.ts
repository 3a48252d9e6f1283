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
const FULL_CHECK_MS = 60_000;
const FAILURE_PAUSE_MS = 30_000;
/** Time in ms after which a node that could not trace, or had no older state, is asked again. */
const UNABLE_PAUSE_MS = 600_000;
/** Number of contracts per request batch and per insert. */
const BATCH_CONTRACTS = 50;
/** Pause in ms between batches, so that requests of the ingester come first. */
const BATCH_PAUSE_MS = 200;
/** Largest number of contracts that one check finds and whose code is then read. */
const CHECKED_MAX = 2_000;
/** Number of head blocks to check for new contracts. */
const NEW_BLOCKS = 64;
/** If a check finds more contracts than this, most of them are old, and their creators are not searched. */
const NEW_CONTRACTS_MAX = 200;

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
  private checkedBlocks = -1;
  private nextFullCheckAt = 0;
  private nextCreatorsAt = 0;
  /** New contracts with unknown creators. The contract that has waited longest comes first. */
  private readonly contractsWithoutCreator = new Set<Hex>();
  private readonly nullReceipts: CreatorDeps['nullReceipts'] = new Map();
  private nextTracesAt = 0;
  private nextUpgradesAt = 0;
  private nextLendAt = 0;
  /** Final upgrades up to this position (`ord`) are processed, since this start of the program. */
  private upgradesReadTo = 0;
  /** The activity of contracts up to this position (`ord`) is processed, since this start of the program. */
  private activityReadTo = 0;
  private nextOldStatesAt = 0;

  constructor(private readonly deps: ContractWorkerDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { status, log } = this.deps;
    const tasks = [
      { run: () => this.checkIfDue(signal), failure: 'reading contract code from the node failed' },
      { run: () => this.findSomeCreators(signal), failure: 'searching for the creators of contracts failed' },
      {
        run: () => this.lendIfDue(),
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
          waitMs = FAILURE_PAUSE_MS;
          log.warn({ error: errorText(error) }, failure);
        }
      }
    }
  }

  /** Looks after each new block, and when a longer pause is over. */
  private async checkIfDue(signal: AbortSignal): Promise<void> {
    const { status, now } = this.deps;
    const { blocks, finalTo } = status;
    const isFull = now() >= this.nextFullCheckAt;
    const isDue = isFull || (finalTo !== null && now() >= this.nextUpgradesAt);
    if (blocks === this.checkedBlocks && !isDue) return;
    await this.checkContracts(signal);
    // A check of all contracts does not read the blocks that are not final, so another check follows.
    if (!isFull) this.checkedBlocks = blocks;
  }

  /** Checks the new contracts, or at longer intervals all contracts. Resolves to the number of contracts stored. */
  async checkContracts(signal: AbortSignal): Promise<number> {
    const { chainId, verifiedDb, status, now } = this.deps;
    const isFull = now() >= this.nextFullCheckAt;
    const indexed = status.indexed ?? 0;
    const headFrom = Math.max(0, indexed - NEW_BLOCKS);
    const params = {
      chain_id: chainId,
      verified_db: verifiedDb,
      limit: CHECKED_MAX,
      from_ord: toOrd(headFrom, 0),
    };
    const name = isFull ? 'contracts/list_unchecked_contracts' : 'contracts/list_new_contracts';
    const uncheckedRows = await this.runner.run(name, params, foundRow);
    const activeRows = await this.runner.run(
      'contracts/list_active_contracts',
      { chain_id: chainId, limit: CHECKED_MAX, from_ord: Math.max(this.activityReadTo, params.from_ord) },
      foundRow,
    );
    const upgradedContracts = await findUpgraded({
      runner: this.runner,
      chainId,
      indexed,
      headFrom,
      finalTo: now() >= this.nextUpgradesAt ? status.finalTo : null,
      seenTo: this.upgradesReadTo,
    });
    const contractsToCheck = [
      ...new Set([
        ...[...uncheckedRows, ...activeRows].map(({ address }) => address),
        ...upgradedContracts.addresses,
      ]),
    ];
    for (let start = 0; start < contractsToCheck.length && !signal.aborted; start += BATCH_CONTRACTS) {
      if (start > 0) await sleep(BATCH_PAUSE_MS, undefined, { signal });
      await this.store(contractsToCheck.slice(start, start + BATCH_CONTRACTS), signal);
    }
    this.noteNew(uncheckedRows.map(({ address }) => address));
    if (isFull && uncheckedRows.length < CHECKED_MAX) this.nextFullCheckAt = now() + FULL_CHECK_MS;
    this.upgradesReadTo = upgradedContracts.seenTo;
    this.activityReadTo = lastOrdOfBlock(indexed);
    if (upgradedContracts.isComplete) this.nextUpgradesAt = now() + FULL_CHECK_MS;
    return contractsToCheck.length;
  }

  /** Shares verified sources with contracts of the same code (lendSources.ts), at most once per FULL_CHECK_MS. */
  private async lendIfDue(): Promise<void> {
    const { database, chainId, verifiedDb, now, log } = this.deps;
    if (now() < this.nextLendAt) return;
    const contracts = await lendSources({ database, runner: this.runner, chainId, verifiedDb });
    if (contracts > 0)
      log.info({ contracts }, 'source search now includes contracts with the code of a verified contract');
    this.nextLendAt = now() + FULL_CHECK_MS;
  }

  /**
   * Looks up the creators of some contracts, unless the pause after the last complete search is running. Resolves to
   * the number of creations stored.
   */
  async findSomeCreators(signal: AbortSignal): Promise<number> {
    const { database, rpc, chainId, verifiedDb, status, now } = this.deps;
    const { finalTo } = status;
    if (finalTo === null || now() < this.nextCreatorsAt) return 0;
    const { runner, nullReceipts } = this;
    const deps = { database, runner, rpc, chainId, verifiedDb, finalTo, now, nullReceipts };
    const { found: foundCount, more: hasMoreToSearch } = await findCreators(deps, signal);
    if (!hasMoreToSearch) this.nextCreatorsAt = now() + FULL_CHECK_MS;
    if (now() < this.nextTracesAt) return foundCount;
    const creations = await findNewCreations(deps, [...this.contractsWithoutCreator], signal);
    for (const address of creations.done) this.contractsWithoutCreator.delete(address);
    if (creations.blind) this.nextTracesAt = now() + UNABLE_PAUSE_MS;
    return foundCount + creations.found;
  }

  /**
   * Remembers new contracts, whose creators must be searched. A short list contains only new contracts. A long list
   * consists mostly of old contracts that were never checked, so it is ignored.
   */
  private noteNew(addresses: readonly Hex[]): void {
    if (addresses.length > NEW_CONTRACTS_MAX) return;
    for (const address of addresses) this.contractsWithoutCreator.add(address);
    for (const address of this.contractsWithoutCreator) {
      if (this.contractsWithoutCreator.size <= WAITING_MAX) break;
      this.contractsWithoutCreator.delete(address);
    }
  }

  private async store(addresses: readonly Hex[], signal: AbortSignal): Promise<void> {
    const { database, rpc, chainId, status, now } = this.deps;
    const indexed = status.indexed ?? 0;
    const { hasNoOldStates } = await storeCodes(
      {
        database,
        runner: this.runner,
        rpc,
        chainId,
        indexed,
        finalTo: status.finalTo ?? 0,
        looksBack: now() >= this.nextOldStatesAt,
        rowVersionMs: Math.floor(now()),
      },
      addresses,
      signal,
    );
    if (hasNoOldStates) this.nextOldStatesAt = now() + UNABLE_PAUSE_MS;
  }
}
