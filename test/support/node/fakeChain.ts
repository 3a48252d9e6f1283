/**
 * A deterministic chain in memory for tests, with correct blooms and unique hashes. Mines from a seed and reorganises
 * on request.
 */
import { keccak256, toUtf8Bytes } from 'ethers';

import { seededRandom } from '../random';

export type Json = Record<string, unknown>;

export interface FakeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A mined block in a node's JSON form. The logs are in the receipts. */
export interface FakeBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: number;
  readonly logsBloom: string;
  readonly transactions: readonly Json[];
  readonly receipts: readonly Json[];
  readonly logs: readonly Json[];
}

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const hashOfText = (text: string): string => keccak256(toUtf8Bytes(text));
const address = (text: string): string => `0x${hashOfText(text).slice(-40)}`;

const LOGS_PER_TRANSACTION = 3;
const BLOCK_SECONDS = 10;

export class FakeChain {
  private readonly seed: number;
  private readonly random: () => number;
  /** Canonical blocks from genesis. */
  readonly blocks: FakeBlock[] = [];
  /** A value in the hashes of a branch, so that each branch has different hashes. */
  private fork = 0;
  /** If false, blooms are empty, as from a node that does not fill them. */
  fillBlooms = true;

  /** `genesisTime` is the time of block 0 in unix seconds. Each later block follows after 10 s. */
  constructor(
    seed: number,
    readonly genesisTime = 1_700_000_000,
  ) {
    this.seed = seed;
    this.random = seededRandom(seed);
    this.mine([]);
  }

  get head(): FakeBlock {
    const head = this.blocks.at(-1);
    if (head === undefined) throw new Error('the chain has no genesis block');
    return head;
  }

  at(number: number): FakeBlock {
    const block = this.blocks[number];
    if (block === undefined) throw new Error(`block ${number} is not mined`);
    return block;
  }

  /** Mines one block with these logs (three per transaction). A number makes so many random logs. */
  mine(logs: readonly FakeLog[] | number = []): FakeBlock {
    const number = this.blocks.length;
    const blockLogs = typeof logs === 'number' ? Array.from({ length: logs }, () => this.randomLog()) : logs;
    const salt = `${this.seed}/${this.fork}`;
    const timestamp = this.genesisTime + number * BLOCK_SECONDS;
    const block = makeBlock(salt, number, timestamp, this.blocks.at(-1), blockLogs, this.fillBlooms);
    this.blocks.push(block);
    return block;
  }

  /** Mines `count` blocks of 0 to `logsMax` random logs. */
  mineMany(count: number, logsMax = 8): void {
    for (let mined = 0; mined < count; mined += 1) this.mine(Math.floor(this.random() * (logsMax + 1)));
  }

  /** Replaces the newest `depth` blocks with `newLength` others. */
  reorg(depth: number, newLength = depth): void {
    this.fork += 1;
    this.blocks.length -= depth;
    this.mineMany(newLength);
  }

  /** Makes an earlier branch canonical again. `blocks` start at number `from`. */
  restore(from: number, blocks: readonly FakeBlock[]): void {
    this.blocks.length = from;
    this.blocks.push(...blocks);
  }

  private randomLog(): FakeLog {
    const pick = (kind: string, count: number): string => `${kind}${Math.floor(this.random() * count)}`;
    const topics = Array.from({ length: Math.floor(this.random() * 5) }, () => hashOfText(pick('topic', 40)));
    const words = Math.floor(this.random() * 4);
    const data = Array.from({ length: words }, () => hashOfText(pick('data', 1000)).slice(2)).join('');
    return { address: address(pick('contract', 20)), topics, data: `0x${data}` };
  }
}

function makeBlock(
  salt: string,
  number: number,
  timestamp: number,
  parent: FakeBlock | undefined,
  blockLogs: readonly FakeLog[],
  fillBlooms: boolean,
): FakeBlock {
  const hash = hashOfText(`${salt}/block${number}/${parent?.hash ?? ''}`);
  // Every second block has a transaction without logs.
  const transactionCount = Math.ceil(blockLogs.length / LOGS_PER_TRANSACTION) + (number % 2);
  const transactions = Array.from({ length: transactionCount }, (_, index) => ({
    hash: hashOfText(`${hash}/tx${index}`),
    blockHash: hash,
    blockNumber: hex(number),
    transactionIndex: hex(index),
    from: address(`sender${(number + index) % 7}`),
    gasPrice: hex(1_000_000_000 + index),
  }));
  const logs = blockLogs.map((log, index) => {
    const transactionIndex = Math.floor(index / LOGS_PER_TRANSACTION);
    return {
      ...log,
      blockHash: hash,
      blockNumber: hex(number),
      transactionHash: transactions[transactionIndex]?.hash,
      transactionIndex: hex(transactionIndex),
      logIndex: hex(index),
      removed: false,
    };
  });
  const receipts = transactions.map((transaction, index) => ({
    transactionHash: transaction.hash,
    transactionIndex: hex(index),
    blockHash: hash,
    blockNumber: hex(number),
    from: transaction.from,
    effectiveGasPrice: transaction.gasPrice,
    contractAddress: null,
    status: '0x1',
    logs: logs.filter((log) => log.transactionIndex === hex(index)),
  }));
  return {
    number,
    hash,
    parentHash: parent?.hash ?? `0x${'0'.repeat(64)}`,
    timestamp,
    logsBloom: fillBlooms ? plainBloom(blockLogs) : `0x${'0'.repeat(512)}`,
    transactions,
    receipts,
    logs,
  };
}

/** Cache of the bloom bits of addresses and topics, because ethers' hash is slow. */
const bitsByItem = new Map<string, readonly number[]>();

/** The bloom filter as the Yellow Paper defines it, with ethers' hash. Shares no code with the product. */
export function plainBloom(logs: readonly FakeLog[]): string {
  const bytes = new Uint8Array(256);
  for (const item of logs.flatMap((log) => [log.address, ...log.topics])) {
    for (const bit of bloomBits(item)) bytes[255 - (bit >> 3)]! |= 1 << (bit & 7);
  }
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function bloomBits(item: string): readonly number[] {
  const knownBits = bitsByItem.get(item);
  if (knownBits !== undefined) return knownBits;
  const hash = BigInt(keccak256(item));
  const bits = [240n, 224n, 208n].map((shift) => Number((hash >> shift) & 2047n));
  bitsByItem.set(item, bits);
  return bits;
}
