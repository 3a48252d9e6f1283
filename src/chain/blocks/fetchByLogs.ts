/**
 * Fetches blocks with eth_getLogs (without a filter) for a range of blocks and eth_getBlockByNumber with full
 * transactions. Used for nodes without eth_getBlockReceipts.
 */
import { numberToHex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import { BlockMismatch } from './blockMismatch';
import type { Endpoint, Outcome } from '../rpc/endpoint';
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
/** Most rounds of calls for the headers of a range. */
const HEADER_ROUNDS = 4;

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
 * at least one. A block whose logs do not match its header is returned as an error in the list.
 * @throws RpcError (`too_large` if even one block is too large), BlockMismatch
 */
export async function fetchByLogs(
  endpoint: Endpoint,
  spans: LogSpans,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<(UncheckedBlock | AppError)[]> {
  const { logs, last } = await fetchLogs(endpoint, spans, from, to, signal);
  const headers = await fetchHeaders(endpoint, from, last, signal);
  const byBlock = groupByBlock(logs, from, last);
  return headers.map((header) =>
    'error' in header
      ? header.error
      : join(endpoint, header.value, byBlock.get(header.value.header.number) ?? []),
  );
}

/** The headers with bodies, or their errors. Calls that failed are repeated, whatever the node said. */
async function fetchHeaders(
  endpoint: Endpoint,
  from: number,
  last: number,
  signal: AbortSignal,
): Promise<Outcome<HeaderWithBodies>[]> {
  const found = new Map<number, Outcome<HeaderWithBodies>>();
  let open = Array.from({ length: last - from + 1 }, (_, offset) => from + offset);
  for (let round = 0; round < HEADER_ROUNDS && open.length > 0; round += 1) {
    const asked = open;
    const calls = asked.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), true],
    }));
    const parse = (result: unknown, index: number): HeaderWithBodies => {
      const number = asked[index] ?? 0;
      const parsed = parseHeader(requireBlock(endpoint, result, number));
      checkNumber(parsed.header, number);
      return parsed;
    };
    const outcomes = await endpoint.batchOutcomes(calls, parse, signal);
    for (const [index, outcome] of outcomes.entries()) found.set(asked[index] ?? 0, outcome);
    open = asked.filter((_, index) => 'error' in (outcomes[index] ?? {}));
    // Without any header, the calls would fail again.
    if (open.length === asked.length) break;
  }
  return [...found.values()];
}

function join(
  endpoint: Endpoint,
  parsed: HeaderWithBodies,
  logs: readonly unknown[],
): UncheckedBlock | AppError {
  try {
    const transactions = parseBodies(parsed);
    return { header: parsed.header, transactions, logs: parseLogs(logs, parsed.header, transactions) };
  } catch (error) {
    if (error instanceof AppError) return error;
    return new RpcError('bad_answer', `${endpoint.name}: ${errorText(error)}`, { cause: error });
  }
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
