/**
 * What the node is asked about V4 pools whose creation was not seen. The position manager knows the pools in which it has
 * positions, and the id of a pool proves what it answers. The balances of a pool are what all its ticks hold.
 */
import { keccak256 } from 'ethers';

import { callData, readAddress, readInt, readUint, type ContractCall } from '../../domain/contractCall';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { Dex, PoolState } from '../../domain/pool';
import type { IdQuestions, PoolCreation } from '../protocol';
import { TICK_MAX, TICK_MIN } from '../ticks/tickMath';
import { feePipsOf } from './dynamicFee';
import {
  bitmapSlot,
  extsload,
  LIQUIDITY,
  netOfSlot,
  poolSlot,
  readSlots,
  tickOfSlot,
  tickSlot,
} from './poolSlots';
import { principalOf } from './principal';

/** An answer with so many words is below the limit of an answer. */
const SLOTS_PER_CALL = 400;
/** A pool with more initialised ticks stays unknown. */
const TICKS_MAX = 20_000;
const WORD_BITS = 256;
/** Number of hex digits of a key: five words and 0x. */
const KEY_LENGTH = 2 + 5 * 64;
/** The position manager keeps keys by the first 25 bytes of the id. */
const ID_TAIL_BITS = 56n;

export const v4IdQuestions: IdQuestions = { describeCall, readCreation, stateCalls, readState };

function describeCall({ positionManager: to }: Pick<Dex, 'positionManager'>, id: Hex): ContractCall | null {
  const head = (BigInt(id) >> ID_TAIL_BITS) << ID_TAIL_BITS;
  return to === undefined ? null : { to, data: callData('poolKeys(bytes25)', head) };
}

/** The id is the hash of the key: currency0, currency1, fee, tick spacing and hooks. */
function readCreation(id: Hex, answer: Hex | null): PoolCreation | null {
  if (answer?.length !== KEY_LENGTH || keccak256(answer) !== id) return null;
  const [fee, spacing] = [readUint(answer, 2), readInt(answer, 3, 24)];
  const token1 = readAddress(answer, 1);
  if (fee === null || spacing === null || spacing <= 0n || token1 === null) return null;
  return {
    pool: addressOfWord(id),
    id,
    hooks: readAddress(answer, 4),
    token0: readAddress(answer) ?? ZERO_ADDRESS,
    token1,
    feePips: feePipsOf(fee),
    tickSpacing: Number(spacing),
  };
}

/** First √price, tick, liquidity and the bitmap of all ticks, then the net liquidity of the initialised ticks. */
function stateCalls(
  factory: Hex,
  creation: PoolCreation,
  answers: readonly (Hex | null)[],
): readonly ContractCall[] {
  const first = listFirstSlots(creation);
  const chunked = (slots: readonly bigint[]): ContractCall[] =>
    inChunks(slots).map((chunk) => extsload(factory, chunk));
  if (answers.length === 0) return chunked(first);
  const words = readChunks(first, answers);
  const ticks = words === null ? [] : listTicks(creation, words);
  const isFirstRound = answers.length === inChunks(first).length;
  return isFirstRound && ticks.length <= TICKS_MAX ? chunked(listTickSlots(creation, ticks)) : [];
}

function readState(creation: PoolCreation, answers: readonly (Hex | null)[]): PoolState | null {
  const first = listFirstSlots(creation);
  const words = readChunks(first, answers);
  if (words === null) return null;
  const [slot0 = 0n, active = 0n] = words;
  const ticks = listTicks(creation, words);
  if (ticks.length > TICKS_MAX) return null;
  const nets = readChunks(listTickSlots(creation, ticks), answers.slice(inChunks(first).length));
  const state = { sqrtPriceX96: BigInt.asUintN(160, slot0), tick: tickOfSlot(slot0) };
  if (nets === null || state.sqrtPriceX96 === 0n) return null;
  let [liquidity, reserve0, reserve1] = [0n, 0n, 0n];
  for (const [index, tick] of ticks.entries()) {
    liquidity += netOfSlot(nets[index] ?? 0n);
    const next = ticks[index + 1];
    if (next === undefined || liquidity <= 0n) continue;
    // Rounded up, as the positions were when they were added.
    const { amount0, amount1 } = principalOf(state, tick, next, liquidity);
    reserve0 += amount0;
    reserve1 += amount1;
  }
  return { ...state, liquidity: BigInt.asUintN(128, active), reserve0, reserve1 };
}

/** The numbers of the words of the bitmap, which has one bit for each multiple of the tick spacing. */
function wordRange(spacing: number): readonly [first: number, last: number] {
  const wordOf = (tick: number): number => Math.floor(Math.floor(tick / spacing) / WORD_BITS);
  return [wordOf(TICK_MIN), wordOf(TICK_MAX)];
}

function listFirstSlots({ id, tickSpacing }: PoolCreation): bigint[] {
  const pool = poolSlot(id ?? '0x0');
  const [first, last] = wordRange(tickSpacing);
  const bitmap = Array.from({ length: last - first + 1 }, (_, index) => bitmapSlot(pool, first + index));
  return [pool, pool + LIQUIDITY, ...bitmap];
}

/** The initialised ticks, ascending. */
function listTicks({ tickSpacing }: PoolCreation, firstWords: readonly bigint[]): number[] {
  const [first] = wordRange(tickSpacing);
  const ticks: number[] = [];
  for (const [index, bits] of firstWords.slice(2).entries())
    for (let bit = 0; bits !== 0n && bit < WORD_BITS; bit += 1)
      if (((bits >> BigInt(bit)) & 1n) === 1n) ticks.push(((first + index) * WORD_BITS + bit) * tickSpacing);
  return ticks;
}

function listTickSlots({ id }: PoolCreation, ticks: readonly number[]): bigint[] {
  const pool = poolSlot(id ?? '0x0');
  return ticks.map((tick) => tickSlot(pool, tick));
}

function inChunks(slots: readonly bigint[]): bigint[][] {
  const count = Math.ceil(slots.length / SLOTS_PER_CALL);
  return Array.from({ length: count }, (_, index) =>
    slots.slice(index * SLOTS_PER_CALL, (index + 1) * SLOTS_PER_CALL),
  );
}

/** The words of these slots. Null if one is missing. */
function readChunks(slots: readonly bigint[], answers: readonly (Hex | null)[]): bigint[] | null {
  const words: bigint[] = [];
  for (const [index, chunk] of inChunks(slots).entries()) {
    const read = readSlots(answers[index], chunk.length);
    if (read === null) return null;
    words.push(...read);
  }
  return words;
}
