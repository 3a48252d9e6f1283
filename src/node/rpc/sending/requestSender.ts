/**
 * Sends the calls to one endpoint in requests that the node accepts. Each call is answered, or has an error; failed
 * calls are repeated by Endpoint. A request that the node refuses as a whole is sent in smaller parts.
 */
import { BatchSize } from './batchSize';
import { RpcError, SIZELESS_KINDS, SPLIT_KINDS } from '../rpcError';
import { recogniseLimit, type RpcAnswer, type RpcCall, type RpcTransport } from '../rpcTransport';

/** Calls that still have to be sent. */
interface Part {
  /** Their places in the list of all calls. */
  readonly places: readonly number[];
  /** Largest number of these calls per request. */
  readonly callsMax: number;
  /** Whether the same request failed before. */
  readonly isRepeated: boolean;
}

/** Number of requests that are sent in parallel for one batch, while requests are small because many fail. */
const PARALLEL_REQUESTS = 8;
/**
 * A batch whose answers are too large is split into this many parts. With only two parts, the node would
 * compute each large answer more often.
 */
const TOO_LARGE_PARTS = 8;

export class RequestSender {
  private readonly size: BatchSize;
  private readonly errors = new Map<RpcError['kind'], number>();
  private calls = 0;
  private underWay = 0;

  constructor(
    private readonly transport: RpcTransport,
    batchMax: number,
  ) {
    this.size = new BatchSize(batchMax);
  }

  /** True if requests are small because many fail. */
  get isReduced(): boolean {
    return this.size.isReduced;
  }

  /** Whether the node refuses most requests because of its rate limit. */
  get isRefused(): boolean {
    return this.size.isRefused;
  }

  get traffic(): {
    readonly calls: number;
    readonly underWay: number;
    readonly errors: Record<string, number>;
  } {
    return { calls: this.calls, underWay: this.underWay, errors: Object.fromEntries(this.errors) };
  }

  /**
   * Sends each call once. While many requests fail, requests are small, and several are in flight. If a whole request
   * fails, each of its calls gets the error. If as many requests in a row fail as may be in flight, the remaining calls
   * are not sent, and get the error of the first one.
   */
  async send(calls: readonly RpcCall[], signal?: AbortSignal): Promise<readonly RpcAnswer[]> {
    if (calls.length === 0) return [];
    const answers: RpcAnswer[] = [];
    const parts: Part[] = [{ places: calls.map((_, place) => place), callsMax: Infinity, isRepeated: false }];
    const requestsInParallel = this.isReduced && calls.length > this.size.value ? PARALLEL_REQUESTS : 1;
    let failedInARow = 0;
    let failure: RpcError | null = null;
    const sendParts = async (): Promise<void> => {
      for (
        let part = parts.shift();
        part !== undefined && failedInARow < requestsInParallel;
        part = parts.shift()
      ) {
        const size = Math.min(this.size.value, part.callsMax);
        const places = part.places.slice(0, size);
        if (part.places.length > size) parts.unshift({ ...part, places: part.places.slice(size) });
        const { isReduced } = this;
        const sent = await this.request(
          places.flatMap((place) => calls[place] ?? []),
          signal,
        );
        const nextPart = sent instanceof RpcError ? this.split({ ...part, places }, sent, isReduced) : null;
        if (nextPart !== null) {
          parts.unshift(nextPart);
          continue;
        }
        for (const [index, place] of places.entries())
          answers[place] =
            sent instanceof RpcError ? { error: sent } : (sent[index] ?? noAnswer(this.transport));
        // An answer beyond the limit of its own call says nothing about the other calls.
        if (!(sent instanceof RpcError) || sent.cut === 'call') failedInARow = 0;
        else {
          failedInARow += 1;
          failure ??= sent;
        }
      }
    };
    await Promise.all(Array.from({ length: requestsInParallel }, sendParts));
    const notSent = failure === null ? noAnswer(this.transport) : { error: failure };
    return calls.map((_, place) => answers[place] ?? notSent);
  }

  /** Sends one request. Returns the answers, or the error if the whole request fails. */
  private async request(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcAnswer[] | RpcError> {
    this.calls += calls.length;
    this.underWay += calls.length;
    try {
      const sent = await this.transport.send(calls, signal);
      const answers = sent.map((answer, index) => recogniseLimit(calls[index], answer));
      this.size.noteGood(calls.length);
      this.size.noteRequest(
        answers.every((answer) => 'error' in answer && answer.error.kind === 'rate_limited'),
      );
      for (const answer of answers) if ('error' in answer) this.countError(answer.error.kind, 1);
      return answers;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.countError(error.kind, calls.length);
      this.size.noteRequest(error.kind === 'rate_limited');
      if (error.cut !== 'call' && !SIZELESS_KINDS.has(error.kind)) this.size.noteFailed(calls.length);
      return error;
    } finally {
      this.underWay -= calls.length;
    }
  }

  /**
   * How the calls of a request that failed as a whole are sent again at once. Null if they get the error. `isReduced`
   * tells whether requests were small already.
   */
  private split(part: Part, { cut, kind }: RpcError, isReduced: boolean): Part | null {
    const { length } = part.places;
    if (length === 1) return null;
    // Answers that are too large do not change the number of calls per request that the node is believed to accept.
    if (cut === 'call') return { ...part, callsMax: Math.ceil(length / TOO_LARGE_PARTS), isRepeated: false };
    if (kind === 'bad_answer' && isReduced) return null;
    // A single malformed answer may be an accident, so the request is repeated once.
    if (kind === 'bad_answer' && !part.isRepeated) return { ...part, isRepeated: true };
    const isSplit = SPLIT_KINDS.has(kind);
    // A timeout is not retried here. The next attempt uses smaller batches.
    if (isSplit || kind === 'timeout') this.size.noteTooLarge(length);
    return isSplit ? { ...part, callsMax: Math.ceil(length / 2), isRepeated: false } : null;
  }

  private countError(kind: RpcError['kind'], calls: number): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + calls);
  }
}

function noAnswer({ name }: RpcTransport): RpcAnswer {
  return { error: new RpcError('bad_answer', `${name}: no answer`) };
}
