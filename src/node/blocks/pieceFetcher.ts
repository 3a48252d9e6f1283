/**
 * Fetches the next verified blocks of a range from one endpoint. Uses receipts, or eth_getLogs if the endpoint
 * cannot be trusted with eth_getBlockReceipts. A block that one method does not return is asked for by others.
 */
import type { ChainBlock } from '../../domain/block';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import type { Clock } from '../rpc/clock';
import type { Endpoint } from '../rpc/endpoint';
import { Unfinished } from '../rpc/retryRule';
import { RpcError } from '../rpc/rpcError';
import type { BlockChecker } from './blockChecker';
import { BlockMismatch } from './blockMismatch';
import { fetchByLogs, LogSpans } from './fetchByLogs';
import { BlockHalves, fetchByReceipts, type UncheckedBlock } from './fetchByReceipts';
import { keepVerified, consecutiveFrom, type Fetched } from './fetchedBlocks';
import { ReceiptTrust } from './receiptTrust';
import { checkPiece, type PieceBounds } from './checkBlocks';

interface FetcherOptions {
  readonly checker: BlockChecker;
  readonly clock: Clock;
  readonly log: Logger;
  /** Largest number of blocks per batch of receipts. */
  readonly receiptBlocksMax: number;
  /** Largest number of blocks per eth_getLogs. */
  readonly logBlocksMax: number;
}

/** A block that failed more often than this is asked for after all others. */
const WRONG_MAX = 2;
/** While many requests fail, each attempt asks for this many batches, so that fewer requests wait for the slowest. */
const REDUCED_BATCHES = 4;

export class PieceFetcher {
  private readonly checker: BlockChecker;
  private readonly spans: LogSpans;
  private readonly trust: ReceiptTrust;
  private readonly receiptBlocksMax: number;

  constructor(options: FetcherOptions) {
    this.checker = options.checker;
    this.spans = new LogSpans(options.logBlocksMax);
    this.trust = new ReceiptTrust(options.clock, options.log);
    this.receiptBlocksMax = options.receiptBlocksMax;
  }

  /**
   * Makes one attempt to fetch the next blocks from the endpoint. Returns the blocks from `bounds.from` on once all are
   * verified. Until then verified blocks stay in `fetched`, and only the others are asked for again. After the last
   * attempt the verified blocks are returned, at least one; the first one is then fetched by other methods if necessary.
   */
  async fetchPiece(
    endpoint: Endpoint,
    bounds: PieceBounds,
    fetched: Fetched,
    signal: AbortSignal,
  ): Promise<ChainBlock[] | Unfinished<ChainBlock[]>> {
    const { from, to } = bounds;
    const failed = await this.fetchNext(endpoint, bounds, fetched, signal);
    const { verified: kept, halves } = fetched;
    const isWhole = kept.size === to - from + 1 || (failed.length === 0 && !this.trust.isUsed(endpoint));
    // Only a larger number counts as progress, because a node may send the same wrong block again and again.
    const halfCount = 2 * kept.size + halves.size;
    const hasProgress = halfCount > fetched.mostHalves;
    fetched.mostHalves = Math.max(fetched.mostHalves, halfCount);
    if (isWhole || !hasProgress) {
      const piece = takePiece(bounds, fetched);
      if (piece.length > 0) return piece;
    }
    const settle = async (error: AppError): Promise<ChainBlock[]> => {
      await this.fetchAlone(endpoint, from, error, fetched, signal);
      return takePiece(bounds, fetched);
    };
    const isKnownToFail = (fetched.failures.get(from) ?? 0) > WRONG_MAX || this.trust.isDoubted(endpoint);
    return new Unfinished(failed, hasProgress, {
      settle,
      ...(isKnownToFail && failed.every(isAnswer) ? { attemptsMax: 1 } : {}),
    });
  }

  /** Makes one attempt to fetch missing blocks, and keeps the verified ones. Returns the errors of the others. */
  private async fetchNext(
    endpoint: Endpoint,
    { from, to }: PieceBounds,
    fetched: Fetched,
    signal: AbortSignal,
  ): Promise<AppError[]> {
    const { verified: kept, halves, failures } = fetched;
    let wantedNumbers: readonly number[] = [];
    const chooseNumbers = (): readonly number[] =>
      (wantedNumbers = this.nextMissing(endpoint, from, to, fetched));
    const answers = await this.fetchUnchecked(endpoint, chooseNumbers, halves, signal);
    // Further blocks only show what can be proven on this chain. The endpoint need not have them.
    const furtherNumbers = this.checker.listOthers(answers);
    const others =
      furtherNumbers.length === 0
        ? []
        : await orErrors(() =>
            this.fetchUnchecked(endpoint, () => furtherNumbers, new BlockHalves(), signal),
          );
    const checked = this.checker.verifyAll(endpoint.id, answers, others);
    for (const [index, result] of checked.entries()) {
      const number = wantedNumbers[index] ?? from;
      if (result instanceof AppError) failures.set(number, (failures.get(number) ?? 0) + 1);
    }
    const failed = keepVerified(checked, kept);
    if (this.trust.isUsed(endpoint)) this.trust.noteRight(endpoint, answers.length - failed.length);
    return failed;
  }

