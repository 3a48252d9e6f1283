/**
 * Remembers a node's answers about the state after a block. This state never changes, so one request per block and
 * question is enough.
 */
import { LRUCache } from 'lru-cache';

import type { Hex } from '../../domain/hex';
import type { AccountState, StateQuestion } from '../../domain/accountState';

const ANSWERS_MAX = 5_000;
/** Answers longer than this, in characters, are not remembered. */
const ANSWER_LENGTH_MAX = 2_048;

interface Remembered {
  /** Null if the node answered the question with an error. */
  readonly answer: Hex | null;
}

/** Wraps the node with a memory of its answers. A call is answered either fully from memory or fully by the node. */
export function rememberState(node: AccountState): AccountState {
  const rememberedByKey = new LRUCache<string, Remembered>({ max: ANSWERS_MAX });
  const keyOf = (blockHash: Hex, question: StateQuestion): string =>
    `${blockHash} ${JSON.stringify(question)}`;
  return {
    async ask(blockHash, questions) {
      const keys = questions.map((question) => keyOf(blockHash, question));
      const rememberedAnswers = keys.flatMap((key) => rememberedByKey.get(key) ?? []);
      if (rememberedAnswers.length === keys.length) return rememberedAnswers.map(({ answer }) => answer);
      const answers = await node.ask(blockHash, questions);
      if (answers === null) return null;
      keys.forEach((key, index) => {
        const answer = answers[index] ?? null;
        if (key.length + (answer?.length ?? 0) <= ANSWER_LENGTH_MAX) rememberedByKey.set(key, { answer });
      });
      return answers;
    },
    lacks: (blockHash) => node.lacks(blockHash),
  };
}
