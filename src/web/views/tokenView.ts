/** The page of one token: its price with the audit, its chart over all pools, its pools and its supply. */
import { shapeOf } from '../../domain/pools/poolShape.ts';
import type { PairAnswer } from '../../wire/pairs';
import type { TokenAnswer, TokenDetail } from '../../wire/tokens';
import { getAnswer } from '../core/api.ts';
import { contractPath, pairPath, type App, type View } from '../core/app.ts';
import { auditPanel } from '../audit/auditPanel.ts';
import type { ChartPanel } from '../chart/chartOptions.ts';
import { createChartPanel } from '../chart/chartPanel.ts';
import { h, segments, showIn } from '../core/dom.ts';
import {
  formatAmount,
  formatCount,
  formatPrice,
  formatTime,
  formatUsd,
  formatUsdPrice,
  symbolOf,
} from '../core/format.ts';
import { pairsOf } from './marketView.ts';
import type { Place } from '../core/place.ts';
import { columnSkeleton, fillColumn, isMissing, loadingPanel, pageSkeleton } from '../core/panel.ts';
import { changes, followLive, readMaker, readTimeframe, windowTable } from './pairView.ts';
import { askVerified, riskPanel } from './riskPanel.ts';
import {
  addressLink,
  ago,
  avatar,
  badge,
  confidenceBadge,
  fact,
  facts,
  headPrice,
  warningList,
} from '../core/pieces.ts';
import { headTools } from '../market/starButton.ts';
import { createTape, type Tape } from '../list/tape.ts';
import { holderBar, holderList } from '../explorer/holderList.ts';
import { logsPath } from '../explorer/links.ts';
import { tokenLiquidity } from '../core/countedLiquidity.ts';

/** New blocks refresh the view at most this often. */
const REFRESH_MS = 4_000;
const AUDIT_MS = 15_000;
const TRANSFER = 'Transfer(address,address,uint256)';

export const tokenView: View = (app, place, main, signal) => {
  const address = place.path[1]?.toLowerCase() ?? '';
  app.setTitle('Token');
  let chart: ChartPanel | null = null;
  let tape: Tape | null = null;
  // The audit is the largest part of the first view, so its request does not wait for the token.
  const audit = auditPanel(app, address, place.query, signal);
  let isPageOpen = false;
  const head = h('div', { class: 'page-head-box' });
  const mainColumn = columnSkeleton();
  const sideColumn = h('aside', { class: 'rail' });
  const page = h('div', {}, head, h('div', { class: 'with-rail' }, mainColumn, sideColumn));
  let verified: boolean | null = null;
  const openPage = (token: TokenDetail): void => {
    isPageOpen = true;
    const parts = [
      () => {
        chart = tokenChart(app, token, place.query, signal, (maker) => tape?.markMaker(maker));
        return chart.element;
      },
      () => audit.element,
      () => poolsCard(app, place, address, signal),
      () => {
        tape = createTape({
          filter: { token: address },
          namesPair: true,
          frame: { token: address, currency: null, symbol: 'USD' },
          maker: readMaker(place.query),
          onmaker: (maker) => chart?.toggleMaker(maker),
          signal,
        });
        return activityAndHolders(app, address, tape.element, place.query, signal);
      },
    ];
    void fillColumn(mainColumn, parts, signal).then(() =>
      askVerified(address, signal, (answer) => {
        verified = answer;
        view.redraw();
      }),
    );
  };
  const view = loadingPanel({
    load: (loadSignal) => getToken(address, loadSignal),
    render: ({ data }) => {
      if ('base_token' in data) return lpToken(data);
      if (!isPageOpen) openPage(data);
      showIn(head, tokenHead(data));
      const risks = riskPanel({ item: data, token: data, verified, hasLpToken: true });
      showIn(sideColumn, h('div', { class: 'rail-stack' }, tokenRail(data), risks));
      app.setTitle(`${symbolOf(data)} ${formatUsdPrice(data.price_usd)}`);
      return page;
    },
    skeleton: pageSkeleton,
    explain: (error) => (isMissing(error) ? `There is no pool with a token at ${address}` : null),
    signal,
  });
  main.replaceChildren(view.element);
  app.onHead(() => view.refresh(), REFRESH_MS, signal);
  // The published price also changes without a trade of the token.
  app.onHead(() => chart?.reloadLastSoon(), REFRESH_MS, signal);
  app.onHead(() => audit.refresh(), AUDIT_MS, signal);
  followLive(
    app,
    { token: address },
    () => chart,
    () => tape,
    signal,
  );
};

