/** One endpoint: single attempts over its transport with adaptive batches, and the memory of how it behaved. */
import { AppError, errorText } from '../errors';
import { backoffMs, type Clock } from './clock';
import type { EndpointHealth, EndpointState, EndpointTraffic } from './nodeHealth';
import { RpcError } from './rpcError';
import type { RpcAnswer, RpcCall, RpcTransport } from './rpcTransport';

export type Settled<T> = { readonly value: T } | { readonly error: RpcError };

const COOL_BASE_MS = 250;
const COOL_MAX_MS = 10_000;
/** A refusal (401, 403) seldom heals by itself, a rate limit not at once. */
const REFUSED_BASE_MS = 5_000;
const RATE_BASE_MS = 1_000;
/** One that hung is asked after the others for so long, unless it answers before. */
const SLOW_MS = 30_000;
const BENCH_BASE_MS = 60_000;
const BENCH_MAX_MS = 600_000;

/** A batch refused as a whole with one of these may pass in halves. */
const SPLIT_KINDS: ReadonlySet<RpcError['kind']> = new Set([
  'too_large',
  'invalid',
  'method_missing',
  'bad_answer',
]);

/** A batch with too large answers is sent in so many parts: the node makes each large answer again at every level. */
const PARTS = 8;

export class Endpoint {
  readonly id: number;
  readonly transport: RpcTransport;
  /** Whether it serves the expected chain; asked before its first use. */
  chain: 'unknown' | 'right' | 'wrong' = 'unknown';
  lagging = false;
  readonly #clock: Clock;
  readonly #batchCeiling: number;
  #batchMax: number;
  #failures = 0;
  #benchings = 0;
  #coolUntil = 0;
  #benchUntil = 0;
  #slowUntil = 0;
  #head: number | null = null;
  #lastGoodAt: number | null = null;
  #lastError: string | null = null;
  #lastErrorAt: number | null = null;
  #calls = 0;
  #underWay = 0;
  readonly #errors = new Map<RpcError['kind'], number>();

  constructor(id: number, transport: RpcTransport, clock: Clock, batchMax: number) {
    this.id = id;
    this.transport = transport;
    this.#clock = clock;
    this.#batchCeiling = batchMax;
    this.#batchMax = batchMax;
  }

  get name(): string {
    return this.transport.name;
  }

