/**
 * Reads symbol, name and decimals of tokens, in batches through Multicall3
 * (https://github.com/mds1/multicall3) where the chain has it. Token contracts may return anything: bytes32
 * texts, reverts, absurd decimals, endless symbols. Unusable answers become null, and the size of each answer
 * is limited.
 */
import { Interface } from 'ethers';
import { z } from 'zod';

import {
  askSince,
  callBatch,
  isNodeFault,
  isUnanswerable,
  toRpcCall,
  type AskedBlock,
  type EthCalls,
} from '../../node/calls/askContracts';
import type { Outcome } from '../../node/rpc/rpcTransport';
import type { TokenRow } from '../../clickhouse/schema/tables';
import {
  NAME_MAX,
  LONG_TEXT_ANSWER_BYTES_MAX,
  readAbiText,
  SYMBOL_MAX,
  TEXT_ANSWER_BYTES_MAX,
} from '../../domain/abiText';
import { DECIMALS_MAX } from '../../domain/amounts';
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import { isHexData, type Hex } from '../../domain/hex';
import type { Logger } from '../../log';

const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11';
const MULTICALL = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
]);
/** The results of aggregate3: for each call, whether it succeeded, and its return data. */
const resultsShape = z.tuple([z.array(z.tuple([z.boolean(), z.custom<Hex>(isHexData)]))]);
/** The calls for each token: symbol(), name() and decimals(). */
const DECIMALS_CALL = callData('decimals()');
const CALLS = [callData('symbol()'), callData('name()'), DECIMALS_CALL] as const;
/**
 * Number of tokens in one aggregate call. Even if one token burns all the gas of its call, the other tokens
 * must have enough.
 */
const TOKENS_MAX = 40;
/** Size limit in bytes per token in an aggregate call: about three times a usual answer. */
const AGGREGATE_BYTES_MAX = 4_096;
/** Gas limit of one of many direct calls: enough for a proxy, too little for an answer of a megabyte. */
const CALL_GAS: Hex = '0xf4240';
/** Gas limit of a call for a long text: enough for an answer of two million bytes. */
const LONG_TEXT_GAS: Hex = '0x989680';
/**
 * Largest number of calls with more gas, and of calls for long texts, in one reading of tokens. Such a call may cost
 * megabytes of traffic.
 */
const LONG_TEXTS_MAX = 16;
const OUT_OF_GAS = /out ?of ?gas|gas required/i;
/** The block in which the tokens first appear. The node must have this block. */
export interface ShowingBlock {
  readonly number: number;
  readonly hash: Hex;
  /** True if a reorg can still replace the block. */
  readonly reversible: boolean;
}

type Asked = (Hex | null)[];

/** How many more calls may get more gas, and how many more long texts may be read. The others are logged. */
interface LongTextBudget {
  moreGasCalls: number;
  longTexts: number;
  readonly log: Logger | undefined;
}

/**
 * Returns one row per token, in the given order. Throws a retryable error if the node does not answer, or
 * does not have the block yet. Such a node would report no decimals for a new token, and the wrong row would
 * stay stored.
 */
export async function readTokens(
  rpc: EthCalls,
  tokens: readonly Hex[],
  block: ShowingBlock,
  signal?: AbortSignal,
  log?: Logger,
): Promise<TokenRow[]> {
  const rows: TokenRow[] = [];
  const budget = { moreGasCalls: LONG_TEXTS_MAX, longTexts: LONG_TEXTS_MAX, log };
  for (let at = 0; at < tokens.length; at += TOKENS_MAX) {
    const batch = tokens.slice(at, at + TOKENS_MAX);
    const answers = await askSince(block, block.reversible, (place) =>
      ask(rpc, batch, { ...place, signal }, budget),
    );
    batch.forEach((address, index) => {
      const [symbol, name, decimals] = answers.slice(index * CALLS.length, (index + 1) * CALLS.length);
      rows.push({
        address,
        symbol: readAbiText(symbol, SYMBOL_MAX),
        name: readAbiText(name, NAME_MAX),
        decimals: decimalsOf(decimals),
        version: block.number,
      });
    });
  }
  return rows;
}

type Question = AskedBlock & { readonly signal: AbortSignal | undefined };

async function ask(
  rpc: EthCalls,
  tokens: readonly Hex[],
  question: Question,
  budget: LongTextBudget,
): Promise<Asked> {
  const calls = tokens.flatMap((to) => CALLS.map((data) => ({ to, data })));
  const answers = (await aggregate(rpc, calls, question)) ?? calls.map(() => null);
  // A token can burn the gas of an aggregate call, so that calls of other tokens fail. They are made again alone.
  const failedIndexes = calls.flatMap((_, index) => (answers[index] === null ? [index] : []));
  const direct = await askDirectly(
    rpc,
    failedIndexes.flatMap((index) => calls[index] ?? []),
    question,
    budget,
  );
  failedIndexes.forEach((index, place) => (answers[index] = direct[place] ?? null));
  return answers;
}

/**
 * Returns the answers of the aggregate call, null for each call that failed. Null if the chain has no Multicall3, or if
 * the whole call failed or returned too much data.
 */
