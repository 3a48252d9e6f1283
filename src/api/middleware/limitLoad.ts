/**
 * Protects the service from load. One client may have a limited number of requests in flight, and its requests may read
 * a limited number of rows and bytes per minute. While the event loop is late, new requests get 503.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

import type Koa from 'koa';
import { LRUCache } from 'lru-cache';

import { countReads, type ReadCost } from '../../clickhouse/client/readCost';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import type { RequestState } from '../route';
import { clientOf } from './limitRate';

/** A limit of 0 is off. */
export interface LoadLimits {
  readonly rowsPerMinute: number;
  readonly bytesPerMinute: number;
  /** Largest number of requests of one client that may wait for their answers. */
  readonly inFlightMax: number;
  /** Mean delay of the event loop, in ms over about a second, above which new requests get 503. */
  readonly loopDelayMaxMs: number;
}

export const NO_LIMITS: LoadLimits = {
  rowsPerMinute: 0,
  bytesPerMinute: 0,
  inFlightMax: 0,
  loopDelayMaxMs: 0,
};

/** Largest number of client addresses to remember. */
const CLIENTS_MAX = 50_000;
const MINUTE_MS = 60_000;
const DELAY_SAMPLE_MS = 1_000;
/** Interval of the timer whose delay is measured. A timer of 20 ms takes 0.2 % of a core, this one 0.04 %. */
const DELAY_RESOLUTION_MS = 100;
const OVERLOAD_RETRY_S = 2;

/**
 * Rows and bytes that a client may still read. May fall below 0, because the cost is known only after the answer.
 */
interface Balance {
  rows: number;
  bytes: number;
  filledAt: number;
}

/** `isUnlimited` tells which paths have no limit. These answer from memory, also under load. */
export function limitLoad(
  limits: LoadLimits,
  isUnlimited: (path: string) => boolean,
  log: Logger,
): Koa.Middleware<RequestState> {
  const isLate = watchEventLoop(limits.loopDelayMaxMs, log);
  const inFlightByClient = new Map<string, number>();
  const balanceByClient = new LRUCache<string, Balance>({ max: CLIENTS_MAX });
  const { rowsPerMinute, bytesPerMinute, inFlightMax } = limits;
  const isCounted = rowsPerMinute > 0 || bytesPerMinute > 0;
  return async (ctx, next) => {
    if (isUnlimited(ctx.path) || ctx.method === 'OPTIONS') return next();
    if (isLate()) {
      answerOverloaded(ctx);
      return;
    }
    const client = clientOf(ctx.ip);
    const ownInFlight = inFlightByClient.get(client) ?? 0;
    if (inFlightMax > 0 && ownInFlight >= inFlightMax) {
      throw refuse(ctx, 1, `more than ${inFlightMax} requests in flight`);
    }
    const balance = isCounted ? refill(balanceByClient.get(client), limits) : null;
    if (balance !== null) {
      balanceByClient.set(client, balance);
      checkBalance(ctx, balance, limits);
    }
    inFlightByClient.set(client, ownInFlight + 1);
    const cost: ReadCost = { rows: 0, bytes: 0 };
    try {
      await (balance === null ? next() : countReads(cost, next));
    } finally {
      const stillInFlight = (inFlightByClient.get(client) ?? 1) - 1;
      if (stillInFlight > 0) inFlightByClient.set(client, stillInFlight);
      else inFlightByClient.delete(client);
      if (balance !== null) {
        balance.rows -= cost.rows;
        balance.bytes -= cost.bytes;
      }
    }
  };
}

/** Answers 503 without throwing, because an error would write a log line for each refused request. */
function answerOverloaded(ctx: Koa.ParameterizedContext<RequestState>): void {
  ctx.status = 503;
  ctx.type = 'application/json';
  ctx.set('Retry-After', String(OVERLOAD_RETRY_S));
  ctx.set('Cache-Control', 'no-store');
  const error = `the service is overloaded; retry in ${OVERLOAD_RETRY_S} s`;
  ctx.body = JSON.stringify({ success: false, error, code: 'unavailable' });
}

function refill(balance: Balance | undefined, { rowsPerMinute, bytesPerMinute }: LoadLimits): Balance {
  const nowMs = performance.now();
  if (balance === undefined) return { rows: rowsPerMinute, bytes: bytesPerMinute, filledAt: nowMs };
  const minuteShare = (nowMs - balance.filledAt) / MINUTE_MS;
  balance.rows = Math.min(rowsPerMinute, balance.rows + minuteShare * rowsPerMinute);
  balance.bytes = Math.min(bytesPerMinute, balance.bytes + minuteShare * bytesPerMinute);
  balance.filledAt = nowMs;
  return balance;
}

/** Throws if the client has read more rows or bytes than one client may read per minute. */
function checkBalance(
  ctx: Koa.ParameterizedContext<RequestState>,
  balance: Balance,
  { rowsPerMinute, bytesPerMinute }: LoadLimits,
): void {
  const check = (unitsLeft: number, perMinute: number, unit: string): void => {
    if (perMinute === 0 || unitsLeft > 0) return;
    const seconds = Math.max(1, Math.ceil((-unitsLeft / perMinute) * 60));
    throw refuse(ctx, seconds, `more than ${perMinute} ${unit} read per minute`);
  };
  check(balance.rows, rowsPerMinute, 'rows');
  check(balance.bytes, bytesPerMinute, 'bytes');
}

function refuse(ctx: Koa.ParameterizedContext<RequestState>, seconds: number, reason: string): AppError {
  ctx.set('Retry-After', String(seconds));
  return new AppError('rate_limited', `${reason}; retry in ${seconds} s`);
}

/**
 * Returns whether the event loop was late in the last full sample. The mean is used, because a single long task is no
 * overload. `maxMs` 0 means never.
 */
function watchEventLoop(maxMs: number, log: Logger): () => boolean {
  if (maxMs === 0) return () => false;
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delays.enable();
  let sampledAt = performance.now();
  let isLate = false;
  return () => {
    const nowMs = performance.now();
    if (nowMs - sampledAt < DELAY_SAMPLE_MS) return isLate;
    // Node's histogram is in nanoseconds and measures each timer's whole interval, so the resolution is
    // subtracted.
    const delayMs = delays.count === 0 ? 0 : delays.mean / 1e6 - DELAY_RESOLUTION_MS;
    if (delayMs > maxMs && !isLate)
      log.warn(
        { delayMs: Math.round(delayMs), maxMs },
        'the event loop is late; new requests get status 503',
      );
    isLate = delayMs > maxMs;
    delays.reset();
    sampledAt = nowMs;
    return isLate;
  };
}
