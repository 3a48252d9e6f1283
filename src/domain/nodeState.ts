/** What a chain node can say of the state after one block: the port through which answers ask it, and its bounds. */
import type { Hex } from './hex';

/** One question about the state. */
export type StateQuestion =
  | {
      readonly kind: 'call';
      readonly to: Hex;
      readonly data: Hex;
      /** Who calls; default the zero address. */
      readonly from?: Hex;
    }
  | { readonly kind: 'coin'; readonly address: Hex };

/** What calls answered (hex data) and what addresses have of the native coin (a quantity); null where there is no answer. */
export type StateAnswers = readonly (Hex | null)[];

export interface NodeState {
  /**
   * The answers as of the block with this hash, in the order of the questions; a call that reverts is null. Null for
   * all: the node does not answer in time, or does not know the block. Never rejects, never guesses.
   */
  ask(blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers | null>;
}
