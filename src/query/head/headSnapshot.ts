/**
 * The block that answers are as of: which rows of the final and head tables make up the chain at one instant. Every
 * read takes a snapshot, so that an answer is exact even while blocks are promoted or reorganised underneath it.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';

/** One canonical block above the final tables. */
export interface HeadBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
  /** Names its rows in the *_head tables. */
  readonly commit: number;
}

export interface HeadSnapshot {
  /** Changes whenever the answers of reads may change; part of every cache key. */
  readonly version: string;
  /** The first block that was ever ingested. */
  readonly startBlock: number;
  /** Newest indexed block. */
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  /** Last block whose rows are read from the final tables. */
  readonly finalTo: number;
  /** Last block that is final by the chain's finality rule (≥ finalTo, ≤ number). */
  readonly finalNumber: number;
  /** Canonical blocks finalTo + 1 … number, ascending, without a hole. */
  readonly blocks: readonly HeadBlock[];
}

/** The part of a snapshot's chain that ends with a block, by which what was true of that block is read. */
export function chainUpTo(snapshot: HeadSnapshot, number: number): Pick<HeadSnapshot, 'finalTo' | 'blocks'> {
  return {
    finalTo: Math.min(snapshot.finalTo, number),
    blocks: snapshot.blocks.filter((block) => block.number <= number),
  };
}

/**
 * The parameters by which SQL selects the snapshot's rows: final rows have `ord <= {final_ord:UInt64}`, head rows
 * `has({commits:Array(UInt64)}, commit)`.
 */
export function snapshotParams(snapshot: Pick<HeadSnapshot, 'finalTo' | 'blocks'>): QueryParams {
  return {
    final_ord: lastOrdOfBlock(snapshot.finalTo),
    commits: snapshot.blocks.map((block) => block.commit),
  };
}
