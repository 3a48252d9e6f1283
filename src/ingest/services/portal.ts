/**
 * Reads final blocks from an SQD portal: POST /finalized-stream answers one block per line. An answer may end before the
 * last block; then the next request continues, and names the hash of the block before.
 * https://docs.sqd.dev/en/api/evm/introduction
 */
import type { Clock } from '../../node/rpc/clock';
import type { Hex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import type { BlockService, ServiceBlock } from './blockService';
import { ServiceFields } from './serviceFields';

export interface PortalOptions {
  /** http(s) URL of the dataset, such as https://portal.sqd.dev/datasets/pulsechain-mainnet. */
  readonly url: string;
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Longest time without an answer or without a further piece of one (default 30 s). */
  readonly timeoutMs?: number;
  /** Least time between two requests. The public portal allows 20 requests in 10 seconds, which is the default. */
  readonly everyMs?: number;
}

/** The fields that a block needs. The portal lacks access lists and withdrawals, which a proof in full would need. */
const FIELDS = {
  block: selectFields('number', 'hash', 'parentHash', 'timestamp', 'logsBloom', 'gasUsed', 'baseFeePerGas'),
  transaction: selectFields(
    ...['transactionIndex', 'hash', 'from', 'to', 'nonce', 'gasUsed', 'effectiveGasPrice', 'status'],
  ),
  log: selectFields('logIndex', 'transactionIndex', 'transactionHash', 'address', 'topics', 'data'),
};

const TIMEOUT_MS = 30_000;
const REQUEST_INTERVAL_MS = 500;
/** Number of requests in a row without a block before the stream fails. */
const FAILURES_MAX = 8;
/** Pauses in ms after a failed request. They double with each failure in a row. */
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 30_000;
/** Longest pause that a portal can ask for with Retry-After. */
const RETRY_AFTER_MAX_MS = 600_000;
/** Size limit in bytes of an answer that is not a stream. */
const TEXT_MAX = 64 * 1024;
/** Largest number of characters of an answer in an error. */
const SHOWN_MAX = 200;

/** Block numbers are below this limit. */
const BLOCK_LIMIT = 2 ** 31;

/** A failure that passes: the same request is repeated after a pause. */
class PassingFailure extends Error {
  constructor(
    message: string,
    readonly pauseMs: number | null = null,
  ) {
    super(message);
  }
}

export class Portal implements BlockService {
  readonly name: string;
  private readonly options: PortalOptions;
  private readonly fields: ServiceFields;
  private nextRequestAt = 0;

  constructor(options: PortalOptions) {
    this.options = options;
    this.name = options.name;
    this.fields = new ServiceFields(options.name);
  }

  async findSpan(signal: AbortSignal): Promise<{ from: number; to: number } | null> {
    const head = await this.repeat(signal, () => this.get('finalized-head', signal));
    if (head === null) return null;
    const facts = await this.repeat(signal, () => this.get('metadata', signal));
    const startBlock = facts === null ? undefined : this.fields.fields(facts, 'metadata')['start_block'];
    const to = this.fields.fields(head, 'finalized-head')['number'];
    return {
      from:
        startBlock === undefined || startBlock === null
          ? 0
          : this.fields.integer(startBlock, BLOCK_LIMIT, 'start_block'),
      to: this.fields.integer(to, BLOCK_LIMIT, 'number of finalized-head'),
    };
  }

  async *stream(from: number, to: number, signal: AbortSignal): AsyncGenerator<ServiceBlock> {
    let next = from;
    let parentHash: Hex | null = null;
    for (let failures = 0; next <= to;) {
      let failure: PassingFailure;
      try {
        const nextBefore = next;
        for await (const block of this.request({ from: next, to, parentHash }, signal)) {
          if (block.block.block !== next)
            throw this.fields.fault(`the block after block ${next - 1}`, block.block.block, String(next));
          next += 1;
          parentHash = block.block.hash;
          failures = 0;
          yield block;
          if (next > to) return;
        }
        if (next > nextBefore) continue;
        failure = new PassingFailure(`the portal sends no block from ${next} on`);
      } catch (error) {
        if (!(error instanceof PassingFailure)) throw error;
        failure = error;
      }
      failures += 1;
      await this.pauseOrFail(failure, failures, signal);
    }
  }

  /** The blocks of one answer. @throws PassingFailure if the request should be repeated */
  private async *request(
    range: { readonly from: number; readonly to: number; readonly parentHash: Hex | null },
    signal: AbortSignal,
  ): AsyncGenerator<ServiceBlock> {
    const { from, to, parentHash } = range;
    const query = {
      type: 'evm',
      fromBlock: from,
      toBlock: to,
      ...(parentHash === null ? {} : { parentBlockHash: parentHash }),
      includeAllBlocks: true,
      fields: FIELDS,
      transactions: [{}],
      logs: [{}],
    };
    const timer = new IdleTimer(this.options.timeoutMs ?? TIMEOUT_MS);
    const timedSignal = AbortSignal.any([signal, timer.signal]);
    try {
      const response = await this.send('finalized-stream', query, timedSignal);
      if (response.status === 204) return;
      if (response.status !== 200) throw await this.refusal(response, parentHash);
      if (response.body === null) return;
      for await (const line of readLines(response.body, this.name, () => timer.restart())) {
        const block = this.parse(line, from);
        timer.pause();
        yield block;
        timer.restart();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError || error instanceof PassingFailure) throw error;
      throw new PassingFailure(
        timer.signal.aborted ? 'the portal does not answer in time' : errorText(error),
      );
    } finally {
      timer.stop();
    }
  }

  private async send(path: string, query: object | null, signal: AbortSignal): Promise<Response> {
    const { url, clock, everyMs = REQUEST_INTERVAL_MS } = this.options;
    const now = clock.now();
    const startMs = Math.max(now, this.nextRequestAt);
    this.nextRequestAt = startMs + everyMs;
    if (startMs > now) await clock.sleep(startMs - now, signal);
    const body = query === null ? {} : { method: 'POST', body: JSON.stringify(query) };
    return fetch(`${url.replace(/\/$/, '')}/${path}`, {
      headers: { 'content-type': 'application/json', 'user-agent': 'candlehouse' },
      redirect: 'error',
      signal,
      ...body,
    });
  }

  /** The JSON of a small answer; null if the portal does not have it. */
  private async get(path: string, signal: AbortSignal): Promise<unknown> {
    // Inside AbortSignal.any, AbortSignal.timeout may never fire after a garbage collection.
    const timer = new IdleTimer(this.options.timeoutMs ?? TIMEOUT_MS);
    const timedSignal = AbortSignal.any([signal, timer.signal]);
    let response: Response;
    let text: string;
    try {
      response = await this.send(path, null, timedSignal);
      text = await textOf(response);
    } catch (error) {
      signal.throwIfAborted();
      throw new PassingFailure(
        timer.signal.aborted ? 'the portal does not answer in time' : errorText(error),
      );
    } finally {
      timer.stop();
    }
    if (response.status === 404 || response.status === 204) return null;
    if (response.status !== 200) throw await this.refusal(response, null, text);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new AppError('bad_config', `${this.name}: the answer to ${path} is not JSON`, { cause: error });
    }
  }

  private parse(line: string, from: number): ServiceBlock {
    const { fields } = this;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // The connection may end in the middle of a line.
      throw new PassingFailure(`a line of the answer from block ${from} is not JSON`);
    }
    const parts = fields.fields(value, 'a line');
    const block = fields.block(parts['header']);
    const number = block.block;
    const transactions = fields.list(parts['transactions'], `block ${number}: transactions`);
    const logs = fields.list(parts['logs'], `block ${number}: logs`);
    return {
      block,
      transactions: transactions
        .map((item) => fields.transaction(item, number))
        .sort((a, b) => a.index - b.index),
      logs: logs.map((item) => fields.log(item, number)).sort((a, b) => a.logIndex - b.logIndex),
    };
  }

  /** The error of an answer that is not a stream of blocks. */
  private async refusal(response: Response, parentHash: Hex | null, readText?: string): Promise<Error> {
    const { status } = response;
    const text = readText ?? (await textOf(response));
    const shownText = text.slice(0, SHOWN_MAX);
    if (status === 409) {
      const message = `the portal's final blocks do not continue block ${parentHash ?? 'unknown'}`;
      return new AppError('bad_config', `${this.name}: ${message}; it answers ${shownText}`);
    }
    if (status === 408 || status === 429 || status >= 500)
      return new PassingFailure(`HTTP ${status}`, retryAfterOf(response, this.options.clock.now()));
    return new AppError('bad_config', `${this.name}: HTTP ${status}: ${shownText}`);
  }

  /** Repeats a small request until it succeeds. */
  private async repeat<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof PassingFailure)) throw error;
        await this.pauseOrFail(error, failures, signal);
      }
    }
  }

  private async pauseOrFail(failure: PassingFailure, failures: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.options;
    if (failures >= FAILURES_MAX)
      throw new AppError('node_failed', `${this.name}: ${failure.message}`, { cause: failure });
    const growingPauseMs =
      Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (failures - 1)) * (0.5 + clock.random() / 2);
    const pauseMs = Math.round(failure.pauseMs ?? growingPauseMs);
    log.debug({ service: this.name, error: failure.message, pauseMs }, 'a request of a service is repeated');
    await clock.sleep(pauseMs, signal);
  }
}

