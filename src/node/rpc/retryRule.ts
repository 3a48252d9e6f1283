/**
 * The rule for retries: how many attempts a call gets from one endpoint, how many rounds over all endpoints, and the pauses
 * between them. The loops that use the rule are `Endpoint.repeat` and `EndpointPool.run`.
 */
import type { AppError } from '../../errors';
import { BlockMismatch } from '../blocks/blockMismatch';
import { backoffMs, type Clock } from './clock';
import { RpcError, type RpcErrorKind } from './rpcError';

/**
 * An attempt after which calls are missing. `errors` are the reasons; the list is empty if there are only more calls to
 * make.
 */
export class Unfinished<T> {
  constructor(
    readonly errors: readonly AppError[],
    /** Whether the attempt brought something that no earlier attempt had brought. */
    readonly hasProgress: boolean,
    readonly last: {
      /** Replaces the number of attempts in a row without progress. */
      readonly attemptsMax?: number;
      /** Called after the last attempt with its most informative error. The default is to throw the error. */
      readonly settle?: (error: AppError) => Promise<T>;
    } = {},
  ) {}
}

/**
 * Attempts in a row without progress that the only endpoint of an endpoint pool gets. Otherwise the next endpoint is
 * asked.
 */
const ALONE_ATTEMPTS_MAX = 8;
/** The same for failures that rarely end within a second. */
const ALONE_LASTING_MAX = 2;
const ALONE_MALFORMED_MAX = 4;
/** The same for each endpoint, if a reorg may be the reason for the wrong answer. */
const RACE_ATTEMPTS_MAX = 3;
const LASTING_KINDS: ReadonlySet<RpcErrorKind> = new Set(['unknown_block', 'timeout', 'refused']);

/** Number of rounds over all endpoints before a call fails, and the same for the only endpoint of an endpoint pool. */
export const ROUNDS_MAX = 5;
export const ALONE_ROUNDS_MAX = 3;
/**
 * The same for errors which mean that an endpoint does not have the answer. More rounds do not help then; the caller
 * decides whether to retry later.
 */
const ROUNDS_BY_KIND: Partial<Record<RpcErrorKind, number>> = {
  method_missing: 1,
  unknown_block: 3,
  too_large: 1,
};
/** The same for an answer that is malformed. */
const MALFORMED_ROUNDS_MAX = 3;

/** Pauses in ms between attempts on one endpoint, and between rounds. They grow from the base up to the maximum. */
export const REPEAT_BASE_MS = 20;
const REPEAT_MAX_MS = 500;
const RACE_PAUSE_MS = 50;
const ROUND_BASE_MS = 100;
const ROUND_MAX_MS = 5_000;
/** Longest pause in ms after a failure of the only endpoint of an endpoint pool. Also limits its Retry-After. */
export const ALONE_REST_MAX_MS = 1_000;

export function isRace(error: unknown): error is BlockMismatch {
  return error instanceof BlockMismatch && error.maybeRace;
}

/** Number of attempts in a row on one endpoint that may fail with these errors. */
export function attemptsMax(errors: readonly AppError[], isAlone: boolean): number {
  const areAll = (test: (error: RpcError) => boolean): boolean =>
    errors.every((error) => error instanceof RpcError && test(error));
  if (!isAlone) return errors.every(isRace) ? RACE_ATTEMPTS_MAX : 1;
  // An answer beyond our own limit is not asked for again.
  if (areAll(({ cut }) => cut !== null)) return 1;
  if (areAll(({ malformed }) => malformed)) return ALONE_MALFORMED_MAX;
  return areAll(({ kind }) => LASTING_KINDS.has(kind)) ? ALONE_LASTING_MAX : ALONE_ATTEMPTS_MAX;
}

/** Number of rounds over all endpoints after which a call that ends with this error is not repeated. */
export function roundsAfter({ kind, malformed }: RpcError, rounds: number): number {
  return malformed ? MALFORMED_ROUNDS_MAX : (ROUNDS_BY_KIND[kind] ?? rounds);
}

/**
 * Pause in ms before the next attempt on the same endpoint, after `idle` attempts without progress. There is none while
 * some calls succeed. A Retry-After counts if the node refuses most requests (`isRefused`).
 */
export function attemptPauseMs(
  clock: Clock,
  idle: number,
  errors: readonly AppError[],
  { isRefused, isAlone }: { readonly isRefused: boolean; readonly isAlone: boolean },
): number {
  const baseMs = errors.some((error) => error instanceof BlockMismatch) ? RACE_PAUSE_MS : REPEAT_BASE_MS;
  const idleMs = idle === 0 ? 0 : backoffMs(clock, idle - 1, baseMs, REPEAT_MAX_MS);
  if (!isRefused) return idleMs;
  const retryAfterTimes = errors.flatMap((error) =>
    error instanceof RpcError ? (error.retryAfterMs ?? []) : [],
  );
  return Math.max(idleMs, Math.min(isAlone ? ALONE_REST_MAX_MS : Infinity, Math.max(0, ...retryAfterTimes)));
}

/** Pause in ms before the round after `round` rounds over all endpoints. */
export function roundPauseMs(clock: Clock, round: number): number {
  return backoffMs(clock, round - 1, ROUND_BASE_MS, ROUND_MAX_MS);
}
