/**
 * One RPC endpoint. Adapts the number of calls per request to the node, repeats failed calls, and pauses
 * after failures. An endpoint that gave a wrong answer is benched: it is not used for some time.
 * `endpointPool.ts` chooses among endpoints.
 */
import type { AppError } from '../../errors';
import { BatchSize } from './batchSize';
import { backoffMs, type Clock } from './clock';
import { EndpointFaults } from './faults/endpointFaults';
import { toAnswerError } from './malformedAnswers';
import type { EndpointHealth, EndpointState, EndpointTraffic, Untrusted } from './nodeHealth';
import { RefusedShare } from './refusedShare';
import { RpcError, LASTING_KINDS, SIZELESS_KINDS, SPLIT_KINDS } from './rpcError';
import {
  recogniseLimit,
  type Outcome,
  type RpcAnswer,
  type RpcCall,
  type RpcTransport,
} from './rpcTransport';

/** The answers to some calls, in order, and the error of the first request that failed as a whole. */
interface Sent {
  readonly answers: readonly RpcAnswer[];
  readonly failure: RpcError | null;
}

const COOL_BASE_MS = 250;
const COOL_MAX_MS = 10_000;
/** Shortest pause in ms after a refusal (401, 403) or a rate limit, because neither usually ends soon. */
const REFUSED_BASE_MS = 5_000;
const RATE_BASE_MS = 1_000;
/**
 * After a timeout, other endpoints are preferred for this time in ms, unless this endpoint answers earlier.
 */
const SLOW_MS = 30_000;
const BENCH_BASE_MS = 60_000;
const BENCH_MAX_MS = 600_000;
/** Longest pause in ms after a failure of a pool's only endpoint. Also limits its Retry-After. */
const ALONE_REST_MAX_MS = 1_000;
/**
 * After this many attempts in a row without any answer, the caller uses another endpoint. For the only
 * endpoint of a pool, `idleRoundsMax` allows another number.
 */
const IDLE_ROUNDS_MAX = 1;
const ALONE_IDLE_ROUNDS_MAX = 8;
const LASTING_ROUNDS_MAX = 2;
const MALFORMED_ROUNDS_MAX = 4;
const REPEAT_BASE_MS = 20;
const REPEAT_MAX_MS = 500;

/** Number of requests that are sent in parallel for one batch, while requests are small because many fail. */
const PARALLEL_REQUESTS = 8;

/**
 * A batch whose answers are too large is split into this many parts. With only two parts, the node would
 * compute each large answer more often.
 */
const PARTS = 8;

export class Endpoint {
  readonly id: number;
  readonly transport: RpcTransport;
  /** Whether the endpoint serves the expected chain. It is checked before the first use. */
  chain: 'unknown' | 'right' | 'wrong' = 'unknown';
  lagging = false;
  /** Whether this is the only endpoint of the pool. */
  readonly alone: boolean;
  private readonly clock: Clock;
  private readonly size: BatchSize;
  private failureCount = 0;
  private benchings = 0;
  private restsUntil = 0;
  private benchUntil = 0;
  private slowUntil = 0;
  private headNumber: number | null = null;
  private lastGoodAt: number | null = null;
  private untrusted: Untrusted | null = null;
  private readonly faults = new EndpointFaults();
  private calls = 0;
  private underWay = 0;
  private readonly refusedShare = new RefusedShare();
  private readonly errors = new Map<RpcError['kind'], number>();

  constructor(id: number, transport: RpcTransport, clock: Clock, batchMax: number, alone: boolean) {
    this.id = id;
    this.alone = alone;
    this.transport = transport;
    this.clock = clock;
    this.size = new BatchSize(batchMax);
  }

  get name(): string {
    return this.transport.name;
  }

  /** True if requests are small because many fail. */
  get isReduced(): boolean {
    return this.size.isReduced;
  }

