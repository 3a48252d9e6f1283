/**
 * What the node is asked about pools with ticks of a manager whose creation was not seen. The balances of a pool are what
 * all its ticks hold.
 */
import type { ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type { IdQuestions, PoolCreation } from '../protocol';
import { TICK_MAX, TICK_MIN } from '../ticks/tickMath';
import {
  bitmapSlot,
  callsOf,
  LIQUIDITY,
  netOfSlot,
  poolSlot,
  readAllSlots,
  slotCalls,
  tickOfSlot,
  tickSlot,
} from './poolSlots';
import { principalOf } from './principal';

/** A pool with more initialised ticks stays unknown. */
const TICKS_MAX = 20_000;
const WORD_BITS = 256;

/** `pools` is the slot of the map of all pools. The answer to `describeCall` must prove itself by the id. */
export function createIdQuestions(
  pools: bigint,
  describe: Pick<IdQuestions, 'describeCall' | 'readCreation'>,
): IdQuestions {
  const slotOf = ({ id }: PoolCreation): bigint => poolSlot(id ?? '0x0', pools);
  return {
    ...describe,
    stateCalls: (factory, creation, answers) => stateCalls(factory, slotOf(creation), creation, answers),
    readState: (creation, answers) => readState(slotOf(creation), creation, answers),
  };
}

/** First √price, tick, liquidity and the bitmap of all ticks, then the net liquidity of the initialised ticks. */
function stateCalls(
  factory: Hex,
  pool: bigint,
  creation: PoolCreation,
  answers: readonly (Hex | null)[],
): readonly ContractCall[] {
  const first = listFirstSlots(pool, creation);
  if (answers.length === 0) return slotCalls(factory, first);
  const words = readAllSlots(first, answers);
  const ticks = words === null ? [] : listTicks(creation, words);
  const isFirstRound = answers.length === callsOf(first);
  return isFirstRound && ticks.length <= TICKS_MAX ? slotCalls(factory, listTickSlots(pool, ticks)) : [];
}

function readState(pool: bigint, creation: PoolCreation, answers: readonly (Hex | null)[]): PoolState | null {
  const first = listFirstSlots(pool, creation);
  const words = readAllSlots(first, answers);
  if (words === null) return null;
  const [slot0 = 0n, active = 0n] = words;
  const ticks = listTicks(creation, words);
  if (ticks.length > TICKS_MAX) return null;
  const nets = readAllSlots(listTickSlots(pool, ticks), answers.slice(callsOf(first)));
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

function listFirstSlots(pool: bigint, { tickSpacing }: PoolCreation): bigint[] {
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

function listTickSlots(pool: bigint, ticks: readonly number[]): bigint[] {
  return ticks.map((tick) => tickSlot(pool, tick));
}
