/**
 * The bars of one pair, timeframe and currency as of one snapshot: plain rows of `bars` read backwards and merged here,
 * plus the swaps of head blocks. What a series looks like outside is tickSeries' part.
 */
import { z } from 'zod';

import type { QueryParams } from '../clickhouse/database';
import type { QueryRunner } from '../clickhouse/namedQueries';
import type { RowReader } from '../clickhouse/rowReader';
import { lastOrdOfBlock } from '../domain/ord';
import { addHeadSwaps, foldParts, parseUsd, type BarPart, type HeadSwap } from './barParts';
import { readPrices } from './barPrices';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import type { HeadSwaps, LegKey } from './headSwaps';
import { slotOf } from './tickSeries';

/** Rows asked for beside 1.5 per bar: short series in many parts need no second round. */
const ROWS_SPARE = 16;
/** Each further round asks for this many times more rows … */
const ROWS_GROWTH = 8;
const ROWS_MAX = 200_000;
/** … and 40 rounds of the maximum hold all minutes of fifteen years. */
const ROUNDS_MAX = 44;
const DAY_SECONDS = 86_400;

/** 64-bit integers come as numbers or as text, as the server's settings have it; ords and counts fit a number. */
const integer = z.union([z.string(), z.number()]);
const ordAndPrice = z.tuple([integer, z.number()]);
/** Sums wider than 64 bits come as text. */
const barRowShape = z.object({
  bucket: z.int(),
  open: ordAndPrice,
  close: ordAndPrice,
  high: z.number(),
  /** null: infinity, that is none. */
  low: z.number().nullable(),
  volume0_text: z.string(),
  volume1_text: z.string(),
  volume_usd_text: z.string(),
  trades: integer,
  untracked: integer,
  buys: integer,
  last_ord: integer,
});
type BarRow = z.infer<typeof barRowShape>;

const firstBarShape = z.object({ bucket: z.int() });

export interface BarsRead {
  /** Bars with a price, ascending. */
  readonly priced: BarPart[];
  /** No bar of the pair has a price, whatever its time. */
  readonly neverPriced: boolean;
}

/** Where bars are read from. */
export interface BarSourceDeps {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly headSwaps: HeadSwaps;
}

/** Reads bars; made for one request. */
export class BarSource {
  private readonly key: { readonly pair: string; readonly leg: number; readonly usd: boolean };
  private readonly snapshot: QueryParams;
  private readonly tipOrd: number;
  private readonly lastBucket: number;

  constructor(
    private readonly source: BarSourceDeps,
    private readonly head: HeadSnapshot,
    private readonly legKey: LegKey,
    private readonly seconds: number,
    private readonly usd: boolean,
  ) {
    this.key = { pair: legKey.pair.slice(2), leg: legKey.leg, usd };
    this.snapshot = snapshotParams(head);
    this.tipOrd = lastOrdOfBlock(head.number);
    this.lastBucket = slotOf(head.timestamp, seconds);
  }

  /** The newest bars with a price below `to`, `wanted` of them where there are so many, or more. */
  async read(to: number, wanted: number): Promise<BarsRead> {
    const end = Math.min(to, this.lastBucket + this.seconds);
    const [swaps, page] = await Promise.all([
      this.source.headSwaps.of(this.head, this.legKey, this.usd),
      this.listBars(0, end, Math.ceil(wanted * 1.5) + ROWS_SPARE),
    ]);
    const priced = await this.collect(page, swaps, end, wanted);
    const pricedHead = (): boolean => swaps.some((swap) => swap.price > 0);
    const neverPriced =
      this.usd && priced.length === 0 && !pricedHead() && (await this.findFirstDay()) === null;
    return { priced, neverPriced };
  }

