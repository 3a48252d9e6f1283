/** Blocks out of eth_getBlockByNumber and eth_getBlockReceipts, both of a whole range in one batch. */
import type { ChainLog, ChainTransaction } from '../domain/block';
import { numberToHex } from '../domain/hex';
import type { Endpoint } from './endpoint';
import { parseHeader, parseReceipts, type BlockHeader } from './parseBlock';
import { RpcError } from './rpcError';
import type { RpcCall } from './rpcTransport';
import { checkNumber } from './verify';

/** A block whose parts name each other rightly; order, bloom and links are not checked yet. */
export interface UncheckedBlock {
  readonly header: BlockHeader;
  readonly transactions: readonly ChainTransaction[];
  readonly logs: readonly ChainLog[];
}

/**
 * Blocks `from` to `to` inclusive.
 * @throws RpcError (`method_missing` where the node has no eth_getBlockReceipts, `unknown_block`), BlockMismatch
 */
export async function fetchByReceipts(
  endpoint: Endpoint,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<UncheckedBlock[]> {
  const calls: RpcCall[] = [];
  for (let number = from; number <= to; number += 1) {
    const quantity = numberToHex(number);
    calls.push({ method: 'eth_getBlockByNumber', params: [quantity, false] });
    calls.push({ method: 'eth_getBlockReceipts', params: [quantity] });
  }
  const requireKnown = (result: unknown, index: number): unknown =>
    requireBlock(endpoint, result, from + Math.floor(index / 2));
  const answers = await endpoint.batch(calls, requireKnown, signal);
  const blocks: UncheckedBlock[] = [];
  for (let position = 0; position < answers.length; position += 2) {
    const parsed = parseHeader(answers[position]);
    checkNumber(parsed.header, from + position / 2);
    blocks.push({ header: parsed.header, ...parseReceipts(answers[position + 1], parsed) });
  }
  return blocks;
}

/** @throws RpcError `unknown_block` for the null that a node answers when it does not have the block. */
export function requireBlock(endpoint: Endpoint, result: unknown, at: number | string): unknown {
  if (result !== null && result !== undefined) return result;
  throw new RpcError('unknown_block', `${endpoint.name}: block ${at} is unknown`);
}
