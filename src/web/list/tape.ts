/** The live activity tape of a pair or token, newest first. Removes events that a reorg removed. */
import type { ActivityEntry, ActivityItem } from '../../wire/activity';
import { failureText, getAnswer, type Query } from '../core/api.ts';
import { pairPath } from '../core/app.ts';
import { button, h, segments, setChildren } from '../core/dom.ts';
import { formatAmount, formatPrice, formatUsd, formatUsdPrice, symbolOf, UNKNOWN } from '../core/format.ts';
import { emptyNotice, failureNotice, skeleton } from '../core/panel.ts';
import { addressLink, ago, transactionLink, withCopy } from '../core/pieces.ts';
import { retryWhenBack } from '../core/recovery.ts';
import { amountsOf, priceOf, sideOf, tokensOf, type TradeFrame } from './tradeFrame.ts';

interface ActivityPage {
  readonly data: readonly ActivityEntry[];
  readonly meta: { readonly next_cursor: string | null };
}

export interface Tape {
  readonly element: HTMLElement;
  add(item: ActivityItem): void;
  /** Removes events of this block and of later blocks, which a reorg removed. */
  removeFrom(block: number): void;
  /** Loads the newest page again. */
  reload(): void;
  /** Shows all rows again as seen from another token, or in another currency (see tradeFrame.ts). */
  reframe(frame: TapeFrame): void;
  /** Shows which maker's trades the chart marks; null for none. */
  markMaker(maker: string | null): void;
}

/** The token from which trades are seen, their currency, and the symbol of the currency. */
export interface TapeFrame extends TradeFrame {
  readonly symbol: string;
}

interface TapeOptions {
  /** The filter of the tape: `{ pair }`, `{ token }` or nothing. */
  readonly filter: Query;
  /** Whether rows name their pair. */
  readonly namesPair: boolean;
  readonly frame: TapeFrame;
  /** The maker whose trades the chart marks. */
  readonly maker: string | null;
  /** Called with the maker of a trade that the user chooses. */
  readonly onmaker: (maker: string) => void;
  readonly signal: AbortSignal;
}

interface RowOptions extends Pick<TapeOptions, 'namesPair' | 'onmaker'> {
  readonly frame: TradeFrame;
}

const KINDS = [
  ['swap', 'Swaps'],
  ['mint,burn', 'Liquidity'],
  ['swap,mint,burn', 'All'],
] as const;
type Kinds = (typeof KINDS)[number][0];

const ROWS_MAX = 300;
/** Number of rows that one frame adds. More would block the page for too long. */
const ROWS_PER_FRAME = 8;
const PAGE_EVENTS = 50;

export function createTape(options: TapeOptions): Tape {
  return new Rows(options);
}

const COLUMN_NAMES = ['Time', 'Type', 'USD', 'Amount', 'For', 'Price', 'Pair', 'Maker', 'Tx'];

class Rows implements Tape {
  readonly element: HTMLElement;
  private readonly options: TapeOptions;
  private readonly body = h('tbody');
  private readonly notice = h('div');
  private readonly priceHead = h('th', { scope: 'col', class: 'tape-price' });
  private readonly olderButton = button('Older', () => void this.load(this.cursor), { class: 'button more' });
  private frame: TapeFrame;
  private maker: string | null;
  private kinds: Kinds = 'swap';
  private items: ActivityItem[] = [];
  /** Events of the stream that are not drawn yet. */
  private readonly undrawnIds = new Set<string>();
  /** The animation frame in which the tape is drawn next; 0 if none is requested. */
  private animationFrame = 0;
  private cursor: string | null = null;
  private runningLoad: AbortController | null = null;
  /** The first page of the list. Events of the stream may be drawn before it. */
  private firstPage: 'loading' | 'failed' | 'loaded' = 'loading';

