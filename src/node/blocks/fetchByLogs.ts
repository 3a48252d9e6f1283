/**
 * Fetches blocks with eth_getLogs (without a filter) for a range of blocks and eth_getBlockByNumber with full
 * transactions. Used for nodes without eth_getBlockReceipts.
 */
import { numberToHex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import { BlockMismatch } from './blockMismatch';
import type { Endpoint } from '../rpc/endpoint';
import { REFUSED_KINDS, requirePart, type UncheckedBlock } from './fetchByReceipts';
import type { RawBlock } from '../proof/blockProof';
import {
  lacksTransaction,
  parseBlockLogs,
  parseBodies,
  parseHeader,
  parseLogs,
  parseReceipts,
  readLogBlockNumber,
  type HeaderWithBodies,
} from './parseBlock';
import { Unfinished } from '../rpc/retryRule';
import { RpcError, type RpcErrorKind } from '../rpc/rpcError';
import { type Outcome, isRecord } from '../rpc/rpcTransport';
import { checkNumber } from './checkBlocks';

const SPAN_START_BLOCKS = 32;
/**
 * If a node does not answer, the range is made smaller and tried again this many times. Then another endpoint is
 * used.
 */
const SILENCES_MAX = 2;
/** Failures that often end by themselves. */
const PASSING_KINDS: ReadonlySet<RpcErrorKind> = new Set(['network', 'rate_limited', 'bad_answer', 'other']);
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

  blocksFor(endpoint: Endpoint): number {
    return this.spans.get(endpoint.id) ?? Math.min(SPAN_START_BLOCKS, this.max);
  }

  shrink(endpoint: Endpoint, refusedBlocks: number): void {
    this.spans.set(endpoint.id, Math.max(1, Math.floor(refusedBlocks / 2)));
  }

  grow(endpoint: Endpoint, blocksTaken: number): void {
    if (blocksTaken >= this.blocksFor(endpoint))
      this.spans.set(endpoint.id, Math.min(this.max, blocksTaken + Math.ceil(blocksTaken / 8)));
  }
}

/**
 * Fetches the blocks from `from` up to `to`, or fewer: as many as the endpoint returns for one request, but
 * at least one. A block whose logs do not match its header is returned as an error in the list. Without `spans`, the
 * blocks are made of the receipts of their transactions alone.
 * @throws RpcError (`too_large` if even one block is too large), BlockMismatch
 */
export async function fetchByLogs(
  endpoint: Endpoint,
  spans: LogSpans | null,
  from: number,
  to: number,
  signal: AbortSignal,
  withReceipts: boolean,
): Promise<(UncheckedBlock | AppError)[]> {
  const { logs, last } =
    spans === null ? { logs: [], last: to } : await fetchLogs(endpoint, spans, from, to, signal);
  const headers = await fetchHeaders(endpoint, from, last, signal);
  const logsByBlock = groupByBlock(logs, from, last);
  const foundHeaders = headers.flatMap((header) => ('error' in header ? [] : [header.value]));
  const receipts = withReceipts ? await fetchReceipts(endpoint, foundHeaders, signal) : null;
  const withoutReceipts = spans === null ? [] : undefined;
  return headers.map((header) => {
    if ('error' in header) return header.error;
    const { number } = header.value.header;
    return buildBlock(
      endpoint,
      header.value,
      logsByBlock.get(number) ?? [],
      receipts?.get(number) ?? withoutReceipts,
    );
  });
}

interface FetchedLogs {
  readonly logs: readonly unknown[];
  /** Last block of the range. */
  readonly last: number;
}

type RawHeader = HeaderWithBodies & { readonly raw: RawBlock };

/**
 * Fetches the headers of the blocks `from` to `last`, with their transactions. Each result is a header or an
 * error.
 */
function fetchHeaders(
  endpoint: Endpoint,
  from: number,
  last: number,
  signal: AbortSignal,
): Promise<Outcome<RawHeader>[]> {
  const calls = Array.from({ length: last - from + 1 }, (_, offset) => ({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(from + offset), true],
  }));
  const parse = (result: unknown, index: number): RawHeader => {
    const parsed = parseHeader(requirePart(endpoint, result, `block ${from + index}`));
    checkNumber(parsed.header, from + index);
    return { ...parsed, raw: { header: isRecord(result) ? result : {}, receipts: null } };
  };
  return endpoint.batchOutcomes(calls, parse, signal);
}

