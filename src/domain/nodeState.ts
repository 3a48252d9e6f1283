/** The interface for reading the state of a chain node after one block. */
import type { Hex } from './hex';

/** One state query. */
export type StateQuestion =
  | {
      readonly kind: 'call';
      readonly to: Hex;
      readonly data: Hex;
      /** The caller; default: the zero address. */
      readonly from?: Hex;
    }
  | { readonly kind: 'coin'; readonly address: Hex };

/** For a call its hex data, for a coin the balance (a quantity). Null: no answer. */
export type StateAnswers = readonly (Hex | null)[];

export interface NodeState {
  /**
   * The answers as of the block with this hash, in the order of the questions; a reverted call is null. Null for the
   * whole: the node does not answer in time or does not know the block. Never rejects.
   */
  ask(blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers | null>;
}
