/**
 * Asks the node who created a contract, if its creation transaction is known and its sender is not. Such contracts
 * are pools from factory events, and verified contracts from imported records. A transaction that the node does not know
 * at several checks is stored as unknown.
 */
import { getCreateAddress } from 'ethers';
import { z } from 'zod';

import type { EndpointPool } from '../node/rpc/endpointPool';
import type { RpcCall } from '../node/rpc/rpcTransport';
import type { Database } from '../clickhouse/client/database';
import { address, bool, hash, nullable, u32, u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType, type RowOf } from '../clickhouse/rows/rowType';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { defineTable } from '../clickhouse/schema/tables';
import { isAddress, isQuantity, toLowerHex, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { findFactory, type TraceRpc } from './findFactory';

/** Largest number of contracts per check. Each needs two calls, and some need a trace. */
const CONTRACTS_PER_CHECK = 100;
/** A node may get a receipt later. After this many checks without the receipt, the transaction counts as unknown. */
const NULL_RECEIPTS_MAX = 3;
/**
 * To find out whether one contract may have created another, the nonces from 1 to this number are tried
 * (`isChild`).
 */
const NONCE_MAX = 32;

export const contractCreationsTable = defineTable('contract_creations', {
  address,
  creator: nullable(address),
  factory: nullable(address),
  tx_hash: hash,
  block: u32,
  timestamp: u32,
  version: u64,
});
export type ContractCreationRow = Parameters<typeof contractCreationsTable.writeRow>[1];

const unaskedRow = rowType({ address, factory: nullable(address), tx_hash: hash, is_pool: bool });
type Unasked = RowOf<typeof unaskedRow>;

export interface CreatorDeps {
  readonly database: Database;
  /** Reads the database that `database` writes. */
  readonly runner: QueryRunner;
  readonly rpc: Pick<EndpointPool, 'batchOutcomes'> & TraceRpc;
  readonly chainId: number;
  /** Name of the database with the verified contracts: the market chain's database. */
  readonly verifiedDb: string;
  /** Number of the last final block. */
  readonly finalTo: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Number of checks at which the node did not know a transaction, by hash. The search keeps it up to date. */
  readonly nullReceipts: Map<Hex, number>;
}

/** Looks up some creators. Resolves to the number found; `more` is false when no contract remains. */
export async function findCreators(
  { database, runner, rpc, chainId, verifiedDb, finalTo, now, nullReceipts }: CreatorDeps,
  signal: AbortSignal,
): Promise<{ readonly found: number; readonly more: boolean }> {
  const params = {
    chain_id: chainId,
    verified_db: verifiedDb,
    final_to: finalTo,
    limit: CONTRACTS_PER_CHECK,
  };
  const unaskedCreations = await runner.run('contracts/list_unasked_creations', params, unaskedRow);
  if (unaskedCreations.length === 0) return { found: 0, more: false };
  const transactions = await readTransactions(rpc, unaskedCreations, signal);
  const blocks = new Set(transactions.flatMap((transaction) => transaction?.block ?? []));
  const timeByBlock = await readTimes(rpc, [...blocks], signal);
  const version = Math.floor(now());
  const rows: ContractCreationRow[] = [];
  for (const [index, creation] of unaskedCreations.entries()) {
    const transaction = transactions[index];
    // Skips a transaction for which the node gave no answer; the next check asks again. Also skips a transaction that
    // is not final yet.
    if (transaction === undefined || (transaction !== null && transaction.block > finalTo)) continue;
    const { address: contract, tx_hash } = creation;
    if (transaction === null && !isReceiptMissing(nullReceipts, tx_hash)) continue;
    const factory =
      transaction === null ? undefined : await findFactoryOf(rpc, creation, transaction, signal);
    const sharedFields = { address: contract, tx_hash, version };
    if (transaction === null || factory === undefined) {
      rows.push({ ...sharedFields, creator: null, factory: null, block: 0, timestamp: 0 });
      continue;
    }
    const { from: creator, block } = transaction;
    const timestamp = timeByBlock.get(block);
    // Without the time of the block, nothing is stored, and the next check asks again.
    if (timestamp !== undefined) rows.push({ ...sharedFields, creator, factory, block, timestamp });
  }
  await insertRows(database, contractCreationsTable, rows);
  return { found: rows.length, more: unaskedCreations.length === CONTRACTS_PER_CHECK && rows.length > 0 };
}

/** Counts a check without the receipt. Returns whether it was the last one. */
function isReceiptMissing(nullReceipts: Map<Hex, number>, hash: Hex): boolean {
  const count = (nullReceipts.get(hash) ?? 0) + 1;
  if (count < NULL_RECEIPTS_MAX) nullReceipts.set(hash, count);
  else nullReceipts.delete(hash);
  return count >= NULL_RECEIPTS_MAX;
}

/**
 * Returns the factory: the contract that created this contract. Null if the transaction created it directly,
 * undefined if the transaction did not create it. A factory's event is reliable. An imported record may be about
 * another chain, so a trace decides. Without a trace, a transaction that called a contract counts as the
 * creation. A transaction that deployed another contract counts only if that contract could create a contract at
 * this address.
 */
async function findFactoryOf(
  rpc: TraceRpc,
  { is_pool, factory, address: contract, tx_hash }: Unasked,
  { created: createdContract, to }: Transaction,
  signal: AbortSignal,
): Promise<Hex | null | undefined> {
  if (createdContract === contract) return null;
  if (is_pool) return factory;
  const tracedFactory = await findFactory(rpc, tx_hash, contract, signal);
  if (tracedFactory !== undefined) return tracedFactory ?? undefined;
  if (createdContract === null) return to ?? undefined;
  return isChild(createdContract, contract) ? createdContract : undefined;
}

/** Whether CREATE in `parent` gives this address for a small nonce. Nonces of contracts start at 1 (EIP-161). */
function isChild(parent: Hex, contract: Hex): boolean {
  for (let nonce = 1; nonce <= NONCE_MAX; nonce += 1)
    if (getCreateAddress({ from: parent, nonce }).toLowerCase() === contract) return true;
  return false;
}

interface Transaction {
  readonly from: Hex;
  /** Called contract; null if the transaction deploys a contract. */
  readonly to: Hex | null;
  readonly block: number;
  /** The contract that the transaction deployed directly; null without such a contract. */
  readonly created: Hex | null;
}

/** Reads receipts. Null if the node does not know the transaction, undefined if the node did not answer. */
export async function readTransactions(
  rpc: Pick<CreatorDeps['rpc'], 'batchOutcomes'>,
  unasked: readonly Pick<Unasked, 'tx_hash'>[],
  signal: AbortSignal,
): Promise<(Transaction | null | undefined)[]> {
  const calls = unasked.map(({ tx_hash }): RpcCall => ({
    method: 'eth_getTransactionReceipt',
    params: [tx_hash],
  }));
  const outcomes = await rpc.batchOutcomes(calls, toTransaction, { signal, roundsMax: 2 });
  return outcomes.map((answer) => ('value' in answer ? answer.value : undefined));
}

const receiptShape = z.object({
  from: z.custom<Hex>(isAddress),
  to: z.custom<Hex>(isAddress).nullish(),
  blockNumber: z.custom<Hex>(isQuantity),
  contractAddress: z.custom<Hex>(isAddress).nullish(),
});

function toTransaction(receipt: unknown): Transaction | null {
  if (receipt === null) return null;
  const parsedReceipt = receiptShape.safeParse(receipt);
  if (!parsedReceipt.success)
    throw new AppError('node_failed', 'the answer of the node is not a transaction receipt');
  const { from, to, blockNumber, contractAddress } = parsedReceipt.data;
  const toHexOrNull = (value: Hex | null | undefined): Hex | null =>
    value == null ? null : toLowerHex(value);
  return {
    from: toLowerHex(from),
    to: toHexOrNull(to),
    block: Number(blockNumber),
    created: toHexOrNull(contractAddress),
  };
}

const blockShape = z.object({ timestamp: z.custom<Hex>(isQuantity) });

/** Block times (unix seconds) by block number. Blocks that the node does not return are missing. */
async function readTimes(
  rpc: CreatorDeps['rpc'],
  blocks: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  if (blocks.length === 0) return new Map();
  const calls = blocks.map((block): RpcCall => ({
    method: 'eth_getBlockByNumber',
    params: [`0x${block.toString(16)}`, false],
  }));
  const outcomes = await rpc.batchOutcomes(calls, (block) => blockShape.safeParse(block), {
    signal,
    roundsMax: 2,
  });
  return new Map(
    outcomes.flatMap((answer, index) => {
      const block = blocks[index];
      if (block === undefined || !('value' in answer) || !answer.value.success) return [];
      return [[block, Number(answer.value.data.timestamp)] as const];
    }),
  );
}
