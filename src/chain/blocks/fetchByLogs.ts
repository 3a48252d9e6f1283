/**
 * Fetches blocks with eth_getLogs (without a filter) for a range of blocks and eth_getBlockByNumber with full
 * transactions. Used for nodes without eth_getBlockReceipts.
 */
import { numberToHex } from '../../domain/hex';
import { BlockMismatch } from './blockMismatch';
import type { Endpoint } from '../rpc/endpoint';
import { requireBlock, type UncheckedBlock } from './fetchByReceipts';
import { parseBodies, parseHeader, parseLogs, readLogBlockNumber, type HeaderWithBodies } from './parseBlock';
import { RpcError } from '../rpc/rpcError';
import { checkNumber } from './verify';

const SPAN_START = 32;
/**
 * If a node times out, the range is made smaller and tried again this many times. Then another endpoint is
 * used.
 */
const TIMEOUTS_MAX = 2;

/**
 * The number of blocks per eth_getLogs for each endpoint. The number is halved after a refusal, and grows by
 * an eighth after a success.
 */
export class LogSpans {
  private readonly spans = new Map<number, number>();
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
  }

  of(endpoint: Endpoint): number {
    return this.spans.get(endpoint.id) ?? Math.min(SPAN_START, this.max);
  }

  shrink(endpoint: Endpoint, refused: number): void {
    this.spans.set(endpoint.id, Math.max(1, Math.floor(refused / 2)));
  }

  grow(endpoint: Endpoint, taken: number): void {
    if (taken >= this.of(endpoint))
      this.spans.set(endpoint.id, Math.min(this.max, taken + Math.ceil(taken / 8)));
  }
}

/**
 * Fetches the blocks from `from` up to `to`, or fewer: as many as the endpoint returns for one request, but
 * at least one. @throws RpcError (`too_large` if even one block is too large), BlockMismatch
 */
export async function fetchByLogs(
  endpoint: Endpoint,
  spans: LogSpans,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<UncheckedBlock[]> {
  const { logs, last } = await fetchLogs(endpoint, spans, from, to, signal);
  const calls = Array.from({ length: last - from + 1 }, (_, offset) => ({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(from + offset), true],
  }));
  const parse = (result: unknown, index: number): HeaderWithBodies => {
    const parsed = parseHeader(requireBlock(endpoint, result, from + index));
    checkNumber(parsed.header, from + index);
    return parsed;
  };
  const headers = await endpoint.batch(calls, parse, signal);
  const byBlock = groupByBlock(logs, from, last);
  return headers.map((parsed) => {
    const transactions = parseBodies(parsed);
    const own = byBlock.get(parsed.header.number) ?? [];
    return { header: parsed.header, transactions, logs: parseLogs(own, parsed.header, transactions) };
  });
}

async function fetchLogs(
  endpoint: Endpoint,
  spans: LogSpans,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<{ logs: readonly unknown[]; last: number }> {
  for (let timeouts = 0; ;) {
    const last = Math.min(to, from + spans.of(endpoint) - 1);
    const span = last - from + 1;
    const filter = { fromBlock: numberToHex(from), toBlock: numberToHex(last) };
    try {
      const logs = await endpoint.call('eth_getLogs', [filter], parseList, signal);
      spans.grow(endpoint, span);
      return { logs, last };
    } catch (error) {
      if (!(error instanceof RpcError) || span === 1) throw error;
      if (error.kind === 'timeout') timeouts += 1;
      else if (error.kind !== 'too_large') throw error;
      spans.shrink(endpoint, span);
      if (timeouts > TIMEOUTS_MAX) throw error;
    }
  }
}

function parseList(result: unknown): readonly unknown[] {
  if (!Array.isArray(result)) throw new TypeError('the answer of eth_getLogs is not a list');
  return result;
}

function groupByBlock(logs: readonly unknown[], from: number, to: number): Map<number, unknown[]> {
  const byBlock = new Map<number, unknown[]>();
  for (const log of logs) {
    const number = readLogBlockNumber(log);
    if (number < from || number > to) {
      throw new BlockMismatch(
        'block_identity',
        number,
        `a log names this block, but the request was for blocks ${from} to ${to}`,
      );
    }
    const own = byBlock.get(number);
    if (own === undefined) byBlock.set(number, [log]);
    else own.push(log);
  }
  return byBlock;
}
