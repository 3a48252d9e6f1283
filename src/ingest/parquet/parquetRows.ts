/**
 * Checks each value of the staged rows of Parquet files: files can contain anything. An error names the file, the row
 * and the column.
 */
import { getCreateAddress } from 'ethers';

import { bool, hexBytes, nullable, rawBytes, u32, u64, wideU64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { ChainLog, ChainTransaction } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { ORD_SPAN } from '../../domain/ord';
import { AppError } from '../../errors';

/** Name of a file by its number, for errors. */
export type PathOf = (file: number) => string;

interface ParquetRow {
  readonly file: number;
  readonly block: number;
}

export interface ParquetBlock extends ParquetRow {
  readonly hash: Hex;
  /** Null if the file does not have the column. The same holds for the bloom and the gas. */
  readonly parentHash: Hex | null;
  readonly logsBloom: Hex | null;
  readonly gasUsed: number | null;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
  /** Base fee in wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  /** The header as the hash of the block covers it. Absent if the file does not have the column. */
  readonly encoded?: Buffer | null;
}

export interface ParquetTransaction extends ParquetRow, ChainTransaction {
  readonly gasUsed: number;
  /** What the roots of the block cover. Absent for blocks of a service. */
  readonly sealed?: SealedTransaction;
}

/** What the roots of a block cover of a transaction and its receipt. */
interface SealedTransaction {
  readonly to: Hex | null;
  readonly nonce: number;
  /** Null before Byzantium. */
  readonly success: boolean | null;
  /** The type of the receipt (EIP-2718), and the signed transaction. Null if the file does not have the column. */
  readonly type: number | null;
  readonly encoded: Buffer | null;
}

export interface ParquetLog extends ParquetRow, ChainLog {}

/** Values are below these limits. The type of a receipt is 0 to 0x7f (EIP-2718). */
const BLOCK_LIMIT = 2 ** 31;
const TIMESTAMP_LIMIT = 2 ** 32;
const EXACT_LIMIT = 2 ** 53;
const TRANSACTIONS_LIMIT = 2 ** 20;
const TYPE_LIMIT = 0x80;
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const BLOOM_BYTES = 256;

const binary = nullable(hexBytes);
const integer = nullable(u64);
const key = { file: u32, block_number: u64 };

const bytes = nullable(rawBytes);

/** Columns of the queries in clickhouse/queries/parquet. */
export const blockColumns = {
  ...key,
  block_hash: binary,
  parent_hash: binary,
  timestamp: integer,
  base_fee_per_gas: nullable(wideU64),
  gas_used: integer,
  logs_bloom: binary,
  header: bytes,
};
export const transactionColumns = {
  ...key,
  transaction_index: u64,
  transaction_hash: binary,
  from_address: binary,
  to_address: binary,
  nonce: integer,
  gas_used: integer,
  gas_price: nullable(wideU64),
  success: nullable(bool),
  transaction_type: integer,
  signed_transaction: bytes,
};
export const logColumns = {
  ...key,
  log_index: u64,
  transaction_index: integer,
  transaction_hash: binary,
  address: binary,
  topic0: binary,
  topic1: binary,
  topic2: binary,
  topic3: binary,
  data: binary,
};
export const blockRow = rowType(blockColumns);
export const transactionRow = rowType(transactionColumns);
export const logRow = rowType(logColumns);
type LogRow = RowOf<typeof logRow>;

/** Checks the rows of the queries in clickhouse/queries/parquet. */
export class ParquetRows {
  constructor(private readonly pathOf: PathOf) {}

  readonly block = (row: RowOf<typeof blockRow>): ParquetBlock => {
    const { file } = row;
    const block = this.key(row.block_number, BLOCK_LIMIT, 'block_number', { file, row: 'a row' });
    const rowPlace = { file, row: `block ${block}` };
    return {
      file,
      block,
      hash: this.required(
        this.binary(row.block_hash, HASH_BYTES, 'block_hash', rowPlace),
        'block_hash',
        rowPlace,
      ),
      parentHash: this.binary(row.parent_hash, HASH_BYTES, 'parent_hash', rowPlace),
      timestamp: this.required(
        this.integer(row.timestamp, TIMESTAMP_LIMIT, 'timestamp', rowPlace),
        'timestamp',
        rowPlace,
      ),
      baseFeePerGas: row.base_fee_per_gas,
      gasUsed: this.integer(row.gas_used, EXACT_LIMIT, 'gas_used', rowPlace),
      logsBloom: this.binary(row.logs_bloom, BLOOM_BYTES, 'logs_bloom', rowPlace),
      encoded: row.header,
    };
  };

  readonly transaction = (row: RowOf<typeof transactionRow>): ParquetTransaction => {
    const { file, success } = row;
    const block = this.key(row.block_number, BLOCK_LIMIT, 'block_number', { file, row: 'a row' });
    const inBlock = { file, row: `a transaction of block ${block}` };
    const index = this.key(row.transaction_index, TRANSACTIONS_LIMIT, 'transaction_index', inBlock);
    const rowPlace = { file, row: `block ${block}, transaction ${index}` };
    const binaryOf = (column: 'transaction_hash' | 'from_address', bytes: number): Hex =>
      this.required(this.binary(row[column], bytes, column, rowPlace), column, rowPlace);
    const numberOf = (column: 'nonce' | 'gas_used'): number =>
      this.required(this.integer(row[column], EXACT_LIMIT, column, rowPlace), column, rowPlace);
    const hash = binaryOf('transaction_hash', HASH_BYTES);
    const from = binaryOf('from_address', ADDRESS_BYTES);
    const to = this.binary(row.to_address, ADDRESS_BYTES, 'to_address', rowPlace);
    const nonce = numberOf('nonce');
    const gasUsed = numberOf('gas_used');
    const effectiveGasPrice = this.required(row.gas_price, 'gas_price', rowPlace);
    // The file does not name the created contract, but its address follows from the sender and the nonce.
    const contractAddress = to === null && success !== false ? createdBy(from, nonce) : null;
    const type = this.integer(row.transaction_type, TYPE_LIMIT, 'transaction_type', rowPlace);
    const sealed = { to, nonce, success, type, encoded: row.signed_transaction };
    return { file, block, hash, index, from, effectiveGasPrice, gasUsed, contractAddress, sealed };
  };

  readonly log = (row: LogRow): ParquetLog => {
    const { file } = row;
    const block = this.key(row.block_number, BLOCK_LIMIT, 'block_number', { file, row: 'a row' });
    const inBlock = { file, row: `a log of block ${block}` };
    const logIndex = this.key(row.log_index, ORD_SPAN, 'log_index', inBlock);
    const rowPlace = { file, row: '', block, logIndex };
    const index = this.integer(row.transaction_index, TRANSACTIONS_LIMIT, 'transaction_index', rowPlace);
    const hash = this.binary(row.transaction_hash, HASH_BYTES, 'transaction_hash', rowPlace);
    const address = this.binary(row.address, ADDRESS_BYTES, 'address', rowPlace);
    return {
      file,
      block,
      logIndex,
      transactionIndex: this.required(index, 'transaction_index', rowPlace),
      transactionHash: this.required(hash, 'transaction_hash', rowPlace),
      address: this.required(address, 'address', rowPlace),
      topics: this.topics(row, rowPlace),
      data: this.required(row.data, 'data', rowPlace),
    };
  };

  private topics(row: LogRow, place: Place): Hex[] {
    const topics: Hex[] = [];
    for (const [index, value] of [row.topic0, row.topic1, row.topic2, row.topic3].entries()) {
      const name = `topic${index}`;
      const topic = this.binary(value, HASH_BYTES, name, place);
      if (topic === null) continue;
      if (topics.length < index)
        throw this.fault(place, `topic${topics.length}`, 'null', `32 bytes, because ${name} is not null`);
      topics.push(topic);
    }
    return topics;
  }

  private key(value: number, limit: number, column: string, place: Place): number {
    if (value < limit) return value;
    // The queries give 2^64 − 1 for a null in a key column (NULL_KEY in datasets.ts), which reads as 2^64.
    throw this.fault(place, column, value >= 2 ** 64 ? 'null' : String(value), `0 to ${limit - 1}`);
  }

  private integer(value: number | null, limit: number, column: string, place: Place): number | null {
    if (value === null || value < limit) return value;
    throw this.fault(place, column, String(value), `0 to ${limit - 1}`);
  }

  private binary(value: Hex | null, bytes: number, column: string, place: Place): Hex | null {
    if (value === null || value.length === 2 + 2 * bytes) return value;
    throw this.fault(place, column, `${value.length / 2 - 1} bytes`, `${bytes} bytes`);
  }

  private required<T>(value: T | null, column: string, place: Place): T {
    if (value !== null) return value;
    throw this.fault(place, column, 'null', 'a value');
  }

  private fault(place: Place, column: string, got: string, allowed: string): AppError {
    const row = place.logIndex === undefined ? place.row : `block ${place.block}, log ${place.logIndex}`;
    return fileFault(this.pathOf(place.file), `${row}: ${column} is ${got}`, allowed);
  }
}

/** A row for an error. The text of a log's row is only made when it is needed, because there are many logs. */
interface Place {
  readonly file: number;
  readonly row: string;
  readonly block?: number;
  readonly logIndex?: number;
}

export function fileFault(path: string, got: string, allowed: string): AppError {
  return new AppError('bad_config', `${path}: ${got}; allowed: ${allowed}`);
}

/** The address of the contract that a transaction creates. */
export function createdBy(from: Hex, nonce: number): Hex {
  return `0x${getCreateAddress({ from, nonce }).slice(2).toLowerCase()}`;
}
