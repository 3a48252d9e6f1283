/** The page of one token: its price with the audit, its chart over all pools, its pools and its supply. */
import type { AuditAnswer, Audit } from '../../wire/audit';
import type { PairAnswer } from '../../wire/pairs';
import type { TokenAnswer, TokenDetail } from '../../wire/tokens';
import { getAnswer } from '../core/api.ts';
import { contractHash, pairHash, tokenHash, type App, type View } from '../core/app.ts';
import { auditPath, REASONS } from '../chart/auditPath.ts';
import { createChartPanel, type ChartPanel } from '../chart/chartPanel.ts';
import { button, h } from '../core/dom.ts';
import {
  formatAmount,
  formatCount,
  formatPrice,
  formatShare,
  formatTime,
  formatUsd,
  formatUsdPrice,
  shortHex,
  symbolOf,
} from '../core/format.ts';
import { pairsOf } from './marketView.ts';
import { isMissing, loaded, skeleton, type Loaded } from '../core/panel.ts';
import { changes, followLive, pageSkeleton, readTimeframe, windowTable } from './pairView.ts';
import {
  addressLink,
  ago,
  avatar,
  badge,
  confidenceBadge,
  copyButton,
  fact,
  facts,
  warningList,
} from '../core/pieces.ts';
import { createTape, type Tape } from '../list/tape.ts';
import { tokenLiquidity } from '../core/countedLiquidity.ts';
import { tokenNames } from '../core/tokenNames.ts';

const REFRESH_MS = 4_000;
const AUDIT_MS = 15_000;
/** Pools of this type have no LP token. */
const V3 = 3;

export const tokenView: View = (app, place, main, signal) => {
  const address = place.path[1]?.toLowerCase() ?? '';
  app.setTitle('Token');
  let chart: ChartPanel | null = null;
  let tape: Tape | null = null;
  let audit: Loaded | null = null;
  const head = h('div', { class: 'page-head-box' });
  const left = h('div', { class: 'column' });
  const aside = h('aside', { class: 'rail' });
  const page = h('div', {}, head, h('div', { class: 'with-rail' }, left, aside));
  const fill = (token: TokenDetail): void => {
    chart = tokenChart(app, token, place.query, signal);
    tape = createTape({
      filter: { token: address },
      namesPair: true,
      frame: { token: address, currency: null, symbol: 'USD' },
      signal,
    });
    audit = auditPanel(address, signal);
    const pools = pairsOf(`/tokens/${address}/pools`, signal, 'No pool holds this token');
    left.append(
      chart.element,
      audit.element,
      h(
        'section',
        { class: 'card list-card' },
        h('div', { class: 'card-bar' }, h('h2', {}, 'Pools')),
        pools.element,
      ),
      tape.element,
    );
  };
  const view = loaded({
    load: (life) => getToken(address, life),
    render: ({ data }) => {
      if ('base_token' in data) return lpToken(data);
      if (chart === null) fill(data);
      head.replaceChildren(tokenHead(data));
      aside.replaceChildren(tokenRail(data));
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
  app.onHead(() => chart?.touch(), REFRESH_MS, signal);
  app.onHead(() => audit?.refresh(), AUDIT_MS, signal);
  followLive(
    app,
    { token: address },
    () => chart,
    () => tape,
    signal,
  );
};

/** Where the prices of the bars come from: values and labels of the parameter `source`. */
const SOURCES = [
  ['path', 'Published price'],
  ['main_pool', 'Main pool'],
  ['all', 'All trades'],
] as const;

function readSource(query: URLSearchParams): string {
  const wanted = query.get('source');
  return SOURCES.find(([value]) => value === wanted)?.[0] ?? SOURCES[0][0];
}

function tokenChart(app: App, token: TokenDetail, query: URLSearchParams, signal: AbortSignal): ChartPanel {
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
    timeframe: readTimeframe(query),
    emptyText: 'No bars: this source has no price of the token yet',
    signal,
    onchoice: (choice) => app.remember({ ...choice }),
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
        confidenceBadge(token.price_confidence),
        token.lp_pair !== null && lpNotice(token.lp_pair.address, token.lp_pair.name),
        ...token.flags.map((flag) => badge(flag, 'warn')),
      ),
    ),
    h(
      'div',
      { class: 'page-price' },
      h('strong', {}, formatUsdPrice(token.price_usd)),
      h('small', {}, `${formatPrice(token.price_native)} native`),
    ),
    changes(token),
  );
}

function lpNotice(address: string, name: string): HTMLElement {
  return h('span', { class: 'lp-of' }, 'LP token of ', h('a', { href: pairHash(address) }, name));
}

/** A token without a pool may be the LP token of a pair. Otherwise it is not found. */
async function getToken(address: string, signal: AbortSignal): Promise<TokenAnswer | PairAnswer> {
  try {
    return await getAnswer<TokenAnswer>(`/tokens/${address}`, {}, signal);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const answer = await getAnswer<PairAnswer>(`/pairs/${address}`, {}, signal);
    if (answer.data.pool_type === V3) throw error;
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
      fact(
        'Market cap',
        formatUsd(token.market_cap_usd),
        'Unknown, because the circulating supply is unknown',
      ),
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
      fact('Holders', formatCount(token.holders)),
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

const HOLDER_PARTS = [
  ['top_10', 'Top 10'],
  ['top_11_20', '11–20'],
  ['top_21_40', '21–40'],
  ['rest', 'Others'],
] as const;

function holderBar(distribution: NonNullable<TokenDetail['holder_distribution']>): HTMLElement {
  const bar = h('div', { class: 'holder-bar', 'aria-hidden': 'true' });
  HOLDER_PARTS.forEach(([key], index) => {
    const part = h('i', { class: `series-${index}` });
    part.style.flexGrow = String(distribution[key]);
    bar.append(part);
  });
  const names = HOLDER_PARTS.map(([key, name], index) =>
    h(
      'span',
      {},
      h('i', { class: `series-${index}` }),
      `${name} `,
      h('b', {}, formatShare(distribution[key])),
    ),
  );
  return h('div', { class: 'holders' }, bar, h('div', { class: 'share-legend' }, ...names));
}

/** Only HTTPS links are shown, because links can come from anyone. */
function linkList(token: TokenDetail): HTMLElement {
  const links = Object.entries(token.links).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].startsWith('https://'),
  );
  return h(
    'span',
    { class: 'links' },
    h('a', { href: contractHash(token.address) }, 'contract'),
    ...links.map(([name, url]) => h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, name)),
  );
}

