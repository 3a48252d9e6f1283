/** Sets of error kinds that decide how calls are repeated, and which of several errors is reported. */
import { RpcError, type RpcErrorKind } from './rpcError';

type Kinds = ReadonlySet<RpcErrorKind>;

/** Failures that rarely end within a second. After them there are fewer attempts. */
export const LASTING_KINDS: Kinds = new Set(['unknown_block', 'timeout', 'refused']);

/** Failures after which a batch is split in halves, because each half may succeed. */
export const SPLIT_KINDS: Kinds = new Set(['too_large', 'invalid', 'method_missing', 'bad_answer']);

/**
 * Failures that do not depend on the number of calls in a request. A smaller batch would only send more
 * requests to a node that limits them.
 */
export const SIZELESS_KINDS: Kinds = new Set(['rate_limited', 'refused']);

/**
 * Numbers of rounds over all endpoints for errors which mean that an endpoint does not have the answer. More
 * rounds do not help then; the caller decides whether to retry later.
 */
const ROUNDS_BY_KIND: Partial<Record<RpcErrorKind, number>> = {
  method_missing: 1,
  unknown_block: 3,
  too_large: 1,
};
/** Failures of the connection. They give no information about the call. */
const SILENT_KINDS: ReadonlySet<RpcErrorKind> = new Set(['network', 'timeout', 'refused', 'rate_limited']);
/** Largest number of rounds over all endpoints for malformed answers. */
const MALFORMED_ROUNDS_MAX = 3;

/** Number of rounds over all endpoints after which a call that ends with this error is not repeated. */
export function roundsAfter({ kind, malformed }: RpcError, usualRounds: number): number {
  return malformed ? MALFORMED_ROUNDS_MAX : (ROUNDS_BY_KIND[kind] ?? usualRounds);
}

/**
 * Returns the more informative of two errors. An error about the call itself comes before a malformed answer,
 * and a malformed answer before a connection failure. If both are of the same kind, returns the later one.
 */
export function moreTelling(before: unknown, after: unknown): unknown {
  return before !== null && telling(before) > telling(after) ? before : after;
}

function telling(error: unknown): number {
  if (!(error instanceof RpcError)) return 2;
  if (SILENT_KINDS.has(error.kind)) return 0;
  return error.kind === 'bad_answer' || error.kind === 'other' ? 1 : 2;
}
