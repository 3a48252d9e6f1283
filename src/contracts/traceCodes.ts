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
  readonly now: FoundCode;
  /** What is stored, oldest first. */
  readonly spans: readonly CodeSpan[];
  /** Block of the last check before this one; null if there was none. */
  readonly checked: number | null;
  /** Older blocks to look at, in any order, such as blocks with logs of the contract. */
  readonly blocks: readonly number[];
}

type FoundSpan = FoundCode & { readonly from_block: number };

interface State {
  readonly block: number;
  readonly code: ContractCode | null;
  /** Null for a stored state. */
  readonly found: FoundCode | null;
}

interface Traced {
  /** The spans to store, for all questions together. */
  readonly spans: readonly FoundSpan[];
  /** Whether the node had no state of any older block. */
  readonly blind: boolean;
}

/** `indexed` is the newest block, and blocks after `finalTo` may have been replaced since the last check. */
export async function traceCodes(
  rpc: EthCalls,
  questions: readonly TraceQuestion[],
  indexed: number,
  finalTo: number,
  signal: AbortSignal,
): Promise<Traced> {
  const pointsByQuestion = questions.map(({ now, spans, blocks }) => {
    const doubtful = spans.flatMap(({ from }) => (from > finalTo ? [from] : []));
    const points = new Set([...blocks, ...doubtful, indexed].filter((block) => block <= indexed));
    return [...points].sort((a, b) => a - b).map((block) => ({ address: now.address, block }));
  });
  const answers = await readContractCodes(rpc, pointsByQuestion.flat(), signal);
  const traced: FoundSpan[] = [];
  let firstAnswer = 0;
  for (const [index, question] of questions.entries()) {
    const points = pointsByQuestion[index] ?? [];
    const states = points.flatMap(({ block }, at): State[] => {
      // A node without the state of the newest block by its number still tells it by the tag `latest`.
      const foundCode = answers[firstAnswer + at] ?? (block === indexed ? question.now : null);
      return foundCode === null ? [] : [{ block, code: toCode(foundCode), found: foundCode }];
    });
    firstAnswer += points.length;
    traced.push(...(await traceOne(rpc, question, states, finalTo, signal)));
  }
  return { spans: traced, blind: answers.length > 0 && answers.every((answer) => answer === null) };
}

async function traceOne(
  rpc: EthCalls,
  { now, spans, checked }: TraceQuestion,
  read: readonly State[],
  finalTo: number,
  signal: AbortSignal,
): Promise<FoundSpan[]> {
  const trusted = spans.findLast(({ from }) => from <= finalTo);
  const trustedTo = trusted === undefined ? null : Math.max(trusted.from, Math.min(checked ?? 0, finalTo));
  const rewritten = new Set(spans.flatMap(({ from }) => (from > finalTo ? [from] : [])));
  let last: State | null =
    trusted === undefined || trustedTo === null
      ? null
      : { block: trustedTo, code: trusted.code, found: null };
  const traced: FoundSpan[] = [];
  for (const state of read) {
    if (last !== null && state.block <= last.block) continue;
    if (last === null) traced.push({ ...(state.found ?? now), from_block: state.block });
    for (let count = 0; last !== null && !isSameCode(last.code, state.code); count += 1) {
      const next: State = count < CHANGES_MAX ? await firstChange(rpc, now, last, state, signal) : state;
      traced.push({ ...(next.found ?? now), from_block: next.block });
      last = next;
    }
    // A stored span of a replaced block is overwritten by what stands there now.
    if (rewritten.has(state.block) && traced.at(-1)?.from_block !== state.block)
      traced.push({ ...(state.found ?? now), from_block: state.block });
    last = state;
  }
  return traced;
}

/** The first state after `from` that differs from it; `to` differs. Ends at `to` if the node lacks older states. */
async function firstChange(
  rpc: EthCalls,
  { address }: FoundCode,
  from: State,
  to: State,
  signal: AbortSignal,
): Promise<State> {
  let [low, high] = [from.block, to];
  while (high.block - low > 1) {
    const block = Math.floor((low + high.block) / 2);
    const [foundCode] = await readContractCodes(rpc, [{ address, block }], signal);
    if (foundCode === undefined || foundCode === null) return high;
    const code = toCode(foundCode);
    if (isSameCode(code, from.code)) low = block;
    else high = { block, code, found: foundCode };
  }
  return high;
}
