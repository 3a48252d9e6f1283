/** A node that lies: it answers with recorded blocks of a real node, but one field of one block is changed. */
import type { RpcCall } from '../../../src/node/rpc/rpcTransport';
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../createRandom';

export type Json = Record<string, unknown>;

/** The blocks of a real node, as it sends them. */
export interface Recorded {
  readonly header: Json & { hash: Hex; transactions: Json[] };
  readonly receipts: (Json & { logs: Json[] })[];
}

/** Changes one hex digit of the text, which then has the same length. */
function flip(random: Random, text: unknown): string {
  const hex = String(text);
  if (hex.length <= 2) return '0xab';
  const digitIndex = 2 + random.int(hex.length - 2);
  const digit = ((parseInt(hex[digitIndex] ?? '0', 16) + 1 + random.int(15)) % 16).toString(16);
  return hex.slice(0, digitIndex) + digit + hex.slice(digitIndex + 1);
}

export const LIES = [
  'address',
  'topic',
  'data',
  'order',
  'hash',
  'from',
  'timestamp',
  'status',
  'drop',
  'repeat',
] as const;
export type LieKind = (typeof LIES)[number];

/** Changes one log of a receipt. False if there is nothing to change. */
function lieAboutLogs(random: Random, logs: Json[], receipts: Recorded['receipts'], kind: string): boolean {
  const logIndex = random.int(Math.max(1, logs.length));
  const log = logs[logIndex];
  if (log === undefined) return false;
  const topics = log['topics'] as string[];
  const topicIndex = random.int(Math.max(1, topics.length));
  const contentOf = (someLog: Json): string =>
    JSON.stringify([someLog['address'], someLog['topics'], someLog['data']]);
  const otherIndex = logs.findIndex((someLog) => contentOf(someLog) !== contentOf(log));
  if ((kind === 'topic' && topics.length === 0) || (kind === 'order' && otherIndex < 0)) return false;
  if (kind === 'address') log['address'] = flip(random, log['address']);
  if (kind === 'data') log['data'] = flip(random, log['data']);
  if (kind === 'topic') topics[topicIndex] = flip(random, topics[topicIndex]);
  if (kind === 'drop') logs.splice(logIndex, 1);
  if (kind === 'repeat') logs.splice(logIndex, 0, structuredClone(log));
  if (kind === 'order') [logs[logIndex], logs[otherIndex]] = [logs[otherIndex] as Json, log];
  const allLogs = receipts.flatMap((receipt) => receipt.logs);
  for (const [index, log] of allLogs.entries()) log['logIndex'] = `0x${index.toString(16)}`;
  return true;
}

/**
 * A copy of the block with one lie of this kind. Log indexes stay without gaps, so that they do not reveal the lie.
 * Null if the block has no field for this kind.
 */
export function lie(random: Random, block: Recorded, kind: LieKind): Recorded | null {
  const copy = structuredClone(block);
  const { header, receipts } = copy;
  if (kind === 'timestamp') {
    header['timestamp'] = `0x${(Number(header['timestamp']) + 1 + random.int(500)).toString(16)}`;
    return copy;
  }
  const receipt = receipts[random.int(Math.max(1, receipts.length))];
  if (receipt === undefined) return null;
  const body = header.transactions[Number(receipt['transactionIndex'])];
  if (kind === 'status') receipt['status'] = receipt['status'] === '0x1' ? '0x0' : '0x1';
  else if (kind === 'hash' || kind === 'from') {
    const value = flip(random, kind === 'hash' ? receipt['transactionHash'] : receipt['from']);
    receipt[kind === 'hash' ? 'transactionHash' : 'from'] = value;
    if (body !== undefined) body[kind] = value;
    for (const log of receipt.logs) if (kind === 'hash') log['transactionHash'] = value;
  } else if (!lieAboutLogs(random, receipt.logs, receipts, kind)) return null;
  return copy;
}

/** Answers JSON-RPC calls from recorded blocks, each changed by `change` first. `blocks[n]` is block number n. */
export function answerFrom(
  blocks: readonly Recorded[],
  change: (block: Recorded) => Recorded = (block) => block,
): (call: RpcCall) => unknown {
  return ({ method, params }) => {
    if (method === 'eth_chainId') return '0x171';
    if (method === 'eth_getTransactionReceipt') return receiptOf(blocks, change, params[0]);
    const block = blocks[Number(params[0])];
    if (block === undefined) return null;
    const { header, receipts } = change(block);
    if (method === 'eth_getBlockReceipts') return receipts;
    if (method === 'eth_getBlockByNumber')
      return params[1] === true
        ? header
        : { ...header, transactions: header.transactions.map((t) => t['hash']) };
    throw new Error(method);
  };
}

/** The receipt of the transaction with this hash in the changed blocks; null if no block has this transaction. */
function receiptOf(
  blocks: readonly Recorded[],
  change: (block: Recorded) => Recorded,
  hash: unknown,
): Json | null {
  for (const block of blocks) {
    const changedBlock = change(block);
    const index = changedBlock.header.transactions.findIndex((transaction) => transaction['hash'] === hash);
    if (index >= 0) return changedBlock.receipts[index] ?? null;
  }
  return null;
}