/** Two tabs: the trades of the token, which also arrive while the tab is hidden, and the holders. */
function activityAndHolders(
  app: App,
  address: string,
  tape: HTMLElement,
  query: URLSearchParams,
  signal: AbortSignal,
): HTMLElement {
  const holders = h('section', { class: 'card list-card' });
  const show = (showsHolders: boolean): void => {
    tape.hidden = showsHolders;
    holders.hidden = !showsHolders;
    if (showsHolders && holders.childElementCount === 0) holders.append(holderList(address, null, signal));
  };
  const showsHoldersFirst = query.get('tab') === 'holders';
  const tabs = segments<'activity' | 'holders'>({
    label: 'Activity and holders',
    values: [
      ['activity', 'Activity'],
      ['holders', 'Holders'],
    ],
    value: showsHoldersFirst ? 'holders' : 'activity',
    onchange: (tab) => {
      app.remember({ tab: tab === 'holders' ? tab : null });
      show(tab === 'holders');
    },
  });
  show(showsHoldersFirst);
  return h('div', { class: 'column' }, h('div', {}, tabs), tape, holders);
}

function poolsCard(app: App, place: Place, address: string, signal: AbortSignal): HTMLElement {
  const pools = pairsOf(app, place, `/tokens/${address}/pools`, signal, 'No pool holds this token');
  const bar = h('div', { class: 'card-bar' }, h('h2', {}, 'Pools'));
  return h('section', { class: 'card list-card' }, bar, pools.element);
}

/** Where the prices of the bars come from: values and labels of the parameter `source`. */
const SOURCES = [
  ['path', 'Published price'],
  ['main_pool', 'Main pool'],
  ['all', 'All trades'],
] as const;

function readSource(query: URLSearchParams): string {
  const askedSource = query.get('source');
  return SOURCES.find(([value]) => value === askedSource)?.[0] ?? SOURCES[0][0];
}

function tokenChart(
  app: App,
  token: TokenDetail,
  query: URLSearchParams,
  signal: AbortSignal,
  onmaker: (maker: string | null) => void,
): ChartPanel {
  return createChartPanel<'usd' | 'native'>({
    app,
    path: `/tokens/${token.address}/ticks`,
    fileName: token.address,
    currencies: [
      ['usd', 'USD'],
      ['native', 'Native'],
    ],
    currency: query.get('currency') === 'native' ? 'native' : 'usd',
    sources: SOURCES,
    source: readSource(query),
    queryOf: (currency) => ({ currency }),
    unitOf: (currency) => ({
      token: symbolOf(token),
      currency: currency === 'usd' ? 'USD' : 'the native coin',
      isUsd: currency === 'usd',
    }),
    trades: {
      filter: { token: token.address },
      frameOf: () => ({ token: token.address, currency: null }),
    },
    maker: readMaker(query),
    timeframe: readTimeframe(query),
    emptyText: 'No bars: this source has no price of the token yet',
    signal,
    onchoice(choice) {
      app.remember({ ...choice });
      onmaker(choice.maker);
    },
  });
}

function tokenHead(token: TokenDetail): HTMLElement {
  return h(
    'header',
    { class: 'page-head' },
    avatar(token, 40),
    h(
      'div',
      { class: 'page-name' },
      h('h1', {}, symbolOf(token), ' ', h('span', { class: 'full' }, token.name ?? '')),
      h(
        'div',
        { class: 'under' },
        headTools('tokens', token.address, symbolOf(token), token.address),
        confidenceBadge(token.price_confidence),
        token.lp_pair !== null && lpNotice(token.lp_pair.address, token.lp_pair.name),
        ...token.flags.map((flag) => badge(flag, 'warn')),
      ),
    ),
    headPrice(token, `${formatPrice(token.price_native)} native`),
    changes(token),
  );
}

