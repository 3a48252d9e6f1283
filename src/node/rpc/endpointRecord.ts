/**
 * What is known of one endpoint: its chain, its head, its last good answer and its failures. After a failure the endpoint
 * pauses. An endpoint that gave a wrong answer is benched: it is not used for some time.
 */
import { backoffMs, type Clock } from './clock';
import { EndpointFaults } from './faults/endpointFaults';
import type { EndpointHealth, EndpointState, Untrusted } from './nodeHealth';
import { ALONE_REST_MAX_MS, REPEAT_BASE_MS } from './retryRule';
import type { RpcError } from './rpcError';

/** Pauses in ms after a failure. They double with each failure in a row, up to COOL_MAX_MS. */
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

export class EndpointRecord {
  /** Whether the endpoint serves the expected chain. It is checked before the first use. */
  chain: 'unknown' | 'right' | 'wrong' = 'unknown';
  lagging = false;
  /** Number of failures since the last good answer. */
  failures = 0;
  /** Time from which on the endpoint may be used again, in ms of the clock. */
  coolUntil = 0;
  private benchings = 0;
  private benchUntil = 0;
  private slowUntil = 0;
  private headNumber: number | null = null;
  private lastGoodAt: number | null = null;
  private untrusted: Untrusted | null = null;
  private readonly faults = new EndpointFaults();

  constructor(
    private readonly name: string,
    private readonly clock: Clock,
    private readonly alone: boolean,
  ) {}

  /** Records a method that fails for certain blocks. */
  noteUntrusted(what: Untrusted): void {
    this.untrusted = what;
  }

  noteHead(number: number): void {
    this.headNumber = number;
  }

  noteGood(): void {
    this.failures = 0;
    this.faults.noteGood();
    this.slowUntil = 0;
    this.lastGoodAt = this.clock.now();
  }

  /**
   * Records a failure. The endpoint then pauses, longer after each failure in a row. `isRefused` tells whether the node
   * refuses most requests because of its rate limit.
   */
  noteFailure(error: RpcError, isRefused: boolean): void {
    const now = this.clock.now();
    this.faults.noteFailure(error);
    if (error.kind === 'unknown_block' || error.kind === 'method_missing') return;
    if (error.kind === 'timeout') this.slowUntil = now + SLOW_MS;
    // Several calls that fail during the same pause count as one failure.
    if (now >= this.coolUntil) this.failures += 1;
    this.coolUntil = Math.max(this.coolUntil, now + this.restMs(error, isRefused));
  }

  private restMs(error: RpcError, isRefused: boolean): number {
    // Calls may fail at random, and a long pause of the only endpoint would stop all other calls too.
    if (this.alone && !isRefused)
      return backoffMs(this.clock, Math.max(0, this.failures - 1), REPEAT_BASE_MS, ALONE_REST_MAX_MS);
    // No other endpoint can be used while the only endpoint of an endpoint pool pauses.
    const longestMs = this.alone ? ALONE_REST_MAX_MS : Infinity;
    if (error.retryAfterMs !== null) return Math.min(longestMs, error.retryAfterMs);
    const baseMs =
      error.kind === 'refused'
        ? REFUSED_BASE_MS
        : error.kind === 'rate_limited'
          ? RATE_BASE_MS
          : COOL_BASE_MS;
    const ms = backoffMs(this.clock, Math.max(0, this.failures - 1), baseMs, Math.max(baseMs, COOL_MAX_MS));
    return Math.min(longestMs, ms);
  }

  /**
   * Benches the endpoint: it is not used for one minute at first, and for twice as long each further time, up
   * to ten minutes. The only endpoint of an endpoint pool pauses for one second.
   */
  bench(reason: string): void {
    const now = this.clock.now();
    this.faults.noteWrongAnswer(reason, now);
    if (this.benchUntil > now) return;
    const benchMs = Math.min(BENCH_MAX_MS, BENCH_BASE_MS * 2 ** Math.min(this.benchings, 10));
    this.benchUntil = now + (this.alone ? ALONE_REST_MAX_MS : benchMs);
    this.benchings += 1;
    // After a wrong answer the chain is checked again, because the URL may now serve another chain.
    if (this.chain === 'right') this.chain = 'unknown';
  }

  get state(): EndpointState {
    if (this.chain === 'wrong') return 'wrong_chain';
    const now = this.clock.now();
    if (this.benchUntil > now) return 'benched';
    if (this.slowUntil > now) return 'slow';
    return this.lagging ? 'lagging' : 'ok';
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
