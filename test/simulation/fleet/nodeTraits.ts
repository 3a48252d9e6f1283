/** How a simulated node misbehaves for a while: drawn anew now and then, from dice of its own. */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import {
  NO_METHOD_WORDINGS,
  NO_TAG_WORDINGS,
  RANGE_WORDINGS,
  RATE_WORDINGS,
  RESULT_WORDINGS,
  UNKNOWN_BLOCK_WORDINGS,
  type RpcRefusal,
} from './wordings';

/** What a node is for its whole life. */
export interface NodeNature {
  readonly chainId: number;
  /** null: it has eth_getBlockReceipts. */
  readonly noReceipts: RpcRefusal | null;
  readonly rangeMax: number;
  readonly rangeWording: (typeof RANGE_WORDINGS)[number];
  readonly resultMax: number;
  readonly resultWording: (typeof RESULT_WORDINGS)[number];
  /** Calls in one batch at most. */
  readonly batchMax: number;
  /** null: it knows the finalized tag. `null` as an answer where `empty`. */
  readonly noTag: RpcRefusal | 'empty' | null;
  readonly rateWording: RpcRefusal;
  readonly unknownWording: RpcRefusal | 'empty';
}

/** What it is for a while. */
export interface NodeMood {
  /** Sees the chain as it was so long ago. */
  readonly lagMs: number;
  /** Sees this head for ever. */
  readonly stuckAt: Hex | null;
  /** Behind one address stand several nodes: each call sees up to so much of the past. */
  readonly spreadMs: number;
  /** Forgets every block with this probability each time it is asked. */
  readonly forgets: number;
  /** Probability that a request gets no answer, or none of use. */
  readonly fails: number;
  /** Probability that an answer is a lie that can be seen. */
  readonly lies: number;
  /** How far below the truth its finalized tag stands. */
  readonly tagBehind: number;
}

export const GOOD_MOOD: NodeMood = {
  lagMs: 0,
  stuckAt: null,
  spreadMs: 0,
  forgets: 0,
  fails: 0,
  lies: 0,
  tagBehind: 0,
};

/** How bad a fleet is; all probabilities are of a node's mood. */
export interface FleetHealth {
  readonly lag: number;
  readonly stuck: number;
  readonly spread: number;
  readonly amnesia: number;
  readonly failure: number;
  readonly lying: number;
}

export function drawNature(random: Random, chainId: number): NodeNature {
  return {
    chainId,
    noReceipts: random.chance(0.4) ? random.pick(NO_METHOD_WORDINGS) : null,
    rangeMax: random.pick([1, 2, 5, 30, 1_000]),
    rangeWording: random.pick(RANGE_WORDINGS),
    resultMax: random.pick([50, 500, 10_000]),
    resultWording: random.pick(RESULT_WORDINGS),
    batchMax: random.pick([1, 3, 20, 1_000, 1_000]),
    noTag: random.chance(0.25) ? random.pick<RpcRefusal | 'empty'>(['empty', ...NO_TAG_WORDINGS]) : null,
    rateWording: random.pick(RATE_WORDINGS),
    unknownWording: random.chance(0.6) ? 'empty' : random.pick(UNKNOWN_BLOCK_WORDINGS),
  };
}

/** `orphan`: a head that was given up lately, if there is one. */
export function drawMood(random: Random, health: FleetHealth, orphan: Hex | null): NodeMood {
  return {
    lagMs: random.chance(health.lag) ? random.pick([100, 1_000, 5_000, 10_000]) : 0,
    stuckAt: random.chance(health.stuck) ? orphan : null,
    spreadMs: random.chance(health.spread) ? random.pick([200, 2_000]) : 0,
    forgets: random.chance(health.amnesia) ? random.pick([0.02, 0.2]) : 0,
    fails: random.chance(health.failure) ? random.pick([0.05, 0.3, 1]) : 0.005,
    lies: random.chance(health.lying) ? random.pick([0.05, 0.5]) : 0,
    tagBehind: random.pick([0, 0, 0, 3, 20]),
  };
}
