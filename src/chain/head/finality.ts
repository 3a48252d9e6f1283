/**
 * Determines the last final block: by the node's `finalized` tag, which never moves back, or by depth. Never
 * beyond the head.
 */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Logger } from '../../log';
import type { BlockSource } from '../blocks/blockSource';
import { RpcError, type RpcErrorKind } from '../rpc/rpcError';

/** Depth at which a block is final if the node has no tag. */
const DEFAULT_FINALITY_DEPTH = 64;

export interface FinalBlock {
  readonly number: number;
  /** Known only with the tag. Lets the follower refuse finality of another branch. */
  readonly hash: Hex | null;
}

export interface Finality {
  /**
   * The last final block as seen from `head`, the follower's tip; `number` is in 0…head.number. With the tag,
   * the number never falls unless the head falls below it. By depth, the number depends only on the given
   * head. Throws a retryable error if the node does not answer.
   */
  finalAt(head: BlockRef, signal?: AbortSignal): Promise<FinalBlock>;
}

/** Errors that mean that the node has no such tag, as opposed to a temporary failure. */
const UNSUPPORTED: ReadonlySet<RpcErrorKind> = new Set(['method_missing', 'invalid', 'unknown_block']);
/** Most blocks between the head and the tag whose links are checked. Abandoned branches are shorter. */
const LINKED_MAX = 1_000;
/** After this many unrecognized errors in a row, assume that the node has no tag. */
const ODD_ERRORS_MAX = 3;

/**
 * @param mode `tag` uses the node's `finalized` block, or depth 64 until the node has one. A number N makes
 * every block ≤ head − N final.
 */
export function createFinality(source: BlockSource, mode: 'tag' | number, log: Logger): Finality {
  let last: FinalBlock = { number: 0, hash: null };
  let tagSeen = false;
  let fallbackLogged = false;
  let oddErrors = 0;

  async function readTag(signal: AbortSignal | undefined): Promise<FinalBlock | null> {
    try {
      const options = { roundsMax: 1, ...(signal === undefined ? {} : { signal }) };
      const { number, hash } = await source.fetchHeader('finalized', options);
      tagSeen = true;
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

  /**
   * Hash of the ancestor with this number below the tagged block. A lagging node may have another block
   * there.
   */
  async function hashUnder(
    tagged: FinalBlock,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<Hex> {
    const to = tagged.number - number < LINKED_MAX ? tagged.number : number;
    const headers = await source.fetchHeaders(number, to, signal === undefined ? {} : { signal });
    const [first] = headers;
    if (first !== undefined && (to === number || headers.at(-1)?.hash === tagged.hash)) return first.hash;
    throw new RpcError('unknown_block', `block ${number} is not an ancestor of final block ${tagged.number}`);
  }

  async function next(head: BlockRef, signal: AbortSignal | undefined): Promise<FinalBlock> {
    if (mode !== 'tag') return byDepth(head, mode);
    const tagged = await readTag(signal);
    if (tagged !== null && tagged.number <= head.number) return tagged;
    // While catching up, all canonical blocks are final. The hash lets the follower check its tip.
    if (tagged !== null) return { number: head.number, hash: await hashUnder(tagged, head.number, signal) };
    // A node that had the tag before only lags. A guess by depth could be ahead of the tag.
    if (tagSeen) return last;
    if (!fallbackLogged) {
      fallbackLogged = true;
      log.warn(
        { depth: DEFAULT_FINALITY_DEPTH },
        'the node does not support the finalized tag; blocks become final by depth',
      );
    }
    return byDepth(head, DEFAULT_FINALITY_DEPTH);
  }

  return {
    async finalAt(head, signal) {
      const final = await next(head, signal);
      // Finality by depth holds only for this head. Another head may be on another branch.
      if (final.hash === null) return final;
      // At an equal number, replace the hash: the previous one may be of another branch.
      if (final.number >= last.number) last = final;
      return last.number <= head.number ? last : final;
    },
  };
}

function byDepth(head: BlockRef, depth: number): FinalBlock {
  return { number: Math.max(0, head.number - depth), hash: null };
}
