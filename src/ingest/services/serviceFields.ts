/**
 * Reads the fields of blocks, transactions and logs of a service, and checks each value: an answer can contain anything.
 * SQD and HyperSync name the fields alike. Numbers are numbers, bigints or hex.
 */
import { isHexData, isQuantity, toLowerHex, type Hex } from '../../domain/hex';
import { ORD_SPAN } from '../../domain/ord';
import type { AppError } from '../../errors';
import {
  createdBy,
  fileFault,
  type ParquetBlock,
  type ParquetLog,
  type ParquetTransaction,
} from '../parquet/parquetRows';

type Fields = Readonly<Record<string, unknown>>;

/** Values are below these limits. `EXACT_LIMIT` bounds numbers that JavaScript holds exactly. */
const BLOCK_LIMIT = 2 ** 31;
const TIMESTAMP_LIMIT = 2 ** 32;
const EXACT_LIMIT = 2 ** 53;
const TRANSACTIONS_LIMIT = 2 ** 20;
const TOPICS_MAX = 4;
const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
const BLOOM_BYTES = 256;
/** Number of the file of each row. A service counts as one file. */
const FILE = 0;

export class ServiceFields {
  /** `name` of the service begins each error. */
  constructor(private readonly name: string) {}

  readonly block = (value: unknown): ParquetBlock => {
    const fields = this.fields(value, 'a block');
    const block = this.integer(fields['number'], BLOCK_LIMIT, 'number of a block');
    const blockName = `block ${block}`;
    const gasUsed = fields['gasUsed'];
    return {
      file: FILE,
      block,
      hash: this.hex(fields['hash'], HASH_BYTES, `${blockName}: hash`),
      parentHash: this.hex(fields['parentHash'], HASH_BYTES, `${blockName}: parentHash`),
      timestamp: this.integer(fields['timestamp'], TIMESTAMP_LIMIT, `${blockName}: timestamp`),
      baseFeePerGas: this.weiOrNull(fields['baseFeePerGas'], `${blockName}: baseFeePerGas`),
      gasUsed: isAbsent(gasUsed) ? null : this.integer(gasUsed, EXACT_LIMIT, `${blockName}: gasUsed`),
      logsBloom: this.hex(fields['logsBloom'], BLOOM_BYTES, `${blockName}: logsBloom`),
    };
  };

  transaction(value: unknown, block: number): ParquetTransaction {
    const fields = this.fields(value, `block ${block}: a transaction`);
    const where = `block ${block}: transactionIndex of a transaction`;
    const index = this.integer(fields['transactionIndex'], TRANSACTIONS_LIMIT, where);
    const transactionName = `block ${block}, transaction ${index}`;
    const from = this.hex(fields['from'], ADDRESS_BYTES, `${transactionName}: from`);
    const nonce = this.integer(fields['nonce'], EXACT_LIMIT, `${transactionName}: nonce`);
    const { status } = fields;
    const isFailed = !isAbsent(status) && this.integer(status, 2, `${transactionName}: status`) === 0;
    const isCreation = isAbsent(fields['to']);
    if (!isCreation) this.hex(fields['to'], ADDRESS_BYTES, `${transactionName}: to`);
    return {
      file: FILE,
      block,
      index,
      hash: this.hex(fields['hash'], HASH_BYTES, `${transactionName}: hash`),
      from,
      effectiveGasPrice: this.weiOrNull(fields['effectiveGasPrice'], `${transactionName}: effectiveGasPrice`),
      gasUsed: this.integer(fields['gasUsed'], EXACT_LIMIT, `${transactionName}: gasUsed`),
      contractAddress: isCreation && !isFailed ? createdBy(from, nonce) : null,
    };
  }

  log(value: unknown, block: number): ParquetLog {
    const fields = this.fields(value, `block ${block}: a log`);
    const logIndex = this.integer(fields['logIndex'], ORD_SPAN, `block ${block}: logIndex of a log`);
    const logName = `block ${block}, log ${logIndex}`;
    return {
      file: FILE,
      block,
      logIndex,
      transactionIndex: this.integer(
        fields['transactionIndex'],
        TRANSACTIONS_LIMIT,
        `${logName}: transactionIndex`,
      ),
      transactionHash: this.hex(fields['transactionHash'], HASH_BYTES, `${logName}: transactionHash`),
      address: this.hex(fields['address'], ADDRESS_BYTES, `${logName}: address`),
      topics: this.topics(fields['topics'], logName),
      data: this.hex(fields['data'], null, `${logName}: data`),
    };
  }

  fields(value: unknown, what: string): Fields {
    if (isFields(value)) return value;
    throw this.fault(what, value, 'an object');
  }

  /** A list of the service. An absent list is empty. */
  list(value: unknown, what: string): readonly unknown[] {
    if (isAbsent(value)) return [];
    if (Array.isArray(value)) return value;
    throw this.fault(what, value, 'a list');
  }

  integer(value: unknown, limit: number, what: string): number {
    const number = typeof value === 'number' ? value : Number(this.toBigint(value) ?? NaN);
    if (Number.isInteger(number) && number >= 0 && number < limit) return number;
    throw this.fault(what, value, `0 to ${limit - 1}`);
  }

  hex(value: unknown, bytes: number | null, what: string): Hex {
    if (isHexData(value) && (bytes === null || value.length === 2 + 2 * bytes)) return toLowerHex(value);
    throw this.fault(what, value, bytes === null ? 'bytes in hex' : `${bytes} bytes in hex`);
  }

  fault(what: string, value: unknown, allowed: string): AppError {
    const text = isAbsent(value) ? 'missing' : String(value);
    const shownText = text.length > 80 ? `${text.slice(0, 80)}…` : text;
    return fileFault(this.name, `${what} is ${shownText}`, allowed);
  }

  /** Topics, without the empty places that HyperSync adds at the end. */
  private topics(value: unknown, logName: string): Hex[] {
    const topics = [...this.list(value, `${logName}: topics`)];
    while (topics.length > 0 && isAbsent(topics.at(-1))) topics.pop();
    if (topics.length > TOPICS_MAX)
      throw this.fault(`${logName}: the number of topics`, topics.length, `0 to ${TOPICS_MAX}`);
    return topics.map((topic, index) => this.hex(topic, HASH_BYTES, `${logName}: topic${index}`));
  }

  private weiOrNull(value: unknown, what: string): bigint | null {
    if (isAbsent(value)) return null;
    const wei =
      typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : this.toBigint(value);
    if (wei !== null && wei >= 0n) return wei;
    throw this.fault(what, value, 'an amount of wei');
  }

  private toBigint(value: unknown): bigint | null {
    if (typeof value === 'bigint') return value;
    return isQuantity(value) ? BigInt(value) : null;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
