/**
 * Reads the ticks of V3 pools that are older than the start block. The ticks before the start block are the ticks at the
 * end of a later block, without the stored mints and burns up to that block. The result is the same on every branch, so
 * a reorg does not change it.
 */
import type { Database } from '../../clickhouse/client/database';
import { readNumber } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { findProtocol } from '../../protocols/registry';
import { TICK_MAX, TICK_MIN } from '../../protocols/ticks/tickMath';
import { v3TickQuestions, type TickQuestions } from '../../protocols/ticks/tickQuestions';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import type { OldTickRange } from '../pools/oldTicks';
import { readTicks } from '../price/storedTicks';
import { readOldBins } from './readOldBins';
import type { SearchBlock } from './searchProgress';
import type { AskOlder, UnreadPool } from './unreadPools';

/** Ticks up to this distance from the pool's tick are read, which is a factor of 256 of the price: 1.0001^55,452. */
const REACH = 55_452;
/**
 * The pool's bitmap has one bit for each multiple of the tick spacing, in words of 256 bits. At most WORDS_MAX
 * words are read, so pools with a small tick spacing get a shorter range.
 */
const WORD_BITS = 256;
const WORDS_MAX = 256;
/**
 * Largest number of ticks of one pool. The ticks farthest from the pool's tick are left out. A walk crosses at
 * most 1,000 ticks in each direction.
 */
const TICKS_MAX = 4_000;
interface TickReading {
  readonly pool: UnreadPool;
  low: number;
  high: number;
  ticks: number[];
}

interface Deps {
  readonly database: Database;
  readonly rpc: EthCalls;
  /** Waits until the limit per second allows so many calls. */
  readonly spend: (calls: number) => Promise<void>;
}

/** A pool without a usable answer gets an empty range. */
export async function readOldTicks(
  { database, rpc, spend }: Deps,
  pools: readonly UnreadPool[],
  block: SearchBlock,
  signal: AbortSignal,
): Promise<OldTickRange[]> {
  const ask: AskOlder = async (calls) => {
    await spend(calls.length);
    const lists = calls.map((call) => [call]);
    const contractAnswers = await askContracts(rpc, lists, { at: { blockHash: block.hash }, signal });
    return contractAnswers.map(({ answers: [answer = null] }) => answer);
  };
  const binned = pools.filter(({ pool_type }) => !shapeOf(pool_type).hasTicks);
  const ticked = pools.filter(({ pool_type }) => shapeOf(pool_type).hasTicks);
  const ranges = await readOldBins(database, ask, binned, block);
  const slots = await ask(ticked.map((pool) => questionsOf(pool).tickCall(pool)));
  const readings: TickReading[] = [];
  for (const [i, pool] of ticked.entries()) {
    const tick = questionsOf(pool).readTick(slots[i]);
    const reading = tick === null ? null : await readBitmap(ask, pool, Number(tick));
    if (reading === null) ranges.push({ pair: pool.address, low: 1, high: 0, ticks: [], nets: [] });
    else readings.push(reading);
  }
  if (readings.length === 0) return ranges;
  const sums = await sumEvents(database, readings, block);
  for (const reading of readings) ranges.push(await readNets(ask, reading, sums));
  return ranges;
}

function questionsOf({ protocol }: UnreadPool): TickQuestions {
  return findProtocol(protocol)?.tickQuestions ?? v3TickQuestions;
}

/** Finds the initialised ticks near the pool's tick. Null if the contract does not answer like a V3 pool. */
async function readBitmap(ask: AskOlder, pool: UnreadPool, tick: number): Promise<TickReading | null> {
  const { tick_spacing: spacing } = pool;
  if (spacing <= 0 || tick < TICK_MIN || tick > TICK_MAX) return null;
  const wordOf = (at: number): number => Math.floor(at / spacing / WORD_BITS);
  const middle = wordOf(tick);
  const reach = Math.min(Math.ceil(REACH / spacing / WORD_BITS), WORDS_MAX / 2);
  const first = Math.max(wordOf(TICK_MIN), middle - reach);
  const last = Math.min(wordOf(TICK_MAX), middle + reach);
  const words = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const answers = await ask(words.map((word) => questionsOf(pool).bitmapCall(pool, word)));
  const ticks: number[] = [];
  for (const [i, word] of words.entries()) {
    const bits = readNumber(answers[i]);
    if (bits === null) return null;
    for (let bit = 0; bits !== 0n && bit < WORD_BITS; bit += 1)
      if (((bits >> BigInt(bit)) & 1n) === 1n) ticks.push((word * WORD_BITS + bit) * spacing);
  }
  const low = Math.max(TICK_MIN, first * WORD_BITS * spacing);
  const high = Math.min(TICK_MAX, (last + 1) * WORD_BITS * spacing - 1);
  return shorten({ pool, low, high, ticks }, tick);
}

/** Keeps the ticks nearest to `tick`, and the range that they cover. */
function shorten(reading: TickReading, tick: number): TickReading {
  if (reading.ticks.length <= TICKS_MAX) return reading;
  // Ticks at this distance are left out.
  const distance = reading.ticks.map((one) => Math.abs(one - tick)).sort((a, b) => a - b)[TICKS_MAX] ?? 0;
  const ticks = reading.ticks.filter((one) => Math.abs(one - tick) < distance);
  return {
    ...reading,
    low: Math.max(reading.low, tick - distance + 1),
    high: Math.min(reading.high, tick + distance - 1),
    ticks,
  };
}

/** Reads the net liquidity of each tick, and takes away what the stored events added. */
async function readNets(
  ask: AskOlder,
  { pool, low, high, ticks }: TickReading,
  sums: ReadonlyMap<Hex, ReadonlyMap<number, bigint>>,
): Promise<OldTickRange> {
  const pair = pool.address;
  const { netCall, readNet } = questionsOf(pool);
  const answers = await ask(ticks.map((tick) => netCall(pool, tick)));
  const nets = new Map<number, bigint>();
  for (const [i, tick] of ticks.entries()) {
    const net = readNet(answers[i]);
    if (net === null) return { pair, low: 1, high: 0, ticks: [], nets: [] };
    nets.set(tick, net);
  }
  for (const [tick, sum] of sums.get(pair) ?? [])
    if (tick >= low && tick <= high) nets.set(tick, (nets.get(tick) ?? 0n) - sum);
  const netsBefore = [...nets].filter(([, net]) => net !== 0n).sort(([a], [b]) => a - b);
  return { pair, low, high, ticks: netsBefore.map(([tick]) => tick), nets: netsBefore.map(([, net]) => net) };
}

async function sumEvents(
  database: Database,
  readings: readonly TickReading[],
  { commits, finalTo }: SearchBlock,
): Promise<Map<Hex, Map<number, bigint>>> {
  const pairs = readings.map(({ pool }) => pool.address);
  const sums = new Map<Hex, Map<number, bigint>>();
  for (const { pair, tick, net } of await readTicks(database, { finalTo, commits, pairs })) {
    const netByTick = sums.get(pair) ?? new Map<number, bigint>();
    sums.set(pair, netByTick.set(tick, net));
  }
  return sums;
}