  /** Reads on, in growing pages, until there are enough bars or none are left. */
  private async collect(
    first: BarPage,
    swaps: readonly HeadSwap[],
    end: number,
    wanted: number,
  ): Promise<BarPart[]> {
    const bars = new Map<number, BarPart>();
    let page = first;
    let from = 0;
    let limit = ROWS_MAX;
    for (let round = 1; round <= ROUNDS_MAX; round += 1) {
      const fresh = foldParts(await this.mend(page.parts));
      addHeadSwaps(fresh, swaps, { seconds: this.seconds, from: page.completeFrom, to: page.before });
      for (const [bucket, bar] of fresh) if (bar.high > 0) bars.set(bucket, bar);
      if (page.exhausted || bars.size >= wanted) break;
      if (round === 1) {
        const firstHead = swaps.find((swap) => swap.price > 0)?.timestamp ?? end;
        const firstFinal = (await this.findFirstDay()) ?? end;
        from = Math.min(firstFinal, slotOf(firstHead, DAY_SECONDS));
        limit = Math.min(page.rows * ROWS_GROWTH, ROWS_MAX);
      }
      page = await this.listBars(from, page.completeFrom, limit);
      limit = Math.min(limit * ROWS_GROWTH, ROWS_MAX);
    }
    return [...bars.values()].sort((a, b) => a.bucket - b.bucket);
  }

  /** One page below `before`. A page that hit its limit may end inside a bucket: that bucket is left to the next one. */
  private async listBars(from: number, before: number, limit: number): Promise<BarPage> {
    const { pair, leg } = this.key;
    const params = { pair, leg, timeframe: this.seconds, from, to: before, limit };
    const name = this.usd ? 'ticks/list_bars_usd' : 'ticks/list_bars_quote';
    const rows = await this.source.runner.read(name, params, (row) => readPart(row, this.usd));
    const exhausted = rows.length < limit;
    const cut = exhausted ? undefined : rows.at(-1)?.bucket;
    const whole = cut === undefined ? rows : rows.filter((row) => row.bucket > cut);
    return {
      parts: whole,
      rows: limit,
      exhausted,
      before,
      completeFrom: cut === undefined ? 0 : cut + 1,
    };
  }

  /**
   * While a batch is being stored, `bars` may hold swaps that the snapshot does not: only in the bucket of the newest
   * block, since later buckets are not asked for. That bucket is then summed from the swaps themselves.
   */
  private async mend(parts: readonly BarPart[]): Promise<readonly BarPart[]> {
    const ahead = parts.some((part) => part.bucket === this.lastBucket && part.lastOrd > this.tipOrd);
    if (!ahead) return parts;
    const params = {
      ...this.key,
      ...this.snapshot,
      chain_id: this.source.chainId,
      timeframe: this.seconds,
      bucket: this.lastBucket,
    };
    const rows = await this.source.runner.run('ticks/recompute_bar', params, barRowShape);
    return [...parts.filter((part) => part.bucket !== this.lastBucket), ...rows.map(toPart)];
  }

  /** The day of the first bar with a price: nothing older needs to be read. */
  private async findFirstDay(): Promise<number | null> {
    const [row] = await this.source.runner.run('ticks/find_first_bar', this.key, firstBarShape);
    return row?.bucket ?? null;
  }
}

interface BarPage {
  readonly parts: readonly BarPart[];
  /** Rows asked for. */
  readonly rows: number;
  readonly exhausted: boolean;
  /** The page holds every bar of [completeFrom, before). */
  readonly before: number;
  readonly completeFrom: number;
}

/** A row of list_bars_*. */
function readPart(row: RowReader, usd: boolean): BarPart {
  const prices = readPrices(row, !usd);
  return {
    ...prices,
    volume0: row.u256(),
    volume1: row.u256(),
    volumeUsd: row.decimal128(),
    trades: row.u64(),
    untracked: row.u64(),
    buys: row.u64(),
    lastOrd: Math.max(prices.lastOrd, row.u64()),
  };
}

function toPart(row: BarRow): BarPart {
  return {
    bucket: row.bucket,
    openOrd: Number(row.open[0]),
    open: row.open[1],
    closeOrd: Number(row.close[0]),
    close: row.close[1],
    high: row.high,
    low: row.low ?? 0,
    volume0: BigInt(row.volume0_text),
    volume1: BigInt(row.volume1_text),
    volumeUsd: parseUsd(row.volume_usd_text),
    trades: Number(row.trades),
    untracked: Number(row.untracked),
    buys: Number(row.buys),
    lastOrd: Number(row.last_ord),
  };
}
