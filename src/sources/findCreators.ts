/**
 * Asks the node who sent the transactions that made contracts, where a transaction is known and no receipt that was read tells
 * its sender: pools by their factories' events, verified contracts by what the source of the verification says. Each is asked
 * once; a transaction that the node does not know is stored as such.
 */
import { getCreateAddress } from 'ethers';
import { z } from 'zod';

import type { EndpointPool } from '../chain/rpc/endpointPool';
import type { RpcCall } from '../chain/rpc/rpcTransport';
import type { Database } from '../clickhouse/client/database';
import { address, hash, nullable, u32, u64 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { defineTable } from '../clickhouse/schema/tables';
import { isAddress, isQuantity, toLowerHex, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { findMaker, type TraceRpc } from './findMaker';

/** Contracts asked for in one look: two calls each, and for some a trace. */
const LOOK_MAX = 100;
/** Contracts that one contract makes while it is itself made, at most: those that it made first are told by their addresses. */
const CHILDREN_MAX = 32;

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

const hex = z.templateLiteral(['0x', z.string()]);
const unaskedShape = z.object({
  address: hex,
  factory: hex.nullable(),
  tx_hash: hex,
  is_pool: z.boolean(),
});
type Unasked = z.infer<typeof unaskedShape>;

export interface CreatorDeps {
  readonly database: Database;
  /** Reads what `database` writes. */
  readonly runner: QueryRunner;
  readonly rpc: Pick<EndpointPool, 'batchSettled'> & TraceRpc;
  readonly chainId: number;
  /** Names the database with the verified contracts, which is the market chain's. */
  readonly verifiedDb: string;
  /** Last final block. */
  readonly finalTo: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Some of those that were not asked for yet. Resolves to how many were found; fewer than asked for means that these are all. */
export async function findCreators(
  { database, runner, rpc, chainId, verifiedDb, finalTo, now }: CreatorDeps,
  signal: AbortSignal,
): Promise<{ readonly found: number; readonly more: boolean }> {
  const params = { chain_id: chainId, verified_db: verifiedDb, final_to: finalTo, limit: LOOK_MAX };
  const unasked = await runner.run('explorer/list_unasked_creations', params, unaskedShape);
  if (unasked.length === 0) return { found: 0, more: false };
  const transactions = await readTransactions(rpc, unasked, signal);
  const blocks = new Set(transactions.flatMap((one) => one?.block ?? []));
  const times = await readTimes(rpc, [...blocks], signal);
  const version = Math.floor(now());
  const rows: ContractCreationRow[] = [];
  for (const [index, one] of unasked.entries()) {
    const transaction = transactions[index];
    // Not answered: asked again at the next look. Not final yet: later.
    if (transaction === undefined || (transaction !== null && transaction.block > finalTo)) continue;
    const { address: contract, tx_hash } = one;
    const maker = transaction === null ? undefined : await makerOf(rpc, one, transaction, signal);
    const common = { address: contract, tx_hash, version };
    if (transaction === null || maker === undefined) {
      rows.push({ ...common, creator: null, factory: null, block: 0, timestamp: 0 });
      continue;
    }
    const { from: creator, block } = transaction;
    rows.push({ ...common, creator, factory: maker, block, timestamp: times.get(block) ?? 0 });
  }
  await insertRows(database, contractCreationsTable, rows);
  return { found: rows.length, more: unasked.length === LOOK_MAX && rows.length > 0 };
}

/**
 * The contract that made it; null: the transaction itself did; undefined: it was not made there. An event of a factory is true;
 * what others say of a deployment may be of another chain: a trace tells. Without one a transaction that called a contract is
 * believed to be the maker's call, and one that made another contract where the address can only be that contract's child.
 */
async function makerOf(
  rpc: TraceRpc,
  { is_pool, factory, address: contract, tx_hash }: Unasked,
  { created, to }: Transaction,
  signal: AbortSignal,
): Promise<Hex | null | undefined> {
  if (created === contract) return null;
  if (is_pool) return factory;
  const traced = await findMaker(rpc, tx_hash, contract, signal);
  if (traced !== undefined) return traced ?? undefined;
  if (created === null) return to ?? undefined;
  return isChild(created, contract) ? created : undefined;
}

/** By the nonce alone, as CREATE makes addresses; nonces of contracts begin with 1 (EIP-161). */
function isChild(parent: Hex, contract: Hex): boolean {
  for (let nonce = 1; nonce <= CHILDREN_MAX; nonce += 1)
    if (getCreateAddress({ from: parent, nonce }).toLowerCase() === contract) return true;
  return false;
}

export interface Transaction {
  readonly from: Hex;
  /** Null: it makes a contract. */
  readonly to: Hex | null;
  readonly block: number;
  /** The contract that the transaction itself created; null: none. */
  readonly created: Hex | null;
}

/** From the receipts; null: the node does not know the transaction; undefined: it did not say. */
export async function readTransactions(
  rpc: Pick<CreatorDeps['rpc'], 'batchSettled'>,
  unasked: readonly Pick<Unasked, 'tx_hash'>[],
  signal: AbortSignal,
): Promise<(Transaction | null | undefined)[]> {
  const calls = unasked.map(({ tx_hash }): RpcCall => ({
    method: 'eth_getTransactionReceipt',
    params: [tx_hash],
  }));
  const settled = await rpc.batchSettled(calls, toTransaction, { signal, roundsMax: 2 });
  return settled.map((answer) => ('value' in answer ? answer.value : undefined));
}

const receiptShape = z.object({
  from: z.custom<Hex>(isAddress),
  to: z.custom<Hex>(isAddress).nullish(),
  blockNumber: z.custom<Hex>(isQuantity),
  contractAddress: z.custom<Hex>(isAddress).nullish(),
});

function toTransaction(receipt: unknown): Transaction | null {
  if (receipt === null) return null;
  const parsed = receiptShape.safeParse(receipt);
  if (!parsed.success) throw new AppError('node_failed', 'the node answered no receipt');
  const { from, to, blockNumber, contractAddress } = parsed.data;
  const some = (value: Hex | null | undefined): Hex | null => (value == null ? null : toLowerHex(value));
  return {
    from: toLowerHex(from),
    to: some(to),
    block: Number(blockNumber),
    created: some(contractAddress),
  };
}

const blockShape = z.object({ timestamp: z.custom<Hex>(isQuantity) });

/** Unix seconds by block; those that the node does not tell are missing. */
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
  const settled = await rpc.batchSettled(calls, (block) => blockShape.safeParse(block), {
    signal,
    roundsMax: 2,
  });
  return new Map(
    settled.flatMap((answer, index) => {
      const block = blocks[index];
      if (block === undefined || !('value' in answer) || !answer.value.success) return [];
      return [[block, Number(answer.value.data.timestamp)] as const];
    }),
  );
}
