/**
 * Reads bars page by page, from the newest position backwards, until there are enough of them. A position is a time for
 * stored bars (barReader.ts), and a block for bars that are made from rows of blocks (blockBars.ts).
 */
import { AppError } from '../../errors';
import { foldParts, type BarPart } from './barParts';

export interface BarsRead {
  /** The bars that have a price, ascending. */
  readonly priced: BarPart[];
  /** True if the series has no bar with a price at any time. */
  readonly neverPriced: boolean;
  /** True if older rows were not read, so that only the close of the first bar is certain; default: false. */
  readonly partial?: boolean;
}

export interface BarPage {
  /** Parts of bars. Each row belongs to one page only, so parts of different pages can be added. */
  readonly parts: readonly BarPart[];
  /** The number of rows that were read. */
  readonly rows: number;
  /** The page covers all positions from here on. */
  readonly firstPosition: number;
}

/** Reads the newest rows before a position, about `rowsWanted`. */
export type ReadPage = (endPosition: number, rowsWanted: number) => Promise<BarPage>;

interface PagesRequest {
  /** The positions from `firstPosition` up to `endPosition`, exclusive. */
  readonly firstPosition: number;
  readonly endPosition: number;
  readonly barsWanted: number;
  /** Rows of the first page. Each further page has `growth` times as many, up to `pageRowsMax`. */
  readonly firstPageRows: number;
  readonly growth: number;
  readonly pageRowsMax: number;
  /** After this many pages or rows no further page is read, if the pages so far make more than one bar. */
  readonly pagesMax: number;
  readonly rowsMax: number;
}

/** The newest bars with a price: `barsWanted` bars, or all, or as many as the largest number of pages or rows makes. */
export async function readPages(
  readPage: ReadPage,
  {
    firstPosition,
    endPosition,
    barsWanted,
    firstPageRows,
    growth,
    pageRowsMax,
    pagesMax,
    rowsMax,
  }: PagesRequest,
): Promise<Omit<BarsRead, 'neverPriced'>> {
  const bars = new Map<number, BarPart>();
  let priced: BarPart[] = [];
  let readFrom = endPosition;
  let rows = 0;
  for (let page = 0; readFrom > firstPosition && priced.length < barsWanted; page += 1) {
    if (priced.length > 1 && (rows >= rowsMax || page >= pagesMax)) break;
    if (page >= pagesMax)
      throw new AppError('unavailable', 'too many prices in one bar; ask for shorter bars');
    const barPage = await readPage(readFrom, Math.min(firstPageRows * growth ** page, pageRowsMax));
    foldParts(barPage.parts, bars);
    priced = [...bars.values()].filter(({ high }) => high > 0);
    rows += barPage.rows;
    readFrom = barPage.firstPosition;
  }
  const newestBars = priced.sort((a, b) => a.bucket - b.bucket).slice(-barsWanted);
  return { priced: newestBars, partial: newestBars.length === priced.length && readFrom > firstPosition };
}
