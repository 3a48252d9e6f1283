/**
 * Errors of calls to a node. The kind of an error is derived from the codes and texts of common node programs
 * and RPC providers.
 */
import { AppError } from '../../errors';

/**
 * Kinds of errors.
 * - `revert`: An eth_call failed; every node gives the same result.
 * - `method_missing`: The node does not know the method.
 * - `too_large`: The range or the answer exceeds a limit; a smaller request may succeed.
 * - `rate_limited`: The node refuses calls for now (`retryAfterMs` if the node named a time).
 * - `unknown_block`: The node does not have the block (it lags, or a reorg removed the block).
 * - `invalid`: The node rejected our parameters.
 * - `timeout`, `network`: The node gave no answer, or the connection failed.
 * - `refused`: The node answered with HTTP 401, 403, 404, or a redirect, or it serves another chain.
 * - `bad_answer`: The answer is malformed.
 */
export type RpcErrorKind =
  | 'revert'
  | 'method_missing'
  | 'too_large'
  | 'rate_limited'
  | 'unknown_block'
  | 'invalid'
  | 'timeout'
  | 'network'
  | 'refused'
  | 'bad_answer'
  | 'other';

/** Failures of the connection. They give no information about the call. */
export const PASSING_KINDS: ReadonlySet<RpcErrorKind> = new Set([
  'network',
  'timeout',
  'refused',
  'rate_limited',
]);
/** Errors that a retry on the same node does not remove. */
const FINAL_KINDS: ReadonlySet<RpcErrorKind> = new Set(['revert', 'method_missing', 'too_large', 'invalid']);

/** Each value is null or absent if the failure has none. */
export interface RpcErrorFacts {
  /** Code of the JSON-RPC error. */
  readonly rpcCode?: number | null;
  readonly data?: unknown;
  readonly httpStatus?: number | null;
  /** Pause that the node asks for. */
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
  /**
   * The size limit that the answer exceeded. `call` is the limit that the caller set for this call. `answer`
   * is the general limit; another node may then succeed.
   */
  readonly cut?: 'call' | 'answer' | null;
  /** Whether the call has an answer that is not what its method returns. False if the answer is missing. */
  readonly malformed?: boolean;
}

/**
 * A failure of a node. `message` names the endpoint by index and host only. Secrets of the URL are removed
 * from the text.
 */
export class RpcError extends AppError {
  readonly kind: RpcErrorKind;
  /** Code of the JSON-RPC error, or null. */
  readonly rpcCode: number | null;
  /** Data of the JSON-RPC error, such as the bytes of a revert. The data is not trusted. */
  readonly data: unknown;
  readonly httpStatus: number | null;
  readonly retryAfterMs: number | null;
  /** The exceeded size limit, as in RpcErrorFacts. Null if no limit was exceeded. */
  readonly cut: 'call' | 'answer' | null;
  /** True for an answer that is present but malformed, as in RpcErrorFacts. */
  readonly malformed: boolean;

  constructor(kind: RpcErrorKind, message: string, facts: RpcErrorFacts = {}) {
    const retryable = !FINAL_KINDS.has(kind) || facts.cut === 'answer';
    super('node_failed', message, { cause: facts.cause, retryable });
    this.name = 'RpcError';
    this.kind = kind;
    this.rpcCode = facts.rpcCode ?? null;
    this.data = facts.data;
    this.httpStatus = facts.httpStatus ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.cut = facts.cut ?? null;
    this.malformed = facts.malformed ?? false;
  }

  /** Whether only the connection failed or the node refuses all calls. The error says nothing about the call. */
  get isPassing(): boolean {
    return PASSING_KINDS.has(this.kind);
  }

  /** Whether the node answered, with an HTTP status or an error of its own. */
  get isAnswer(): boolean {
    return this.rpcCode !== null || this.httpStatus !== null || this.kind === 'bad_answer';
  }
}

const RATE =
  /rate.?limit|too many requests|request rate|compute units|throughput|requests? per|call rate|capacity|throttl|quota|daily request|request limit|\b429\b/;
