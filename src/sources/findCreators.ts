/**
 * Asks the node who sent the transactions that made contracts, where a transaction is known and no receipt that was read tells
 * its sender: pools by their factories' events, verified contracts by what the source of the verification says. Each is asked
 * once; a transaction that the node does not know is stored as such.
 */
import { z } from 'zod';

import type { EndpointPool } from '../chain/endpointPool';
import type { RpcCall } from '../chain/rpcTransport';
import type { Database } from '../clickhouse/database';
import { address, hash, nullable, u32, u64 } from '../clickhouse/columns';
import { insertRows } from '../clickhouse/inserter';
import type { QueryRunner } from '../clickhouse/namedQueries';
import { defineTable } from '../clickhouse/tables';
import { isAddress, isQuantity, toLowerHex, type Hex } from '../domain/hex';
import { AppError } from '../errors';

/** Contracts asked for in one look: two calls each. */
const LOOK_MAX = 100;

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
  readonly rpc: Pick<EndpointPool, 'batchSettled'>;
  readonly chainId: number;
  /** Last final block. */
  readonly finalTo: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Some of those that were not asked for yet. Resolves to how many were found; fewer than asked for means that these are all. */
export async function findCreators(
  { database, runner, rpc, chainId, finalTo, now }: CreatorDeps,
  signal: AbortSignal,
): Promise<{ readonly found: number; readonly more: boolean }> {
  const params = { chain_id: chainId, final_to: finalTo, limit: LOOK_MAX };
  const unasked = await runner.run('explorer/list_unasked_creations', params, unaskedShape);
  if (unasked.length === 0) return { found: 0, more: false };
  const transactions = await readTransactions(rpc, unasked, signal);
  const blocks = new Set(transactions.flatMap((one) => one?.block ?? []));
  const times = await readTimes(rpc, [...blocks], signal);
  const version = Math.floor(now());
  const rows = unasked.flatMap((one, index): ContractCreationRow[] => {
    const transaction = transactions[index];
    // Not answered: asked again at the next look. Not final yet: later.
    if (transaction === undefined || (transaction !== null && transaction.block > finalTo)) return [];
    const { address: contract, factory, tx_hash } = one;
    const common = { address: contract, tx_hash, version };
    if (transaction === null || !isCreation(one, transaction))
      return [{ ...common, creator: null, factory: null, block: 0, timestamp: 0 }];
    const { from: creator, block } = transaction;
    const maker = transaction.created === contract ? null : factory;
    return [{ ...common, creator, factory: maker, block, timestamp: times.get(block) ?? 0 }];
  });
  await insertRows(database, contractCreationsTable, rows);
  return { found: rows.length, more: unasked.length === LOOK_MAX && rows.length > 0 };
}

/** What others say of a deployment may be of another chain; an event of a factory is true. */
function isCreation({ is_pool, address: contract }: Unasked, { created }: Transaction): boolean {
  return is_pool || created === null || created === contract;
}

interface Transaction {
  readonly from: Hex;
  readonly block: number;
  /** The contract that the transaction itself created; null: none. */
  readonly created: Hex | null;
}

/** From the receipts; null: the node does not know the transaction; undefined: it did not say. */
async function readTransactions(
  rpc: CreatorDeps['rpc'],
  unasked: readonly Unasked[],
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
  blockNumber: z.custom<Hex>(isQuantity),
  contractAddress: z.custom<Hex>(isAddress).nullish(),
});

function toTransaction(receipt: unknown): Transaction | null {
  if (receipt === null) return null;
  const parsed = receiptShape.safeParse(receipt);
  if (!parsed.success) throw new AppError('node_failed', 'the node answered no receipt');
  const { from, blockNumber, contractAddress } = parsed.data;
  const created = contractAddress == null ? null : toLowerHex(contractAddress);
  return { from: toLowerHex(from), block: Number(blockNumber), created };
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
