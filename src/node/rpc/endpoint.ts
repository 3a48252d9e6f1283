/**
 * One RPC endpoint: sends calls in batches, and repeats the calls that failed. `endpointPool.ts` chooses among
 * endpoints.
 */
import type { AppError } from '../../errors';
import type { Clock } from './clock';
import { EndpointRecord } from './endpointRecord';
import { toAnswerError } from './malformedAnswers';
import type { EndpointTraffic } from './nodeHealth';
import { RequestSender } from './sending/requestSender';
import { attemptPauseMs, attemptsMax, Unfinished } from './retryRule';
import { BlockMismatch } from '../blocks/blockMismatch';
import { RpcError } from './rpcError';
import type { Outcome, RpcAnswer, RpcCall, RpcTransport } from './rpcTransport';

/** Reads one answer. `index` is the place of its call. Throws if the answer is wrong. */
type Parse<T> = (result: unknown, index: number) => T;

export class Endpoint {
  readonly record: EndpointRecord;
  private readonly sender: RequestSender;

  /** @param alone whether this is the only endpoint of its endpoint pool */
  constructor(
    readonly id: number,
    readonly transport: RpcTransport,
    private readonly clock: Clock,
    batchMax: number,
    readonly alone: boolean,
  ) {
    this.record = new EndpointRecord(transport.name, clock, alone);
    this.sender = new RequestSender(transport, batchMax);
  }

  get name(): string {
    return this.transport.name;
  }

  /** True if requests are small because many fail. */
  get isReduced(): boolean {
    return this.sender.isReduced;
  }

  /** Makes one call like `batch`. */
  async call<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    for (const value of await this.batch([{ method, params }], parse, signal)) return value;
    throw new RpcError('bad_answer', `${this.name}: no answer`);
  }

  /** Like `batchOutcomes`, but rejects with the error of the first call that has one. */
  async batch<T>(calls: readonly RpcCall[], parse: Parse<T>, signal?: AbortSignal): Promise<T[]> {
    const outcomes = await this.batchOutcomes(calls, parse, signal);
    return outcomes.map((outcome) => {
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    });
  }

  /**
   * Sends all calls in batches that the node accepts, and repeats temporary failures. A call that keeps failing gets its
   * error as its result. Rejects with an AppError of `parse` that says more than that the answer is wrong.
   */
  batchOutcomes<T>(calls: readonly RpcCall[], parse: Parse<T>, signal?: AbortSignal): Promise<Outcome<T>[]> {
    const outcomes = new Map<number, Outcome<T>>();
    const settle = (): Promise<Outcome<T>[]> =>
      Promise.resolve(calls.flatMap((_, index) => outcomes.get(index) ?? []));
    let unanswered = calls.map((_, index) => index);
    return this.repeat(async () => {
      const sentIndexes = unanswered;
      const answers = await this.attempt(
        sentIndexes.flatMap((index) => calls[index] ?? []),
        (result, sentIndex) => parse(result, sentIndexes[sentIndex] ?? sentIndex),
        signal,
      );
      const errors: RpcError[] = [];
      unanswered = sentIndexes.filter((index, sentIndex) => {
        const outcome = answers[sentIndex];
        if (outcome === undefined) return false;
        outcomes.set(index, outcome);
        if (!('error' in outcome) || !outcome.error.retryable) return false;
        errors.push(outcome.error);
        return true;
      });
      if (errors.length === 0) return settle();
      return new Unfinished(errors, unanswered.length < sentIndexes.length, { settle });
    }, signal);
  }

  /** Repeats an attempt on this endpoint until it is finished, or until the rule for retries ends it. */
  async repeat<T>(attempt: () => Promise<T | Unfinished<T>>, signal?: AbortSignal): Promise<T> {
    /** The errors since the last progress. */
    let errors: AppError[] = [];
    for (let attemptsWithoutProgress = 0; ;) {
      signal?.throwIfAborted();
      const result = await attempt();
      if (!(result instanceof Unfinished)) return result;
      const { hasProgress, last } = result;
      errors = hasProgress ? [...result.errors] : [...errors, ...result.errors];
      if (hasProgress) attemptsWithoutProgress = 0;
      else if (result.errors.length > 0) attemptsWithoutProgress += 1;
      if (
        attemptsWithoutProgress > 0 &&
        attemptsWithoutProgress >= (last.attemptsMax ?? attemptsMax(errors, this.alone))
      ) {
        // A wrong answer tells more than a failure of the connection.
        const error = errors.findLast((candidate) => candidate instanceof BlockMismatch) ?? errors.at(-1);
        const finalError = error ?? new RpcError('bad_answer', `${this.name}: no answer`);
        if (last.settle !== undefined) return last.settle(finalError);
        throw finalError;
      }
      const { isRefused } = this.sender;
      const ms = attemptPauseMs(this.clock, attemptsWithoutProgress, result.errors, {
        isRefused,
        isAlone: this.alone,
      });
      if (ms > 0) await this.clock.sleep(ms, signal);
    }
  }

  /** Makes one attempt of all calls. A failed call gets its error, also if its whole request failed. */
  async attempt<T>(calls: readonly RpcCall[], parse: Parse<T>, signal?: AbortSignal): Promise<Outcome<T>[]> {
    const answers = await this.sender.send(calls, signal);
    return answers.map((answer, index) => this.read(answer, (result) => parse(result, index)));
  }

  private read<T>(answer: RpcAnswer, parse: (result: unknown) => T): Outcome<T> {
    if ('error' in answer) return answer;
    try {
      return { value: parse(answer.result) };
    } catch (error) {
      return { error: toAnswerError(this.name, answer.result, error) };
    }
  }

  /** Records a failure of the endpoint. */
  noteFailure(error: RpcError): void {
    this.record.noteFailure(error, this.sender.isRefused);
  }

  traffic(): EndpointTraffic {
    return { name: this.name, ...this.sender.traffic };
  }
}
