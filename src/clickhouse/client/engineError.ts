/**
 * Classifies ClickHouse errors by number only. The text of an error quotes stored data, and anyone can store
 * data that looks like another error. Numbers:
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */

export const ENGINE_CODES = {
  TIMEOUT_EXCEEDED: 159,
  MEMORY_LIMIT_EXCEEDED: 241,
  NOT_ENOUGH_SPACE: 243,
  FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: 395,
} as const;

/** Error numbers of temporary errors: the same statement may succeed later. */
const PASSING_CODES: ReadonlySet<number> = new Set<number>([
  ENGINE_CODES.TIMEOUT_EXCEEDED,
  ENGINE_CODES.MEMORY_LIMIT_EXCEEDED,
  ENGINE_CODES.NOT_ENOUGH_SPACE,
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  210, // NETWORK_ERROR
  252, // TOO_MANY_PARTS
  // Errors of a cluster in which another server is down, or too few replicas have the rows:
  32, // ATTEMPT_TO_READ_AFTER_EOF
  209, // SOCKET_TIMEOUT
  242, // TABLE_IS_READ_ONLY
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  999, // KEEPER_EXCEPTION
]);

const PASSING_FAILURES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** An error from ClickHouse. `code` is its number, or 0 if the answer has none. */
export class EngineError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'EngineError';
  }
}

const NUMBER = /^Code: (\d+)\. DB::Exception: /;
const VERSION = / \(version [^()]*(?:\([^()]*\))?\)\s*$/;

/**
 * Makes the error from ClickHouse's full text, which starts with the number. `code` is the number from the
 * header, if there is one.
 */
export function toEngineError(text: string, code = Number(NUMBER.exec(text)?.[1] ?? 0)): EngineError {
  return new EngineError(code, text.replace(NUMBER, '').replace(VERSION, '').trim());
}

/** Maps undici's codes to system codes. */
const UNDICI_CODES: ReadonlyMap<string, string> = new Map([
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'],
  ['UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'],
  ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'],
]);

/** The system code of a failed connection, or null for other errors. */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || error instanceof EngineError) return null;
  if (!('code' in error) || typeof error.code !== 'string') return null;
  return UNDICI_CODES.get(error.code) ?? error.code;
}

export function isConnectionLost(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(systemCode(error) ?? '');
}

/** Whether an error is temporary, so that the same statement may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof EngineError) return PASSING_CODES.has(error.code);
  return PASSING_FAILURES.has(systemCode(error) ?? '');
}