  /** Makes one call like `batch`. */
  async call<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    for (const value of await this.batch([{ method, params }], parse, signal)) return value;
    throw new RpcError('bad_answer', `${this.name}: no answer`);
  }

  /**
   * Sends all calls in batches that the node accepts. Retries temporary failures as long as some calls succeed. After
   * the first permanent failure, all calls are rejected. Rejects with RpcError, or with the AppError of `parse`.
   */
  async batch<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const outcomes = await this.batchOutcomes(calls, parse, signal);
    return outcomes.map((one) => {
      if ('error' in one) throw one.error;
      return one.value;
    });
  }

  /** Like `batch`, but a call that keeps failing gets its error as its result. */
  async batchOutcomes<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Outcome<T>[]> {
    const outcomes = new Map<number, Outcome<T>>();
    let unanswered = calls.map((_, index) => index);
    for (let idleRounds = 0; unanswered.length > 0;) {
      const unansweredCalls = unanswered.flatMap((index) => calls[index] ?? []);
      const answers = await this.attempt(
        unansweredCalls,
        (result, at) => parse(result, unanswered[at] ?? at),
        signal,
      );
      const errors: RpcError[] = [];
      const toRepeat = unanswered.filter((index, at) => {
        const outcome = answers[at];
        if (outcome === undefined) return false;
        outcomes.set(index, outcome);
        if (!('error' in outcome) || !outcome.error.retryable) return false;
        errors.push(outcome.error);
        return true;
      });
      idleRounds = toRepeat.length < unanswered.length ? 0 : idleRounds + 1;
      if (idleRounds >= this.idleRoundsMax(errors)) break;
      unanswered = toRepeat;
      if (unanswered.length > 0) await this.pause(idleRounds, errors, signal);
    }
    return calls.flatMap((_, index) => outcomes.get(index) ?? []);
  }

  /** Number of attempts in a row that may fail with these errors before the caller gives up. */
  idleRoundsMax(failed: readonly AppError[]): number {
    const areAll = (test: (error: RpcError) => boolean): boolean =>
      failed.every((error) => error instanceof RpcError && test(error));
    // An answer beyond our own limit is not asked for again.
    if (!this.alone || areAll(({ cut }) => cut !== null)) return IDLE_ROUNDS_MAX;
    if (areAll(({ malformed }) => malformed)) return MALFORMED_ROUNDS_MAX;
    return areAll(({ kind }) => LASTING_KINDS.has(kind)) ? LASTING_ROUNDS_MAX : ALONE_IDLE_ROUNDS_MAX;
  }

  /**
   * Waits before the next attempt of calls that failed. Does not wait while some calls succeed. Obeys a
   * Retry-After if the node refuses most requests.
   */
  async pause(idle: number, failed: readonly AppError[], signal?: AbortSignal): Promise<void> {
    const pausesMs = failed.flatMap((error) => (error instanceof RpcError ? (error.retryAfterMs ?? []) : []));
    const backoff = idle === 0 ? 0 : backoffMs(this.clock, idle - 1, REPEAT_BASE_MS, REPEAT_MAX_MS);
    const ms = Math.max(backoff, this.refusedShare.isMost ? this.bounded(Math.max(0, ...pausesMs)) : 0);
    if (ms > 0) await this.clock.sleep(ms, signal);
  }

  /** Makes one attempt of all calls. A failed call gets its error, also if its whole request failed. */
  async attempt<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Outcome<T>[]> {
    const { answers } = await this.sendAll(calls, signal);
    return answers.map((answer, index) => this.read(answer, (result) => parse(result, index)));
  }

  private read<T>(answer: RpcAnswer, parse: (result: unknown) => T): Outcome<T> {
    if ('error' in answer) return answer;
    try {
      return { value: parse(answer.result) };
    } catch (error) {
      return { error: toAnswerError(this.name, answer.result, error) };
    }
  }

  /** Like `attempt`, but rejects if a request fails as a whole. */
  async attemptOrThrow<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    signal?: AbortSignal,
  ): Promise<Outcome<T>[]> {
    const { answers, failure } = await this.sendAll(calls, signal);
    if (failure !== null) throw failure;
    return answers.map((answer, index) => this.read(answer, (result) => parse(result, index)));
  }

  /**
   * Sends the calls in one or several requests. While many requests fail, requests are small, and several are
   * in flight. If a whole request fails, each of its calls gets the error. If as many requests in a row fail as
   * may be in flight, the remaining calls are not sent.
   */
  private async sendAll(calls: readonly RpcCall[], signal?: AbortSignal): Promise<Sent> {
    if (calls.length <= this.size.value) return this.sendChunk(calls, signal);
    const answers: RpcAnswer[] = [];
    const lanes = this.isReduced ? PARALLEL_REQUESTS : 1;
    let [next, failedInARow, firstFailure]: [number, number, RpcError | null] = [0, 0, null];
    const sendNext = async (): Promise<void> => {
      while (next < calls.length && failedInARow < lanes) {
        const from = next;
        next += this.size.value;
        const part = await this.sendChunk(calls.slice(from, next), signal);
        for (const [index, answer] of part.answers.entries()) answers[from + index] = answer;
        failedInARow = part.failure === null ? 0 : failedInARow + 1;
        firstFailure ??= part.failure;
      }
    };
    await Promise.all(Array.from({ length: lanes }, sendNext));
    const error: RpcError = firstFailure ?? new RpcError('bad_answer', `${this.name}: no answer`);
    return { answers: calls.map((_, index) => answers[index] ?? { error }), failure: firstFailure };
  }

  /**
   * Sends the calls as one request, or as several if the node refuses them together. If a whole request
   * fails, each of its calls counts as one error.
   */
  private async sendChunk(calls: readonly RpcCall[], signal?: AbortSignal): Promise<Sent> {
    // A single malformed answer may be an accident, so the request is repeated once. After a second one it is
    // split.
    for (let malformedCount = 0; ; malformedCount += 1) {
      try {
        this.calls += calls.length;
        this.underWay += calls.length;
        const sent = await this.transport.send(calls, signal).finally(() => (this.underWay -= calls.length));
        const answers = sent.map((answer, index) => recogniseLimit(calls[index], answer));
        this.size.noteGood(calls.length);
        this.refusedShare.note(
          answers.every((answer) => 'error' in answer && answer.error.kind === 'rate_limited'),
        );
        for (const answer of answers) if ('error' in answer) this.countError(answer.error.kind, 1);
        return { answers, failure: null };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        this.countError(error.kind, calls.length);
        this.refusedShare.note(error.kind === 'rate_limited');
        if (error.cut === 'call') return this.sendParts(calls, error, signal);
        const isReduced = this.size.isReduced;
        if (!SIZELESS_KINDS.has(error.kind)) this.size.noteFailed(calls.length);
        // The caller repeats the calls, in smaller requests if failures stay frequent.
        const callerRepeats = isReduced && error.kind === 'bad_answer';
        if (calls.length > 1 && !callerRepeats) {
          if (error.kind === 'bad_answer' && malformedCount === 0) continue;
          const isSplit = SPLIT_KINDS.has(error.kind);
          // A timeout is not retried here. The next attempt uses smaller batches.
          if (isSplit || error.kind === 'timeout') this.size.noteRefused(calls.length);
          if (isSplit) return this.sendAll(calls, signal);
        }
        return { answers: calls.map(() => ({ error })), failure: error };
      }
    }
  }

  /**
   * Sends the calls in smaller parts, to find the calls with answers that are too large. Such answers do not
   * change the number of calls per request that the node is believed to accept.
   */
  private async sendParts(calls: readonly RpcCall[], error: RpcError, signal?: AbortSignal): Promise<Sent> {
    if (calls.length === 1) return { answers: [{ error }], failure: null };
    const size = Math.ceil(calls.length / PARTS);
    const answers: RpcAnswer[] = [];
    let failure: RpcError | null = null;
    for (let from = 0; from < calls.length; from += size) {
      const part = await this.sendAll(calls.slice(from, from + size), signal);
      answers.push(...part.answers);
      failure ??= part.failure;
    }
    return { answers, failure };
  }

  private countError(kind: RpcError['kind'], calls: number): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + calls);
  }

  /** Records a method that fails for certain blocks. */
  noteUntrusted(what: Untrusted): void {
    this.untrusted = what;
  }

  noteHead(number: number): void {
    this.headNumber = number;
  }

  noteGood(): void {
    this.failureCount = 0;
    this.faults.noteGood();
    this.slowUntil = 0;
    this.lastGoodAt = this.clock.now();
  }

  /** Records a failure. The endpoint then pauses, longer after each failure in a row. */
  noteFailure(error: RpcError): void {
    const now = this.clock.now();
    this.faults.noteFailure(error);
    if (error.kind === 'unknown_block' || error.kind === 'method_missing') return;
    if (error.kind === 'timeout') this.slowUntil = now + SLOW_MS;
    // Several calls that fail during the same pause count as one failure.
    if (now >= this.restsUntil) this.failureCount += 1;
    this.restsUntil = Math.max(this.restsUntil, now + this.restMs(error));
  }

  private restMs(error: RpcError): number {
    // Calls may fail at random, and a long pause of the only endpoint would stop all other calls too.
    if (this.alone && !this.refusedShare.isMost)
      return backoffMs(this.clock, Math.max(0, this.failureCount - 1), REPEAT_BASE_MS, ALONE_REST_MAX_MS);
    if (error.retryAfterMs !== null) return this.bounded(error.retryAfterMs);
    const base =
      error.kind === 'refused'
        ? REFUSED_BASE_MS
        : error.kind === 'rate_limited'
          ? RATE_BASE_MS
          : COOL_BASE_MS;
    const ms = backoffMs(this.clock, Math.max(0, this.failureCount - 1), base, Math.max(base, COOL_MAX_MS));
    return this.bounded(ms);
  }

  /** Shortens the pause of a pool's only endpoint, because no other endpoint can be used meanwhile. */
  private bounded(ms: number): number {
    return this.alone ? Math.min(ms, ALONE_REST_MAX_MS) : ms;
  }

  /**
   * Benches the endpoint: it is not used for one minute at first, and for twice as long each further time, up
   * to ten minutes. A pool's only endpoint pauses for one second.
   */
  bench(reason: string): void {
    const now = this.clock.now();
    this.faults.noteWrongAnswer(reason, now);
    if (this.benchUntil > now) return;
    const benched = Math.min(BENCH_MAX_MS, BENCH_BASE_MS * 2 ** Math.min(this.benchings, 10));
    this.benchUntil = now + (this.alone ? ALONE_REST_MAX_MS : benched);
    this.benchings += 1;
    // After a wrong answer the chain is checked again, because the URL may now serve another chain.
    if (this.chain === 'right') this.chain = 'unknown';
  }

  /** Time from which on the endpoint may be used again, in ms of the clock. */
  get coolUntil(): number {
    return this.restsUntil;
  }

  get head(): number | null {
    return this.headNumber;
  }

  get failures(): number {
    return this.failureCount;
  }

  get state(): EndpointState {
    if (this.chain === 'wrong') return 'wrong_chain';
    const now = this.clock.now();
    if (this.benchUntil > now) return 'benched';
    if (this.slowUntil > now) return 'slow';
    return this.lagging ? 'lagging' : 'ok';
  }

  traffic(): EndpointTraffic {
    const errors = Object.fromEntries(this.errors);
    return { name: this.name, calls: this.calls, underWay: this.underWay, errors };
  }

  health(): EndpointHealth {
    return {
      name: this.name,
      state: this.state,
      head: this.headNumber,
      lastGoodAt: this.lastGoodAt,
      untrusted: this.untrusted,
      ...this.faults.facts,
    };
  }
}
