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
  const at = 2 + random.int(hex.length - 2);
  const digit = ((parseInt(hex[at] ?? '0', 16) + 1 + random.int(15)) % 16).toString(16);
  return hex.slice(0, at) + digit + hex.slice(at + 1);
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
  const at = random.int(Math.max(1, logs.length));
  const log = logs[at];
  if (log === undefined) return false;
  const topics = log['topics'] as string[];
  const which = random.int(Math.max(1, topics.length));
  const contentOf = (one: Json): string => JSON.stringify([one['address'], one['topics'], one['data']]);
  const other = logs.findIndex((one) => contentOf(one) !== contentOf(log));
  if ((kind === 'topic' && topics.length === 0) || (kind === 'order' && other < 0)) return false;
  if (kind === 'address') log['address'] = flip(random, log['address']);
  if (kind === 'data') log['data'] = flip(random, log['data']);
  if (kind === 'topic') topics[which] = flip(random, topics[which]);
  if (kind === 'drop') logs.splice(at, 1);
  if (kind === 'repeat') logs.splice(at, 0, structuredClone(log));
  if (kind === 'order') [logs[at], logs[other]] = [logs[other] as Json, log];
  const all = receipts.flatMap((one) => one.logs);
  for (const [index, one] of all.entries()) one['logIndex'] = `0x${index.toString(16)}`;
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
    const told = change(block);
    const index = told.header.transactions.findIndex((transaction) => transaction['hash'] === hash);
    if (index >= 0) return told.receipts[index] ?? null;
  }
  return null;
}