/** Builds the block from its own receipts, which can be proven, or without receipts from the logs of the range. */
function buildBlock(
  endpoint: Endpoint,
  parsed: RawHeader,
  logs: readonly unknown[],
  receipts: readonly unknown[] | undefined,
): UncheckedBlock | AppError {
  const { header, raw } = parsed;
  try {
    if (receipts !== undefined) {
      const content = parseReceipts(receipts, parsed);
      // No receipt of a transaction has the logs of the block itself.
      const blockOnlyLogs = logs.filter((log) => isRecord(log) && lacksTransaction(log, header));
      const allLogs = [...content.logs, ...parseBlockLogs(blockOnlyLogs, header)];
      const sorted = blockOnlyLogs.length === 0 ? allLogs : allLogs.sort((a, b) => a.logIndex - b.logIndex);
      return { header, transactions: content.transactions, logs: sorted, raw: { ...raw, receipts } };
    }
    const transactions = parseBodies(parsed);
    return { header, transactions, logs: parseLogs(logs, header, transactions), raw };
  } catch (error) {
    if (error instanceof AppError) return error;
    return new RpcError('bad_answer', `${endpoint.name}: ${errorText(error)}`, { cause: error });
  }
}

/** The receipts of each block, asked for one by one. Null if the endpoint does not have them. */
async function fetchReceipts(
  endpoint: Endpoint,
  blocks: readonly HeaderWithBodies[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, readonly unknown[]> | null> {
  const calls = blocks.flatMap(({ bodies }) =>
    bodies.map((body) => ({
      method: 'eth_getTransactionReceipt',
      params: [isRecord(body) ? body['hash'] : body],
    })),
  );
  const parse = (result: unknown, index: number): unknown =>
    requirePart(endpoint, result, `the receipt of ${String(calls[index]?.params[0])}`);
  const outcomes = await endpoint.batchOutcomes(calls, parse, signal);
  const receipts: unknown[] = [];
  for (const outcome of outcomes) {
    if ('value' in outcome) receipts.push(outcome.value);
    else if (REFUSED_KINDS.has(outcome.error.kind)) return null;
    else throw outcome.error;
  }
  const receiptsByBlock = new Map<number, readonly unknown[]>();
  let start = 0;
  for (const { header, bodies } of blocks) {
    receiptsByBlock.set(header.number, receipts.slice(start, start + bodies.length));
    start += bodies.length;
  }
  return receiptsByBlock;
}

function fetchLogs(
  endpoint: Endpoint,
  spans: LogSpans,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<FetchedLogs> {
  let [silences, isRepeated] = [0, false];
  return endpoint.repeat<FetchedLogs>(async () => {
    const lastNumber = Math.min(to, from + spans.blocksFor(endpoint) - 1);
    const span = lastNumber - from + 1;
    const filter = { fromBlock: numberToHex(from), toBlock: numberToHex(lastNumber) };
    const [answer] = await endpoint.attempt([{ method: 'eth_getLogs', params: [filter] }], parseList, signal);
    if (answer === undefined) throw new RpcError('bad_answer', `${endpoint.name}: no answer`);
    if ('value' in answer) {
      spans.grow(endpoint, span);
      return { logs: answer.value, last: lastNumber };
    }
    const { error } = answer;
    if (span === 1) throw error;
    // Nodes refuse a range that is too large with any code and any text. An error that may have another reason is
    // repeated once before the range is halved.
    isRepeated = PASSING_KINDS.has(error.kind) && !isRepeated;
    if (isRepeated) return new Unfinished([error], false, { attemptsMax: 2 });
    if (!error.isAnswer) silences += 1;
    spans.shrink(endpoint, span);
    if (silences > SILENCES_MAX) throw error;
    return new Unfinished([error], true);
  }, signal);
}

function parseList(result: unknown): readonly unknown[] {
  if (!Array.isArray(result)) throw new TypeError('the answer of eth_getLogs is not a list');
  return result;
}

function groupByBlock(logs: readonly unknown[], from: number, to: number): Map<number, unknown[]> {
  const logsByBlock = new Map<number, unknown[]>();
  for (const log of logs) {
    const number = readLogBlockNumber(log);
    if (number < from || number > to) {
      throw new BlockMismatch(
        'block_identity',
        number,
        `a log names this block, but the request was for blocks ${from} to ${to}`,
      );
    }
    const blockLogs = logsByBlock.get(number);
    if (blockLogs === undefined) logsByBlock.set(number, [log]);
    else blockLogs.push(log);
  }
  return logsByBlock;
}
