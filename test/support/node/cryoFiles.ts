/**
 * Writes the blocks of a node into Parquet files with cryo's columns. ClickHouse makes the files. A test can change rows
 * and columns, to make files that are wrong.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';

type CryoRow = Record<string, string | number | boolean | null>;
type Dataset = 'blocks' | 'logs' | 'transactions';
type CryoRows = Record<Dataset, CryoRow[]>;

export interface CryoOptions {
  readonly rpcUrl: string;
  /** Database in which rows are turned into files. */
  readonly databaseUrl: string;
  readonly folder: string;
  readonly from: number;
  readonly to: number;
  /** Blocks per file; default all. */
  readonly chunk?: number;
  /** Whether blocks have parent_hash and logs_bloom, which cryo writes only when asked to. */
  readonly withHeaders?: boolean;
  /** Datasets to write; default all. */
  readonly datasets?: readonly Dataset[];
  readonly change?: (rows: CryoRows) => void;
  /** SQL of columns that replaces the usual one, such as `{'logs.address': 'toInt64(1) AS address'}`; '' drops one. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Part of the file name before the range. */
  readonly prefix?: string;
}

const U32 = (name: string): string => `CAST(${name} AS Nullable(UInt32)) AS ${name}`;
const U64 = (name: string): string => `CAST(${name} AS Nullable(UInt64)) AS ${name}`;
const BIN = (name: string): string =>
  `if(isNull(${name}), NULL, unhex(substring(assumeNotNull(${name}), 3))) AS ${name}`;
const BOOL = (name: string): string => `CAST(${name} AS Nullable(Bool)) AS ${name}`;

const COLUMNS: Record<Dataset, Record<string, (name: string) => string>> = {
  blocks: {
    block_hash: BIN,
    parent_hash: BIN,
    author: BIN,
    block_number: U32,
    gas_used: U64,
    logs_bloom: BIN,
    timestamp: U32,
    base_fee_per_gas: U64,
    chain_id: U64,
  },
  logs: {
    block_number: U32,
    transaction_index: U32,
    log_index: U32,
    transaction_hash: BIN,
    address: BIN,
    topic0: BIN,
    topic1: BIN,
    topic2: BIN,
    topic3: BIN,
    data: BIN,
    n_data_bytes: U32,
    chain_id: U64,
  },
  transactions: {
    block_number: U32,
    transaction_index: U64,
    transaction_hash: BIN,
    nonce: U64,
    from_address: BIN,
    to_address: BIN,
    gas_limit: U64,
    gas_used: U64,
    gas_price: U64,
    success: BOOL,
    chain_id: U64,
  },
};
const ROWS_PER_INSERT = 2_000;
const HEADER_COLUMNS = ['parent_hash', 'logs_bloom'];

/** Returns the paths of the files. */
export async function writeCryoFiles(options: CryoOptions): Promise<string[]> {
  const { folder, from, to, chunk = to - from + 1, datasets = ['blocks', 'logs', 'transactions'] } = options;
  mkdirSync(folder, { recursive: true });
  const database = openDatabase({ url: options.databaseUrl });
  const paths: string[] = [];
  try {
    for (let firstBlock = from; firstBlock <= to; firstBlock += chunk) {
      const lastBlock = Math.min(to, firstBlock + chunk - 1);
      const rows = await readRows(options.rpcUrl, firstBlock, lastBlock);
      options.change?.(rows);
      const pad = (block: number): string => String(block).padStart(8, '0');
      for (const dataset of datasets) {
        const name = `${options.prefix ?? 'stub__'}${dataset}__${pad(firstBlock)}_to_${pad(lastBlock)}.parquet`;
        const path = join(folder, name);
        writeFileSync(path, await toParquet(database, dataset, rows[dataset], options));
        paths.push(path);
      }
    }
  } finally {
    await database.close();
  }
  return paths;
}

