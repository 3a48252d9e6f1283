/**
 * Parses a node's untrusted JSON into blocks, transactions and logs. Checks number ranges and hex formats,
 * and lower-cases hex. All parts must name the same block. Written by hand instead of with a schema library,
 * because this code runs once per log.
 */
import type { BlockRef, ChainBlock, ChainLog, ChainTransaction } from '../../domain/block';
import { isHash, isLowerHexData, isQuantity, toLowerHex, ZERO_HASH, type Hex } from '../../domain/hex';
import { RecentValues } from '../../domain/recentValues';
import { ORD_SPAN } from '../../domain/ord';
import { BlockMismatch } from './blockMismatch';
import { isRecord } from '../rpc/rpcTransport';

export interface BlockHeader extends BlockRef {
  /** Base fee in wei. Null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  readonly transactionCount: number;
  /** The bloom of 256 bytes. Null if the node sends no bloom. */
  readonly logsBloom: Hex | null;
}

type BlockContent = Required<Pick<ChainBlock, 'transactions' | 'logs' | 'proof'>>;

export function toChainBlock(header: BlockHeader, { transactions, logs, proof }: BlockContent): ChainBlock {
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = header;
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

/** A header and its transactions: hashes or full bodies. */
export interface HeaderWithBodies {
  readonly header: BlockHeader;
  readonly bodies: readonly unknown[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Block numbers must be below this limit, so that a position (`ord`: block number · 2^20 + log index) is exact as
 * a JavaScript number.
 */
const BLOCK_MAX = 2 ** 31;
/** Timestamps in unix seconds must be below this limit, because the database stores them as UInt32. */
const TIMESTAMP_MAX = 2 ** 32;
const TRANSACTIONS_MAX = 1_048_576;
const WORD_CHARACTERS = 66;
const ADDRESS_CHARACTERS = 42;
/** Number of remembered words and addresses in each half of the cache. Both together take about 5 MB. */
const CACHE_ITEMS = 16_384;
/** Recent words and addresses in lower case; empty if a text is not hex. */
const lowerHex = new RecentValues<string, Hex | ''>(CACHE_ITEMS, (text) => foldHex(text) ?? '');
const BLOOM_CHARACTERS = 2 + 512;

/** Parses an answer of eth_getBlockByNumber. @throws BlockMismatch `malformed`. */
export function parseHeader(value: unknown): HeaderWithBodies {
  if (!isRecord(value)) throw new BlockMismatch('malformed', null, 'the block is not an object');
  const number = readNumber(value['number'], BLOCK_MAX, null, 'number');
  const bodies = value['transactions'];
  if (!Array.isArray(bodies) || bodies.length > TRANSACTIONS_MAX) {
    throw new BlockMismatch(
      'malformed',
      number,
      `transactions is not a list of at most ${TRANSACTIONS_MAX} items`,
    );
  }
  const bloom = value['logsBloom'];
  const header = {
    number,
    hash: readHex(value['hash'], WORD_CHARACTERS, number, 'hash'),
    parentHash: readHex(value['parentHash'], WORD_CHARACTERS, number, 'parentHash'),
    timestamp: readNumber(value['timestamp'], TIMESTAMP_MAX, number, 'timestamp'),
    baseFeePerGas: readWei(value['baseFeePerGas'], number, 'baseFeePerGas'),
    transactionCount: bodies.length,
    logsBloom: bloom === undefined || bloom === null ? null : readBloom(bloom, number),
  };
  return { header, bodies };
}

/** Parses transactions and logs from an answer of eth_getBlockReceipts. */
export function parseReceipts(
  value: unknown,
  { header, bodies }: HeaderWithBodies,
): { transactions: ChainTransaction[]; logs: ChainLog[] } {
  if (!Array.isArray(value))
    throw new BlockMismatch('malformed', header.number, 'the receipts are not a list');
  const isOfBlock = (receipt: unknown): boolean => isRecord(receipt) && lacksTransaction(receipt, header);
  const isWhole =
    value.length === header.transactionCount ||
    (value.length === header.transactionCount + 1 && isOfBlock(value.at(-1)));
  if (!isWhole) {
    const what = `the block has ${header.transactionCount} transactions, but ${value.length} receipts`;
    throw new BlockMismatch('transactions', header.number, what, value.length < header.transactionCount);
  }
  const transactions: ChainTransaction[] = [];
  const logs: ChainLog[] = [];
  for (const [index, receipt] of value.entries()) {
    const fields = asFields(receipt, header, 'a receipt');
    if (index === header.transactionCount) {
      logs.push(...parseBlockLogs(readLogList(fields, header), header));
      continue;
    }
    const hash = readHex(fields['transactionHash'], WORD_CHARACTERS, header.number, 'transactionHash');
    assertSameBlock(header, fields, 'a receipt');
    assertTransaction(header, hash, index, fields['transactionIndex'], hashOf(bodies[index]));
    // A failed creation has no contract, but nodes still name an address in its receipt.
    const created = fields['status'] === '0x0' ? null : fields['contractAddress'];
    transactions.push({
      hash,
      index,
      from: readHex(fields['from'], ADDRESS_CHARACTERS, header.number, 'from'),
      effectiveGasPrice: readWei(fields['effectiveGasPrice'], header.number, 'effectiveGasPrice'),
      gasUsed: readGasUsed(fields['gasUsed'], header.number),
      contractAddress:
        created === undefined || created === null
          ? null
          : readHex(created, ADDRESS_CHARACTERS, header.number, 'contractAddress'),
    });
    for (const log of readLogList(fields, header)) logs.push(parseLog(log, header, hash, index));
  }
  if (value.length > header.transactionCount) logs.sort((a, b) => a.logIndex - b.logIndex);
  return { transactions, logs };
}

function readLogList(receipt: Fields, header: BlockHeader): readonly unknown[] {
  const list = receipt['logs'];
  if (Array.isArray(list)) return list;
  throw new BlockMismatch('malformed', header.number, 'the logs of a receipt are not a list');
}

/** Parses transactions from full bodies (eth_getBlockByNumber with `true`). Bodies do not name created
 * contracts. */
export function parseBodies({ header, bodies }: HeaderWithBodies): ChainTransaction[] {
  return bodies.map((body, index) => {
    const fields = asFields(body, header, 'a transaction');
    const hash = readHex(fields['hash'], WORD_CHARACTERS, header.number, 'hash of a transaction');
    assertTransaction(header, hash, index, fields['transactionIndex'], hash);
    assertSameBlock(header, fields, 'a transaction');
    return {
      hash,
      index,
      from: readHex(fields['from'], ADDRESS_CHARACTERS, header.number, 'from'),
      // For mined transactions of every type, gasPrice is the effective price.
      effectiveGasPrice: readWei(fields['gasPrice'], header.number, 'gasPrice'),
      gasUsed: null,
      contractAddress: null,
    };
  });
}

/** Parses the logs of one block from eth_getLogs, in the order of their log indexes. */
export function parseLogs(
  values: readonly unknown[],
  header: BlockHeader,
  transactions: readonly ChainTransaction[],
): ChainLog[] {
  const logs = values.map((value) => {
    const fields = asFields(value, header, 'a log');
    if (lacksTransaction(fields, header)) return parseBlockLog(fields, header);
    const index = readNumber(fields['transactionIndex'], TRANSACTIONS_MAX, header.number, 'transactionIndex');
    const transaction = transactions[index];
    if (transaction === undefined) {
      throw new BlockMismatch(
        'transactions',
        header.number,
        `a log names transaction ${index}, but the block has ${transactions.length} transactions`,
      );
    }
    return parseLog(fields, header, transaction.hash, index);
  });
  return logs.sort((a, b) => a.logIndex - b.logIndex);
}

/**
 * Whether the log or receipt belongs to the block itself, and to none of its transactions. Some chains emit such logs,
 * with no transaction hash, the zero hash, or the hash of the block in its place.
 */
export function lacksTransaction(fields: Fields, header: Pick<BlockHeader, 'hash'>): boolean {
  const hash = fields['transactionHash'];
  return hash === undefined || hash === null || hash === ZERO_HASH || sameHex(hash, header.hash);
}

/** Parses the logs of the block itself. */
export function parseBlockLogs(values: readonly unknown[], header: BlockHeader): ChainLog[] {
  return values.map((value) => parseBlockLog(asFields(value, header, 'a log'), header));
}

/** Parses a log without a transaction. It gets the zero hash, and the index after the last transaction. */
function parseBlockLog(fields: Fields, header: BlockHeader): ChainLog {
  assertSameBlock(header, fields, 'a log');
  assertNotRemoved(header, fields);
  return toLog(fields, header, ZERO_HASH, header.transactionCount);
}

/** Returns the block number that a raw log of eth_getLogs contains. */
export function readLogBlockNumber(value: unknown): number {
  const fields = isRecord(value) ? value : {};
  return readNumber(fields['blockNumber'], BLOCK_MAX, null, 'blockNumber of a log');
}

function parseLog(
  value: unknown,
  header: BlockHeader,
  transactionHash: Hex,
  transactionIndex: number,
): ChainLog {
  const fields = asFields(value, header, 'a log');
  assertSameBlock(header, fields, 'a log');
  assertNotRemoved(header, fields);
  if (!sameHex(fields['transactionHash'], transactionHash)) {
    throw new BlockMismatch(
      'transactions',
      header.number,
      `a log of transaction ${transactionIndex} has the hash of another transaction`,
    );
  }
  const ownIndex = readNumber(
    fields['transactionIndex'],
    TRANSACTIONS_MAX,
    header.number,
    'transactionIndex',
  );
  if (ownIndex !== transactionIndex) {
    throw new BlockMismatch(
      'transactions',
      header.number,
      `a log of transaction ${transactionIndex} has the transactionIndex ${ownIndex}`,
    );
  }
  return toLog(fields, header, transactionHash, transactionIndex);
}

function assertNotRemoved(header: BlockHeader, fields: Fields): void {
  if (fields['removed'] !== true) return;
  throw new BlockMismatch('removed_log', header.number, 'a log has the field removed set to true');
}

function toLog(
  fields: Fields,
  header: BlockHeader,
  transactionHash: Hex,
  transactionIndex: number,
): ChainLog {
  return {
    address: readHex(fields['address'], ADDRESS_CHARACTERS, header.number, 'address'),
    topics: readTopics(fields['topics'], header.number),
    data: readData(fields['data'], header.number, 'data'),
    transactionHash,
    transactionIndex,
    logIndex: readNumber(fields['logIndex'], ORD_SPAN, header.number, 'logIndex'),
  };
}

function readTopics(value: unknown, block: number): Hex[] {
  if (!Array.isArray(value) || value.length > 4)
    throw new BlockMismatch('malformed', block, 'the topics of a log are not a list of at most 4 words');
  const topics = new Array<Hex>(value.length);
  for (let index = 0; index < value.length; index += 1) {
    topics[index] = readHex(value[index], WORD_CHARACTERS, block, 'a topic');
  }
  return topics;
}

/** Checks the block hash and block number of a receipt, transaction or log. */
function assertSameBlock(header: BlockHeader, fields: Fields, what: string): void {
  if (!sameHex(fields['blockHash'], header.hash)) {
    throw new BlockMismatch(
      'block_identity',
      header.number,
      `the blockHash of ${what} is not ${header.hash}`,
    );
  }
  const number = readNumber(fields['blockNumber'], BLOCK_MAX, header.number, 'blockNumber');
  if (number !== header.number) {
    throw new BlockMismatch(
      'block_identity',
      header.number,
      `the blockNumber of ${what} is ${number}, expected ${header.number}`,
    );
  }
}

/**
 * The hash of a transaction in a block. The block lists its transactions as hashes, or as objects with all
 * fields.
 */
function hashOf(body: unknown): unknown {
  return isRecord(body) ? body['hash'] : body;
}

/**
 * Checks hash and index of a receipt or transaction body. `listed` is the hash of the transaction at this
 * index in the block itself.
 */
function assertTransaction(
  header: BlockHeader,
  hash: Hex,
  index: number,
  claimed: unknown,
  listed: unknown,
): void {
  const ownIndex = readNumber(claimed, TRANSACTIONS_MAX, header.number, 'transactionIndex');
  if (ownIndex !== index || !sameHex(listed, hash)) {
    throw new BlockMismatch(
      'transactions',
      header.number,
      `the hash or index of transaction ${index} differs from the block's transaction list`,
    );
  }
}

function asFields(value: unknown, header: BlockHeader, what: string): Fields {
  if (!isRecord(value)) throw new BlockMismatch('malformed', header.number, `${what} is not an object`);
  return value;
}

function sameHex(value: unknown, expected: Hex): boolean {
  return value === expected || (isHash(value) && toLowerHex(value) === expected);
}

/** Parses a hex number (quantity) below `limit`. */
function readNumber(value: unknown, limit: number, block: number | null, name: string): number {
  const number = isQuantity(value) ? Number(value) : NaN;
  if (number < limit) return number;
  throw new BlockMismatch('malformed', block, `${name} is not a quantity below ${limit}`);
}

function readGasUsed(value: unknown, block: number): number | null {
  return value === undefined || value === null ? null : readNumber(value, 2 ** 53, block, 'gasUsed');
}

function readWei(value: unknown, block: number, name: string): bigint | null {
  if (value === undefined || value === null) return null;
  if (!isQuantity(value)) throw new BlockMismatch('malformed', block, `${name} is not a quantity`);
  return BigInt(value);
}

/** Returns hex of this many characters in lower case. */
function readHex(value: unknown, characters: number, block: number, name: string): Hex {
  const lower = typeof value === 'string' && value.length === characters ? lowerHex.get(value) : '';
  if (lower !== '') return lower;
  throw new BlockMismatch('malformed', block, `${name} is not hex of the right length`);
}

function readData(value: unknown, block: number, name: string): Hex {
  const lower = typeof value === 'string' ? foldHex(value) : null;
  if (lower !== null) return lower;
  throw new BlockMismatch('malformed', block, `${name} is not hex of the right length`);
}

/**
 * Returns hex data in lower case; null if the text is no hex. Most texts are already lower-case; for them one test is
 * enough, and no copy is made.
 */
function foldHex(text: string): Hex | null {
  if (isLowerHexData(text)) return text;
  const folded = text.toLowerCase();
  return isLowerHexData(folded) ? folded : null;
}

function readBloom(value: unknown, block: number): Hex {
  const bloom = readData(value, block, 'logsBloom');
  if (bloom.length !== BLOOM_CHARACTERS)
    throw new BlockMismatch('malformed', block, 'logsBloom is not 256 bytes');
  return bloom;
}
