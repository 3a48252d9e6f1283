/**
 * The table of all error codes with their HTTP status, and the error class AppError. Error texts are written
 * where errors are thrown.
 */

export const ERROR_STATUS = {
  bad_request: 400,
  not_found: 404,
  /** The answer needs raw logs, and this service does not keep them (EXPLORER=off). */
  logs_not_kept: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  /** The node answers wrongly, slowly or not at all. The program tries again, so data may be late but is
   * never wrong. */
  node_failed: 503,
  /** A setting or the chain description is unusable. The program does not start. */
  bad_config: 500,
  /** An invariant of the stored data is broken. The writer stops. */
  broken_invariant: 500,
  /** A newer writer has claimed the database. The older writer stops. */
  fenced: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Limit of an error's text in UTF-8 bytes. The text may quote clients, nodes and servers, which can send
 * long texts. */
export const ERROR_BYTES_MAX = 2_048;

/** Any error that this program throws on purpose. `retryable` means that the same call may succeed later. */
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

/** The message of any thrown value, for the log. */
export function errorText(error: unknown): string {
  return cutText(error instanceof Error ? error.message : String(error), ERROR_BYTES_MAX);
}

/**
 * Returns the earlier text if the two differ only in numbers and hashes, so that the text of a lasting failure stays
 * the same although each attempt names another block.
 */
export function keepText(earlier: string | null, next: string): string {
  const withoutNumbers = (text: string): string => text.replace(/0x[0-9a-f]+|\d+/gi, '0');
  return earlier !== null && withoutNumbers(earlier) === withoutNumbers(next) ? earlier : next;
}

/** Cuts a text to at most `bytesMax` UTF-8 bytes, with an ellipsis at the end. */
export function cutText(text: string, bytesMax: number): string {
  // A UTF-16 unit needs at most three bytes in UTF-8, so most texts need not be measured.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text.slice(0, bytesMax));
  let end = bytesMax - ELLIPSIS_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}

const ELLIPSIS_BYTES = 3;
