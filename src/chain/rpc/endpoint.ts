/** One endpoint: sends batches of a size that the node takes, repeats calls that failed, and remembers how the node behaved. */
import { AppError, errorText } from '../../errors';
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
/** The only endpoint of a pool rests no longer than this after a failure, unless its Retry-After says longer. */
const ALONE_REST_MAX_MS = 1_000;
/** Attempts in a row without any answer, after which the endpoint is given up: with other endpoints in the pool, and without. */
const IDLE_ROUNDS_MAX = 1;
const ALONE_IDLE_ROUNDS_MAX = 8;
/** Failures that the next second seldom cures: they get fewer attempts. */
const LASTING_KINDS: ReadonlySet<RpcError['kind']> = new Set(['unknown_block', 'timeout', 'refused']);
const LASTING_ROUNDS_MAX = 2;
const REPEAT_BASE_MS = 20;
const REPEAT_MAX_MS = 500;

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
  /** Whether the pool has no other endpoint. */
  readonly alone: boolean;
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

  constructor(id: number, transport: RpcTransport, clock: Clock, batchMax: number, alone: boolean) {
    this.id = id;
    this.alone = alone;
    this.transport = transport;
    this.#clock = clock;
    this.#batchCeiling = batchMax;
    this.#batchMax = batchMax;
  }

  get name(): string {
    return this.transport.name;
  }

  /** One attempt of one call. Rejects with RpcError, or with whatever AppError `parse` throws. */
  async call<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    const [answer] = await this.attempt([{ method, params }], parse, signal);
    if (answer === undefined) throw new RpcError('bad_answer', `${this.name}: no answer`);
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  /**
   * All calls, in batches that the node takes. Calls that fail in a way that may pass are sent again, alone, while some of them are
   * answered; the first that fails for good rejects the whole. Rejects with RpcError, or with whatever AppError `parse` throws.
   */
  async batch<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const settled = await this.settle(calls, parse, signal);
    return settled.map((one) => {
      if ('error' in one) throw one.error;
      return one.value;
    });
  }

  /** Like `batch`, but a call that fails for good, or again and again, stays with its error. */
  async settle<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Settled<T>[]> {
    const settled = new Map<number, Settled<T>>();
    let open = calls.map((_, index) => index);
    for (let idle = 0; open.length > 0;) {
      const asked = open.flatMap((index) => calls[index] ?? []);
      const answers = await this.attempt(asked, (result, at) => parse(result, open[at] ?? at), signal);
      const failed: RpcError[] = [];
      const again = open.filter((index, at) => {
        const one = answers[at];
        if (one === undefined) return false;
        settled.set(index, one);
        if (!('error' in one) || !one.error.retryable) return false;
        failed.push(one.error);
        return true;
      });
      idle = again.length < open.length ? 0 : idle + 1;
      if (idle >= this.idleRoundsMax(failed)) break;
      open = again;
      if (open.length > 0) await this.pause(idle, failed, signal);
    }
    return calls.flatMap((_, index) => settled.get(index) ?? []);
  }

  /** Attempts in a row without success, after failures like these, before the caller gives up. */
  idleRoundsMax(failed: readonly AppError[]): number {
    if (!this.alone) return IDLE_ROUNDS_MAX;
    const lasting = failed.every((error) => error instanceof RpcError && LASTING_KINDS.has(error.kind));
    return lasting ? LASTING_ROUNDS_MAX : ALONE_IDLE_ROUNDS_MAX;
  }

  /** Waits before the next attempt: not at all while some calls succeed, at least as long as the node's Retry-After says. */
  async pause(idle: number, failed: readonly AppError[], signal?: AbortSignal): Promise<void> {
    const named = failed.map((error) => (error instanceof RpcError ? (error.retryAfterMs ?? 0) : 0));
    const backoff = idle === 0 ? 0 : backoffMs(this.#clock, idle - 1, REPEAT_BASE_MS, REPEAT_MAX_MS);
    const ms = Math.max(backoff, ...named);
    if (ms > 0) await this.#clock.sleep(ms, signal);
  }

  /** One attempt; a failed call stays with its error, and so does each call of a request that failed as a whole. */
  async attempt<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Settled<T>[]> {
    const answers: RpcAnswer[] = [];
    try {
      await this.#sendAll(calls, answers, signal);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      while (answers.length < calls.length) answers.push({ error });
    }
    return answers.map((answer, index) => this.#read(answer, (result) => parse(result, index)));
  }

  #read<T>(answer: RpcAnswer, parse: (result: unknown) => T): Settled<T> {
    if ('error' in answer) return answer;
    try {
      return { value: this.#parse(answer.result, parse) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      throw error;
    }
  }

  /** Like `attempt`, but rejects when a request fails as a whole. */
  async batchSettled<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Settled<T>[]> {
    const answers: RpcAnswer[] = [];
    await this.#sendAll(calls, answers, signal);
    return answers.map((answer, index) => this.#read(answer, (result) => parse(result, index)));
  }

  /** Appends the answers to `into`. When a request fails as a whole, the answers of earlier requests stay there. */
  async #sendAll(calls: readonly RpcCall[], into: RpcAnswer[], signal?: AbortSignal): Promise<void> {
    const start = into.length;
    /** The call from which a request was answered with garbage. The first time is repeated; the second time halves the batch. */
    let garbageAt = -1;
    while (into.length - start < calls.length) {
      const from = into.length - start;
      const chunk = calls.slice(from, from + this.#batchMax);
      try {
        for (const answer of await this.#send(chunk, signal)) into.push(answer);
        if (chunk.length === this.#batchMax)
          this.#batchMax = Math.min(this.#batchCeiling, this.#batchMax + 1);
      } catch (error) {
        if (error instanceof RpcError && error.cut === 'call') {
          await this.#sendParts(chunk, error, into, signal);
          continue;
        }
        if (!(error instanceof RpcError) || chunk.length === 1) throw error;
        if (error.kind === 'bad_answer' && garbageAt !== from) {
          garbageAt = from;
          continue;
        }
        const split = SPLIT_KINDS.has(error.kind);
        // A timeout is not repeated here, the next attempt asks for less.
        if (split || error.kind === 'timeout') this.#batchMax = Math.max(1, Math.floor(chunk.length / 2));
        if (!split) throw error;
      }
    }
  }

  /** Finds the calls whose answers pass their bounds. It says nothing of the size of a batch that the node takes. */
  async #sendParts(
    calls: readonly RpcCall[],
    error: RpcError,
    into: RpcAnswer[],
    signal?: AbortSignal,
  ): Promise<void> {
    if (calls.length === 1) {
      into.push({ error });
      return;
    }
    const size = Math.ceil(calls.length / PARTS);
    for (let from = 0; from < calls.length; from += size)
      await this.#sendAll(calls.slice(from, from + size), into, signal);
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
    const rest = backoffMs(this.#clock, Math.max(0, this.#failures - 1), base, Math.max(base, COOL_MAX_MS));
    return this.alone ? Math.min(rest, ALONE_REST_MAX_MS) : rest;
  }

  /** Puts the endpoint aside for one minute, twice as long each time, ten minutes at most; a pool's only one for a second. */
  bench(reason: string): void {
    const now = this.#clock.now();
    this.#lastError = reason;
    this.#lastErrorAt = now;
    if (this.#benchUntil > now) return;
    const benched = Math.min(BENCH_MAX_MS, BENCH_BASE_MS * 2 ** Math.min(this.#benchings, 10));
    this.#benchUntil = now + (this.alone ? ALONE_REST_MAX_MS : benched);
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
