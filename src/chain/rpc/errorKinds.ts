/** Sets of error kinds that decide how an endpoint repeats calls. */
import type { RpcErrorKind } from './rpcError';

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
