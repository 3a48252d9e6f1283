/**
 * The rows of a block for the files of a snapshot: cryo's columns, and the header, the type of each receipt and the signed
 * transactions, which prove them. The database does not store these, so they come from the node.
 */
import { encodeHeader, FIELD_SETS, hasFields } from '../../node/proof/encodeHeader';
import { encodeTransaction, readType } from '../../node/proof/encodeTransaction';
import type { RawBlock } from '../../node/proof/blockProof';
import { loadKeccak, type Keccak } from '../../node/proof/keccak';
import { EncodeError, RlpWriter } from '../../node/proof/rlpWriter';
import { toHex } from '../../node/proof/rlpReader';
import { isRecord } from '../../node/rpc/rpcTransport';
import { nullable, u64 } from '../../clickhouse/rows/columns';
import { defineTable, type Table } from '../../clickhouse/schema/tables';
import type { ChainBlock, ChainLog, ChainTransaction } from '../../domain/block';
import { isAddress, isHexOfLength, toLowerHex, type Hex } from '../../domain/hex';
import { blockColumns, logColumns, transactionColumns } from '../parquet/parquetRows';

type Fields = Readonly<Record<string, unknown>>;

const chain_id = nullable(u64);
export const blockFiles = defineTable('blocks', { ...blockColumns, chain_id });
export const transactionFiles = defineTable('transactions', { ...transactionColumns, chain_id });
export const logFiles = defineTable('logs', { ...logColumns, chain_id });

type TableRow<T> = T extends Table<infer Row> ? Row : never;
type SnapshotBlockRow = TableRow<typeof blockFiles>;
type SnapshotTransactionRow = TableRow<typeof transactionFiles>;
type SnapshotLogRow = TableRow<typeof logFiles>;

export interface SnapshotRows {
  readonly block: SnapshotBlockRow;
  readonly transactions: readonly SnapshotTransactionRow[];
  readonly logs: readonly SnapshotLogRow[];
}

/** Numbers of the files that get the rows. */
interface FileNumbers {
  readonly blocks: number;
  readonly transactions: number;
  readonly logs: number;
}

/** Fields of receipts that other chains encode, and that the files have no column for. */
const OTHER_FIELDS = ['depositNonce', 'depositReceiptVersion', 'baseFee'];
const BLOOM_DIGITS = 512;

export class RowMaker {
  private readonly writer = new RlpWriter();

  private constructor(
    private readonly chainId: number,
    private readonly keccak: Keccak,
  ) {}

  static async create(chainId: number): Promise<RowMaker> {
    return new RowMaker(chainId, await loadKeccak());
  }

  rowsOf(block: ChainBlock, { header, receipts }: RawBlock, files: FileNumbers): SnapshotRows {
    const bodies = Array.isArray(header['transactions']) ? header['transactions'] : [];
    const common = { block_number: block.number, chain_id: this.chainId };
    const bloom = header['logsBloom'];
    return {
      block: {
        ...common,
        file: files.blocks,
        block_hash: block.hash,
        parent_hash: block.parentHash,
        timestamp: block.timestamp,
        base_fee_per_gas: block.baseFeePerGas,
        gas_used: numberOf(header['gasUsed']),
        logs_bloom: isHexOfLength(bloom, BLOOM_DIGITS) ? toLowerHex(bloom) : null,
        header: this.encodeHeader(block.hash, header),
      },
      transactions: block.transactions.map((transaction) => ({
        ...common,
        file: files.transactions,
        ...this.transactionRow(
          transaction,
          asRecord(bodies[transaction.index]),
          asRecord(receipts?.[transaction.index]),
        ),
      })),
      logs: block.logs.map((log) => ({ ...common, file: files.logs, ...logRow(log) })),
    };
  }

  private transactionRow(
    { index, hash, from, gasUsed, effectiveGasPrice }: ChainTransaction,
    body: Fields,
    receipt: Fields,
  ): Omit<SnapshotTransactionRow, 'file' | 'block_number' | 'chain_id'> {
    const { status } = receipt;
    const isPlain = typeof status === 'string' && OTHER_FIELDS.every((name) => isAbsent(receipt[name]));
    const to = body['to'] ?? receipt['to'];
    return {
      transaction_index: index,
      transaction_hash: hash,
      from_address: from,
      to_address: isAddress(to) ? toLowerHex(to) : null,
      nonce: numberOf(body['nonce']),
      gas_used: gasUsed,
      gas_price: effectiveGasPrice,
      success: typeof status === 'string' ? Number(status) === 1 : null,
      transaction_type: isPlain ? readType(receipt) : null,
      signed_transaction: this.encode(() => encodeTransaction(body, this.writer)),
    };
  }

  /** The bytes whose hash is the hash of the block. Null if the header has fields that this program does not know. */
  private encodeHeader(hash: Hex, header: Fields): Buffer | null {
    for (const set of FIELD_SETS) {
      if (!hasFields(header, set)) continue;
      const encoded = this.encode(() => encodeHeader(header, set, this.writer));
      if (encoded !== null && toHex(this.keccak(encoded)) === hash) return encoded;
    }
    return null;
  }

  /** A copy of what `write` writes. Null if a value cannot be encoded. */
  private encode(write: () => void): Buffer | null {
    this.writer.clear();
    try {
      write();
    } catch (error) {
      if (error instanceof EncodeError) return null;
      throw error;
    }
    return Buffer.from(this.writer.since(0));
  }
}

function logRow(log: ChainLog): Omit<SnapshotLogRow, 'file' | 'block_number' | 'chain_id'> {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return {
    log_index: log.logIndex,
    transaction_index: log.transactionIndex,
    transaction_hash: log.transactionHash,
    address: log.address,
    topic0,
    topic1,
    topic2,
    topic3,
    data: log.data,
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'string' ? Number(value) : null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function asRecord(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
