/**
 * Reads staged rows of Parquet files from RowBinary, and checks each value: files can contain anything. An error names
 * the file, the row and the column.
 */
import { getCreateAddress } from 'ethers';

import type { RowReader } from '../../clickhouse/rows/rowReader';
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
}

export interface ParquetTransaction extends ParquetRow, ChainTransaction {
  readonly gasUsed: number;
}

export interface ParquetLog extends ParquetRow, ChainLog {}

const BLOCK_MAX = 2 ** 31;
const TIMESTAMP_MAX = 2 ** 32;
const EXACT_MAX = 2 ** 53;
const TRANSACTIONS_MAX = 2 ** 20;
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const BLOOM_BYTES = 256;

/** Decodes the rows of the queries in clickhouse/queries/parquet. */
export class ParquetRows {
  constructor(private readonly pathOf: PathOf) {}

  readonly block = (reader: RowReader): ParquetBlock => {
    const file = reader.u32();
    const block = this.key(reader, BLOCK_MAX, 'block_number', { file, row: 'a row' });
    const at = { file, row: `block ${block}` };
    return {
      file,
      block,
      hash: this.required(this.binary(reader, HASH_BYTES, 'block_hash', at), 'block_hash', at),
      parentHash: this.binary(reader, HASH_BYTES, 'parent_hash', at),
      timestamp: this.required(this.integer(reader, TIMESTAMP_MAX, 'timestamp', at), 'timestamp', at),
      baseFeePerGas: reader.orNull(() => reader.bigU64()),
      gasUsed: this.integer(reader, EXACT_MAX, 'gas_used', at),
      logsBloom: this.binary(reader, BLOOM_BYTES, 'logs_bloom', at),
    };
  };

  readonly transaction = (reader: RowReader): ParquetTransaction => {
    const file = reader.u32();
    const block = this.key(reader, BLOCK_MAX, 'block_number', { file, row: 'a row' });
    const row = { file, row: `a transaction of block ${block}` };
    const index = this.key(reader, TRANSACTIONS_MAX, 'transaction_index', row);
    const at = { file, row: `block ${block}, transaction ${index}` };
    const hash = this.required(
      this.binary(reader, HASH_BYTES, 'transaction_hash', at),
      'transaction_hash',
      at,
    );
    const from = this.required(this.binary(reader, ADDRESS_BYTES, 'from_address', at), 'from_address', at);
    const to = this.binary(reader, ADDRESS_BYTES, 'to_address', at);
    const nonce = this.required(this.integer(reader, EXACT_MAX, 'nonce', at), 'nonce', at);
    const gasUsed = this.required(this.integer(reader, EXACT_MAX, 'gas_used', at), 'gas_used', at);
    const price = reader.orNull(() => reader.bigU64());
    const effectiveGasPrice = this.required(price, 'gas_price', at);
    const success = reader.orNull(() => reader.bool());
    // The file does not name the created contract, but its address follows from the sender and the nonce.
    const contractAddress = to === null && success !== false ? createdBy(from, nonce) : null;
    return { file, block, hash, index, from, effectiveGasPrice, gasUsed, contractAddress };
  };

  readonly log = (reader: RowReader): ParquetLog => {
    const file = reader.u32();
    const block = this.key(reader, BLOCK_MAX, 'block_number', { file, row: 'a row' });
    const logIndex = this.key(reader, ORD_SPAN, 'log_index', { file, row: `a log of block ${block}` });
    const at = { file, row: '', block, logIndex };
    const index = this.integer(reader, TRANSACTIONS_MAX, 'transaction_index', at);
    const hash = this.binary(reader, HASH_BYTES, 'transaction_hash', at);
    const address = this.binary(reader, ADDRESS_BYTES, 'address', at);
    return {
      file,
      block,
      logIndex,
      transactionIndex: this.required(index, 'transaction_index', at),
      transactionHash: this.required(hash, 'transaction_hash', at),
      address: this.required(address, 'address', at),
      topics: this.topics(reader, at),
      data: this.required(this.binary(reader, null, 'data', at), 'data', at),
    };
  };

  private topics(reader: RowReader, at: Place): Hex[] {
    const topics: Hex[] = [];
    for (let index = 0; index < 4; index += 1) {
      const name = `topic${index}`;
      const topic = this.binary(reader, HASH_BYTES, name, at);
      if (topic === null) continue;
      if (topics.length < index)
        throw this.fault(at, `topic${topics.length}`, 'null', `32 bytes, because ${name} is not null`);
      topics.push(topic);
    }
    return topics;
  }

  private key(reader: RowReader, limit: number, column: string, at: Place): number {
    const value = reader.u64();
    if (value < limit) return value;
    throw this.fault(at, column, value >= 2 ** 64 ? 'null' : String(value), `0 to ${limit - 1}`);
  }

  private integer(reader: RowReader, limit: number, column: string, at: Place): number | null {
    if (reader.bool()) return null;
    const value = reader.u64();
    if (value < limit) return value;
    throw this.fault(at, column, String(value), `0 to ${limit - 1}`);
  }

  private binary(reader: RowReader, size: number | null, column: string, at: Place): Hex | null {
    if (reader.bool()) return null;
    const bytes = reader.slice();
    if (size !== null && bytes.length !== size)
      throw this.fault(at, column, `${bytes.length} bytes`, `${size} bytes`);
    return `0x${bytes.toString('hex')}`;
  }

  private required<T>(value: T | null, column: string, at: Place): T {
    if (value !== null) return value;
    throw this.fault(at, column, 'null', 'a value');
  }

  private fault(at: Place, column: string, got: string, allowed: string): AppError {
    const row = at.logIndex === undefined ? at.row : `block ${at.block}, log ${at.logIndex}`;
    return fileFault(this.pathOf(at.file), `${row}: ${column} is ${got}`, allowed);
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
