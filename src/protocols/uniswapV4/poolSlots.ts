/**
 * The storage of the PoolManager, which anyone can read by `extsload`: the slots of a pool, and what its positions earned.
 * The layout is that of StateLibrary.sol and Pool.sol of @uniswap/v4-core, and has no functions of its own to read it.
 */
import { keccak256 } from 'ethers';

import { callData, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { numberToHex, type Hex } from '../../domain/hex';
import type { Collected, ManagedPosition, OwedQuestions } from '../ticks/positionManager';
import type { TickQuestions } from '../ticks/tickQuestions';

/** The slot of the map of all pools. */
const POOLS = 6n;
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

export const v4OwedQuestions: OwedQuestions = {
  owedCall: (position) => extsload(position.factory, listOwedSlots(position)),
  readOwed,
};

/** Each answer is the word in one slot. */
export const v4TickQuestions: TickQuestions = {
  tickCall: ({ factory, pool_id: id }) => readSlot(factory, poolSlot(id ?? '0x0')),
  readTick: (answer) => mapWord(answer, (word) => BigInt(tickOfSlot(word))),
  bitmapCall: ({ factory, pool_id: id }, word) => readSlot(factory, bitmapSlot(poolSlot(id ?? '0x0'), word)),
  netCall: ({ factory, pool_id: id }, tick) => readSlot(factory, tickSlot(poolSlot(id ?? '0x0'), tick)),
  readNet: (answer) => mapWord(answer, netOfSlot),
};

function readSlot(manager: Hex, slot: bigint): ContractCall {
  return { to: manager, data: callData('extsload(bytes32)', slot) };
}

function mapWord(answer: Hex | null | undefined, read: (word: bigint) => bigint): bigint | null {
  const word = readNumber(answer);
  return word === null ? null : read(word);
}

/** Reads slots of the manager in one call. */
export function extsload(manager: Hex, slots: readonly bigint[]): ContractCall {
  // The argument is one list: the place where it starts, its length, and its items.
  return { to: manager, data: callData('extsload(bytes32[])', 32, slots.length, ...slots) };
}

/** The words of an answer of `extsload`. Null if their number differs from `count`. */
export function readSlots(answer: Hex | null | undefined, count: number): readonly bigint[] | null {
  const words = Array.from({ length: count }, (_, index) => readUint(answer, index + 2));
  const known = words.filter((word) => word !== null);
  return known.length === count && readUint(answer, 1) === BigInt(count) ? known : null;
}

/** The first slot of the state of a pool: that of its √price and its tick. */
export function poolSlot(poolId: Hex): bigint {
  return hashOf(BigInt(poolId), POOLS);
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

function hashOf(...words: readonly bigint[]): bigint {
  return BigInt(keccak256(`0x${words.map((word) => toDigits(word, 256)).join('')}`));
}

function toDigits(value: bigint, bits: number): string {
  return numberToHex(BigInt.asUintN(bits, value))
    .slice(2)
    .padStart(bits / 4, '0');
}

/** The slots that `readOwed` needs, in its order. */
function listOwedSlots({ manager, tokenId, tickLower, tickUpper, poolId }: ManagedPosition): bigint[] {
  const pool = poolSlot(poolId ?? '0x0');
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
