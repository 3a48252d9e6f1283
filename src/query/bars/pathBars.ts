/**
 * Reads the bars of a token's published price: the price after each block in which it changed. Volume and counts are
 * those of the token's swaps. hopPages.ts reads the prices.
 */
import type { HeadSnapshot } from '../head/headSnapshot';
import { foldParts, type BarPart } from './barParts';
import type { BarsRead } from './barPages';
import type { BarRows } from './barReader';
import { readBlockBars } from './blockBars';
import { readPricePage, type PathQuestion, type PathSource } from './hopPages';
import type { PricePoint } from './pathPoints';
import { slotOf } from './chartSeries';
import { readTokenVolumes, type BarVolume } from './tokenBars';

interface PathRequest extends PathQuestion {
  /** Length of a bar. */
  readonly seconds: number;
  /** Exclusive bound on the open time of a bar. */
  readonly to: number;
  /** Number of bars. */
  readonly wanted: number;
}

/** `rows`: the bars of the token's swaps. */
export async function readPathBars(
  source: PathSource,
  head: HeadSnapshot,
  request: PathRequest,
  rows: Pick<BarRows, 'listHead'>,
): Promise<BarsRead> {
  const { runner, chainId } = source;
  const blockBars = await readBlockBars(runner, head, { ...request, chainId }, async (before, limit) => {
    const { points, changes, from } = await readPricePage(source, head, request, before - 1, limit);
    return { parts: points.map((point) => partOfPoint(point, request.seconds)), rows: changes, from };
  });
  return { ...blockBars, priced: await addVolumes(source, request, blockBars.priced, rows) };
}

function partOfPoint({ ord, timestamp, price }: PricePoint, seconds: number): BarPart {
  return {
    bucket: slotOf(timestamp, seconds),
    openOrd: ord,
    open: price,
    closeOrd: ord,
    close: price,
    high: price,
    low: price,
    volume0: 0n,
    volume1: 0n,
    volumeUsd: 0n,
    trades: 0,
    untracked: 0,
    buys: 0,
    lastOrd: ord,
  };
}

/** Adds the amounts and counts that the bars of the token's swaps have. */
async function addVolumes(
  { runner }: PathSource,
  { token, seconds }: PathRequest,
  bars: readonly BarPart[],
  rows: Pick<BarRows, 'listHead'>,
): Promise<BarPart[]> {
  if (bars.length === 0) return [];
  const buckets = bars.map(({ bucket }) => bucket);
  const [stored, head] = await Promise.all([
    readTokenVolumes(runner, token, seconds, buckets),
    rows.listHead(seconds),
  ]);
  const inHead = foldParts(
    head.filter(({ bucket, lastOrd }) => lastOrd > (stored.get(bucket)?.lastOrd ?? -1)),
  );
  return bars.map((bar) => addVolume(addVolume(bar, stored.get(bar.bucket)), inHead.get(bar.bucket)));
}

function addVolume(bar: BarPart, volume: BarVolume | undefined): BarPart {
  if (volume === undefined) return bar;
  return {
    ...bar,
    volume0: bar.volume0 + volume.volume0,
    volumeUsd: bar.volumeUsd + volume.volumeUsd,
    trades: bar.trades + volume.trades,
    buys: bar.buys + volume.buys,
  };
}
