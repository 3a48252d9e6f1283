/**
 * Makes several endpoints look like one node. If one endpoint fails, another is tried. The number of attempts
 * is limited. Endpoints that lag, fail or answer wrongly are used less.
 */
import type { Logger } from '../../log';
import { AppError } from '../../errors';
import { isQuantity } from '../../domain/hex';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { BlockMismatch, type MismatchKind } from '../blocks/blockMismatch';
import { linkSignals } from './abortSignals';
import { ANSWER_BYTES_MAX } from './answerBounds';
import { systemClock, withDeadline, type Clock } from './clock';
import { createTransport } from './createTransport';
import { Endpoint } from './endpoint';
import { doesAnswer, MalformedLog, MergedAnswers } from './malformedAnswers';
import { toNodeHealth, type EndpointState, type EndpointTraffic, type NodeHealth } from './nodeHealth';
import { ALONE_ROUNDS_MAX, isRace, roundPauseMs, roundsAfter, ROUNDS_MAX, Unfinished } from './retryRule';
import { RETRY_AFTER_MAX_MS, RpcError, moreTelling } from './rpcError';
import type { Outcome, RpcCall, RpcTransport } from './rpcTransport';

interface PoolOptions {
  readonly transports: readonly RpcTransport[];
  /** Id of the chain that every endpoint must serve. Null means that the id is not checked. */
  readonly chainId: number | null;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Largest number of calls per batch (default 100). Nodes that accept fewer get fewer. */
  readonly batchMax?: number;
  /** Number of rounds over all endpoints before a call fails (default 5). A single endpoint gets at most 3. */
  readonly roundsMax?: number;
}

/**
 * One attempt of some work on an endpoint. Is made again on the same endpoint if it is unfinished, or if a reorg may be the
 * reason for a wrong answer.
 */
type Work<T> = (endpoint: Endpoint, signal: AbortSignal) => Promise<T | Unfinished<T>>;

interface CallOptions {
  /** Use only this endpoint. */
  readonly endpoint?: number;
  readonly signal?: AbortSignal;
  readonly roundsMax?: number;
  /**
   * Time limit in ms of one endpoint while another endpoint is available. For the last endpoint, the timeout
   * of the transport applies.
   */
  readonly attemptMs?: number;
}

const RANK: Record<EndpointState, number> = { ok: 0, lagging: 1, slow: 2, benched: 3, wrong_chain: 4 };
/** An endpoint that is more than this many blocks below the best head is lagging, and used less. */
const LAG_BLOCKS_MAX = 5;

export class EndpointPool {
  readonly endpoints: readonly Endpoint[];
  private readonly chainId: number | null;
  private readonly log: Logger;
  private readonly clock: Clock;
  private readonly roundsMax: number;
  private readonly mismatches = new Map<MismatchKind, number>();
  private readonly malformedLog = new MalformedLog();
  private readonly closed = new AbortController();

  constructor(options: PoolOptions) {
    this.clock = options.clock ?? systemClock();
    const batchMax = options.batchMax ?? 100;
    const alone = options.transports.length === 1;
    this.endpoints = options.transports.map(
      (transport, id) => new Endpoint(id, transport, this.clock, batchMax, alone),
    );
    this.chainId = options.chainId;
    this.log = options.log;
    this.roundsMax = options.roundsMax ?? ROUNDS_MAX;
    if (this.endpoints.length === 0) throw new AppError('bad_config', 'no RPC endpoint is configured');
  }