  constructor(options: TapeOptions) {
    this.options = options;
    this.frame = options.frame;
    this.maker = options.maker;
    const kindButtons = segments<Kinds>({
      label: 'Kind of activity',
      values: KINDS,
      value: this.kinds,
      onchange: (value) => {
        this.kinds = value;
        this.reload();
      },
    });
    const bar = h(
      'div',
      { class: 'card-bar' },
      h('h2', {}, 'Activity'),
      h('span', { class: 'spring' }),
      kindButtons,
    );
    this.element = h(
      'section',
      { class: 'card tape-card' },
      bar,
      h('div', { class: 'table-scroll' }, this.createTable()),
      this.notice,
      this.olderButton,
    );
    this.reload();
  }

  add(item: ActivityItem): void {
    if (!this.kinds.split(',').includes(item.event_type)) return;
    if (this.items.some(({ id }) => id === item.id)) return;
    this.items = [item, ...this.items].sort(newestFirst).slice(0, ROWS_MAX);
    this.undrawnIds.add(item.id);
    // A block brings many events at once. One drawing per animation frame shows them all.
    this.animationFrame ||= requestAnimationFrame(() => this.draw());
  }

  removeFrom(block: number): void {
    this.items = this.items.filter((item) => item.block_number < block);
    this.draw();
    // A page that is loading may be older than the reorg.
    void this.load(null);
  }

  reload(): void {
    this.items = [];
    this.cursor = null;
    this.body.replaceChildren();
    void this.load(null);
  }

  reframe(frame: TapeFrame): void {
    this.frame = frame;
    this.priceHead.textContent = `Price ${frame.symbol}`;
    this.body.replaceChildren();
    if (this.items.length > 0) this.draw();
  }

  markMaker(maker: string | null): void {
    this.maker = maker;
    this.showMarkedMaker();
  }

  private showMarkedMaker(): void {
    for (const markButton of this.body.querySelectorAll<HTMLElement>('.mark-maker'))
      markButton.setAttribute('aria-pressed', String(markButton.dataset['maker'] === this.maker));
  }

  /** Loads the newest page, or the page at a cursor. */
  private async load(fromCursor: string | null): Promise<void> {
    this.runningLoad?.abort();
    const controller = new AbortController();
    this.runningLoad = controller;
    const signal = AbortSignal.any([controller.signal, this.options.signal]);
    if (this.items.length === 0 || this.firstPage === 'failed') {
      this.firstPage = 'loading';
      this.element.setAttribute('aria-busy', 'true');
      this.notice.replaceChildren(skeleton(320, 8));
    }
    try {
      const query = {
        ...this.options.filter,
        event_type: this.kinds,
        limit: PAGE_EVENTS,
        cursor: fromCursor,
      };
      const page = await getAnswer<ActivityPage>('/activity', query, signal);
      if (signal.aborted) return;
      if (fromCursor !== null || this.cursor === null) this.cursor = page.meta.next_cursor;
      const decodedItems = page.data.filter((item) => item.event_type !== 'undecodable');
      this.items = mergeItems(this.items, decodedItems);
      this.firstPage = 'loaded';
      this.draw();
    } catch (error) {
      if (signal.aborted || this.firstPage === 'loaded') return;
      this.firstPage = 'failed';
      this.element.setAttribute('aria-busy', 'false');
      const retry = (): void => void this.load(null);
      this.notice.replaceChildren(failureNotice(failureText(error), retry));
      retryWhenBack(error, retry, signal);
    }
  }

  private createTable(): HTMLTableElement {
    const names = COLUMN_NAMES.filter((name) => this.options.namesPair || name !== 'Pair');
    const headCells = names.map((name) =>
      name === 'Price'
        ? this.priceHead
        : h('th', { scope: 'col', class: `tape-${name.toLowerCase()}` }, name),
    );
    this.priceHead.textContent = `Price ${this.frame.symbol}`;
    const head = h('thead', {}, h('tr', {}, ...headCells));
    return h('table', { class: 'data tape', 'aria-label': 'Activity' }, head, this.body);
  }

