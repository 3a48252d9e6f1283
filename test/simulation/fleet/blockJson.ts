/**
 * Encodes simulated blocks as JSON-RPC answers with correct blooms. Each block is encoded once, so callers must not
 * change the result.
 */
import { keccak256 } from 'ethers';

import type { ChainBlock, ChainLog } from '../../../src/domain/block';

export type Json = Readonly<Record<string, unknown>>;

export type LogJson = Json & Pick<ChainLog, 'address' | 'topics'>;

export interface BlockJson {
  /** The block in JSON form with transaction hashes. */
  readonly header: Json;
  /** The block in JSON form with its transactions. */
  readonly whole: Json & { readonly transactions: readonly Json[] };
  /** One receipt per transaction, and one more if the block has logs without a transaction. */
  readonly receipts: readonly (Json & { readonly logs: readonly LogJson[] })[];
  readonly logs: readonly LogJson[];
}

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** Cache of three bit numbers by address or topic, because seeds share most addresses and topics. */
const bitsByItem = new Map<string, readonly number[]>();
const CACHED_ITEMS_MAX = 200_000;

function bitsOf(item: string): readonly number[] {
  const knownBits = bitsByItem.get(item);
  if (knownBits !== undefined) return knownBits;
  const hash = keccak256(Buffer.from(item.slice(2), 'hex'));
  const itemBits = [0, 1, 2].map(
    (pair) => Number.parseInt(hash.slice(2 + 4 * pair, 6 + 4 * pair), 16) & 2047,
  );
  if (bitsByItem.size > CACHED_ITEMS_MAX) bitsByItem.clear();
  bitsByItem.set(item, itemBits);
  return itemBits;
}

export function bloomOf(logs: readonly Pick<ChainLog, 'address' | 'topics'>[]): string {
  const bloom = Buffer.alloc(256);
  for (const { address, topics } of logs) {
    for (const item of [address, ...topics]) {
      for (const bit of bitsOf(item)) bloom[255 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }
  return `0x${bloom.toString('hex')}`;
}

const jsonByBlock = new WeakMap<ChainBlock, BlockJson>();

export function blockJson(block: ChainBlock): BlockJson {
  const knownJson = jsonByBlock.get(block);
  if (knownJson !== undefined) return knownJson;
  const json = makeJson(block);
  jsonByBlock.set(block, json);
  return json;
}

/** Sets the JSON form of a block. */
export function keepJson(block: ChainBlock, json: BlockJson): void {
  jsonByBlock.set(block, json);
}

export function makeJson(block: ChainBlock): BlockJson {
  const blockFields = { blockHash: block.hash, blockNumber: hex(block.number) };
  const logs = block.logs.map((log) => ({
    ...blockFields,
    address: log.address,
    topics: log.topics,
    data: log.data,
    transactionHash: log.transactionHash,
    transactionIndex: hex(log.transactionIndex),
    logIndex: hex(log.logIndex),
    removed: false,
  }));
  // The last list has the logs without a transaction, whose index is the number of transactions.
  const logsByTransaction = [...block.transactions, null].map((): (typeof logs)[number][] => []);
  block.logs.forEach((log, index) => logsByTransaction[log.transactionIndex]!.push(logs[index]!));
  const facts = {
    number: blockFields.blockNumber,
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: hex(block.timestamp),
    baseFeePerGas: hex(block.baseFeePerGas ?? 0n),
    logsBloom: bloomOf(block.logs),
  };
  const transactions = block.transactions.map((tx): Json => ({
    ...blockFields,
    hash: tx.hash,
    transactionIndex: hex(tx.index),
    from: tx.from,
    gasPrice: hex(tx.effectiveGasPrice ?? 0n),
  }));
  const receipts = block.transactions.map((tx, index): BlockJson['receipts'][number] => ({
    ...blockFields,
    transactionHash: tx.hash,
    transactionIndex: hex(tx.index),
    from: tx.from,
    effectiveGasPrice: hex(tx.effectiveGasPrice ?? 0n),
    contractAddress: null,
    logs: logsByTransaction[index] ?? [],
  }));
  const [firstBlockLog] = logsByTransaction.at(-1) ?? [];
  if (firstBlockLog !== undefined) {
    const { transactionHash, transactionIndex } = firstBlockLog;
    receipts.push({
      ...blockFields,
      transactionHash,
      transactionIndex,
      logs: logsByTransaction.at(-1) ?? [],
    });
  }
  return {
    header: { ...facts, transactions: block.transactions.map(({ hash }) => hash) },
    whole: { ...facts, transactions },
    receipts,
    logs,
  };
}
