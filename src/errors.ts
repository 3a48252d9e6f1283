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

/** Any error that this program throws on purpose. `retryable` says whether the same call may succeed later. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
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
  return error instanceof Error ? error.message : String(error);
}
