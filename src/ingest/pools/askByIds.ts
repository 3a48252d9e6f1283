/**
 * Asks about pools without a contract of which only the id is known, because their creation is older than the first stored
 * block. What answers is proven by the id, so no factory needs to confirm it.
 */
import type { ChainBlock } from '../../domain/block';
import { numberToHex, type Hex } from '../../domain/hex';
import type { Dex, PoolState } from '../../domain/pool';
import { askContracts, askSince, type EthCalls } from '../../node/calls/askContracts';
import type { IdQuestions, PoolCreation } from '../../protocols/protocol';

/** More rounds of calls than any protocol needs to tell a state. */
const ROUNDS_MAX = 4;

interface IdCandidate {
  readonly id: Hex;
  readonly dex: Dex;
  readonly questions: IdQuestions;
  /** Block of the first log of the pool; its state is that of the block before. */
  readonly blockNumber: number;
}

interface AskedPool extends IdCandidate {
  readonly creation: PoolCreation | null;
  /** Answers about the state. */
  readonly answers: (Hex | null)[];
}

interface IdAnswer {
  /** Null if the pool cannot be known yet. */
  readonly found: { readonly creation: PoolCreation; readonly state: PoolState } | null;
  /** Whether the DEX has no contract that can be asked, at any time. */
  readonly isHopeless: boolean;
}

/** The answers, in the order of the candidates. `block` is at or after their blocks. */
export async function askByIds(
  rpc: EthCalls,
  candidates: readonly IdCandidate[],
  block: ChainBlock,
  signal?: AbortSignal,
): Promise<IdAnswer[]> {
  const calls = candidates.map(({ dex, id, questions }) => questions.describeCall(dex, id));
  const descriptions = await askSince(block, false, (place) =>
    askContracts(
      rpc,
      calls.map((call) => (call === null ? [] : [call])),
      { ...place, signal },
    ),
  );
  const pools = candidates.map((candidate, index): AskedPool => {
    const description = descriptions[index]?.answers[0] ?? null;
    return {
      ...candidate,
      creation: candidate.questions.readCreation(candidate.id, description),
      answers: [],
    };
  });
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const further = pools.map(({ questions, dex, creation, answers }) =>
      creation === null ? [] : questions.stateCalls(dex.factory, creation, answers),
    );
    if (further.every(({ length }) => length === 0)) break;
    const told = await askContracts(rpc, further, {
      at: (index) => numberToHex(Math.max(0, (pools[index]?.blockNumber ?? 0) - 1)),
      missing: 'null',
      signal,
    });
    for (const [index, { answers }] of told.entries()) pools[index]?.answers.push(...answers);
  }
  return pools.map(({ questions, creation, answers }, index) => {
    const state = creation === null ? null : questions.readState(creation, answers);
    const found = creation === null || state === null ? null : { creation, state };
    return { found, isHopeless: calls[index] === null };
  });
}
