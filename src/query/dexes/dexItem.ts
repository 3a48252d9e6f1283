/** Builds DEX items from pairs and sums. Pure. */
import type { Dex } from '../../domain/pool';
import { getProtocol } from '../../protocols/registry';
import type { DexDay, DexItem } from '../../wire/dexes';
import type { DexDayRow } from './dexDays';
import type { PairEntry } from '../pairs/pairItem';
import { changePercent, compareKeys, distinctMakers, latestOf } from '../pairs/rankings';

const DAY_SECONDS = 86_400;

type PoolType = DexItem['pool_types'][number];

/** The fields of a DEX's configuration that its figures need. */
export type DexFacts = Pick<Dex, 'name' | 'displayName' | 'protocol' | 'factory' | 'protocolFeeShare'>;

/** Number of distinct makers of the last day on one DEX. The row with a null `dex` counts all DEXes
 * together. */
export interface DexTraders {
  readonly dex: string | null;
  readonly traders: number;
  readonly trades: number;
}

interface DexSums {
  /** Number of traders of the last 24 hours by DEX. */
  readonly traders: readonly DexTraders[];
  /** USD volume of tracked swaps of the last week by DEX. DEXes without swaps are missing. */
  readonly weekVolumes: ReadonlyMap<string, number>;
  /** USD volume by DEX from 48 to 24 hours ago. */
  readonly dayBeforeVolumes: ReadonlyMap<string, number>;
}

/** All configured DEXes and the DEXes of stored pools, by volume descending, then by name. */
export function toDexItems(
  dexes: readonly DexFacts[],
  pairs: readonly PairEntry[],
  sums: DexSums,
): DexItem[] {
  const configuredDexes = new Map(dexes.map((dex) => [dex.name, dex]));
  const pairsByDex = new Map<string, PairEntry[]>(dexes.map(({ name }) => [name, []]));
  for (const entry of pairs) {
    const dexPairs = pairsByDex.get(entry.pool.dex);
    if (dexPairs === undefined) pairsByDex.set(entry.pool.dex, [entry]);
    else dexPairs.push(entry);
  }
  const totals = {
    volume: sumOf(pairs, 'volume24hUsd'),
    tvl: sumOf(pairs, 'liquidityUsd'),
  };
  return [...pairsByDex]
    .map(([name, entries]) => toDexItem(name, configuredDexes.get(name) ?? null, entries, sums, totals))
    .sort(
      (a, b) =>
        compareKeys(a.volume_24h_usd, b.volume_24h_usd, 'desc') || compareKeys(a.dex_name, b.dex_name, 'asc'),
    );
}

export function sumOf(
  pairs: readonly PairEntry[],
  field: 'volume24hUsd' | 'fees24hUsd' | 'protocolFees24hUsd' | 'liquidityUsd',
): number {
  return pairs.reduce((sum, pair) => sum + pair[field], 0);
}

function toDexItem(
  name: string,
  dex: DexFacts | null,
  entries: readonly PairEntry[],
  sums: DexSums,
  marketTotals: { readonly volume: number; readonly tvl: number },
): DexItem {
  const volumeUsd = sumOf(entries, 'volume24hUsd');
  const feesUsd = sumOf(entries, 'fees24hUsd');
  const tvlUsd = sumOf(entries, 'liquidityUsd');
  const swapCount = entries.reduce((sum, entry) => sum + entry.swaps24h, 0);
  const traders = sums.traders.find((row) => row.dex === name)?.traders ?? 0;
  return {
    dex_name: name,
    display_name: dex?.displayName ?? name,
    pool_types: typesOf(dex, entries),
    factories: [
      ...new Set([...(dex === null ? [] : [dex.factory]), ...entries.map((e) => e.pool.factory)]),
    ].sort(),
    volume_24h_usd: volumeUsd,
    volume_7d_usd: sums.weekVolumes.get(name) ?? 0,
    volume_change_24h: changePercent(volumeUsd, sums.dayBeforeVolumes.get(name) ?? 0),
    tvl_usd: tvlUsd,
    fees_24h_usd: feesUsd,
    protocol_fees_24h_usd: sumOf(entries, 'protocolFees24hUsd'),
    tx_24h: swapCount,
    traders_24h: distinctMakers(traders, swapCount),
    pool_count: entries.length,
    active_pools_24h: entries.filter((entry) => entry.swaps24h > 0).length,
    market_share_24h: percentOf(volumeUsd, marketTotals.volume),
    tvl_share: percentOf(tvlUsd, marketTotals.tvl),
    last_trade_at: entries.reduce<number | null>(
      (latestAt, { facts }) => latestOf(latestAt, facts.lastTradeAt),
      null,
    ),
  };
}

function typesOf(dex: DexFacts | null, entries: readonly PairEntry[]): PoolType[] {
  const types = new Set(entries.map(({ pool }) => pool.pool_type));
  if (types.size === 0 && dex !== null) types.add(getProtocol(dex.protocol).poolTypes[0]);
  return [...types].sort();
}

/** A part of a total in percent; null for a total of 0. */
function percentOf(part: number, total: number): number | null {
  return total <= 0 ? null : (part / total) * 100;
}

/**
 * One item per UTC day for one DEX, ascending without gaps, from `firstDay` to `lastDay` (starts of days). `rows` has
 * the rows of all DEXes, for the market shares. `tvlOf` gives the TVL at the end of a day, or null if it is unknown.
 * For the last day, it gives the current TVL.
 */
export function toDexHistory(
  rows: readonly DexDayRow[],
  dex: string,
  { firstDay, lastDay, tvlOf }: { firstDay: number; lastDay: number; tvlOf: (day: number) => number | null },
): DexDay[] {
  const days: DexDay[] = [];
  for (let dayStart = firstDay; dayStart <= lastDay; dayStart += DAY_SECONDS) {
    const dayRows = rows.filter((row) => row.day === dayStart);
    const dexRows = dayRows.filter((row) => row.dex === dex);
    const volumeUsd = sumDays(dexRows, 'volume_usd');
    days.push({
      time: dayStart,
      volume_usd: volumeUsd,
      fees_usd: sumDays(dexRows, 'fees_usd'),
      tvl_usd: tvlOf(dayStart),
      tx: dexRows.reduce((sum, row) => sum + row.trades, 0),
      market_share: percentOf(volumeUsd, sumDays(dayRows, 'volume_usd')),
    });
  }
  return days;
}

function sumDays(rows: readonly DexDayRow[], field: 'volume_usd' | 'fees_usd'): number {
  return rows.reduce((sum, row) => sum + row[field], 0);
}

/** The pairs with the most volume; ties by address. */
export function topPairs(entries: readonly PairEntry[], dex: string, limit: number): PairEntry[] {
  return entries
    .filter(({ pool }) => pool.dex === dex)
    .sort(
      (a, b) =>
        compareKeys(a.volume24hUsd, b.volume24hUsd, 'desc') ||
        compareKeys(a.pool.address, b.pool.address, 'asc'),
    )
    .slice(0, limit);
}
