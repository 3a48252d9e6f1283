/** The one closed table of error codes: what a caller may see, with its HTTP status. Texts belong to whoever throws. */

export const ERROR_STATUS = {
  bad_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  /** The chain's node answers wrongly, slowly or not at all; data is late, never wrong. */
  node_failed: 503,
  /** A setting or the chain description is unusable; the start stops. */
  bad_config: 500,
  /** An invariant of the stored data is broken; the writer stops. */
  broken_invariant: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Of an error's text, in bytes of UTF-8. What callers, nodes and servers send can stand in it. */
export const ERROR_BYTES_MAX = 2_048;

/** Any error that this program throws on purpose. `retryable` says whether the same call may succeed later. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(
      cutText(message, ERROR_BYTES_MAX),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'AppError';
    this.code = code;
    this.retryable = options.retryable ?? (code === 'unavailable' || code === 'node_failed');
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The message of whatever was thrown, for log lines. */
export function errorText(error: unknown): string {
  return cutText(error instanceof Error ? error.message : String(error), ERROR_BYTES_MAX);
}

/** The text, or its beginning with an ellipsis in at most `bytesMax` bytes of UTF-8. */
export function cutText(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text.slice(0, bytesMax));
  let end = bytesMax - ELLIPSIS_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}

const ELLIPSIS_BYTES = 3;
