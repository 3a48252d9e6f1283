/** The page of one pair: chart, figures and activity, all live. */
import { shapeOf } from '../../domain/pools/poolShape.ts';
import { TIMEFRAMES, type Timeframe } from '../../domain/timeframes.ts';
import type { ActivityItem } from '../../wire/activity';
import type { PairAnswer, PairDetail } from '../../wire/pairs';
import { getAnswer } from '../core/api.ts';
import { tokenPath, type App, type View } from '../core/app.ts';
import type { ChartPanel } from '../chart/chartOptions.ts';
import { createChartPanel } from '../chart/chartPanel.ts';
import type { ChartUnit } from '../chart/chartLegend.ts';
import { h, showIn, screenReaderText } from '../core/dom.ts';
import {
  formatAmount,
  formatCount,
  formatFee,
  formatPrice,
  formatShare,
  formatUsd,
  formatUsdPrice,
  symbolOf,
} from '../core/format.ts';
import type { LiveEvent } from '../core/live.ts';
import { pairLiquidity } from '../core/countedLiquidity.ts';
import { columnSkeleton, fillColumn, isMissing, loadingPanel, pageSkeleton } from '../core/panel.ts';
import {
  addressLink,
  ago,
  avatar,
  badge,
  buySellBar,
  coloredChange,
  fact,
  facts,
  headPrice,
  poolBadges,
  transactionLink,
} from '../core/pieces.ts';
import { askVerified, riskPanel } from './riskPanel.ts';
import { headTools } from '../market/starButton.ts';
import { createTape, type Tape, type TapeFrame } from '../list/tape.ts';

/** New blocks refresh the view at most this often. */
const REFRESH_MS = 4_000;

export const pairView: View = (app, place, main, signal) => {
  const address = place.path[1]?.toLowerCase() ?? '';
  app.setTitle('Pair');
  let chart: ChartPanel | null = null;
  let tape: Tape | null = null;
  let isPageOpen = false;
  const head = h('div', { class: 'page-head-box' });
  const sideColumn = h('aside', { class: 'rail' });
  let verified: boolean | null = null;
  const openPage = (pair: PairDetail): void => {
    isPageOpen = true;
    let currency = readCurrency(pair, place.query);
    const parts = [
      () => {
        chart = pairChart(app, pair, place.query, signal, (chosenCurrency, maker) => {
          tape?.markMaker(maker);
          if (chosenCurrency !== currency) tape?.reframe(frameOf(pair, (currency = chosenCurrency)));
        });
        return chart.element;
      },
      () => {
        tape = createTape({
          filter: { pair: address },
          namesPair: false,
          frame: frameOf(pair, currency),
          maker: readMaker(place.query),
          onmaker: (maker) => chart?.toggleMaker(maker),
          signal,
        });
        return tape.element;
      },
    ];
    void fillColumn(mainColumn, parts, signal).then(() =>
      askVerified(pair.base_token.address, signal, (answer) => {
        verified = answer;
        view.redraw();
      }),
    );
  };
  const mainColumn = columnSkeleton();
  const page = h('div', {}, head, h('div', { class: 'with-rail' }, mainColumn, sideColumn));
  const view = loadingPanel({
    load: (loadSignal) => getAnswer<PairAnswer>(`/pairs/${address}`, {}, loadSignal),
    render: ({ data: pair }) => {
      if (!isPageOpen) openPage(pair);
      showIn(head, h('div', {}, pairHead(pair), endNotice(pair)));
      const risks = riskPanel({
        item: pair,
        token: pair.base_token,
        verified,
        hasLpToken: shapeOf(pair.pool_type).hasLpToken,
      });
      showIn(sideColumn, h('div', { class: 'rail-stack' }, pairRail(pair), risks));
      app.setTitle(`${pairTitle(pair)} ${formatUsdPrice(pair.price_usd)}`);
      return page;
    },
    skeleton: pageSkeleton,
    explain: (error) => (isMissing(error) ? `There is no pair at ${address}` : null),
    signal,
  });
  main.replaceChildren(view.element);
  app.onHead(() => view.refresh(), REFRESH_MS, signal);
  followLive(
    app,
    { pair: address },
    () => chart,
    () => tape,
    signal,
  );
};

/** Connects the stream to a chart and a tape. Each event reloads the last bars. */
export function followLive(
  app: App,
  filter: Readonly<Record<string, string>>,
  getChart: () => ChartPanel | null,
  getTape: () => Tape | null,
  signal: AbortSignal,
): void {
  const onevent = ({ kind, data }: LiveEvent): void => {
    if (kind === 'reorg') {
      if (typeof data === 'object' && data !== null && 'from_block' in data)
        getTape()?.removeFrom(Number(data.from_block));
      return getChart()?.reload();
    }
    if (kind === 'gap') {
      getTape()?.reload();
      return getChart()?.reload();
    }
    if (isActivityItem(data)) {
      getTape()?.add(data);
      getChart()?.addActivity(data);
    }
    getChart()?.reloadLastSoon();
  };
  app.live.listen({ ...filter, event_type: 'swap,mint,burn' }, onevent, signal);
}