  /** Makes one call. If `parse` throws, the answer is wrong, and the next endpoint is used. */
  call<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
    options: CallOptions = {},
  ): Promise<T> {
    return this.run((endpoint, signal) => endpoint.call(method, params, parse, signal), options);
  }

  /**
   * Sends many calls. A call with a permanent error, such as a revert, gets the error as its result. A call to
   * which every endpoint gives a malformed answer, after all rounds, gets an error with `malformed`.
   */
  async batchOutcomes<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown, index: number) => T,
    options: CallOptions = {},
  ): Promise<Outcome<T>[]> {
    const merged = new MergedAnswers<T>(calls);
    try {
      return await this.run(async (endpoint, signal) => {
        const answers = await endpoint.batchOutcomes(calls, parse, signal);
        return merged.add(endpoint.name, answers, await doesAnswer(endpoint, calls, answers, signal));
      }, options);
    } catch (error) {
      const isEnded = this.closed.signal.aborted || options.signal?.aborted === true;
      const settled = isEnded ? null : merged.settle(error);
      if (settled === null) throw error;
      this.malformedLog.tell(this.log, this.clock.now(), merged.blamed);
      return settled;
    }
  }

  /**
   * The scheduler: runs work that must use the same node for all its calls. An RpcError or BlockMismatch counts as a
   * failure of the endpoint, and the work starts again on the next endpoint. Errors that every node would give
   * (revert, range too large, invalid parameters) and all other errors are thrown at once. @throws the most
   * informative RpcError or BlockMismatch of the last round; AppError `bad_config` if all endpoints serve
   * another chain.
   */
  async run<T>(work: Work<T>, options: CallOptions = {}): Promise<T> {
    const linkedSignal = linkSignals(this.closed.signal, options.signal);
    const roundsLimit = this.endpoints.length === 1 ? ALONE_ROUNDS_MAX : Infinity;
    const rounds = Math.min(options.roundsMax ?? this.roundsMax, roundsLimit);
    let lastError: unknown = new RpcError('network', 'no RPC endpoint is usable');
    try {
      for (let round = 0; round < rounds; round += 1) {
        if (round > 0) await this.clock.sleep(roundPauseMs(this.clock, round), linkedSignal.signal);
        const tried = new Set<number>();
        await this.waitForAny(options, linkedSignal.signal);
        let mostTelling: unknown = null;
        for (
          let endpoint = this.pick(tried, options);
          endpoint !== null;
          endpoint = this.pick(tried, options)
        ) {
          tried.add(endpoint.id);
          try {
            const value = await this.runInTime(
              endpoint,
              tried,
              options,
              linkedSignal.signal,
              async (inner) => {
                await this.checkChain(endpoint, inner);
                return endpoint.repeat(() => this.attempt(work, endpoint, inner), inner);
              },
            );
            endpoint.record.noteGood();
            return value;
          } catch (error) {
            mostTelling = moreTelling(mostTelling, this.blame(endpoint, error, linkedSignal.signal));
          }
        }
        lastError = mostTelling ?? lastError;
        this.assertAnyChain();
        if (lastError instanceof RpcError && round + 1 >= roundsAfter(lastError, rounds)) break;
      }
    } finally {
      linkedSignal.release();
    }
    throw lastError;
  }

  /** Makes one attempt, and counts wrong answers. */
  private async attempt<T>(
    work: Work<T>,
    endpoint: Endpoint,
    signal: AbortSignal,
  ): Promise<T | Unfinished<T>> {
    try {
      const result = await work(endpoint, signal);
      if (result instanceof Unfinished) result.errors.forEach((error) => this.countIfMismatch(error));
      return result;
    } catch (error) {
      this.countIfMismatch(error);
      if (isRace(error)) return new Unfinished<T>([error], false);
      throw error;
    }
  }

  /**
   * Runs work on the endpoint. The time limit is `attemptMs` if another endpoint is available now, otherwise
   * the timeout of the transport.
   */
  private runInTime<T>(
    { name }: Endpoint,
    tried: ReadonlySet<number>,
    { attemptMs }: CallOptions,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const now = this.clock.now();
    const isFree = ({ record }: Endpoint): boolean => record.coolUntil <= now && record.state !== 'benched';
    if (attemptMs === undefined || !this.candidates(tried, {}).some(isFree)) return work(signal);
    const timeoutError = (): Error => new RpcError('timeout', `${name}: no answer within ${attemptMs} ms`);
    return withDeadline(this.clock, attemptMs, signal, timeoutError, work);
  }

  /** Counts a failure and returns it. If every endpoint would give the error, throws it instead. */
  private blame(endpoint: Endpoint, error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) throw signal.reason;
    if (error instanceof BlockMismatch) {
      this.bench(endpoint, error);
      return error;
    }
    if (!(error instanceof RpcError)) throw error;
    if (!error.retryable && error.kind !== 'method_missing') {
      endpoint.record.noteGood();
      throw error;
    }
    const failuresBefore = endpoint.record.failures;
    endpoint.noteFailure(error);
    if (failuresBefore === 0 && endpoint.record.failures > 0) {
      this.log.warn(
        { endpoint: endpoint.name, kind: error.kind, error: error.message },
        'a call to an RPC endpoint failed',
      );
    }
    return error;
  }

  private async checkChain(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    if (this.chainId === null || endpoint.record.chain === 'right') return;
    const chainId = await endpoint.call('eth_chainId', [], parseChainId, signal);
    if (chainId === this.chainId) {
      endpoint.record.chain = 'right';
      return;
    }
    endpoint.record.chain = 'wrong';
    const message = `${endpoint.name} serves chain ${chainId}, not ${this.chainId}`;
    this.log.error(
      { endpoint: endpoint.name, served: chainId, expected: this.chainId },
      'an RPC endpoint serves another chain and is not used',
    );
    throw new RpcError('refused', message);
  }

  private assertAnyChain(): void {
    if (this.endpoints.some(({ record }) => record.chain !== 'wrong')) return;
    const errors = this.endpoints.map(({ record, name }) => record.health().lastError ?? name).join('; ');
    throw new AppError('bad_config', `every RPC endpoint serves another chain: ${errors}`);
  }

  /**
   * Returns the best endpoint that is not pausing. Endpoints are compared by state, then by their order in
   * the configuration.
   */
  private pick(tried: ReadonlySet<number>, options: CallOptions): Endpoint | null {
    const now = this.clock.now();
    const readyEndpoints = this.candidates(tried, options).filter(({ record }) => record.coolUntil <= now);
    const [best = null] = readyEndpoints.sort((a, b) => RANK[a.record.state] - RANK[b.record.state]);
    return best;
  }

  private candidates(tried: ReadonlySet<number>, options: CallOptions): Endpoint[] {
    return this.endpoints.filter(
      (endpoint) =>
        endpoint.record.chain !== 'wrong' &&
        !tried.has(endpoint.id) &&
        (options.endpoint === undefined || options.endpoint === endpoint.id),
    );
  }

  /** If every endpoint is pausing, waits until the first pause ends. */
  private async waitForAny(options: CallOptions, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const candidates = this.candidates(new Set(), options);
    if (candidates.length === 0) return;
    const earliest = Math.min(...candidates.map(({ record }) => record.coolUntil));
    const now = (): number => this.clock.now();
    const until = Math.min(earliest, now() + RETRY_AFTER_MAX_MS);
    // A timer may fire early. Without this loop, all endpoints could still be pausing after the wait, and the
    // round would end without a call.
    for (let leftMs = until - now(); leftMs > 0; leftMs = until - now())
      await this.clock.sleep(Math.ceil(leftMs), signal);
  }

  /** Benches an endpoint that answered wrongly: it is not used for some time if there are others. */
  reject(endpointId: number, wrong: BlockMismatch): void {
    this.countIfMismatch(wrong);
    const endpoint = this.endpoints[endpointId];
    if (endpoint !== undefined) this.bench(endpoint, wrong);
  }

  private bench({ record, name }: Endpoint, wrong: BlockMismatch): void {
    record.bench(wrong.message);
    this.log.warn(
      { endpoint: name, reason: wrong.message },
      'an RPC endpoint gave a wrong answer and is benched',
    );
  }

  /** Counts a failed verification for /metrics. */
  private countIfMismatch(error: unknown): void {
    if (error instanceof BlockMismatch)
      this.mismatches.set(error.kind, (this.mismatches.get(error.kind) ?? 0) + 1);
  }

  /** Reads the heads of all endpoints in parallel and marks endpoints that lag. Failures are recorded. */
  async refreshHeads(signal?: AbortSignal): Promise<void> {
    const askedEndpoints = this.endpoints.filter(({ record }) => record.chain !== 'wrong');
    const heads = await Promise.all(askedEndpoints.map((endpoint) => this.askHead(endpoint, signal)));
    const best = Math.max(...heads.map((head) => head ?? -1));
    for (const [position, endpoint] of askedEndpoints.entries()) {
      const head = heads[position] ?? null;
      if (head === null) continue;
      const lagging = best - head > LAG_BLOCKS_MAX;
      if (lagging !== endpoint.record.lagging) {
        const event = lagging ? 'an RPC endpoint lags' : 'an RPC endpoint no longer lags';
        this.log.info({ endpoint: endpoint.name, head, best, lagging }, event);
      }
      endpoint.record.lagging = lagging;
    }
  }

  private async askHead(endpoint: Endpoint, signal: AbortSignal | undefined): Promise<number | null> {
    const bounds = { endpoint: endpoint.id, roundsMax: 1, attemptMs: TIME_LIMITS.lightAttemptMs };
    const options = signal === undefined ? bounds : { ...bounds, signal };
    try {
      const head = await this.call('eth_blockNumber', [], parseBlockNumber, options);
      endpoint.record.noteHead(head);
      return endpoint.record.state === 'benched' ? null : head;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  /** Facts for /readyz and /metrics. */
  health(): NodeHealth {
    return toNodeHealth(
      this.endpoints.map(({ record }) => record.health()),
      this.mismatches,
    );
  }

  /** Counters for /metrics. */
  traffic(): EndpointTraffic[] {
    return this.endpoints.map((endpoint) => endpoint.traffic());
  }

  /** Rejects all running calls and closes all connections. */
  async close(): Promise<void> {
    if (!this.closed.signal.aborted)
      this.closed.abort(new RpcError('network', 'the endpoint pool is closed'));
    await Promise.all(this.endpoints.map((endpoint) => endpoint.transport.close()));
  }
}

export interface UrlPoolOptions extends Omit<PoolOptions, 'transports'> {
  /** URLs of the endpoints, http(s)://, ws(s):// or ipc:///path, in order of preference. */
  readonly urls: readonly string[];
  /** Timeout of one whole answer (default 30 s). */
  readonly timeoutMs?: number;
  /** Size limit of one answer in bytes; default 64 MiB. */
  readonly bodyBytesMax?: number;
  /** HTTP connections to one endpoint (default 32). */
  readonly connectionsMax?: number;
}

/**
 * Creates the endpoint pool for these URLs. Connects at the first call. @throws AppError `bad_config` for an unusable
 * URL.
 */
export function createEndpointPool(options: UrlPoolOptions): EndpointPool {
  const transportOptions = {
    clock: options.clock ?? systemClock(),
    timeoutMs: options.timeoutMs ?? 30_000,
    bodyBytesMax: options.bodyBytesMax ?? ANSWER_BYTES_MAX,
    connectionsMax: options.connectionsMax ?? 32,
  };
  const transports = options.urls.map((url, index) => createTransport(url, index, transportOptions));
  return new EndpointPool({ ...options, transports });
}

export function parseChainId(result: unknown): number {
  return parseSmallQuantity(result, 'eth_chainId');
}

export function parseBlockNumber(result: unknown): number {
  return parseSmallQuantity(result, 'eth_blockNumber');
}

function parseSmallQuantity(result: unknown, method: string): number {
  const value = isQuantity(result) ? Number(result) : NaN;
  if (!Number.isSafeInteger(value)) throw new Error(`the answer of ${method} is not a number`);
  return value;
}
