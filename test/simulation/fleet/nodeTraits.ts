/** Random misbehaviour of a simulated node, drawn again from time to time by a separate random generator. */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import {
  NO_METHOD_WORDINGS,
  NO_TAG_WORDINGS,
  ODD_RANGE_WORDINGS,
  RANGE_WORDINGS,
  RATE_WORDINGS,
  RESULT_WORDINGS,
  UNKNOWN_BLOCK_WORDINGS,
  type RangeWording,
  type RpcRefusal,
} from './wordings';

/** The properties of a node that never change. */
export interface NodeNature {
  readonly chainId: number;
  /** Error for eth_getBlockReceipts; null if the node supports the method. */
  readonly receiptsError: RpcRefusal | null;
  /** How eth_getBlockReceipts always answers for one block in seven; null if it has all receipts. */
  readonly lostReceipts: 'empty' | 'short' | 'null' | RpcRefusal | null;
  readonly rangeMax: number;
  readonly rangeWording: RangeWording;
  readonly resultMax: number;
  readonly resultWording: (typeof RESULT_WORDINGS)[number];
  /** Maximum number of calls in one batch. */
  readonly batchMax: number;
  /** Error for the `finalized` tag; null if the node supports the tag. `empty` answers null. */
  readonly finalizedTagError: RpcRefusal | 'empty' | null;
  readonly rateWording: RpcRefusal;
  readonly unknownWording: RpcRefusal | 'empty';
  readonly quirks: NodeQuirks;
}

/** Faults of real nodes that cause no error answer. */
interface NodeQuirks {
  /** What the node writes in place of the transaction hash of a log that belongs to the block itself. */
  readonly blockLogHash: 'block' | 'zero' | null;
  /** Whether eth_getBlockReceipts has a receipt for such logs. Other nodes send them by eth_getLogs only. */
  readonly hasBlockReceipt: boolean;
  /** The node's `finalized` tag stands still. */
  readonly isTagStill: boolean;
  /** The node sends ids as text. */
  readonly hasTextIds: boolean;
  /** Probability that an answer has the id of another call. */
  readonly wrongIdChance: number;
  /** Probability that a batch is answered with HTTP 429 and one error object. */
  readonly batchLimitChance: number;
  /** The node has lost the last log of about one block in three. Only proven blocks show this. */
  readonly losesLogs: boolean;
}

export const NO_QUIRKS: NodeQuirks = {
  blockLogHash: 'block',
  hasBlockReceipt: true,
  isTagStill: false,
  hasTextIds: false,
  wrongIdChance: 0,
  batchLimitChance: 0,
  losesLogs: false,
};

/** The temporary state of a node, for a number of requests. */
export interface NodeMood {
  /** Delay in ms of the node's view of the chain. */
  readonly lagMs: number;
  /** Head at which the node is stuck. */
  readonly stuckAt: Hex | null;
  /**
   * Largest additional delay in ms of the node's view. Imitates a URL that several nodes share, so the delay is drawn
   * again for each call.
   */
  readonly spreadMs: number;
  /** Probability, per request for a block, that the node does not have the block. */
  readonly forgetChance: number;
  /** Probability that a request gets no usable answer. */
  readonly failureChance: number;
  /** Probability of a wrong answer that a client can detect. */
  readonly lieChance: number;
  /** How many blocks the node's `finalized` tag is behind the true final block. */
  readonly tagBehind: number;
}

export const GOOD_MOOD: NodeMood = {
  lagMs: 0,
  stuckAt: null,
  spreadMs: 0,
  forgetChance: 0,
  failureChance: 0,
  lieChance: 0,
  tagBehind: 0,
};

/** How many faults a group of nodes has. All probabilities apply to a node's temporary state. */
export interface FleetHealth {
  readonly lag: number;
  readonly stuck: number;
  readonly spread: number;
  readonly amnesia: number;
  readonly failure: number;
  readonly lying: number;
}

export function drawQuirks(random: Random): NodeQuirks {
  return {
    blockLogHash: random.pick(['block', 'zero', null] as const),
    hasBlockReceipt: random.chance(0.5),
    isTagStill: random.chance(0.4),
    hasTextIds: random.chance(0.25),
    wrongIdChance: random.chance(0.25) ? 0.05 : 0,
    batchLimitChance: random.chance(0.25) ? 0.2 : 0,
    losesLogs: random.chance(0.7),
  };
}

/** `oddRandom` draws the faults that are not in the classifier of errors. */
export function drawNature(
  random: Random,
  oddRandom: Random,
  chainId: number,
  quirks: NodeQuirks,
): NodeNature {
  const nature = drawUsualNature(random, chainId);
  return {
    ...nature,
    quirks,
    lostReceipts: oddRandom.chance(0.25)
      ? oddRandom.pick<NonNullable<NodeNature['lostReceipts']>>([
          'empty',
          'short',
          'null',
          { code: -32000, message: 'internal error' },
        ])
      : null,
    rangeWording: oddRandom.chance(0.25) ? oddRandom.pick(ODD_RANGE_WORDINGS) : nature.rangeWording,
  };
}

function drawUsualNature(random: Random, chainId: number): Omit<NodeNature, 'lostReceipts' | 'quirks'> {
  return {
    chainId,
    receiptsError: random.chance(0.4) ? random.pick(NO_METHOD_WORDINGS) : null,
    rangeMax: random.pick([1, 2, 5, 30, 1_000]),
    rangeWording: random.pick(RANGE_WORDINGS),
    resultMax: random.pick([50, 500, 10_000]),
    resultWording: random.pick(RESULT_WORDINGS),
    batchMax: random.pick([1, 3, 20, 1_000, 1_000]),
    finalizedTagError: random.chance(0.25)
      ? random.pick<RpcRefusal | 'empty'>(['empty', ...NO_TAG_WORDINGS])
      : null,
    rateWording: random.pick(RATE_WORDINGS),
    unknownWording: random.chance(0.6) ? 'empty' : random.pick(UNKNOWN_BLOCK_WORDINGS),
  };
}

/** `orphan` is a recently abandoned head, if there is one. */
export function drawMood(random: Random, health: FleetHealth, orphan: Hex | null): NodeMood {
  return {
    lagMs: random.chance(health.lag) ? random.pick([100, 1_000, 5_000, 10_000]) : 0,
    stuckAt: random.chance(health.stuck) ? orphan : null,
    spreadMs: random.chance(health.spread) ? random.pick([200, 2_000]) : 0,
    forgetChance: random.chance(health.amnesia) ? random.pick([0.02, 0.2]) : 0,
    failureChance: random.chance(health.failure) ? random.pick([0.05, 0.3, 1]) : 0.005,
    lieChance: random.chance(health.lying) ? random.pick([0.05, 0.5]) : 0,
    tagBehind: random.pick([0, 0, 0, 3, 20]),
  };
}
