/**
 * Proves blocks of Parquet files that have the columns `header`, `transaction_type` and `signed_transaction`: every
 * column of every row follows from the hash of the block. Whoever knows the hash of the newest block knows by the
 * parent hashes that all blocks before it are right.
 */
import { BloomBuilder, bloomToHex } from '../../node/blocks/bloom';
import { encodeReceipt } from '../../node/proof/encodeReceipt';
import { gasPriceIn, readHeader, readTransaction, type HeaderFields } from '../../node/proof/encodedBlock';
import { loadKeccak, type Keccak } from '../../node/proof/keccak';
import { listRoot } from '../../node/proof/listRoot';
import { recoverSender } from '../../node/proof/recoverSender';
import { toHex } from '../../node/proof/rlpReader';
import { EncodeError, RlpWriter } from '../../node/proof/rlpWriter';
import { SenderThreads } from '../../node/proof/senderThreads';
import type { ProofLevel } from '../../domain/block';
import { numberToHex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import type { JoinedBlock } from './joinRows';
import { fileFault, type ParquetBlock, type ParquetTransaction, type PathOf } from './parquetRows';

/** Recovered senders of encoded transactions, by their bytes. */
type Senders = ReadonlyMap<Uint8Array, string>;

export class RowProver {
  private readonly itemWriter = new RlpWriter();
  private readonly nodeWriter = new RlpWriter();

  private constructor(
    private readonly keccak: Keccak,
    private readonly blooms: BloomBuilder,
    private readonly threads: SenderThreads | null,
  ) {}

  /** With threads, `recoverSenders` uses the other cores. The prover must then be closed. */
  static async create({ hasThreads = false } = {}): Promise<RowProver> {
    const keccak = await loadKeccak();
    const threads = hasThreads ? new SenderThreads(keccak) : null;
    return new RowProver(keccak, await BloomBuilder.create(), threads);
  }

  async close(): Promise<void> {
    await this.threads?.close();
  }

  /** The senders of the transactions of all blocks, which `prove` needs. Without threads, `prove` recovers them itself. */
  async recoverSenders(blocks: readonly JoinedBlock[]): Promise<Senders> {
    const sealed = blocks.flatMap(({ transactions }) =>
      transactions.flatMap((transaction) => transaction.sealed ?? []),
    );
    return (await this.threads?.recover(sealed.flatMap(({ encoded }) => encoded ?? []))) ?? new Map();
  }

  /**
   * Proves the rows of a block: with the level `full`, every column. Returns `headers` if the type or the status of a
   * receipt is null, and `receipts` if only a signed transaction is null. @throws AppError `bad_config` that names the file of the wrong row
   */
  prove(block: JoinedBlock, pathOf: PathOf, senders: Senders = new Map()): ProofLevel {
    const header = this.proveHeader(block.row, pathOf);
    const lacksReceipt = ({ sealed }: ParquetTransaction): boolean =>
      (sealed?.type ?? null) === null || (sealed?.success ?? null) === null;
    if (block.transactions.some(lacksReceipt)) return 'headers';
    this.proveReceipts(block, header, pathOf);
    if (block.transactions.some(({ sealed }) => (sealed?.encoded ?? null) === null)) return 'receipts';
    this.proveTransactions(block, header, pathOf, senders);
    return 'full';
  }

  /** Proves the row of a block by its hash. @throws AppError `bad_config` */
  proveHeader(row: ParquetBlock, pathOf: PathOf): HeaderFields {
    const { block, encoded = null, hash, parentHash, timestamp, baseFeePerGas, gasUsed, logsBloom } = row;
    const path = pathOf(row.file);
    if (encoded === null) throw fileFault(path, `block ${block}: header is null`, 'the header of the block');
    const fields = orFault(path, `block ${block}: header`, () => readHeader(encoded, this.keccak));
    compare(path, `block ${block}`, [
      ['block_hash', hash, fields.hash],
      ['block_number', block, fields.number],
      ['parent_hash', parentHash, fields.parentHash],
      ['timestamp', timestamp, fields.timestamp],
      ['base_fee_per_gas', baseFeePerGas, fields.baseFeePerGas],
      ['gas_used', gasUsed, fields.gasUsed],
      ['logs_bloom', logsBloom, fields.logsBloom],
    ]);
    return fields;
  }

  private proveReceipts(
    { row, transactions, logs }: JoinedBlock,
    header: HeaderFields,
    pathOf: PathOf,
  ): void {
    const ownFiles = [...transactions, ...logs].map(({ file }) => file);
    const path = [...new Set(ownFiles.length === 0 ? [row.file] : ownFiles)].map(pathOf).join(', ');
    let cumulativeGas = 0;
    let nextLog = 0;
    const receipts = transactions.map(({ index, gasUsed, sealed }) => {
      const firstLog = nextLog;
      while (logs[nextLog]?.transactionIndex === index) nextLog += 1;
      const receiptLogs = logs.slice(firstLog, nextLog);
      cumulativeGas += gasUsed;
      return {
        type: numberToHex(sealed?.type ?? 0),
        status: sealed?.success === true ? '0x1' : '0x0',
        cumulativeGasUsed: numberToHex(cumulativeGas),
        logsBloom: bloomToHex(this.blooms.build(receiptLogs)),
        logs: receiptLogs,
      };
    });
    const encoded = orFault(path, `block ${row.block}: a receipt`, () => {
      this.itemWriter.clear();
      return receipts.map((receipt) => {
        const mark = this.itemWriter.size;
        encodeReceipt(receipt, this.itemWriter);
        return this.itemWriter.since(mark);
      });
    });
    const roots = [['receipts root', this.rootOf(encoded), header.receiptsRoot]] as const;
    compare(path, `block ${row.block}`, roots);
  }

  private proveTransactions(
    { row, transactions }: JoinedBlock,
    header: HeaderFields,
    pathOf: PathOf,
    senders: Senders,
  ): void {
    const path = pathOf(transactions[0]?.file ?? row.file);
    const encoded = transactions.map(({ sealed }) => sealed?.encoded ?? Buffer.alloc(0));
    const roots = [['transactions root', this.rootOf(encoded), header.transactionsRoot]] as const;
    compare(path, `block ${row.block}`, roots);
    for (const [index, transaction] of transactions.entries())
      this.proveTransaction(transaction, encoded[index] ?? Buffer.alloc(0), header, pathOf, senders);
  }

  private proveTransaction(
    { file, block, index, hash, from, effectiveGasPrice, sealed }: ParquetTransaction,
    encoded: Buffer,
    header: HeaderFields,
    pathOf: PathOf,
    senders: Senders,
  ): void {
    const path = pathOf(file);
    const readSender = (): string | null => senders.get(encoded) ?? recoverSender(encoded, this.keccak);
    const place = `block ${block}, transaction ${index}`;
    const fields = orFault(path, `${place}: signed_transaction`, () => readTransaction(encoded));
    compare(path, place, [
      ['transaction_hash', hash, toHex(this.keccak(encoded))],
      ['transaction_type', sealed?.type, fields.type],
      ['nonce', sealed?.nonce, Number(fields.nonce)],
      ['to_address', sealed?.to, fields.to],
      ['gas_price', effectiveGasPrice, gasPriceIn(fields, header.baseFeePerGas)],
      ['from_address', from, orFault(path, place, readSender)],
    ]);
  }

  private rootOf(values: readonly Uint8Array[]): string {
    this.nodeWriter.clear();
    return toHex(listRoot(values, this.keccak, this.nodeWriter));
  }
}

type Compared = readonly [column: string, got: unknown, expected: unknown];

function compare(path: string, place: string, values: readonly Compared[]): void {
  for (const [column, got, expected] of values)
    if (got !== expected)
      throw fileFault(
        path,
        `${place}: ${column} is ${String(got)}`,
        `${String(expected)}, by the hash of the block`,
      );
}

/** An error about the bytes of a file becomes an error of the file. */
function orFault<T>(path: string, place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError || !(error instanceof Error)) throw error;
    const allowed = error instanceof EncodeError ? 'values of a known format' : 'whole values';
    throw fileFault(path, `${place}: ${errorText(error)}`, allowed);
  }
}