/** Stream events carry the same items as /activity. */
function isActivityItem(data: unknown): data is ActivityItem {
  return typeof data === 'object' && data !== null && 'id' in data && 'event_type' in data;
}

export function readTimeframe(query: URLSearchParams): Timeframe {
  return TIMEFRAMES.find((timeframe) => timeframe === query.get('timeframe')) ?? '1h';
}

/** The maker whose trades the chart marks. */
export function readMaker(query: URLSearchParams): string | null {
  const maker = query.get('maker')?.toLowerCase() ?? '';
  return /^0x[0-9a-f]{40}$/.test(maker) ? maker : null;
}

/** The currencies of the chart: USD, the quote token, and the base token, in which the chart is inverted. */
const CURRENCIES = ['usd', 'quote', 'base'] as const;
type Currency = (typeof CURRENCIES)[number];

function readCurrency(pair: PairDetail, query: URLSearchParams): Currency {
  const askedCurrency = CURRENCIES.find((currency) => currency === query.get('currency')) ?? 'usd';
  return askedCurrency === 'usd' && pair.price_usd === null ? 'quote' : askedCurrency;
}

/** The trades of the pair in the currency and direction of the chart. */
function frameOf({ base_token, quote_token }: PairDetail, currency: Currency): TapeFrame {
  const [token, currencyToken] = currency === 'base' ? [quote_token, base_token] : [base_token, quote_token];
  return currency === 'usd'
    ? { token: token.address, currency: null, symbol: 'USD' }
    : { token: token.address, currency: currencyToken.address, symbol: symbolOf(currencyToken) };
}

function unitOf({ base_token, quote_token }: PairDetail, currency: Currency): ChartUnit {
  const [token, currencyToken] = currency === 'base' ? [quote_token, base_token] : [base_token, quote_token];
  const isUsd = currency === 'usd';
  return { token: symbolOf(token), currency: isUsd ? 'USD' : symbolOf(currencyToken), isUsd };
}

function pairChart(
  app: App,
  pair: PairDetail,
  query: URLSearchParams,
  signal: AbortSignal,
  onchoice: (currency: Currency, maker: string | null) => void,
): ChartPanel {
  return createChartPanel<Currency>({
    app,
    path: `/pairs/${pair.address}/ticks`,
    fileName: pair.address,
    currencies: [
      ['usd', 'USD'],
      ['quote', symbolOf(pair.quote_token)],
      ['base', symbolOf(pair.base_token)],
    ],
    currency: readCurrency(pair, query),
    inverse: 'base',
    unitOf: (currency) => unitOf(pair, currency),
    trades: { filter: { pair: pair.address }, frameOf: (currency) => frameOf(pair, currency) },
    maker: readMaker(query),
    queryOf: (currency) => (currency === 'base' ? { currency: 'quote', invert: true } : { currency }),
    timeframe: readTimeframe(query),
    emptyText: 'No bars: the pair has no trades yet, or its quote token has no USD price',
    signal,
    onchoice({ timeframe, currency, maker }) {
      app.remember({ timeframe, currency, maker });
      onchoice(currency, maker);
    },
  });
}

function pairTitle({ base_token, quote_token }: PairDetail): string {
  return `${symbolOf(base_token)}/${symbolOf(quote_token)}`;
}

function pairHead(pair: PairDetail): HTMLElement {
  return h(
    'header',
    { class: 'page-head' },
    h('span', { class: 'avatars large' }, avatar(pair.base_token, 36), avatar(pair.quote_token, 26)),
    h(
      'div',
      { class: 'page-name' },
      h(
        'h1',
        {},
        h('a', { href: tokenPath(pair.base_token.address) }, symbolOf(pair.base_token)),
        h('span', { class: 'quote' }, ' / '),
        h('a', { class: 'quote', href: tokenPath(pair.quote_token.address) }, symbolOf(pair.quote_token)),
      ),
      h(
        'div',
        { class: 'under' },
        headTools('pairs', pair.address, pairTitle(pair), pair.base_token.address),
        poolBadges(pair),
        ...pair.flags.filter((flag) => flag !== 'ended').map((flag) => badge(flag, 'warn')),
      ),
    ),
    headPrice(pair, `${formatPrice(pair.price)} ${symbolOf(pair.quote_token)}`),
    changes(pair),
  );
}

/** Where a bonding curve ended. Null for a pair in which one can trade. */
function endNotice({ flags, ended }: PairDetail): HTMLElement | null {
  if (!flags.includes('ended')) return null;
  const pools = ended?.moved_to ?? [];
  return h(
    'p',
    { class: 'card pair-end' },
    'This bonding curve has ended, and nobody can trade in it.',
    ...(ended == null ? [] : [' All its tokens left in transaction ', transactionLink(ended.tx_hash), '.']),
    ...(pools.length === 0
      ? []
      : [' Its liquidity moved to ', ...pools.map((pool) => addressLink(pool, 'pair')), '.']),
  );
}

