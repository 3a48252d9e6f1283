/**
 * The ancestors of the block of TRUSTED_BLOCK, by parent hashes. A block below the trusted block is right only if it is
 * one of them, so a false chain is found before the trusted block is reached.
 */
import type { BlockRef, ProofOptions } from '../../domain/block';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { benchOthers, type Voters } from './confirmMajority';

type Ref = Pick<BlockRef, 'number' | 'hash'>;

/** Headers per request. The hash at the end of each request is kept. */
const HEADERS_PER_REQUEST = 500;
/**
 * A block more than this number of blocks below the trusted block is not compared with it, because the headers of
 * all blocks in between would have to be read.
 */
const DISTANCE_MAX = 200_000;

export class TrustedChain {
  /** Known ancestors, by descending number. The first one is the trusted block. */
  private readonly knownAncestors: Ref[];
  private hasWarned = false;

  constructor(
    private readonly voters: Voters,
    trusted: ProofOptions['trusted'],
    private readonly log: Logger,
  ) {
    this.knownAncestors = trusted === null ? [] : [trusted];
  }

  /**
   * @throws AppError `node_failed` if the block is not an ancestor of the trusted block; endpoints that have it
   * are then benched
   */
  async check({ number, hash }: Ref, signal: AbortSignal): Promise<void> {
    const [trusted] = this.knownAncestors;
    if (trusted === undefined || number > trusted.number) return;
    if (trusted.number - number > DISTANCE_MAX) {
      if (!this.hasWarned)
        this.log.warn(
          { block: number, trusted: trusted.number },
          'TRUSTED_BLOCK is too far above the stored blocks; they are compared with it when they are nearer',
        );
      this.hasWarned = true;
      return;
    }
    const ancestor = await this.findAncestor(number, signal);
    if (ancestor.hash === hash) return;
    await benchOthers(this.voters, ancestor, signal);
    throw new AppError(
      'node_failed',
      `the blocks up to ${number} ${hash} are dropped: TRUSTED_BLOCK descends from block ${number} ${ancestor.hash}`,
      { retryable: true },
    );
  }

  private async findAncestor(number: number, signal: AbortSignal): Promise<Ref> {
    for (;;) {
      const nearestAbove = this.knownAncestors.findLast((ref) => ref.number >= number);
      if (nearestAbove === undefined)
        throw new AppError('internal', `block ${number} is above TRUSTED_BLOCK`);
      if (nearestAbove.number === number) return nearestAbove;
      const from = Math.max(number, nearestAbove.number - HEADERS_PER_REQUEST);
      const headers = await this.voters.source.fetchHeaders(from, nearestAbove.number, { signal });
      const [first, last] = [headers[0], headers.at(-1)];
      if (first === undefined || last?.hash !== nearestAbove.hash) {
        await benchOthers(this.voters, nearestAbove, signal);
        throw new AppError(
          'node_failed',
          `block ${nearestAbove.number} is ${last?.hash ?? 'missing'}, but TRUSTED_BLOCK descends from ${nearestAbove.hash}`,
          { retryable: true },
        );
      }
      const ref = { number: from, hash: first.hash };
      if (nearestAbove.number - from === HEADERS_PER_REQUEST && this.knownAncestors.at(-1) === nearestAbove)
        this.knownAncestors.push(ref);
      else if (from === number) return ref;
    }
  }
}