function lpNotice(address: string, name: string): HTMLElement {
  return h('span', { class: 'lp-of' }, 'LP token of ', h('a', { href: pairPath(address) }, name));
}

/** A token without a pool may be the LP token of a pair. Otherwise it is not found. */
async function getToken(address: string, signal: AbortSignal): Promise<TokenAnswer | PairAnswer> {
  try {
    return await getAnswer<TokenAnswer>(`/tokens/${address}`, {}, signal);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const answer = await getAnswer<PairAnswer>(`/pairs/${address}`, {}, signal);
    if (!shapeOf(answer.data.pool_type).hasLpToken) throw error;
    return answer;
  }
}

/** The page of an LP token that no pool holds. */
function lpToken({ address, name }: PairAnswer['data']): HTMLElement {
  return h(
    'header',
    { class: 'page-head' },
    h(
      'div',
      { class: 'page-name' },
      h('h1', {}, 'LP token'),
      h('div', { class: 'under' }, lpNotice(address, name)),
    ),
  );
}

function tokenRail(token: TokenDetail): HTMLElement {
  return h(
    'div',
    { class: 'card rail-card' },
    warningList(token.warnings),
    facts(
      fact('Liquidity', tokenLiquidity(token)),
      fact(
        'FDV',
        formatUsd(token.fdv_usd),
        'Fully diluted value: price times the supply without burned tokens',
      ),
      fact('Market cap', formatUsd(token.market_cap_usd), marketCapHint(token)),
    ),
    windowTable(token),
    facts(
      fact('Volume 7d', formatUsd(token.volume.d7)),
      fact('High 24h', formatUsdPrice(token.price_high_24h)),
      fact('Low 24h', formatUsdPrice(token.price_low_24h)),
      fact(
        'All-time high',
        formatUsdPrice(token.price_ath),
        token.price_ath_at === null ? null : formatTime(token.price_ath_at),
      ),
    ),
    facts(
      fact('Total supply', formatAmount(token.total_supply)),
      fact('Burned', formatAmount(token.burned_supply)),
      fact('Holders', holderCount(token)),
    ),
    token.holder_distribution === null ? null : holderBar(token.holder_distribution),
    facts(
      fact('Pools', formatCount(token.pool_count)),
      fact('First pool', ago(token.created_at)),
      fact('Last trade', ago(token.last_trade_at)),
      fact('Decimals', token.decimals === null ? '—' : String(token.decimals)),
      fact('Address', addressLink(token.address, 'contract')),
      fact('Links', linkList(token)),
    ),
  );
}

function holderCount({ address, holders }: TokenDetail): HTMLElement | string {
  const count = formatCount(holders);
  return holders === null ? count : h('a', { href: `${contractPath(address)}?tab=holders` }, count);
}

function marketCapHint(token: TokenDetail): string {
  if (token.market_cap_usd !== null)
    return 'Price times the circulating supply, which leaves out burned tokens, treasuries and lockers';
  const unknownInput = token.circulating_supply === null ? 'circulating supply' : 'price';
  return `Unknown, because the ${unknownInput} is unknown`;
}

/** Only HTTPS links are shown, because links can come from anyone. */
function linkList(token: TokenDetail): HTMLElement {
  const links = Object.entries(token.links).flatMap(([name, url]) =>
    typeof url === 'string' && url.startsWith('https://') ? [{ name, url }] : [],
  );
  return h(
    'span',
    { class: 'links' },
    h('a', { href: contractPath(token.address) }, 'contract'),
    h('a', { href: logsPath({ address: token.address, topic0: TRANSFER }) }, 'transfers'),
    ...links.map(({ name, url }) =>
      h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, name),
    ),
  );
}
