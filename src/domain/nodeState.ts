/** The interface for reading the state of a chain node after one block. */
import type { Hex } from './hex';

/** One question about the state. */
export type StateQuestion =
  | {
      readonly kind: 'call';
      readonly to: Hex;
      readonly data: Hex;
      /** Address of the caller; by default the zero address. */
      readonly from?: Hex;
    }
  | { readonly kind: 'coin'; readonly address: Hex };

/** For a call its result as hex data, for a coin the balance as a hex number. Null if there is no answer. */
export type StateAnswers = readonly (Hex | null)[];

export interface NodeState {
  /**
   * Returns the answers as of the block with this hash, in the order of the questions; the answer of a
   * reverted call is null. The whole result is null if the node does not answer in time or does not know the
   * block. Never rejects.
   */
  ask(blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers | null>;
}
