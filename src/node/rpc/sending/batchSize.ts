/**
 * Chooses the number of calls in one request to an endpoint. The number has two limits: the largest batch that the node
 * accepts, and the batch size at which most requests succeed. Also decides whether a node limits the rate of all requests,
 * or refuses a few of them at random.
 */

/** The factor by which earlier requests lose weight with each request. About the last ten requests count. */
const MEMORY = 0.9;
/**
 * Wanted mean number of failing calls per request. If one failing call makes the whole request fail, three in ten
 * requests of this size fail, because 1 − e^−0.35 ≈ 0.3.
 */
const FAILURES_PER_REQUEST = 0.35;
/** After a success, the number of calls per request may grow by this share. */
const GROWTH = 1 / 8;

export class BatchSize {
  /** Largest number of calls that the node seems to accept. */
  private accepted: number;
  /** Weighted counts of recent requests that failed as a whole, and of calls in recent requests. */
  private failures = 0;
  private calls = 0;
  /** Weighted counts of recent requests, and of those that the node refused because of its rate limit. */
  private requests = 0;
  private refused = 0;

  /** @param ceiling largest number of calls in one request */
  constructor(private readonly ceiling: number) {
    this.accepted = ceiling;
  }

  get value(): number {
    return Math.max(1, Math.min(this.accepted, this.reliable));
  }

  /** True if requests are smaller than usual because many of them fail. */
  get isReduced(): boolean {
    return this.reliable < this.accepted;
  }

  /** Whether the node refuses most requests because of its rate limit. One refused request is no evidence. */
  get isRefused(): boolean {
    return 2 * this.refused > this.requests + 1;
  }

  noteRequest(isRefused: boolean): void {
    this.requests = MEMORY * this.requests + 1;
    this.refused = MEMORY * this.refused + (isRefused ? 1 : 0);
  }

  private get reliable(): number {
    if (this.failures < FAILURES_PER_REQUEST) return this.ceiling;
    return Math.min(this.ceiling, Math.floor((FAILURES_PER_REQUEST * this.calls) / this.failures));
  }

  noteGood(size: number): void {
    this.count(size, 0);
    if (size < this.accepted) return;
    this.accepted = Math.min(this.ceiling, this.accepted + Math.max(1, Math.floor(this.accepted * GROWTH)));
  }

  /** Call when a request failed as a whole, for a reason that may not depend on its size. */
  noteFailed(size: number): void {
    this.count(size, 1);
  }

  /** Call when the node did not accept a request of this size, or did not complete it in time. */
  noteTooLarge(size: number): void {
    this.accepted = Math.min(this.accepted, Math.max(1, Math.floor(size / 2)));
  }

  private count(size: number, failures: number): void {
    this.calls = MEMORY * this.calls + size;
    this.failures = MEMORY * this.failures + failures;
  }
}