/** The audit as a card, redrawn when the width changes. */
function auditPanel(address: string, signal: AbortSignal): Loaded {
  const canvas: AuditCanvas = { width: 0, redraw: () => undefined };
  const panel = loaded({
    load: async (life) => {
      const { data } = await getAnswer<AuditAnswer>(`/tokens/${address}/audit`, {}, life);
      const path = data.hops.map(({ to_token }) => to_token);
      const names = await tokenNames(data.token.address, path, life);
      return { audit: data, names: new Map([...names, [data.token.address, symbolOf(data.token)]]) };
    },
    render: ({ audit, names }) => auditCard(audit, names, canvas),
    skeleton: () => skeleton(260),
    class: 'loaded audit-loaded',
    signal,
  });
  const watcher = new ResizeObserver(() => {
    const width = Math.floor(panel.element.clientWidth) - AUDIT_PADDING;
    if (width === canvas.width || width <= 0) return;
    canvas.width = width;
    canvas.redraw();
  });
  watcher.observe(panel.element);
  signal.addEventListener('abort', () => watcher.disconnect());
  return panel;
}

/** Horizontal padding of the picture, as in the style sheet. */
const AUDIT_PADDING = 26;

/** Width of the picture, which stays the same across redraws so that the layout does not jump. */
interface AuditCanvas {
  width: number;
  redraw: () => void;
}

function auditCard(audit: Audit, known: ReadonlyMap<string, string>, canvas: AuditCanvas): HTMLElement {
  const names = { symbolOf: (address: string): string => known.get(address) ?? shortHex(address) };
  const picture = h('div', { class: 'audit-picture' });
  canvas.redraw = () => picture.replaceChildren(auditPath(audit, names, canvas.width));
  if (canvas.width > 0) canvas.redraw();
  const isPath = audit.method !== 'none';
  return h(
    'section',
    { class: 'card audit-card' },
    h(
      'div',
      { class: 'card-bar' },
      h('h2', {}, 'Where the price comes from'),
      confidenceBadge(audit.confidence),
      h('span', { class: 'muted' }, `score ${audit.confidence_score}`),
      h('span', { class: 'spring' }),
      h(
        'span',
        { class: 'muted', title: formatTime(audit.derived_at_timestamp) },
        `as of block ${formatCount(audit.derived_at_block)}`,
      ),
    ),
    h(
      'p',
      { class: 'audit-sum' },
      h('strong', {}, formatUsdPrice(audit.price_usd)),
      ` ${METHODS[audit.method]}`,
      audit.hops.length === 0
        ? ''
        : `: ${audit.hops.map(({ hop_price }) => formatPrice(hop_price)).join(' × ')} × ${formatUsdPrice(audit.anchor?.price_usd)}`,
    ),
    isPath && picture,
    warningList(audit.warnings),
    otherPools(audit, names),
    h(
      'p',
      { class: 'hash' },
      'Hash of the inputs ',
      h('span', { class: 'mono' }, shortHex(audit.inputs_hash)),
      copyButton(audit.inputs_hash),
    ),
  );
}

const METHODS: Readonly<Record<Audit['method'], string>> = {
  lp_weighted_multi_hop: 'from pools weighted by depth, hop by hop to an anchor',
  stable_anchor: 'configured price of an anchor, checked against the other anchors',
  last_known: 'last known price: no pool of a hop moved for a day',
  none: 'no USD price',
};

const LISTED_MAX = 6;

/** Pools of the token that no hop uses. */
function otherPools(audit: Audit, names: { symbolOf(address: string): string }): HTMLElement | null {
  const others = audit.excluded_pools.filter(({ step }) => step === null);
  if (others.length === 0) return null;
  const rows = others.map((pool) =>
    h(
      'li',
      {},
      h('a', { class: 'mono', href: `#/pair/${pool.address}` }, shortHex(pool.address)),
      h('span', {}, REASONS[pool.reason]),
      h(
        'span',
        { class: 'muted' },
        pool.implied_price === null ? '—' : `${formatPrice(pool.implied_price)} `,
        pool.implied_price === null
          ? ''
          : h('a', { href: tokenHash(pool.to_token) }, names.symbolOf(pool.to_token)),
      ),
    ),
  );
  const list = h('ul', { class: 'left-out' }, ...rows.slice(0, LISTED_MAX));
  const more = button(`${rows.length - LISTED_MAX} more`, () => {
    list.append(...rows.slice(LISTED_MAX));
    more.remove();
  });
  return h(
    'div',
    { class: 'left-out-box' },
    h('h3', {}, `Other pools of this token (${others.length})`),
    list,
    rows.length > LISTED_MAX && more,
  );
}
