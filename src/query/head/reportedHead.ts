/**
 * The newest head in the process of the ingester, for its background tasks. Follows the changes that the ingester reports,
 * and reads the database only for the first head and after other commits, such as promotions.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { HeadSnapshot } from './headSnapshot';
import { followHead, readHeadRow, type HeadReading, type PublishedFlip } from './headState';

/** After this many changes that nobody asked for, the head is read instead. */
const FLIPS_MAX = 64;

export interface ReportedHead {
  /** Reports a commit of this process: a change of the head, or null for another commit. */
  report(flip: PublishedFlip | null): void;
  /** The current snapshot; null before the first block. */
  read(runner: QueryRunner): Promise<HeadSnapshot | null>;
}

/** `onCommit` is called with each reported commit. */
export function createReportedHead(
  chainId: number,
  onCommit: (flip: PublishedFlip | null) => void = () => undefined,
): ReportedHead {
  let flips: PublishedFlip[] = [];
  let headReading: HeadReading | null = null;
  /** Whether `headReading` and `flips` no longer make the head. */
  let isStale = true;
  let lastRead: Promise<unknown> = Promise.resolve();
  const fail = (error: unknown): never => {
    isStale = true;
    throw error;
  };
  const readNext = async (runner: QueryRunner): Promise<HeadSnapshot | null> => {
    const newFlips = flips;
    flips = [];
    const followedHead = isStale || headReading === null ? null : followHead(headReading, newFlips);
    // A commit during the read makes the result stale again.
    isStale = false;
    headReading = followedHead ?? (await readHeadRow(runner, chainId).catch(fail));
    return headReading?.snapshot ?? null;
  };
  return {
    report(flip) {
      if (flip === null || flips.length === FLIPS_MAX) {
        isStale = true;
        flips = [];
      }
      // The rows are not kept.
      if (flip !== null) flips.push({ ...flip, fresh: [] });
      onCommit(flip);
    },
    async read(runner) {
      const currentRead = lastRead.then(() => readNext(runner));
      lastRead = currentRead.catch(() => undefined);
      return currentRead;
    },
  };
}