export function changes(item: {
  readonly price_change_5m: number | null;
  readonly price_change_1h: number | null;
  readonly price_change_6h: number | null;
  readonly price_change_24h: number | null;
}): HTMLElement {
  const changeItem = (name: string, value: number | null): HTMLElement =>
    h('div', {}, h('dt', {}, name), h('dd', {}, coloredChange(value)));
  return h(
    'dl',
    { class: 'changes' },
    changeItem('5m', item.price_change_5m),
    changeItem('1h', item.price_change_1h),
    changeItem('6h', item.price_change_6h),
    changeItem('24h', item.price_change_24h),
  );
}

const WINDOWS = [
  ['m5', '5m'],
  ['h1', '1h'],
  ['h6', '6h'],
  ['h24', '24h'],
] as const;

/** Trades and volume by time window, for pairs and tokens. */
export function windowTable(item: {
  readonly volume: Readonly<Record<'m5' | 'h1' | 'h6' | 'h24', number>>;
  readonly transactions: Readonly<
    Record<
      'm5' | 'h1' | 'h6' | 'h24',
      {
        readonly buys: number;
        readonly sells: number;
        readonly buyers: number | null;
        readonly sellers: number | null;
      }
    >
  >;
}): HTMLElement {
  const rows = WINDOWS.map(([key, name]) => {
    const { buys, sells, buyers, sellers } = item.transactions[key];
    const tradersText = `${formatCount(buyers)} buyers, ${formatCount(sellers)} sellers`;
    return h(
      'tr',
      { title: tradersText },
      h('th', { scope: 'row' }, name),
      h('td', {}, formatUsd(item.volume[key])),
      h('td', { class: 'up' }, formatCount(buys)),
      h('td', {}, buySellBar(buys, sells)),
      h('td', { class: 'down' }, formatCount(sells)),
    );
  });
  const titles = [screenReaderText('Time'), 'Volume', 'Buys', screenReaderText('Share of the buys'), 'Sells'];
  return h(
    'table',
    { class: 'windows' },
    h('thead', {}, h('tr', {}, ...titles.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, ...rows),
  );
}

function pairRail(pair: PairDetail): HTMLElement {
  const [token0, token1] = pair.tokens;
  const reserveFact = (symbol: string, amount: string | null, usd: number | null): HTMLElement =>
    fact(`${symbol} in pool`, h('span', {}, formatAmount(amount), ' ', h('small', {}, formatUsd(usd))));
  return h(
    'div',
    { class: 'card rail-card' },
    facts(
      fact('Liquidity', pairLiquidity(pair)),
      fact(
        'Depth ±2%',
        `${formatUsd(pair.depth_2pct_usd.down)} / ${formatUsd(pair.depth_2pct_usd.up)}`,
        'Value of a trade that moves the price by −2 % / +2 %',
      ),
    ),
    windowTable(pair),
    facts(
      fact('Volume 7d', formatUsd(pair.volume.d7)),
      fact('Volume 30d', formatUsd(pair.volume.d30)),
      pair.untracked_volume_24h_usd > 0
        ? fact(
            'Untracked 24h',
            formatUsd(pair.untracked_volume_24h_usd),
            'Volume of swaps without a trusted price; not part of the other volumes',
          )
        : null,
      fact('Fee', formatFee(pair.fee_bps)),
      fact('Fees 24h / 7d', `${formatUsd(pair.fees.h24)} / ${formatUsd(pair.fees.d7)}`),
      fact('LP fees 24h', formatUsd(pair.lp_fees_24h_usd)),
      fact(
        'APR 24h / 7d',
        `${formatShare(pair.apr_24h)} / ${formatShare(pair.apr_7d)}`,
        'LP fees as a yearly percentage of the liquidity',
      ),
      fact('LP holders', formatCount(pair.lp_holders)),
      pair.tick === undefined || pair.tick === null
        ? null
        : fact('Tick', `${pair.tick} (spacing ${pair.tick_spacing ?? '—'})`),
    ),
    facts(
      token0 === undefined ? null : reserveFact(symbolOf(token0), pair.reserve0, pair.reserve0_usd),
      token1 === undefined ? null : reserveFact(symbolOf(token1), pair.reserve1, pair.reserve1_usd),
      pair.weights === undefined
        ? null
        : fact('Weights', pair.weights.map((weight) => formatShare(Number(weight) * 100)).join(' / ')),
    ),
    facts(
      fact('Created', ago(pair.created_at)),
      fact('Last trade', ago(pair.last_trade_at)),
      // A pool with an id is no contract.
      fact('Pair', addressLink(pair.address, pair.hooks === undefined ? 'contract' : 'pair')),
      pair.hooks == null ? null : fact('Hook', addressLink(pair.hooks.address, 'contract')),
      ...pair.tokens.map((token) => fact(symbolOf(token), addressLink(token.address, 'token'))),
      fact('Factory', addressLink(pair.factory, 'contract')),
      pair.created_tx === null ? null : fact('Creation', transactionLink(pair.created_tx)),
    ),
  );
}
