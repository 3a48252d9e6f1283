/** Which block is final: by the node's own tag, which never moves back, or by depth. Never beyond the head. */
import type { BlockRef } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Logger } from '../../log';
import type { BlockSource } from '../blocks/blockSource';
import { RpcError, type RpcErrorKind } from '../rpc/rpcError';

/** Blocks after which a block counts as final where the node knows no tag. */
export const DEFAULT_FINALITY_DEPTH = 64;

export interface FinalBlock {
  readonly number: number;
  /** Known only from the tag; lets the follower refuse finality of another branch. */
  readonly hash: Hex | null;
}

export interface Finality {
  /**
   * The last final block as seen from `head`, the follower's tip; `number` is in 0…head.number. By the tag it never
   * falls as long as the head does not fall below it; by depth it stands so far below the very head that is given.
   * Rejects (retryably) when the node does not answer.
   */
  finalAt(head: BlockRef, signal?: AbortSignal): Promise<FinalBlock>;
}

/** Answers that mean "no such tag here" rather than "not now". */
const UNSUPPORTED: ReadonlySet<RpcErrorKind> = new Set(['method_missing', 'invalid', 'unknown_block']);
/** Blocks between the head and the tag whose links are looked at; branches that were given up are shorter. */
const LINKED_MAX = 1_000;
/** Errors without a known wording, in a row, that are taken to mean the same. */
const ODD_ERRORS_MAX = 3;

/**
 * @param mode `tag` asks the node for `finalized` and, as long as it has never known one, takes depth 64 instead; a
 * number N makes every block ≤ head − N final
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

  /** The hash of the block of that number which lies under the tagged one; a node that lags may have another. */
  async function hashUnder(
    tagged: FinalBlock,
    number: number,
    signal: AbortSignal | undefined,
  ): Promise<Hex> {
    const to = tagged.number - number < LINKED_MAX ? tagged.number : number;
    const headers = await source.fetchHeaders(number, to, signal === undefined ? {} : { signal });
    const [first] = headers;
    if (first !== undefined && (to === number || headers.at(-1)?.hash === tagged.hash)) return first.hash;
    throw new RpcError('unknown_block', `block ${number} does not lie under final block ${tagged.number}`);
  }

  async function next(head: BlockRef, signal: AbortSignal | undefined): Promise<FinalBlock> {
    if (mode !== 'tag') return byDepth(head, mode);
    const tagged = await readTag(signal);
    if (tagged !== null && tagged.number <= head.number) return tagged;
    // While catching up, all that is canonical is final; the hash lets the follower see whether its tip is.
    if (tagged !== null) return { number: head.number, hash: await hashUnder(tagged, head.number, signal) };
    // A node that had the tag and has it no more only lags; a guess by depth could be ahead of it.
    if (tagSeen) return last;
    if (!fallbackLogged) {
      fallbackLogged = true;
      log.warn(
        { depth: DEFAULT_FINALITY_DEPTH },
        'the node has no finalized tag: blocks become final by depth',
      );
    }
    return byDepth(head, DEFAULT_FINALITY_DEPTH);
  }

  return {
    async finalAt(head, signal) {
      const final = await next(head, signal);
      // By depth it is said of this head alone: another one may stand on a branch that this number does not fit.
      if (final.hash === null) return final;
      // At the same number the hash is the news: the tip may have been another branch's block before.
      if (final.number >= last.number) last = final;
      return last.number <= head.number ? last : final;
    },
  };
}

function byDepth(head: BlockRef, depth: number): FinalBlock {
  return { number: Math.max(0, head.number - depth), hash: null };
}
