/**
 * Finds the creators of new contracts that no known factory and no transaction created directly. Most contracts emit
 * a log when they are created. A trace of that log's transaction shows the creator, once the transaction is final.
 * If the contract emitted no such log, the creator stays unknown after one trace. Old contracts are skipped: each
 * would need a trace, and nodes do not keep their state.
 */
import { address, hash, u32, u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType } from '../clickhouse/rows/rowType';
import type { Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';
import { CONTRACTS_MAX, readOrigins } from '../query/contracts/contractFacts';
import { finalSnapshot, snapshotParams } from '../query/head/headSnapshot';
import {
  contractCreationsTable,
  readTransactions,
  type ContractCreationRow,
  type CreatorDeps,
} from './findCreators';
import { findFactory } from './findFactory';

/** Largest number of new contracts that wait until their first log is final. */
export const WAITING_MAX = CONTRACTS_MAX;
/** A contract whose first log is this many blocks below the last final block counts as old. */
const NEW_CONTRACT_BLOCKS = 1_000;
/** Largest number of traces per check. */
const TRACES_MAX = 100;

const firstRow = rowType({ address, ord: u64, tx_hash: hash, timestamp: u32 });

interface NewCreations {
  readonly found: number;
  /** Contracts that need no further checks. */
  readonly done: readonly Hex[];
  /** Whether the node was unable to trace. */
  readonly blind: boolean;
}

/**
 * Finds the creating transactions of the contracts in `waitingContracts` and stores them. `waitingContracts` holds at most WAITING_MAX
 * contracts that have no known creation yet.
 */
export async function findNewCreations(
  deps: CreatorDeps,
  waitingContracts: readonly Hex[],
  signal: AbortSignal,
): Promise<NewCreations> {
  const { database, runner, rpc, chainId, finalTo, now } = deps;
  if (waitingContracts.length === 0) return { found: 0, done: [], blind: false };
  const snapshot = finalSnapshot(finalTo);
  const originByContract = await readOrigins({ runner, chainId }, snapshot, waitingContracts);
  const { done, toTrace } = sortByOrigin(waitingContracts, originByContract, finalTo);
  if (toTrace.length === 0) return { found: 0, done, blind: false };
  const params = {
    ...snapshotParams(snapshot),
    chain_id: chainId,
    addresses: toTrace.map((address) => address.slice(2)),
    limit: TRACES_MAX,
  };
  const logs = await runner.run('contracts/list_first_logs', params, firstRow);
  const transactions = await readTransactions(rpc, logs, signal);
  const version = Math.floor(now());
  const rows: ContractCreationRow[] = [];
  /** Contracts whose receipt the node does not have yet. They are asked about again until they are old. */
  const withoutReceipt = new Set<Hex>();
  let [tracedCount, untracedCount] = [0, 0];
  for (const [index, { address, ord, tx_hash, timestamp }] of logs.entries()) {
    const transaction = transactions[index] ?? null;
    if (transaction === null) {
      withoutReceipt.add(address);
      continue;
    }
    const { from: creator, created: createdContract } = transaction;
    const factory = createdContract === address ? null : await findFactory(rpc, tx_hash, address, signal);
    if (factory === undefined) untracedCount += 1;
    else tracedCount += 1;
    if (factory === undefined || (factory === null && createdContract !== address)) continue;
    rows.push({ address, creator, factory, tx_hash, block: blockOfOrd(ord), timestamp, version });
  }
  await insertRows(database, contractCreationsTable, rows);
  const isNodeBlind = tracedCount === 0 && untracedCount > 0;
  const finishedContracts = toTrace.filter((address) => !withoutReceipt.has(address));
  return {
    found: rows.length,
    done: isNodeBlind ? done : [...done, ...finishedContracts],
    blind: isNodeBlind,
  };
}

/**
 * Divides contracts into three groups. `done`: the creation is known, or the contract is old. `toTrace`: contracts to
 * trace, at most TRACES_MAX. All other contracts wait.
 */
function sortByOrigin(
  waitingContracts: readonly Hex[],
  origins: Awaited<ReturnType<typeof readOrigins>>,
  finalTo: number,
): { done: Hex[]; toTrace: Hex[] } {
  const done: Hex[] = [];
  const toTrace: Hex[] = [];
  for (const address of waitingContracts) {
    const { creation = null, firstSeenBlock = null } = origins.get(address) ?? {};
    if (creation !== null) done.push(address);
    else if (firstSeenBlock === null || firstSeenBlock > finalTo) continue;
    else if (firstSeenBlock < finalTo - NEW_CONTRACT_BLOCKS) done.push(address);
    else if (toTrace.length < TRACES_MAX) toTrace.push(address);
  }
  return { done, toTrace };
}
