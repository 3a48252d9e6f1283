/**
 * Encodes verified blocks into bytes and back. The bytes are only read by the same version of the program, while a backfill
 * runs. The index of a log is its position in the block, as `checkLogOrder` has verified.
 */
import { RowReader } from '../../clickhouse/rows/rowReader';
import type { RowWriter } from '../../clickhouse/rows/rowWriter';
import type { ChainBlock, ChainLog, ChainTransaction, ProofLevel } from '../../domain/block';
import type { Hex } from '../../domain/hex';

/** Changes with the encoding, so that bytes of another version are refused. */
const VERSION = 1;
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const LEVELS: readonly ProofLevel[] = ['bloom', 'headers', 'full', 'receipts', 'none'];
/** This bit marks a log that stores the hash of its transaction, because the block lists no such transaction. */
const OWN_HASH = 8;

export function encodeBlocks(writer: RowWriter, blocks: readonly ChainBlock[]): void {
  writer.u8(VERSION);
  writer.varint(blocks.length);
  for (const block of blocks) {
    writer.u32(block.number);
    writer.fixed(block.hash, HASH_BYTES);
    writer.fixed(block.parentHash, HASH_BYTES);
    writer.u64(block.timestamp);
    writeOptional(writer, block.baseFeePerGas, (value) => writer.u256(value));
    writer.varint(block.transactionCount);
    writer.u8(LEVELS.indexOf(block.proof ?? 'bloom'));
    writer.varint(block.transactions.length);
    for (const transaction of block.transactions) writeTransaction(writer, transaction);
    writer.varint(block.logs.length);
    for (const log of block.logs) writeLog(writer, log, block.transactions);
  }
}

/** @throws RangeError if the bytes are not an encoding of this version */
export function decodeBlocks(bytes: Buffer): ChainBlock[] {
  const reader = new RowReader(bytes);
  const version = reader.u8();
  if (version !== VERSION) throw new RangeError(`got the version ${version} of the encoding, not ${VERSION}`);
  const blocks = Array.from({ length: reader.varUint() }, () => readBlock(reader));
  if (reader.position !== bytes.length)
    throw new RangeError(`read ${reader.position} bytes of ${bytes.length}`);
  return blocks;
}

function readBlock(reader: RowReader): ChainBlock {
  const number = reader.u32();
  const hash = reader.hex0x(HASH_BYTES);
  const parentHash = reader.hex0x(HASH_BYTES);
  const timestamp = reader.u64();
  const baseFeePerGas = reader.orNull(() => reader.u256());
  const transactionCount = reader.varUint();
  const proof = LEVELS[reader.u8()];
  if (proof === undefined) throw new RangeError('the level of proof is unknown');
  const transactions = Array.from({ length: reader.varUint() }, () => readTransaction(reader));
  const logs = Array.from({ length: reader.varUint() }, (_, logIndex) =>
    readLog(reader, logIndex, transactions),
  );
  return {
    number,
    hash,
    parentHash,
    timestamp,
    baseFeePerGas,
    transactionCount,
    transactions,
    logs,
    proof,
  };
}

function writeTransaction(writer: RowWriter, transaction: ChainTransaction): void {
  writer.fixed(transaction.hash, HASH_BYTES);
  writer.varint(transaction.index);
  writeOptional(writer, transaction.from, (value) => writer.fixed(value, ADDRESS_BYTES));
  writeOptional(writer, transaction.effectiveGasPrice, (value) => writer.u256(value));
  writeOptional(writer, transaction.gasUsed, (value) => writer.u64(value));
  writeOptional(writer, transaction.contractAddress, (value) => writer.fixed(value, ADDRESS_BYTES));
}

function readTransaction(reader: RowReader): ChainTransaction {
  return {
    hash: reader.hex0x(HASH_BYTES),
    index: reader.varUint(),
    from: reader.orNull(() => reader.hex0x(ADDRESS_BYTES)),
    effectiveGasPrice: reader.orNull(() => reader.u256()),
    gasUsed: reader.orNull(() => reader.u64()),
    contractAddress: reader.orNull(() => reader.hex0x(ADDRESS_BYTES)),
  };
}

function writeLog(writer: RowWriter, log: ChainLog, transactions: readonly ChainTransaction[]): void {
  const { address, topics, data, transactionIndex, transactionHash } = log;
  const isListed = transactions[transactionIndex]?.hash === transactionHash;
  writer.u8(topics.length + (isListed ? 0 : OWN_HASH));
  writer.varint(transactionIndex);
  if (!isListed) writer.fixed(transactionHash, HASH_BYTES);
  writer.fixed(address, ADDRESS_BYTES);
  for (const topic of topics) writer.fixed(topic, HASH_BYTES);
  writer.hexString(data);
}

function readLog(reader: RowReader, logIndex: number, transactions: readonly ChainTransaction[]): ChainLog {
  const topicsByte = reader.u8();
  const transactionIndex = reader.varUint();
  const ownHash: Hex | null = topicsByte >= OWN_HASH ? reader.hex0x(HASH_BYTES) : null;
  const transactionHash = ownHash ?? transactions[transactionIndex]?.hash;
  if (transactionHash === undefined) throw new RangeError(`log ${logIndex} has no transaction`);
  const address = reader.hex0x(ADDRESS_BYTES);
  const topics: Hex[] = [];
  for (let topicsLeft = topicsByte % OWN_HASH; topicsLeft > 0; topicsLeft -= 1)
    topics.push(reader.hex0x(HASH_BYTES));
  return { address, topics, data: reader.text0x(), transactionHash, transactionIndex, logIndex };
}

function writeOptional<T>(writer: RowWriter, value: T | null, write: (value: T) => void): void {
  writer.bool(value === null);
  if (value !== null) write(value);
}