  /** One attempt. Rejects with RpcError, or with whatever AppError `parse` throws. */
  async call<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    const [answer] = await this.#send([{ method, params }], signal);
    if (answer === undefined) throw new RpcError('bad_answer', `${this.name}: no answer`);
    if ('error' in answer) throw answer.error;
    return this.#parse(answer.result, parse);
  }

  /** All calls, in batches that the node takes. The first failure rejects the whole. */
  async batch<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const answers = await this.#sendAll(calls, signal);
    const failed = answers.find((answer) => 'error' in answer);
    if (failed !== undefined && 'error' in failed) throw failed.error;
    return answers.map((answer, index) => {
      const result = 'result' in answer ? answer.result : undefined;
      return this.#parse(result, (value) => parse(value, index));
    });
  }

  /** Like `batch`, but a failed call stays with its call. Rejects only when a batch fails as a whole. */
  async batchSettled<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Settled<T>[]> {
    const answers = await this.#sendAll(calls, signal);
    return answers.map((answer, index) => {
      if ('error' in answer) return answer;
      try {
        return { value: this.#parse(answer.result, (value) => parse(value, index)) };
      } catch (error) {
        if (error instanceof RpcError) return { error };
        throw error;
      }
    });
  }

  async #sendAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = [];
    while (answers.length < calls.length) {
      const chunk = calls.slice(answers.length, answers.length + this.#batchMax);
      try {
        for (const answer of await this.#send(chunk, signal)) answers.push(answer);
        if (chunk.length === this.#batchMax)
          this.#batchMax = Math.min(this.#batchCeiling, this.#batchMax + 1);
      } catch (error) {
        if (error instanceof RpcError && error.cut === 'call') {
          for (const answer of await this.#sendParts(chunk, error, signal)) answers.push(answer);
          continue;
        }
        if (!(error instanceof RpcError) || chunk.length === 1) throw error;
        const split = SPLIT_KINDS.has(error.kind);
        // A timeout is not repeated here, the pool's next attempt asks for less.
        if (split || error.kind === 'timeout') this.#batchMax = Math.max(1, Math.floor(chunk.length / 2));
        if (!split) throw error;
      }
    }
    return answers;
  }

  /** Finds the calls whose answers pass their bounds. It says nothing of the size of a batch that the node takes. */
  async #sendParts(calls: readonly RpcCall[], error: RpcError, signal?: AbortSignal): Promise<RpcAnswer[]> {
    if (calls.length === 1) return [{ error }];
    const size = Math.ceil(calls.length / PARTS);
    const answers: RpcAnswer[] = [];
    for (let from = 0; from < calls.length; from += size)
      for (const answer of await this.#sendAll(calls.slice(from, from + size), signal)) answers.push(answer);
    return answers;
  }

  /** One round trip, counted. A request that fails as a whole counts as many errors as it had calls. */
  async #send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[]> {
    this.#calls += calls.length;
    this.#underWay += calls.length;
    try {
      const answers = await this.transport.send(calls, signal);
      for (const answer of answers) if ('error' in answer) this.#countError(answer.error.kind, 1);
      return answers;
    } catch (error) {
      if (error instanceof RpcError) this.#countError(error.kind, calls.length);
      throw error;
    } finally {
      this.#underWay -= calls.length;
    }
  }

  #countError(kind: RpcError['kind'], calls: number): void {
    this.#errors.set(kind, (this.#errors.get(kind) ?? 0) + calls);
  }

  #parse<T>(result: unknown, parse: (result: unknown) => T): T {
    try {
      return parse(result);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new RpcError('bad_answer', `${this.name}: ${errorText(error)}`, { cause: error });
    }
  }

  noteHead(number: number): void {
    this.#head = number;
  }

  noteGood(): void {
    this.#failures = 0;
    this.#slowUntil = 0;
    this.#lastGoodAt = this.#clock.now();
  }

  /** Remembers a failure; the endpoint rests for a while, longer with each failure in a row. */
  noteFailure(error: RpcError): void {
    const now = this.#clock.now();
    this.#lastError = error.message;
    this.#lastErrorAt = now;
    if (error.kind === 'unknown_block' || error.kind === 'method_missing') return;
    if (error.kind === 'timeout') this.#slowUntil = now + SLOW_MS;
    // Calls that fail together count as one failure.
    if (now >= this.#coolUntil) this.#failures += 1;
    this.#coolUntil = Math.max(this.#coolUntil, now + this.#restMs(error));
  }

  #restMs(error: RpcError): number {
    if (error.retryAfterMs !== null) return error.retryAfterMs;
    const base =
      error.kind === 'refused'
        ? REFUSED_BASE_MS
        : error.kind === 'rate_limited'
          ? RATE_BASE_MS
          : COOL_BASE_MS;
    return backoffMs(this.#clock, Math.max(0, this.#failures - 1), base, Math.max(base, COOL_MAX_MS));
  }

  /** Puts the endpoint aside for one minute, twice as long each time, ten minutes at most. */
  bench(reason: string): void {
    const now = this.#clock.now();
    this.#lastError = reason;
    this.#lastErrorAt = now;
    if (this.#benchUntil > now) return;
    this.#benchUntil = now + Math.min(BENCH_MAX_MS, BENCH_BASE_MS * 2 ** Math.min(this.#benchings, 10));
    this.#benchings += 1;
    // Whoever answers wrongly may have become another chain's node.
    if (this.chain === 'right') this.chain = 'unknown';
  }

  /** Unix ms from which it may be asked again. */
  get coolUntil(): number {
    return this.#coolUntil;
  }

  get head(): number | null {
    return this.#head;
  }

  get failures(): number {
    return this.#failures;
  }

  get state(): EndpointState {
    if (this.chain === 'wrong') return 'wrong_chain';
    const now = this.#clock.now();
    if (this.#benchUntil > now) return 'benched';
    if (this.#slowUntil > now) return 'slow';
    return this.lagging ? 'lagging' : 'ok';
  }

  /** What was asked of it so far. */
  traffic(): EndpointTraffic {
    const errors = Object.fromEntries(this.#errors);
    return { name: this.name, calls: this.#calls, underWay: this.#underWay, errors };
  }

  health(): EndpointHealth {
    return {
      name: this.name,
      state: this.state,
      head: this.#head,
      lastGoodAt: this.#lastGoodAt,
      lastError: this.#lastError,
      lastErrorAt: this.#lastErrorAt,
    };
  }
}