async function aggregate(
  rpc: EthCalls,
  calls: readonly ContractCall[],
  question: Question,
): Promise<Asked | null> {
  const data = encodeAggregate(calls);
  const bytesMax = AGGREGATE_BYTES_MAX * (1 + calls.length / CALLS.length);
  const [outcome] = await callBounded(rpc, [{ to: MULTICALL3, data, gas: null }], bytesMax, question);
  if (outcome === undefined || 'error' in outcome || outcome.value.length < 130) return null;
  try {
    const [results] = resultsShape.parse(MULTICALL.decodeFunctionResult('aggregate3', outcome.value));
    if (results.length !== calls.length) return null;
    return results.map(([success, returnData]) => (success ? returnData : null));
  } catch {
    return null;
  }
}

/** Encodes a call of aggregate3 in which each call may fail. The coder of ethers takes 25 µs for each call. */
function encodeAggregate(calls: readonly ContractCall[]): Hex {
  let [offsets, items] = ['', ''];
  for (const { to, data } of calls) {
    offsets += word(32 * calls.length + items.length / 2);
    const digits = data.slice(2);
    const padded = digits.padEnd(64 * Math.ceil(digits.length / 64), '0');
    items += to.slice(2).padStart(64, '0') + word(1) + word(3 * 32) + word(digits.length / 2) + padded;
  }
  return `0x82ad56cb${word(32)}${word(calls.length)}${offsets}${items}`;
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0');
}

async function askDirectly(
  rpc: EthCalls,
  calls: readonly ContractCall[],
  question: Question,
  budget: LongTextBudget,
): Promise<Asked> {
  if (calls.length === 0) return [];
  const outcomes = await callBounded(rpc, withGas(calls, CALL_GAS), TEXT_ANSWER_BYTES_MAX, question);
  const isText = (index: number): boolean => calls[index]?.data !== DECIMALS_CALL;
  const starved = outcomes.flatMap((one, index) => (isText(index) && mayLackGas(one) ? [index] : []));
  const toRepeat = starved.slice(0, budget.moreGasCalls);
  budget.moreGasCalls -= toRepeat.length;
  const callsWithGas = withGas(
    toRepeat.flatMap((index) => calls[index] ?? []),
    LONG_TEXT_GAS,
  );
  const fed =
    callsWithGas.length === 0 ? [] : await callBounded(rpc, callsWithGas, TEXT_ANSWER_BYTES_MAX, question);
  toRepeat.forEach((index, place) => {
    const outcome = fed[place];
    if (outcome !== undefined) outcomes[index] = outcome;
  });
  const answers: Asked = [];
  for (const [index, outcome] of outcomes.entries()) {
    const call = calls[index];
    const isLong = isText(index) && 'error' in outcome && outcome.error.cut === 'call';
    if (isLong && call !== undefined) answers.push(await askLongText(rpc, call, question, budget));
    else answers.push(answerOf(outcome, question));
  }
  return answers;
}

function answerOf(outcome: Outcome<Hex>, { at }: Question): Hex | null {
  if ('value' in outcome) return outcome.value;
  if (isUnanswerable(outcome.error)) return null;
  // The error may mean that the node does not support this kind of block parameter and never ran the call.
  // Then the token is not to blame.
  if (isNodeFault(outcome.error) || at !== 'latest') throw outcome.error;
  return null;
}

/** Whether a call may need more gas for a large answer. Behind a proxy, the lack of gas is a revert without data. */
function mayLackGas(outcome: Outcome<Hex>): boolean {
  if ('value' in outcome || outcome.error.kind !== 'revert') return false;
  const { data, message } = outcome.error;
  return data === undefined || data === null || data === '0x' || OUT_OF_GAS.test(message);
}

/** Asks for one text with a large limit, so that its start can be kept. Null beyond all limits. */
async function askLongText(
  rpc: EthCalls,
  call: ContractCall,
  question: Question,
  budget: LongTextBudget,
): Promise<Hex | null> {
  if (budget.longTexts > 0) {
    budget.longTexts -= 1;
    const calls = withGas([call], LONG_TEXT_GAS);
    const [outcome] = await callBounded(rpc, calls, LONG_TEXT_ANSWER_BYTES_MAX, question);
    if (outcome === undefined) return null;
    if (!('error' in outcome) || outcome.error.cut !== 'call') return answerOf(outcome, question);
  }
  const { log } = budget;
  if (log !== undefined)
    log.warn({ token: call.to, call: call.data }, 'a symbol or name is too long to be read');
  return null;
}

function withGas(calls: readonly ContractCall[], gas: Hex): ContractCall[] {
  return calls.map((call) => ({ ...call, gas }));
}

function callBounded(
  rpc: EthCalls,
  calls: readonly ContractCall[],
  answerBytesMax: number,
  question: Question,
): Promise<Outcome<Hex>[]> {
  const batch = calls.map((call) => toRpcCall({ ...call, answerBytesMax }, question.at));
  return callBatch(rpc, batch, question);
}

/**
 * Returns the decimals, or null. The standard says uint8, but a contract can return any number. Only 0 to 77
 * is accepted.
 */
export function decimalsOf(data: Hex | null | undefined): number | null {
  const value = readUint(data);
  return value !== null && value <= BigInt(DECIMALS_MAX) ? Number(value) : null;
}
