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

/**
 * The answer to one question: the result of a call as hex data, or a balance of the native coin as a hex number. Null
 * if there is no answer.
 */
export type StateAnswers = readonly (Hex | null)[];

export interface AccountState {
  /**
   * Returns the answers as of the block with this hash, in the order of the questions; the answer of a
   * reverted call is null. The whole result is null if the node does not answer in time or does not know the
   * block. Never rejects.
   */
  ask(blockHash: Hex, questions: readonly StateQuestion[]): Promise<StateAnswers | null>;
  /** Whether the node does not know the block of the newest unanswered question. */
  lacks(blockHash: Hex): boolean;
}