/** Aborts its signal when nothing happened for a time. */
class IdleTimer {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ms: number) {
    this.restart();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.controller.abort(), this.ms);
  }

  /** While the reader is busy, the service is not late. */
  pause(): void {
    clearTimeout(this.timer);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.controller.abort();
  }
}

/** The time in ms that Retry-After asks for, in seconds or as a date; null without one. */
function retryAfterOf({ headers }: Response, now: number): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? 1_000 * Number(text) : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms)) : null;
}

/** The text of an answer, at most TEXT_MAX bytes of it. */
async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    parts.push(chunk);
    if ((size += chunk.length) >= TEXT_MAX) break;
  }
  return Buffer.concat(parts).subarray(0, TEXT_MAX).toString('utf8');
}

function selectFields(...names: readonly string[]): Readonly<Record<string, true>> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** Longest line, which is one block, in bytes. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Yields the text of each line. `onPiece` is called for each piece of the stream. @throws AppError `bad_config` if a line is too
 * long or empty
 */
async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  onPiece: () => void,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    onPiece();
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      parts.push(piece.subarray(from, end));
      const line = Buffer.concat(parts).toString('utf8');
      if (line === '')
        throw new AppError('bad_config', `${name}: got an empty line; allowed: a block per line`);
      yield line;
      parts = [];
      size = 0;
      from = end + 1;
    }
    size += piece.length - from;
    if (size > LINE_BYTES_MAX)
      throw new AppError('bad_config', `${name}: a line has more than ${LINE_BYTES_MAX} bytes`);
    if (from < piece.length) parts.push(piece.subarray(from));
  }
  if (size > 0) yield Buffer.concat(parts).toString('utf8');
}
