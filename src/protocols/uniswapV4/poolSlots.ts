/**
 * The storage of a manager of pools with ticks, which anyone can read by `extsload`: the slots of a pool, and what its
 * positions earned. The layout is that of StateLibrary.sol and Pool.sol of @uniswap/v4-core, and that of CLPool.sol of
 * pancakeswap/infinity-core. Only the slot of the map of all pools, `pools`, differs.
 */
import { keccak256 } from 'ethers';

import { callData, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { numberToHex, type Hex } from '../../domain/hex';
import type { Collected, ManagedPosition, OwedQuestions } from '../ticks/positionManager';
import type { TickQuestions } from '../ticks/tickQuestions';

/** An answer with so many words, 64 hex digits each, is below the limit of an answer (askContracts.ts). */
const SLOTS_PER_CALL = 200;
/** Places in the state of a pool: growth of the fees of both tokens, active liquidity, and maps. */
const GROWTH0 = 1n;
export const LIQUIDITY = 3n;
const TICKS = 4n;
const BITMAP = 5n;
const POSITIONS = 6n;
/** Place of the fees in the state of a tick, after its liquidity. */
const OUTSIDE0 = 1n;
/** First bits of the tick in the first slot of a pool, and of the net liquidity in the first slot of a tick. */
const TICK_START = 160n;
const NET_START = 128n;

export function createOwedQuestions(pools: bigint): OwedQuestions {
  return {
    owedCall: (position) =>
      extsload(position.factory, listOwedSlots(position, poolSlot(position.poolId ?? '0x0', pools))),
    readOwed,
  };
}

/** Each answer is the word in one slot. */
export function createTickQuestions(pools: bigint): TickQuestions {
  const slotOf = (id: Hex | null): bigint => poolSlot(id ?? '0x0', pools);
  return {
    tickCall: ({ factory, pool_id: id }) => readSlot(factory, slotOf(id)),
    readTick: (answer) => mapWord(answer, (word) => BigInt(tickOfSlot(word))),
    bitmapCall: ({ factory, pool_id: id }, word) => readSlot(factory, bitmapSlot(slotOf(id), word)),
    netCall: ({ factory, pool_id: id }, tick) => readSlot(factory, tickSlot(slotOf(id), tick)),
    readNet: (answer) => mapWord(answer, netOfSlot),
  };
}

function readSlot(manager: Hex, slot: bigint): ContractCall {
  return { to: manager, data: callData('extsload(bytes32)', slot) };
}

function mapWord(answer: Hex | null | undefined, read: (word: bigint) => bigint): bigint | null {
  const word = readNumber(answer);
  return word === null ? null : read(word);
}

/** Calls that read any number of slots. */
export function slotCalls(manager: Hex, slots: readonly bigint[]): ContractCall[] {
  return inChunks(slots).map((chunk) => extsload(manager, chunk));
}

/** The number of calls that read these slots. */
export function callsOf(slots: readonly bigint[]): number {
  return inChunks(slots).length;
}

/** The words of these slots, by the answers to `slotCalls`. Null if one is missing. */
export function readAllSlots(slots: readonly bigint[], answers: readonly (Hex | null)[]): bigint[] | null {
  const words: bigint[] = [];
  for (const [index, chunk] of inChunks(slots).entries()) {
    const read = readSlots(answers[index], chunk.length);
    if (read === null) return null;
    words.push(...read);
  }
  return words;
}

function inChunks(slots: readonly bigint[]): bigint[][] {
  const count = Math.ceil(slots.length / SLOTS_PER_CALL);
  return Array.from({ length: count }, (_, index) =>
    slots.slice(index * SLOTS_PER_CALL, (index + 1) * SLOTS_PER_CALL),
  );
}

/** Reads slots of the manager in one call. */
function extsload(manager: Hex, slots: readonly bigint[]): ContractCall {
  // The argument is one list: the place where it starts, its length, and its items.
  return { to: manager, data: callData('extsload(bytes32[])', 32, slots.length, ...slots) };
}

/** The words of an answer of `extsload`. Null if their number differs from `count`. */
function readSlots(answer: Hex | null | undefined, count: number): readonly bigint[] | null {
  const words = Array.from({ length: count }, (_, index) => readUint(answer, index + 2));
  const known = words.filter((word) => word !== null);
  return known.length === count && readUint(answer, 1) === BigInt(count) ? known : null;
}

/** The first slot of the state of a pool: that of its √price and its tick, or of its active bin. */
export function poolSlot(poolId: Hex, pools: bigint): bigint {
  return hashOf(BigInt(poolId), pools);
}

/** The tick in the first slot of a pool. */
export function tickOfSlot(word: bigint): number {
  return Number(BigInt.asIntN(24, word >> TICK_START));
}

/** The slot of a word of the bitmap of ticks. */
export function bitmapSlot(pool: bigint, word: number): bigint {
  return hashOf(BigInt(word), pool + BITMAP);
}

/** The first slot of a tick: its liquidity. */
export function tickSlot(pool: bigint, tick: number): bigint {
  return hashOf(BigInt(tick), pool + TICKS);
}

/** The net liquidity in the first slot of a tick. */
export function netOfSlot(word: bigint): bigint {
  return BigInt.asIntN(128, word >> NET_START);
}

/** The slot of a key in a map: the hash of the key and of the slot of the map. */
export function hashOf(...words: readonly bigint[]): bigint {
  return BigInt(keccak256(`0x${words.map((word) => toDigits(word, 256)).join('')}`));
}

function toDigits(value: bigint, bits: number): string {
  return numberToHex(BigInt.asUintN(bits, value))
    .slice(2)
    .padStart(bits / 4, '0');
}

/** The slots that `readOwed` needs, in its order. */
function listOwedSlots({ manager, tokenId, tickLower, tickUpper }: ManagedPosition, pool: bigint): bigint[] {
  const [lower, upper] = [tickLower, tickUpper].map((tick) => tickSlot(pool, tick) + OUTSIDE0);
  const ticks = [tickLower, tickUpper].map((tick) => toDigits(BigInt(tick), 24)).join('');
  const key = keccak256(`0x${manager.slice(2)}${ticks}${toDigits(tokenId, 256)}`);
  const position = hashOf(BigInt(key), pool + POSITIONS);
  return [
    ...[pool, pool + GROWTH0, pool + GROWTH0 + 1n],
    ...[lower, upper].flatMap((slot = 0n) => [slot, slot + 1n]),
    ...[position, position + 1n, position + 2n],
  ];
}

/** The fees since the last change of the position, as Pool.getFeeGrowthInside and Position.update compute them. */
function readOwed(
  answer: Hex | null | undefined,
  { tickLower, tickUpper }: ManagedPosition,
): Collected | null {
  const words = readSlots(answer, 10);
  if (words === null) return null;
  const [slot0 = 0n, global0 = 0n, global1 = 0n, lower0 = 0n, lower1 = 0n, upper0 = 0n, upper1 = 0n] = words;
  const [position = 0n, last0 = 0n, last1 = 0n] = words.slice(7);
  const liquidity = BigInt.asUintN(128, position);
  const tick = tickOfSlot(slot0);
  const inside = (global: bigint, lower: bigint, upper: bigint): bigint => {
    if (tick < tickLower) return lower - upper;
    return tick >= tickUpper ? upper - lower : global - lower - upper;
  };
  // Growth counts modulo 2^256.
  const owed = (growth: bigint, last: bigint): bigint =>
    (BigInt.asUintN(256, growth - last) * liquidity) >> 128n;
  return {
    amount0: owed(inside(global0, lower0, upper0), last0),
    amount1: owed(inside(global1, lower1, upper1), last1),
  };
}
