/**
 * Errors that ClickHouse answers. An error is classified by its number alone: its text quotes data, and anyone can write
 * data that reads like another error.
 * Numbers: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */

export const ENGINE_CODES = {
  TIMEOUT_EXCEEDED: 159,
  MEMORY_LIMIT_EXCEEDED: 241,
  NOT_ENOUGH_SPACE: 243,
} as const;

/** The same statement may succeed later. */
const PASSING_CODES: ReadonlySet<number> = new Set([
  ...Object.values(ENGINE_CODES),
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  210, // NETWORK_ERROR
  252, // TOO_MANY_PARTS
  // Of a cluster: another server is away, or too few replicas have what was written.
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

/** An error that ClickHouse answered; `code` is its number, 0 where the answer names none. */
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

/** `text`: the whole text of an error, which begins with its number. `code`: the number where a header names it. */
export function toEngineError(text: string, code = Number(NUMBER.exec(text)?.[1] ?? 0)): EngineError {
  return new EngineError(code, text.replace(NUMBER, '').replace(VERSION, '').trim());
}

/** What undici calls its failures. */
const UNDICI_CODES: ReadonlyMap<string, string> = new Map([
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'],
  ['UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'],
  ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'],
]);

/** The system's code of a failed connection; null: the error is another one. */
export function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || error instanceof EngineError) return null;
  if (!('code' in error) || typeof error.code !== 'string') return null;
  return UNDICI_CODES.get(error.code) ?? error.code;
}

export function isConnectionLost(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(systemCode(error) ?? '');
}

/** Whether an error says nothing about the statement, only about the moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof EngineError) return PASSING_CODES.has(error.code);
  return PASSING_FAILURES.has(systemCode(error) ?? '');
}
