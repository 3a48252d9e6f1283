/**
 * Finds the blocks in which the code at an address or the targets of a proxy changed. Compares the node's answers at
 * some blocks, and searches between two different answers by halving.
 */
import type { EthCalls } from '../node/calls/askContracts';
import { isSameCode, type CodeSpan } from '../query/contracts/codeSpans';
import { toCode, type ContractCode } from '../query/contracts/contractFacts';
import { readContractCodes, type FoundCode } from './readContractCode';

/** Largest number of changes that are searched between two blocks; the last one found then counts for the rest. */
const CHANGES_MAX = 16;

export interface TraceQuestion {
  /** The code at the newest block. */
  readonly newestCode: FoundCode;
  /** What is stored, oldest first. */
  readonly spans: readonly CodeSpan[];
  /** Block of the last check before this one; null if there was none. */
  readonly lastCheckedBlock: number | null;
  /** Older blocks to look at, in any order, such as blocks with logs of the contract. */
  readonly blocks: readonly number[];
}

type FoundSpan = FoundCode & { readonly from_block: number };

interface State {
  readonly block: number;
  /** Null if the address has no code. */
  readonly code: ContractCode | null;
  /** Null for a stored state. */
  readonly found: FoundCode | null;
}

interface Traced {
  /** The spans to store, for all questions together. */
  readonly spans: readonly FoundSpan[];
  /** Whether the node had no state of any older block. */
  readonly hasNoOldStates: boolean;
}

/** `indexed` is the newest block, and blocks after `finalTo` may have been replaced since the last check. */
export async function traceCodes(
  rpc: EthCalls,
  questions: readonly TraceQuestion[],
  indexed: number,
  finalTo: number,
  signal: AbortSignal,
): Promise<Traced> {
  const pointsByQuestion = questions.map(({ newestCode, spans, blocks }) => {
    const doubtfulBlocks = spans.flatMap(({ from }) => (from > finalTo ? [from] : []));
    const blocksToRead = new Set([...blocks, ...doubtfulBlocks, indexed].filter((block) => block <= indexed));
    return [...blocksToRead].sort((a, b) => a - b).map((block) => ({ address: newestCode.address, block }));
  });
  const answers = await readContractCodes(rpc, pointsByQuestion.flat(), signal);
  const tracedSpans: FoundSpan[] = [];
  let firstAnswer = 0;
  for (const [index, question] of questions.entries()) {
    const points = pointsByQuestion[index] ?? [];
    const states = points.flatMap(({ block }, pointIndex): State[] => {
      // A node that refuses the number of the newest block may still answer for the tag `latest`.
      const foundCode = answers[firstAnswer + pointIndex] ?? (block === indexed ? question.newestCode : null);
      return foundCode === null ? [] : [{ block, code: toCode(foundCode), found: foundCode }];
    });
    firstAnswer += points.length;
    tracedSpans.push(...(await traceContract(rpc, question, states, finalTo, signal)));
  }
  return {
    spans: tracedSpans,
    hasNoOldStates: answers.length > 0 && answers.every((answer) => answer === null),
  };
}

async function traceContract(
  rpc: EthCalls,
  { newestCode, spans, lastCheckedBlock }: TraceQuestion,
  readStates: readonly State[],
  finalTo: number,
  signal: AbortSignal,
): Promise<FoundSpan[]> {
  const lastTrustedSpan = spans.findLast(({ from }) => from <= finalTo);
  const trustedTo =
    lastTrustedSpan === undefined
      ? null
      : Math.max(lastTrustedSpan.from, Math.min(lastCheckedBlock ?? 0, finalTo));
  const doubtfulBlocks = new Set(spans.flatMap(({ from }) => (from > finalTo ? [from] : [])));
  let lastState: State | null =
    lastTrustedSpan === undefined || trustedTo === null
      ? null
      : { block: trustedTo, code: lastTrustedSpan.code, found: null };
  const traced: FoundSpan[] = [];
  for (const state of readStates) {
    if (lastState !== null && state.block <= lastState.block) continue;
    if (lastState === null) traced.push({ ...(state.found ?? newestCode), from_block: state.block });
    for (
      let changeCount = 0;
      lastState !== null && !isSameCode(lastState.code, state.code);
      changeCount += 1
    ) {
      const nextState: State =
        changeCount < CHANGES_MAX ? await findFirstChange(rpc, newestCode, lastState, state, signal) : state;
      traced.push({ ...(nextState.found ?? newestCode), from_block: nextState.block });
      lastState = nextState;
    }
    // A stored span of a replaced block is overwritten by what stands there now.
    if (doubtfulBlocks.has(state.block) && traced.at(-1)?.from_block !== state.block)
      traced.push({ ...(state.found ?? newestCode), from_block: state.block });
    lastState = state;
  }
  return traced;
}

/** The first state after `fromState` that differs from it, or `toState` if the node lacks older states. */
async function findFirstChange(
  rpc: EthCalls,
  { address }: FoundCode,
  fromState: State,
  toState: State,
  signal: AbortSignal,
): Promise<State> {
  let [lastSameBlock, firstOtherState] = [fromState.block, toState];
  while (firstOtherState.block - lastSameBlock > 1) {
    const block = Math.floor((lastSameBlock + firstOtherState.block) / 2);
    const [foundCode] = await readContractCodes(rpc, [{ address, block }], signal);
    if (foundCode === undefined || foundCode === null) return firstOtherState;
    const code = toCode(foundCode);
    if (isSameCode(code, fromState.code)) lastSameBlock = block;
    else firstOtherState = { block, code, found: foundCode };
  }
  return firstOtherState;
}
