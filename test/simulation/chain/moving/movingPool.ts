/** The interface of pools of the simulated chain that make their own events and answer calls about themselves. */
import { id } from 'ethers';

import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import type { Draft } from '../../../support/plainLogs';

export interface Moved {
  readonly drafts: readonly Draft[];
  readonly after: MovingPool;
}

/** Where in the chain an event happens. `pools`: those of the branch before the event. */
export interface Moment {
  /** Differs between any two transactions of all branches, and begins with `blockId`. */
  readonly id: string;
  readonly blockId: number;
  /** Unix seconds. */
  readonly timestamp: number;
  /** The factory of the V2 pairs of the chain. */
  readonly v2Factory: Hex;
  readonly pools: readonly MovingPool[];
  /** Draws pools of lending tokens whose rates grow. Null in seeds without them. */
  readonly rateRandom: Random | null;
}

/** A pool of one branch. Its fields never change, because other branches share it. */
export interface MovingPool {
  /** The contract of the pool. A pool of a manager has the last 20 bytes of its id. */
  readonly address: Hex;
  /** Two pools of one branch never have the same key, as their factory makes sure. */
  readonly key: string;
  /** A pool that moves before this one, in the same transaction. This one moves only if that one does. */
  readonly base?: Hex | null;
  move(random: Random, moment: Moment): Moved;
  /** The answer of the pool's contract, or of its factory about this pool. Null for another question. */
  answer(to: Hex, data: Hex): Hex | 'revert' | null;
}

/** What a family needs to create a pool. */
export interface Birth {
  readonly random: Random;
  readonly moment: Moment;
  /** One of the first tokens of the chain, 0 to 11. Those from 6 on sort behind the others as quotes. */
  readonly token: (index: number) => Hex;
}

export const selectorOf = (signature: string): string => id(signature).slice(0, 10);