  private draw(): void {
    cancelAnimationFrame(this.animationFrame);
    this.animationFrame = 0;
    const rowById = new Map([...this.body.rows].map((row) => [row.dataset['id'], row]));
    const rowOptions = { ...this.options, frame: this.frame };
    // Rows that are shown stay. Of the others, only some are added in each frame.
    let newRowsLeft = ROWS_PER_FRAME;
    const rows = this.items.flatMap((item) => {
      const shownRow = rowById.get(item.id);
      if (shownRow !== undefined) return shownRow;
      newRowsLeft -= 1;
      return newRowsLeft < 0 ? [] : toRow(item, this.undrawnIds.has(item.id), rowOptions);
    });
    setChildren(this.body, rows);
    this.showMarkedMaker();
    const areAllDrawn = newRowsLeft >= 0;
    this.element.setAttribute('aria-busy', String(this.firstPage === 'loading' || !areAllDrawn));
    if (areAllDrawn) this.undrawnIds.clear();
    else this.animationFrame = requestAnimationFrame(() => this.draw());
    if (this.firstPage === 'loaded')
      this.notice.replaceChildren(rows.length === 0 ? emptyNotice('No activity of this kind yet') : '');
    this.olderButton.hidden = this.cursor === null || rows.length >= ROWS_MAX;
  }
}

function newestFirst(a: ActivityItem, b: ActivityItem): number {
  return b.block_number - a.block_number || b.log_index - a.log_index;
}

/** Keeps events that arrived over the stream and removes duplicates. */
function mergeItems(shownItems: readonly ActivityItem[], page: readonly ActivityItem[]): ActivityItem[] {
  const pageIds = new Set(page.map(({ id }) => id));
  return [...shownItems.filter(({ id }) => !pageIds.has(id)), ...page].sort(newestFirst);
}

/** The pair of a trade by its symbols. */
export function pairLink(item: ActivityItem): HTMLElement {
  // A narrow column breaks the line after a slash.
  const symbols = tokensOf(item).flatMap((token, tokenIndex) =>
    (tokenIndex === 0 ? [] : ['/', h('wbr')]).concat(symbolOf(token)),
  );
  const name = h('a', { href: pairPath(item.pair_address) }, ...symbols);
  return withCopy(name, item.pair_address);
}

/** The address of a maker, with a button that marks the maker's trades on the chart. */
function makerCell(maker: string, onmaker: (maker: string) => void): HTMLElement {
  const cell = addressLink(maker, 'wallet');
  const markButton = button('◆', () => onmaker(maker), {
    class: 'mark-maker',
    'data-maker': maker,
    'aria-label': `Mark the trades of ${maker} on the chart`,
    'aria-pressed': 'false',
    title: 'Mark the trades of this maker on the chart',
  });
  cell.append(markButton);
  return cell;
}

function toRow(
  item: ActivityItem,
  isFresh: boolean,
  { frame, namesPair, onmaker }: RowOptions,
): HTMLTableRowElement {
  const [firstAmount = UNKNOWN, secondAmount = UNKNOWN] =
    amountsOf(item, frame)?.map(({ token, amount }) => `${formatAmount(amount)} ${symbolOf(token)}`) ?? [];
  const price = priceOf(item, frame);
  const kind = item.event_type === 'swap' ? sideOf(item, frame) : item.event_type;
  const cells: [string, Node | string][] = [
    ['time', ago(item.timestamp)],
    ['type', h('span', { class: `kind ${kind}` }, kind)],
    ['usd', formatUsd(item.amount_usd)],
    ['amount', firstAmount],
    ['for', secondAmount],
    ['price', frame.currency === null ? formatUsdPrice(price) : formatPrice(price)],
  ];
  if (namesPair) cells.push(['pair', pairLink(item)]);
  cells.push(['maker', item.maker === null ? UNKNOWN : makerCell(item.maker, onmaker)]);
  cells.push(['tx', transactionLink(item.tx_hash, `${item.tx_hash}, block ${item.block_number}`)]);
  const row = h('tr', { 'data-id': item.id, class: `${kind}${isFresh ? ' fresh' : ''}` });
  row.append(...cells.map(([name, cell]) => h('td', { class: `tape-${name}` }, cell)));
  return row;
}
