/**
 * Reads the bins of pools that are older than the start block. They are the bins at the end of a later block, without what
 * the stored events changed up to that block, as for ticks in `readOldTicks`.
 */
import type { Database } from '../../clickhouse/client/database';
import { callData, readNumber, readUint } from '../../domain/contractCall';
import { packBin, type BinMove } from '../../domain/pools/binMoves';
import type { OldTickRange } from '../pools/oldTicks';
import { readBins } from '../price/storedTicks';
import type { AskOlder, UnreadPool } from './unreadPools';
import type { SearchBlock } from './searchProgress';

/** Bins within this factor of the price are read, as far as they back it. */
const REACH = 2;
/** Largest number of bins that are read on each side of the active one, with one call each. Beyond, walks end. */
const SIDE_MAX = 60;
const BASIS_POINTS = 10_000;

/**
 * A pool without a usable answer gets an empty range, and so does one without a contract of its own, whose state tells its
 * bins.
 */
export async function readOldBins(
  database: Database,
  ask: AskOlder,
  pools: readonly UnreadPool[],
  { commits, finalTo }: SearchBlock,
): Promise<OldTickRange[]> {
  if (pools.length === 0) return [];
  const pairs = pools.map(({ address }) => address);
  const stored = await readBins(database, { finalTo, commits, pairs });
  const contracts = pools.filter(({ pool_id }) => pool_id === null);
  const actives = await ask(contracts.map(({ address: to }) => ({ to, data: callData('getActiveId()') })));
  const ranges: OldTickRange[] = pools.filter(({ pool_id }) => pool_id !== null).map(emptyRange);
  for (const [i, pool] of contracts.entries()) {
    const active = readNumber(actives[i]);
    const bins = active === null ? null : await readRange(ask, pool, Number(active));
    if (bins === null) ranges.push(emptyRange(pool));
    else
      ranges.push(
        withoutStored(
          pool,
          bins,
          stored.filter(({ pair }) => pair === pool.address),
        ),
      );
  }
  return ranges;
}

function emptyRange({ address: pair }: UnreadPool): OldTickRange {
  return { pair, low: 1, high: 0, ticks: [], nets: [] };
}

/** The bins around the active one, ascending. Null without a usable answer. */
async function readRange(
  ask: AskOlder,
  { address: to, tick_spacing: binStep }: UnreadPool,
  active: number,
): Promise<BinMove[] | null> {
  const side = Math.min(SIDE_MAX, Math.ceil(Math.log(REACH) / Math.log1p(binStep / BASIS_POINTS)));
  const ids = Array.from({ length: 2 * side + 1 }, (_, i) => active - side + i);
  const answers = await ask(ids.map((id) => ({ to, data: callData('getBin(uint24)', id) })));
  const bins: BinMove[] = [];
  for (const [i, id] of ids.entries()) {
    const [amount0, amount1] = [readUint(answers[i]), readUint(answers[i], 1)];
    if (amount0 === null || amount1 === null) return null;
    bins.push({ id, amount0, amount1 });
  }
  return bins;
}

function withoutStored(
  { address: pair }: UnreadPool,
  bins: readonly BinMove[],
  stored: readonly BinMove[],
): OldTickRange {
  const sums = new Map(stored.map((bin) => [bin.id, bin]));
  const before = bins.flatMap(({ id, amount0, amount1 }) => {
    const sum = sums.get(id);
    // The stored sums are modulo 2^256.
    const old0 = BigInt.asUintN(256, amount0 - (sum?.amount0 ?? 0n));
    const old1 = BigInt.asUintN(256, amount1 - (sum?.amount1 ?? 0n));
    return old0 === 0n && old1 === 0n ? [] : [{ id, amount0: old0, amount1: old1 }];
  });
  return {
    pair,
    low: bins[0]?.id ?? 1,
    high: bins.at(-1)?.id ?? 0,
    ticks: before.map(({ id }) => id),
    nets: before.map(packBin),
  };
}
