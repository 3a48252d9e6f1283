/**
 * Reads the bars of a token's published price: the price after each block in which it changed. Volume and counts are
 * those of the token's swaps. hopPages.ts reads the prices.
 */
import { pricedAs } from '../../domain/pools/nativeCoin';
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
  /** Length of a bar in seconds. */
  readonly barSeconds: number;
  /** Exclusive bound on the open time of a bar, unix seconds. */
  readonly beforeTime: number;
  /** Number of bars. */
  readonly barsWanted: number;
}

/** `swapBars`: the bars of the token's swaps. */
export async function readPathBars(
  source: PathSource,
  head: HeadSnapshot,
  request: PathRequest,
  swapBars: Pick<BarRows, 'listHead'>,
): Promise<BarsRead> {
  const { runner, chainId, sources } = source;
  const priced = { ...request, token: pricedAs(request.token, sources.wrappedNative) };
  const blockBars = await readBlockBars(
    runner,
    head,
    { ...request, chainId },
    async (endBlock, rowsWanted) => {
      const { points, changes, firstBlock } = await readPricePage(
        source,
        head,
        priced,
        endBlock - 1,
        rowsWanted,
      );
      return {
        parts: points.map((point) => partOfPoint(point, request.barSeconds)),
        rows: changes,
        firstPosition: firstBlock,
      };
    },
  );
  return { ...blockBars, priced: await addVolumes(source, request, blockBars.priced, swapBars) };
}

function partOfPoint({ ord, timestamp, price }: PricePoint, barSeconds: number): BarPart {
  return {
    bucket: slotOf(timestamp, barSeconds),
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
  { token, barSeconds }: PathRequest,
  bars: readonly BarPart[],
  swapBars: Pick<BarRows, 'listHead'>,
): Promise<BarPart[]> {
  if (bars.length === 0) return [];
  const buckets = bars.map(({ bucket }) => bucket);
  const [storedVolumes, headParts] = await Promise.all([
    readTokenVolumes(runner, token, barSeconds, buckets),
    swapBars.listHead(barSeconds),
  ]);
  const headVolumes = foldParts(
    headParts.filter(({ bucket, lastOrd }) => lastOrd > (storedVolumes.get(bucket)?.lastOrd ?? -1)),
  );
  return bars.map((bar) =>
    addVolume(addVolume(bar, storedVolumes.get(bar.bucket)), headVolumes.get(bar.bucket)),
  );
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
