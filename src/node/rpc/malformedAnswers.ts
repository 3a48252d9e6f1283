/**
 * Answers that are present but of no use: malformed, such as `0x123` for an eth_call, or an error of this call alone. If
 * every endpoint gives one to a call, only this call fails, and not the batch: one bad answer must not stop the work
 * behind it.
 */
import { isHexData, ZERO_ADDRESS } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { BlockMismatch } from '../blocks/blockMismatch';
import { RpcError } from './rpcError';
import type { Outcome, RpcCall } from './rpcTransport';

/**
 * Returns the error of an answer that its parser refused. A missing answer (null) may be a passing failure of
 * the node, so it does not count as malformed. Throws errors that say nothing about the answer alone.
 */
export function toAnswerError(name: string, result: unknown, error: unknown): RpcError {
  if (error instanceof RpcError && error.kind !== 'bad_answer') return error;
  if (error instanceof BlockMismatch) throw error;
  if (error instanceof AppError && error.code !== 'node_failed') throw error;
  const malformed = result !== null && result !== undefined;
  return new RpcError('bad_answer', `${name}: ${errorText(error)}`, { cause: error, malformed });
}

/** The part of Endpoint that asks a control call. */
interface AskedEndpoint {
  batchOutcomes<T>(
    calls: readonly RpcCall[],
    parse: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<Outcome<T>[]>;
}

/** Methods whose answer is only a fact about one account. Their second parameter is the block. */
const FACT_METHODS: ReadonlySet<string> = new Set(['eth_call', 'eth_getCode', 'eth_getBalance']);

/**
 * Returns whether the endpoint answers calls like these, so that an error of one call belongs to this call alone. If it
 * refuses all of them for an unknown reason, it is asked for an eth_call that no contract can make fail.
 */
export async function doesAnswer(
  endpoint: AskedEndpoint,
  calls: readonly RpcCall[],
  answers: readonly Outcome<unknown>[],
  signal: AbortSignal,
): Promise<boolean> {
  if (answers.some((answer) => 'value' in answer)) return true;
  const isServerFault = (error: RpcError): boolean => (error.httpStatus ?? 0) >= 500;
  const isRefused = answers.some((answer) => isRefusal(answer) && !isServerFault(answer.error));
  if (!isRefused || !calls.every(({ method }) => FACT_METHODS.has(method))) return false;
  const control = { method: 'eth_call', params: [{ to: ZERO_ADDRESS, data: '0x' }, calls[0]?.params[1]] };
  const [outcome] = await endpoint.batchOutcomes([control], isHexData, signal);
  return outcome !== undefined && 'value' in outcome && outcome.value;
}

/** The answers of several endpoints to one batch. */
export class MergedAnswers<T> {
  /** For each endpoint and method with a malformed answer, the error. */
  readonly blamed = new Map<
    string,
    { readonly endpoint: string; readonly method: string; error: RpcError }
  >();
  private outcomes: readonly Outcome<T>[] | null = null;

  constructor(private readonly calls: readonly RpcCall[]) {}

  /**
   * Returns the outcomes once every call has a value or a permanent error. Otherwise throws an error after which
   * the next endpoint is asked. Outcomes of several endpoints are combined only where answers are malformed.
   * `answersOthers` is the result of `doesAnswer`.
   */
  add(endpoint: string, outcomes: readonly Outcome<T>[], answersOthers: boolean): Outcome<T>[] {
    const answers = answersOthers ? withRefusals(outcomes) : outcomes;
    const retryable = answers.flatMap((answer) =>
      'error' in answer && answer.error.retryable ? [answer.error] : [],
    );
    const otherError = retryable.find(({ malformed }) => !malformed);
    if (otherError !== undefined) throw otherError;
    answers.forEach((answer, index) => {
      if (!isMalformed(answer)) return;
      const method = this.calls[index]?.method ?? '';
      this.blamed.set(`${endpoint} ${method}`, { endpoint, method, error: answer.error });
    });
    const earlierOutcomes = this.outcomes;
    const merged = answers.map((answer, index) =>
      isMalformed(answer) ? (earlierOutcomes?.[index] ?? answer) : answer,
    );
    this.outcomes = merged;
    const stillMalformed = merged.find((answer) => isMalformed(answer));
    if (stillMalformed !== undefined) throw stillMalformed.error;
    return merged;
  }

  /**
   * Returns the combined outcomes after all rounds have ended with `error`. Null if no endpoint answered in the last
   * round, because a later attempt may then find a good answer.
   */
  settle(error: unknown): Outcome<T>[] | null {
    if (!(error instanceof RpcError) || this.outcomes === null) return null;
    // The endpoint pool reports an endpoint without the block rather than another endpoint's malformed answer.
    const hasAnswer = error.malformed || error.kind === 'unknown_block' || error.kind === 'other';
    return hasAnswer ? [...this.outcomes] : null;
  }
}

/** Replaces unrecognised JSON-RPC errors of single calls by malformed answers. */
function withRefusals<T>(answers: readonly Outcome<T>[]): readonly Outcome<T>[] {
  return answers.map((answer) => {
    if (!isRefusal(answer)) return answer;
    const { message, rpcCode, httpStatus } = answer.error;
    return { error: new RpcError('bad_answer', message, { rpcCode, httpStatus, malformed: true }) };
  });
}

function isRefusal<T>(outcome: Outcome<T>): outcome is { readonly error: RpcError } {
  return 'error' in outcome && outcome.error.kind === 'other' && outcome.error.rpcCode !== null;
}

function isMalformed<T>(outcome: Outcome<T>): outcome is { readonly error: RpcError } {
  return 'error' in outcome && outcome.error.malformed;
}

/** Time in ms for which an endpoint and method are not logged again. */
const TOLD_MS = 3_600_000;
/** Largest number of remembered endpoints and methods. Above it, all are forgotten. */
const TOLD_MAX = 1_000;

/** Logs malformed answers once an hour for each endpoint and method. */
export class MalformedLog {
  private readonly toldAt = new Map<string, number>();

  tell(log: Logger, now: number, blamed: MergedAnswers<unknown>['blamed']): void {
    if (this.toldAt.size > TOLD_MAX) this.toldAt.clear();
    for (const [key, { endpoint, method, error }] of blamed) {
      const lastToldAt = this.toldAt.get(key);
      if (lastToldAt !== undefined && now - lastToldAt < TOLD_MS) continue;
      this.toldAt.set(key, now);
      log.warn(
        { endpoint, method, error: error.message },
        'an RPC endpoint gave a malformed answer, and no other endpoint gave a good one; the value is unknown',
      );
    }
  }
}
