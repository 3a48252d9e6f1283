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
import { errorText } from '../errors';
import type { Logger } from '../log';
import type { ActiveContracts } from './activeContracts';
import { findCreators, type CreatorDeps } from './findCreators';
import { findNewCreations, WAITING_MAX } from './findNewCreations';
import { findUpgraded } from './findUpgraded';
import { lendSources } from './lendSources';
import { storeCodes } from './storeCodes';

/** Pause in ms between checks whether a new block may have new contracts. */
const INTERVAL_MS = 2_000;
/** Pause in ms between checks of all contracts, once a check has found fewer than CHECKED_MAX contracts. */
const FULL_CHECK_MS = 60_000;
/** The same while no block has become final and no code was stored. A verification of another process adds work too. */
const RECHECK_MS = 300_000;
const FAILURE_PAUSE_MS = 30_000;
/** Time in ms after which a node that could not trace, or had no older state, is asked again. */
const UNABLE_PAUSE_MS = 600_000;
/** Number of contracts per request batch and per insert. */
const BATCH_CONTRACTS = 50;
/** Pause in ms between batches, so that requests of the ingester come first. */
const BATCH_PAUSE_MS = 200;
/** Largest number of contracts that one check finds and whose code is then read. */
const CHECKED_MAX = 2_000;
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
  /** The contracts of new head blocks. */
  readonly active: ActiveContracts;
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
  private nextOldStatesAt = 0;
  /** Number of codes stored since this start of the program. */
  private storedCodes = 0;

  constructor(private readonly deps: ContractWorkerDeps) {
    this.runner = createQueryRunner(deps.database);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { status, log, now } = this.deps;
    const tasks = [
      { run: () => this.findSomeCreators(signal), failure: 'searching for the creators of contracts failed' },
      {
        run: () => this.lendIfDue(),
        failure: 'sharing verified sources with contracts of the same code failed',
      },
    ];
    let input = '';
    let inputAt = 0;
    for (let waitMs = INTERVAL_MS; !signal.aborted;) {
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      waitMs = INTERVAL_MS;
      const newInput = `${status.phase} ${status.finalTo} ${this.storedCodes}`;
      if (newInput !== input) inputAt = now();
      input = newInput;
      if (status.phase !== 'follow') continue;
      const isRoundDue = this.isRoundDue(inputAt);
      const check = {
        run: () => this.checkIfDue(isRoundDue, signal),
        failure: 'reading contract code from the node failed',
      };
      for (const { run, failure } of isRoundDue ? [check, ...tasks] : [check]) {
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

  /** Whether the looks at all contracts may find something. Their input last changed at `inputAt`. */
  private isRoundDue(inputAt: number): boolean {
    const nextAt = [this.nextFullCheckAt, this.nextUpgradesAt, this.nextCreatorsAt, this.nextLendAt];
    const doneAt = Math.min(...nextAt) - FULL_CHECK_MS;
    const isWaiting = this.contractsWithoutCreator.size > 0 || this.nullReceipts.size > 0;
    return isWaiting || doneAt < inputAt || this.deps.now() - doneAt >= RECHECK_MS;
  }

  /** Looks after each new block, and when a longer pause is over. */
  private async checkIfDue(isRoundDue: boolean, signal: AbortSignal): Promise<void> {
    const { status, now, active } = this.deps;
    const { blocks } = status;
    const isPauseOver = isRoundDue && now() >= Math.min(this.nextFullCheckAt, this.nextUpgradesAt);
    if (blocks === this.checkedBlocks && !isPauseOver) return;
    try {
      await this.checkContracts(signal, isRoundDue);
      this.checkedBlocks = blocks;
    } catch (error) {
      active.forget();
      throw error;
    }
  }

  /**
   * Checks the contracts of new head blocks, and with `isRoundDue` at longer intervals all contracts and the upgrades in
   * final blocks. Resolves to the number of contracts stored.
   */
  async checkContracts(signal: AbortSignal, isRoundDue = true): Promise<number> {
    const { chainId, verifiedDb, rpc, active, status, now } = this.deps;
    const { runner } = this;
    const isFull = isRoundDue && now() >= this.nextFullCheckAt;
    const indexed = status.indexed ?? 0;
    const finalTo = status.finalTo ?? 0;
    const { added, changed } = await active.take({ runner, rpc, chainId, indexed, finalTo }, signal);
    const params = { chain_id: chainId, verified_db: verifiedDb, limit: CHECKED_MAX };
    const uncheckedRows = isFull
      ? await runner.run('contracts/list_unchecked_contracts', params, foundRow)
      : [];
    const upgraded =
      isRoundDue && now() >= this.nextUpgradesAt && status.finalTo !== null
        ? await findUpgraded({ runner, chainId, indexed, finalTo, seenTo: this.upgradesReadTo })
        : null;
    const newContracts = new Set([...uncheckedRows.map(({ address }) => address), ...added]);
    const contractsToCheck = [...new Set([...newContracts, ...changed, ...(upgraded?.addresses ?? [])])];
    const waitingContracts = new Set([...added, ...changed]);
    for (let start = 0; start < contractsToCheck.length && !signal.aborted; start += BATCH_CONTRACTS) {
      if (start > 0) await sleep(BATCH_PAUSE_MS, undefined, { signal });
      const unanswered = await this.store(contractsToCheck.slice(start, start + BATCH_CONTRACTS), signal);
      const askAgain = unanswered.filter((address) => waitingContracts.has(address));
      active.note(
        indexed,
        askAgain.map((address) => ({ address })),
      );
    }
    this.storedCodes += contractsToCheck.length;
    this.noteNew([...newContracts]);
    if (isFull && uncheckedRows.length < CHECKED_MAX) this.nextFullCheckAt = now() + FULL_CHECK_MS;
    if (upgraded !== null) this.upgradesReadTo = upgraded.seenTo;
    if (upgraded?.isComplete === true) this.nextUpgradesAt = now() + FULL_CHECK_MS;
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

  /** Resolves to the contracts for which the node gave no answer. */
  private async store(addresses: readonly Hex[], signal: AbortSignal): Promise<readonly Hex[]> {
    const { database, rpc, chainId, active, status, now } = this.deps;
    const indexed = status.indexed ?? 0;
    const { hasNoOldStates, unanswered, settled } = await storeCodes(
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
    for (const [address, code] of settled) active.remember(address, code);
    return unanswered;
  }
}