  /**
   * Fetches block `number` alone, by the receipts of its transactions or its logs, and keeps it. Throws `error`, the
   * failure of the usual method, if the other methods fail too or are not tried.
   */
  private async fetchAlone(
    endpoint: Endpoint,
    number: number,
    error: AppError,
    { verified: kept, halves, failedAlone: seen }: Fetched,
    signal: AbortSignal,
  ): Promise<void> {
    const isFirstFailure = !seen.has(number);
    seen.add(number);
    // Another endpoint is asked before the methods of an endpoint that sent something wrong.
    const isLie = error instanceof BlockMismatch && !error.isIncomplete;
    const isPassing = !isAnswer(error);
    const isBlockKnown = error instanceof BlockMismatch || (halves.headers.has(number) && !isPassing);
    const isOnlyHope = endpoint.alone && halves.headers.has(number);
    const isRefused = !this.trust.isUsed(endpoint) && error instanceof RpcError && error.isAnswer;
    if (!(isBlockKnown || isOnlyHope || isRefused) || (isLie && isFirstFailure && !endpoint.alone))
      throw toRetryable(error);
    const { needsReceipts } = this.checker;
    // First without spans: all logs of the block come from the receipts of its transactions. Then its logs come from
    // eth_getLogs, with receipts only if the proof of the block needs them.
    for (const spans of [null, new LogSpans(1)]) {
      const withReceipts = spans === null || needsReceipts;
      const [block = error] = await orErrors(() =>
        fetchByLogs(endpoint, spans, number, number, signal, withReceipts),
      );
      const checked = this.checker.verifyOne(endpoint.id, block);
      if (checked instanceof AppError) continue;
      kept.set(number, checked);
      halves.headers.delete(number);
      halves.receipts.delete(number);
      if (this.trust.isUsed(endpoint) && !isPassing) this.trust.noteWrong(endpoint, number, error);
      return;
    }
    throw toRetryable(error);
  }

  /**
   * The lowest missing blocks, to fetch next: with receipts as many as fit into one batch, with eth_getLogs all.
   * Blocks that failed several times come after all others.
   */
  private nextMissing(
    endpoint: Endpoint,
    from: number,
    to: number,
    { verified: kept, halves, failures }: Fetched,
  ): number[] {
    const batches = endpoint.isReduced ? REDUCED_BATCHES : 1;
    const callsMax = this.trust.isUsed(endpoint) ? 2 * this.receiptBlocksMax * batches : Infinity;
    const listMissing = (failuresMax: number): number[] => {
      const missing: number[] = [];
      let calls = 0;
      for (let number = from; number <= to && calls < callsMax; number += 1) {
        if (kept.has(number) || (failures.get(number) ?? 0) > failuresMax) continue;
        missing.push(number);
        calls += halves.has(number) ? 1 : 2;
      }
      return missing;
    };
    const rarelyFailed = listMissing(WRONG_MAX);
    return rarelyFailed.length > 0 ? rarelyFailed : listMissing(Infinity);
  }

  /** Fetches some of the blocks that `chooseNumbers` lists, at least one. Each result is a block or an error. */
  private async fetchUnchecked(
    endpoint: Endpoint,
    chooseNumbers: () => readonly number[],
    halves: BlockHalves,
    signal: AbortSignal,
  ): Promise<(UncheckedBlock | AppError)[]> {
    const { needsBodies, needsReceipts } = this.checker;
    if (this.trust.isUsed(endpoint)) {
      try {
        return await fetchByReceipts(endpoint, chooseNumbers(), halves, signal, needsBodies);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        this.trust.noteMissing(endpoint, error);
      }
    }
    const numbers = chooseNumbers();
    const from = numbers[0] ?? 0;
    // eth_getLogs takes one range, so the range ends before the next block that is already kept.
    const to = numbers.find((number, index) => numbers[index + 1] !== number + 1) ?? from;
    return orErrors(() => fetchByLogs(endpoint, this.spans, from, to, signal, needsReceipts));
  }
}

/**
 * Takes the fetched blocks from `from` on, up to the first missing block. @throws BlockMismatch if they do not follow each
 * other: the node's chain changed during the fetch, so some may be on the abandoned branch, and all are dropped
 */
function takePiece(bounds: PieceBounds, fetched: Fetched): ChainBlock[] {
  const piece = consecutiveFrom(fetched.verified, bounds.from);
  try {
    checkPiece(piece, bounds);
  } catch (error) {
    fetched.verified.clear();
    throw error;
  }
  if (piece.length > 0) fetched.mostHalves = 0;
  return piece;
}

function isAnswer(error: AppError): boolean {
  return !(error instanceof RpcError && error.isPassing);
}

/** An endpoint that refuses one block does not speak for the others, so the error lets the endpoint pool ask them. */
function toRetryable(error: AppError): AppError {
  if (!(error instanceof RpcError) || error.retryable) return error;
  const { message, rpcCode, httpStatus, cause } = error;
  return new RpcError('other', message, { rpcCode, httpStatus, cause });
}

async function orErrors(
  fetch: () => Promise<(UncheckedBlock | AppError)[]>,
): Promise<(UncheckedBlock | AppError)[]> {
  try {
    return await fetch();
  } catch (error) {
    if (error instanceof AppError) return [error];
    throw error;
  }
}
