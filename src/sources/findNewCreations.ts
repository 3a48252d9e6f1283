/**
 * Who made new contracts that no known factory and no transaction itself made: most say something while they are made, so a trace
 * of the transaction of the first log tells, once that is final. What was not made there stays unknown, and costs one trace. Not
 * for old contracts: that would take a trace of each, and nodes keep no state for those.
 */
import { z } from 'zod';

import { insertRows } from '../clickhouse/rows/inserter';
import { ZERO_HASH, type Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';
import { CONTRACTS_MAX, readOrigins } from '../query/contracts/contractFacts';
import { snapshotParams, type HeadSnapshot } from '../query/head/headSnapshot';
import {
  contractCreationsTable,
  readTransactions,
  type ContractCreationRow,
  type CreatorDeps,
} from './findCreators';
import { findMaker } from './findMaker';

/** New contracts that may wait for their first log to be final. */
export const WAITING_MAX = CONTRACTS_MAX;
/** First logs further behind the last final block are of old contracts. */
const NEW_BLOCKS = 1_000;
/** Traces in one look. */
const TRACES_MAX = 100;

const hex = z.templateLiteral(['0x', z.string()]);
const firstShape = z.object({ address: hex, ord: z.string(), tx_hash: hex, timestamp: z.int() });

export interface NewCreations {
  readonly found: number;
  /** Those of which there is no more to learn. */
  readonly settled: readonly Hex[];
  /** The node traces nothing. */
  readonly blind: boolean;
}

/** `waiting`: new contracts, at most WAITING_MAX. */
export async function findNewCreations(
  deps: CreatorDeps,
  waiting: readonly Hex[],
  signal: AbortSignal,
): Promise<NewCreations> {
  const { database, runner, rpc, chainId, finalTo, now } = deps;
  if (waiting.length === 0) return { found: 0, settled: [], blind: false };
  const final = asOf(finalTo);
  const origins = await readOrigins({ runner, chainId }, final, waiting);
  const done: Hex[] = [];
  const asked: Hex[] = [];
  for (const address of waiting) {
    const { creation = null, firstSeenBlock = null } = origins.get(address) ?? {};
    if (creation !== null) done.push(address);
    else if (firstSeenBlock === null || firstSeenBlock > finalTo) continue;
    else if (firstSeenBlock < finalTo - NEW_BLOCKS) done.push(address);
    else if (asked.length < TRACES_MAX) asked.push(address);
  }
  if (asked.length === 0) return { found: 0, settled: done, blind: false };
  const params = {
    ...snapshotParams(final),
    chain_id: chainId,
    addresses: asked.map((address) => address.slice(2)),
    limit: TRACES_MAX,
  };
  const logs = await runner.run('explorer/list_first_logs', params, firstShape);
  const transactions = await readTransactions(rpc, logs, signal);
  const version = Math.floor(now());
  const rows: ContractCreationRow[] = [];
  let [told, untold] = [0, 0];
  for (const [index, { address, ord, tx_hash, timestamp }] of logs.entries()) {
    const transaction = transactions[index] ?? null;
    if (transaction === null) continue;
    const { from: creator, created } = transaction;
    const factory = created === address ? null : await findMaker(rpc, tx_hash, address, signal);
    if (factory === undefined) untold += 1;
    else told += 1;
    if (factory === undefined || (factory === null && created !== address)) continue;
    rows.push({ address, creator, factory, tx_hash, block: blockOfOrd(Number(ord)), timestamp, version });
  }
  await insertRows(database, contractCreationsTable, rows);
  const blind = told === 0 && untold > 0;
  return { found: rows.length, settled: blind ? done : [...done, ...asked], blind };
}

/** What is final up to a block. */
function asOf(number: number): HeadSnapshot {
  return {
    version: '',
    startBlock: 0,
    number,
    hash: ZERO_HASH,
    timestamp: 0,
    finalTo: number,
    finalNumber: number,
    blocks: [],
  };
}