async function toParquet(
  database: Database,
  dataset: Dataset,
  rows: readonly CryoRow[],
  { withHeaders = true, columns = {} }: CryoOptions,
): Promise<Buffer> {
  const names = Object.keys(COLUMNS[dataset]).filter((name) => withHeaders || !HEADER_COLUMNS.includes(name));
  const table = `made_${dataset}`;
  await database.command('drop', `DROP TABLE IF EXISTS ${table} SYNC`);
  const types = names.map((name) => `${name} Nullable(String)`);
  await database.command(
    'make',
    `CREATE TABLE ${table} (row_number UInt32, ${types.join(', ')}) ENGINE = Memory`,
  );
  for (let firstRow = 0; firstRow < rows.length; firstRow += ROWS_PER_INSERT) {
    const jsonRows = rows.slice(firstRow, firstRow + ROWS_PER_INSERT).map((row, index) => {
      const rowFields = Object.entries(row).map(([key, value]) => [
        key,
        value === null ? null : String(value),
      ]);
      return JSON.stringify({ row_number: firstRow + index, ...Object.fromEntries(rowFields) });
    });
    await database.command('fill', `INSERT INTO ${table} FORMAT JSONEachRow ${jsonRows.join('\n')}`);
  }
  const columnList = names.flatMap((name) => {
    const columnSql = columns[`${dataset}.${name}`] ?? COLUMNS[dataset][name]!(name);
    return columnSql === '' ? [] : [columnSql];
  });
  const sql = `SELECT ${columnList.join(', ')} FROM (SELECT * FROM ${table} ORDER BY row_number)`;
  const settings = { output_format_parquet_string_as_string: '0' };
  return database.selectBinary('parquet', sql, {}, 'Parquet', settings);
}

interface RpcTransaction {
  readonly nonce: string;
  readonly gas: string;
}

interface RpcBlock {
  readonly hash: string;
  readonly parentHash: string;
  readonly logsBloom: string;
  readonly timestamp: string;
  readonly baseFeePerGas: string;
  /** Objects, or hashes if the node has no full blocks. */
  readonly transactions: readonly (RpcTransaction | string)[];
}

interface RpcLog {
  readonly logIndex: string;
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

interface RpcReceipt {
  readonly transactionHash: string;
  readonly from: string;
  readonly to: string | null;
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly status: string;
  readonly logs: readonly RpcLog[];
}

async function ask<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await answer.json()) as { result: T }).result;
}

async function readRows(url: string, from: number, to: number): Promise<CryoRows> {
  const rows: CryoRows = { blocks: [], logs: [], transactions: [] };
  const chainId = Number(await ask<string>(url, 'eth_chainId', []));
  for (let number = from; number <= to; number += 1) {
    const blockNumber = `0x${number.toString(16)}`;
    const block = await ask<RpcBlock>(url, 'eth_getBlockByNumber', [blockNumber, true]);
    const receipts = await ask<RpcReceipt[]>(url, 'eth_getBlockReceipts', [blockNumber]);
    rows.blocks.push({
      block_number: number,
      block_hash: block.hash,
      parent_hash: block.parentHash,
      author: `0x${'00'.repeat(20)}`,
      gas_used: receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0),
      logs_bloom: block.logsBloom,
      timestamp: Number(block.timestamp),
      base_fee_per_gas: Number(block.baseFeePerGas),
      chain_id: chainId,
    });
    for (const [index, receipt] of receipts.entries()) {
      const transaction = block.transactions[index]!;
      const { nonce, gas } =
        typeof transaction === 'string' ? { nonce: '0x0', gas: receipt.gasUsed } : transaction;
      const common = {
        block_number: number,
        transaction_index: index,
        transaction_hash: receipt.transactionHash,
      };
      rows.transactions.push({
        ...common,
        nonce: Number(nonce),
        from_address: receipt.from,
        to_address: receipt.to,
        gas_limit: Number(gas),
        gas_used: Number(receipt.gasUsed),
        gas_price: BigInt(receipt.effectiveGasPrice).toString(),
        success: receipt.status === '0x1',
        chain_id: chainId,
      });
      for (const { logIndex, address, topics, data } of receipt.logs) {
        const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics;
        const logRow = { log_index: Number(logIndex), address, topic0, topic1, topic2, topic3, data };
        rows.logs.push({ ...common, ...logRow, n_data_bytes: (data.length - 2) / 2, chain_id: chainId });
      }
    }
  }
  return rows;
}
