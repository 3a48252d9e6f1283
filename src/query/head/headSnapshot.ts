/**
 * Defines a snapshot of the chain: the last final block and the canonical head blocks at one moment. Every
 * read takes a snapshot, so the answer stays exact even if a promotion or a reorg happens at the same time.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { HeadBlock } from '../../domain/head/foldHead';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';

export interface HeadSnapshot {
  /** A text that changes whenever answers may change. It is part of every cache key. */
  readonly version: string;
  /** The first ingested block. */
  readonly startBlock: number;
  /**
   * The first block from which on the raw logs of all blocks are stored. Null while only some logs are stored
   * (EXPLORER=off).
   */
  readonly logsFrom: number | null;
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  /** Last block to read from the final tables. */
  readonly finalTo: number;
  /** Last final block by the chain's rule of finality. It lies between finalTo and number. */
  readonly finalNumber: number;
  /** Canonical blocks from finalTo + 1 to `number`, ascending, without gaps. */
  readonly blocks: readonly HeadBlock[];
}

/** The part of a snapshot's chain up to a block, for reads at that block. */
export function chainUpTo(snapshot: HeadSnapshot, number: number): Pick<HeadSnapshot, 'finalTo' | 'blocks'> {
  return {
    finalTo: Math.min(snapshot.finalTo, number),
    blocks: snapshot.blocks.filter((block) => block.number <= number),
  };
}

/**
 * The parameters that select the snapshot's rows: final rows by `ord <= {final_ord:UInt64}`, head rows by
 * `has({commits:Array(UInt64)}, commit)`.
 */
export function snapshotParams(snapshot: Pick<HeadSnapshot, 'finalTo' | 'blocks'>): QueryParams {
  return {
    final_ord: lastOrdOfBlock(snapshot.finalTo),
    commits: snapshot.blocks.map((block) => block.commit),
  };
}

/** A snapshot that contains only the final blocks up to `number`, for reads without a head. */
export function finalSnapshot(number: number): HeadSnapshot {
  return {
    version: '',
    startBlock: 0,
    logsFrom: 0,
    number,
    hash: ZERO_HASH,
    timestamp: 0,
    finalTo: number,
    finalNumber: number,
    blocks: [],
  };
}
