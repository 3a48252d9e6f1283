/**
 * Determines the last final block: by the node's `finalized` tag, or by a number of blocks below the head.
 * With the tag, the final block never moves back. The final block is never above the head.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Logger } from '../../log';
import type { BlockSource } from '../blocks/blockSource';
import { RpcError, type RpcErrorKind } from '../rpc/rpcError';

/** Number of blocks above a block that make it final, if neither the node's tag nor the caller decides. */
const DEFAULT_FINALITY_DEPTH = 64;

export interface FinalBlock {
  readonly number: number;
  /**
   * Hash of the final block; null if the block is final by depth. By the hash, the follower notices if a
   * different branch became final.
   */
  readonly hash: Hex | null;
}

export interface Finality {
  /**
   * The last final block for `head`, which is the follower's newest block. `number` is from 0 to head.number.
   * With the tag, the number falls only if the head falls below it. By depth, the number depends only on the
   * given head. Throws a retryable error if the node does not answer.
   */
  finalAt(head: BlockRef, signal?: AbortSignal): Promise<FinalBlock>;
}

/** Errors with which a node without the finalized tag answers. Other errors are temporary failures. */
const UNSUPPORTED: ReadonlySet<RpcErrorKind> = new Set(['method_missing', 'invalid', 'unknown_block']);
/**
 * If head and tagged block are at most this many blocks apart, the parent hashes between them are checked.
 * Reorgs remove fewer blocks.
 */
const LINKED_BLOCKS_MAX = 1_000;
/** After this many unrecognised errors in a row, the node is treated as a node without the tag. */
const ODD_ERRORS_MAX = 3;

/**
 * @param mode `tag` uses the node's `finalized` block, or the depth `fallback` until the node has one. A number N
 * makes every block ≤ head − N final.
 */
export function createFinality(
  source: BlockSource,
  mode: 'tag' | number,
  log: Logger,
  fallback = DEFAULT_FINALITY_DEPTH,
): Finality {
  let lastTagged: FinalBlock = { number: 0, hash: null };
  let hasSeenTag = false;
  let hasLoggedFallback = false;
  let oddErrors = 0;

  async function readTag(signal: AbortSignal | undefined): Promise<FinalBlock | null> {
    try {
      const options = { roundsMax: 1, ...(signal === undefined ? {} : { signal }) };
      const { number, hash } = await source.fetchHeader('finalized', options);
      hasSeenTag = true;
      oddErrors = 0;
      return { number, hash };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (UNSUPPORTED.has(error.kind)) return null;
      if (error.kind === 'other') oddErrors += 1;
      if (oddErrors < ODD_ERRORS_MAX) throw error;
      return null;
    }
  }

  async function findFinal(head: BlockRef, signal: AbortSignal | undefined): Promise<FinalBlock> {
    if (mode !== 'tag') return byDepth(head, mode);
    const tagged = await readTag(signal);
    if (tagged !== null && tagged.number <= head.number) return tagged;
    // The tagged block is above `head` while the ingester catches up, so `head` is final if it is an ancestor of
    // the tagged block. To find out, the follower compares its own hash with the hash returned here.
    if (tagged !== null)
      return { number: head.number, hash: await hashUnder(source, tagged, head.number, signal) };
    // This node had the tag before, so it is only behind. A final block by depth could be above the tagged
    // block.
    if (hasSeenTag) return lastTagged;
    if (!hasLoggedFallback) {
      hasLoggedFallback = true;
      log.warn(
        { depth: fallback },
        'the node does not support the finalized tag; blocks become final by depth',
      );
    }
    return byDepth(head, fallback);
  }

  return {
    async finalAt(head, signal) {
      const final = await findFinal(head, signal);
      // A final block by depth is valid only for the given head, because another head may be on another
      // branch.
      if (final.hash === null) return final;
      // If the number is unchanged, the hash is still replaced, because the earlier hash may be of an
      // abandoned branch.
      if (final.number >= lastTagged.number) lastTagged = final;
      return lastTagged.number <= head.number ? lastTagged : final;
    },
  };
}

/**
 * Returns the hash of the tagged block's ancestor with this number. A node that is behind may have a block of
 * another branch at this number.
 */
async function hashUnder(
  source: BlockSource,
  tagged: FinalBlock,
  number: number,
  signal: AbortSignal | undefined,
): Promise<Hex> {
  // Far below the tagged block, no branch can still differ, so only the block itself is read.
  const to = tagged.number - number < LINKED_BLOCKS_MAX ? tagged.number : number;
  const headers = await source.fetchHeaders(number, to, signal === undefined ? {} : { signal });
  const [firstHeader] = headers;
  if (firstHeader !== undefined && (to === number || headers.at(-1)?.hash === tagged.hash))
    return firstHeader.hash;
  throw new RpcError('unknown_block', `block ${number} is not an ancestor of final block ${tagged.number}`);
}

function byDepth(head: BlockRef, depth: number): FinalBlock {
  return { number: Math.max(0, head.number - depth), hash: null };
}

/** Finds out whether a block of the chain is final. Asks the node only if the last final block that the node named is lower. */
export class FinalTip {
  private number = -1;

  constructor(
    private readonly source: BlockSource,
    private readonly finality: Finality,
  ) {}

  /** @throws AppError `node_failed` */
  async reaches(block: number, signal: AbortSignal): Promise<boolean> {
    if (block <= this.number) return true;
    const head = await this.source.fetchHeader('latest', { signal });
    this.number = (await this.finality.finalAt(head, signal)).number;
    return block <= this.number;
  }
}