const TOO_LARGE =
  /block ?range|ranges? over|range (?:is )?too|too (?:wide|large|many (?:blocks|results|logs))|max(?:imum)? (?:block )?range|exceeds? (?:the )?(?:max|limit|range)|more than \d+ (?:results|logs|blocks)|size (?:exceeded|too|is larger|larger)|response is too|response size|result (?:set )?(?:too|size|window)|logs matched|query (?:timeout|returned)|limited to|limit exceeded|up to a [\d,k]+ ?block|batch (?:size|limit|too)|batch.*(?:exceed|limit|too (?:large|many))|request entity too large|is greater than the limit|please (?:reduce|narrow|specify)|narrow (?:your|the)/;
const METHOD_MISSING =
  /method .*(?:not found|not supported|not available|does not exist|not allowed|not whitelisted|unavailable|is disabled|not implemented)|unsupported method|(?:unknown|no such|invalid) method|not (?:supported|implemented)|does not exist\/is not available/;
const UNKNOWN_BLOCK =
  /(?:unknown|missing) block|block(?: \S+)? (?:not found|does not exist)|header (?:for hash )?not found|block ?out ?of ?range|beyond (?:the )?(?:current )?head|finalized block not found|missing trie node|pruned|no state available|not yet available|after last accepted block|unfinalized data/;
const REVERT =
  /execution reverted|reverted|vm execution error|evm error|out ?of ?gas|invalid (?:opcode|jump)|stack (?:under|over)flow|stack limit reached|return data out of bounds|gas uint64 overflow|max code size exceeded|gas required exceeds|insufficient funds|execution error/;

/**
 * Returns the kind of a JSON-RPC error. Providers use the same code for different errors, so the text is
 * checked first.
 */
export function kindOfRpcError(code: number, message: string): RpcErrorKind {
  const text = message.toLowerCase();
  if (code === 3 || code === -32015) return 'revert';
  if (code === 429 || code === -32029 || code === -32097) return 'rate_limited';
  if (REVERT.test(text)) return 'revert';
  if (code === -32601) return 'method_missing';
  if (UNKNOWN_BLOCK.test(text)) return 'unknown_block';
  if (RATE.test(text)) return 'rate_limited';
  if (TOO_LARGE.test(text) || code === -32005) return 'too_large';
  if (METHOD_MISSING.test(text)) return 'method_missing';
  if (code === -39001 || code === -32001) return 'unknown_block';
  if (code === -32602 || code === -32600) return 'invalid';
  return 'other';
}

/** Returns the kind of error for an HTTP status other than 200, if the answer has no JSON-RPC error. */
export function kindOfHttpStatus(status: number): RpcErrorKind {
  if (status === 429) return 'rate_limited';
  if (status === 413) return 'too_large';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'network';
  return 'refused';
}

/** Longest wait in ms that a Retry-After can cause. */
export const RETRY_AFTER_MAX_MS = 60_000;

/**
 * Parses a Retry-After header (seconds or an HTTP date) into milliseconds from `now`, from 0 to one minute.
 * Null if invalid.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const [, seconds] = /^\s*(\d+(?:\.\d+)?)\s*$/.exec(value) ?? [];
  const waitMs = seconds === undefined ? Date.parse(value) - now : Number(seconds) * 1000;
  return Number.isNaN(waitMs) ? null : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, waitMs));
}

type Kinds = ReadonlySet<RpcErrorKind>;

/** Failures after which a batch is split in halves, because each half may succeed. */
export const SPLIT_KINDS: Kinds = new Set(['too_large', 'invalid', 'method_missing', 'bad_answer']);

/**
 * Failures that do not depend on the number of calls in a request. A smaller batch would only send more
 * requests to a node that limits them.
 */
export const SIZELESS_KINDS: Kinds = new Set(['rate_limited', 'refused']);

/**
 * Returns the more informative of two errors. An error about the call itself comes before a malformed answer,
 * and a malformed answer before a connection failure. If both are of the same kind, returns the later one.
 */
export function moreTelling(before: unknown, after: unknown): unknown {
  return before !== null && informativeness(before) > informativeness(after) ? before : after;
}

function informativeness(error: unknown): number {
  if (!(error instanceof RpcError)) return 2;
  if (error.isPassing) return 0;
  return error.kind === 'bad_answer' || error.kind === 'other' ? 1 : 2;
}
