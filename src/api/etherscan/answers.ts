/** Exact texts of the Etherscan dialect, which its clients compare literally, and functions that build its answers. */
import { ENGINE_CODES, EngineError, systemCode } from '../../clickhouse/client/engineError';
import { AppError } from '../../errors';
import type { EtherscanAnswer } from '../../wire/dialects/etherscan';

export const TEXTS = {
  chain:
    'Missing or unsupported chainid parameter (required for v2 api), please see chainlist for the list of supported chainids',
  module: 'Error! Missing Or invalid Module name',
  /** Also the answer if the action needs a node or stored data that this service does not have. */
  unavailableAction: 'Error! Missing Or invalid Action name',
  badAddress: 'Error! Invalid address format',
  noAddress: 'Error! Missing address',
  unverified: 'Contract source code not verified',
  window: 'Result window is too large, PageNo x Offset size must be less than or equal to 10000',
  /** The typing error "occured" is Etherscan's own. */
  timeout: 'Query Timeout occured. Please select a smaller result dataset',
  largeAnswer: 'Error! The answer is larger than 32 MB. Please use a smaller offset or a smaller block range',
  rateLimit: 'Max rate limit reached, please use API Key for higher rate limit',
  noBlock: 'Error! No closest block found',
  blockPassed: 'Error! Block number already pass',
  busy: 'Unexpected err, timeout occurred or server too busy. Please try again later',
  badBody: 'Error! Invalid request body',
  largeBody: 'Error! The request body is larger than 5 MB',
  largeShortBody:
    'Error! The request body is larger than 64 KiB; only the action verifysourcecode accepts a larger body',
  noVerification:
    'This service does not verify contracts: its operator imports verified sources with the command import-sources',
  unknownUid: 'Unknown UID',
} as const;

export const EMPTY_TEXTS = {
  logs: 'No records found',
  transfers: 'No transactions found',
  creations: 'No data found',
} as const;

type Result = Extract<EtherscanAnswer, { readonly status: string }>['result'];

export function ok(result: Result): EtherscanAnswer {
  return { status: '1', message: 'OK', result };
}

/**
 * An answer with status 0. Clients look for two texts in `message`, so these appear in `message` and
 * `result`.
 */
export function refuse(text: string): EtherscanAnswer {
  const isInMessage = text === TEXTS.window || text === TEXTS.timeout;
  return { status: '0', message: isInMessage ? text : 'NOTOK', result: text };
}

/** `empty` is the action's message for an empty list. */
export function listAnswer(items: readonly unknown[], empty: string): EtherscanAnswer {
  return items.length === 0 ? { status: '0', message: empty, result: [] } : ok([...items]);
}

/** The error 400 for an invalid parameter. The caller sees the text. */
export function dialectError(text: string): AppError {
  return new AppError('bad_request', text);
}

/** The error as an answer of this dialect. Null if the path or the method does not exist; the app answers
 * these errors. */
export function refusalOf(error: unknown): EtherscanAnswer | null {
  if (!(error instanceof AppError)) return refuse(TEXTS.busy);
  if (error.code === 'not_found' || error.code === 'method_not_allowed') return null;
  if (error.code === 'bad_request' || error.code === 'logs_not_kept') return refuse(error.message);
  if (error.code === 'rate_limited') return refuse(TEXTS.rateLimit);
  return refuse(isTimeout(error) ? TEXTS.timeout : TEXTS.busy);
}

/** Whether ClickHouse stopped a statement at its time limit, or did not answer in time. */
function isTimeout(error: unknown): boolean {
  for (let currentError = error; currentError instanceof Error; currentError = currentError.cause) {
    if (currentError instanceof EngineError && currentError.code === ENGINE_CODES.TIMEOUT_EXCEEDED)
      return true;
    if (systemCode(currentError) === 'ETIMEDOUT') return true;
  }
  return false;
}
