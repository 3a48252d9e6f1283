/**
 * The bars of one token, timeframe and currency as of one snapshot: plain rows of `token_bars` read backwards and merged
 * here, plus head blocks. What a series looks like outside is tickSeries' part, how rows are read tokenBarRows'.
 */
import { lastOrdOfBlock } from '../domain/ord';
import { AppError } from '../errors';
import { foldParts, type BarPart } from './barParts';
import { slotOf } from './tickSeries';
import {
  findFirstTokenDay,
  listTokenBars,
  listTokenHeadParts,
  sumTokenSwaps,
  type TokenBarsOf,
} from './tokenBarRows';

/** Rows asked for beside 1.5 per bar: short series in many parts need no second round. */
const ROWS_SPARE = 16;
/** Each further round asks for this many times more rows … */
const ROWS_GROWTH = 8;
const ROWS_MAX = 200_000;
/** … and 40 rounds of the maximum hold all minutes of fifteen years. */
const ROUNDS_MAX = 44;
const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

export interface TokenBarsRead {
  /** Bars with a price, ascending. */
  readonly priced: BarPart[];
  /** No bar of the token has a price, whatever its time. */
  readonly neverPriced: boolean;
}

interface BarPage {
  readonly parts: readonly BarPart[];
  /** The page holds every stored part of the bars of [completeFrom, before). */
  readonly before: number;
  readonly completeFrom: number;
  readonly exhausted: boolean;
}

/** Reads bars of `seconds`; made for one request. */
export class TokenBarSource {
  private readonly tipOrd: number;
  private readonly lastBucket: number;

  constructor(
    private readonly of: TokenBarsOf,
    private readonly seconds: number,
  ) {
    this.tipOrd = lastOrdOfBlock(of.head.number);
    this.lastBucket = slotOf(of.head.timestamp, seconds);
  }

  /** The newest bars with a price below `to`, `wanted` of them where there are so many, or more. */
  async read(to: number, wanted: number): Promise<TokenBarsRead> {
    const end = Math.min(to, this.lastBucket + this.seconds);
    const limit = Math.min(Math.ceil(wanted * 1.5) + ROWS_SPARE, ROWS_MAX);
    const [headParts, page] = await Promise.all([
      listTokenHeadParts(this.of, this.seconds),
      this.listPage(0, end, limit),
    ]);
    const bars = new Map<number, BarPart>();
    await this.addPage(bars, page, headParts);
    const enough = page.exhausted || bars.size >= wanted;
    if (bars.size === 0 || !enough) {
      const from = await this.findFirst(headParts);
      if (from === null) return { priced: [], neverPriced: true };
      if (!enough) await this.readOn(bars, headParts, { from, before: page.completeFrom, limit, wanted });
    }
    const priced = [...bars.values()].sort((a, b) => a.bucket - b.bucket);
    return { priced, neverPriced: false };
  }

  /** Reads older pages, each larger than the one before, until there are enough bars or none are left. */
  private async readOn(
    bars: Map<number, BarPart>,
    headParts: readonly BarPart[],
    older: {
      readonly from: number;
      readonly before: number;
      readonly limit: number;
      readonly wanted: number;
    },
  ): Promise<void> {
    let { before, limit } = older;
    for (let round = 2; round <= ROUNDS_MAX && bars.size < older.wanted; round += 1) {
      limit = Math.min(limit * ROWS_GROWTH, ROWS_MAX);
      const page = await this.listPage(older.from, before, limit);
      await this.addPage(bars, page, headParts);
      if (page.exhausted) return;
      before = page.completeFrom;
    }
  }

  /** One page of [from, before). A page that hit its limit may end inside a bucket: that one is left to the next page. */
  private async listPage(from: number, before: number, limit: number): Promise<BarPage> {
    const parts = await listTokenBars(this.of, { seconds: this.seconds, from, to: before }, limit);
    const exhausted = parts.length < limit;
    const cut = exhausted ? undefined : parts.at(-1)?.bucket;
    if (cut === undefined) return { parts, before, completeFrom: 0, exhausted };
    return {
      parts: parts.filter(({ bucket }) => bucket > cut),
      before,
      completeFrom: cut + 1,
      exhausted,
    };
  }

  /** Merges a page, adds the head blocks that its bars lack, and keeps the bars with a price. */
  private async addPage(
    bars: Map<number, BarPart>,
    page: BarPage,
    headParts: readonly BarPart[],
  ): Promise<void> {
    const fresh = foldParts(await this.mend(page.parts));
    const finalOrds = new Map([...fresh].map(([bucket, { lastOrd }]) => [bucket, lastOrd]));
    const missing = headParts.filter(
      ({ bucket, lastOrd }) =>
        bucket >= page.completeFrom && bucket < page.before && lastOrd > (finalOrds.get(bucket) ?? -1),
    );
    for (const [bucket, bar] of foldParts(missing, fresh)) if (bar.high > 0) bars.set(bucket, bar);
  }

  /**
   * While a batch is being stored, `token_bars` may hold swaps that the snapshot does not: only in the bucket of the newest
   * block, since later buckets are not asked for. That bucket is then put together from its whole minutes below the first
   * block that is not final, which no such swap can be in, and from the final swaps of the minute that is left.
   */
  private async mend(parts: readonly BarPart[]): Promise<readonly BarPart[]> {
    const bucket = this.lastBucket;
    const ahead = parts.some((part) => part.bucket === bucket && part.lastOrd > this.tipOrd);
    if (!ahead) return parts;
    const { head } = this.of;
    const firstOpen = head.blocks[0]?.timestamp ?? head.timestamp;
    const cut = Math.max(bucket, slotOf(firstOpen, MINUTE_SECONDS));
    const [minutes, rest] = await Promise.all([
      listTokenBars(this.of, { seconds: MINUTE_SECONDS, from: bucket, to: cut }, ROWS_MAX),
      sumTokenSwaps(this.of, cut, bucket + this.seconds),
    ]);
    if (minutes.length === ROWS_MAX) throw new AppError('unavailable', 'bars are stored in too many parts');
    const mended = [...minutes, ...rest].map((part) => ({ ...part, bucket }));
    return [...parts.filter((part) => part.bucket !== bucket), ...mended];
  }

  /** The day of the first bar with a price, final or not; null: there never was one. */
  private async findFirst(headParts: readonly BarPart[]): Promise<number | null> {
    const inHead = headParts.find(({ high }) => high > 0)?.bucket;
    const inFinal = await findFirstTokenDay(this.of);
    if (inHead === undefined) return inFinal;
    return Math.min(slotOf(inHead, DAY_SECONDS), inFinal ?? inHead);
  }
}
