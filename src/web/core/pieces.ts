/** Small elements that all views share: colored changes, self-updating times, addresses, badges and tokens. */
import type { PriceReason } from '../../wire/priceReason';
import { contractPath, pairPath, tokenPath, transactionPath, walletPath } from './app.ts';
import { copyText } from './copyText.ts';
import { h } from './dom.ts';
import {
  formatAgo,
  formatChange,
  formatFee,
  formatTime,
  formatUsdPrice,
  shortHex,
  symbolOf,
  UNKNOWN,
} from './format.ts';

interface TokenLike {
  readonly address: string;
  readonly symbol: string | null;
  readonly name?: string | null;
}

/** A percentage in green or red. */
export function coloredChange(value: number | null | undefined): HTMLElement {
  const tone =
    value === null || value === undefined || Math.abs(value) < 0.005 ? 'even' : value > 0 ? 'up' : 'down';
  return h('span', { class: `change ${tone}` }, formatChange(value));
}

/** The age of a time as an element that `keepTimes` updates. */
export function ago(timestamp: number | null): HTMLElement | string {
  if (timestamp === null) return UNKNOWN;
  const time = h(
    'time',
    { 'data-at': timestamp, title: formatTime(timestamp) },
    formatAgo(timestamp, Date.now() / 1000),
  );
  time.dateTime = new Date(timestamp * 1000).toISOString();
  return time;
}

/** Updates all ages on the page at intervals. */
export function keepTimes(): void {
  setInterval(() => {
    if (document.hidden) return;
    const now = Date.now() / 1000;
    for (const time of document.querySelectorAll<HTMLElement>('time[data-at]')) {
      const text = formatAgo(Number(time.dataset['at']), now);
      if (time.textContent !== text) time.textContent = text;
    }
  }, 1_000);
}

/** A round mark with colors from the address. There are no logos, because they would need requests to other
 * servers. */
export function avatar(token: TokenLike, size = 24): HTMLElement {
  const seed = Number.parseInt(token.address.slice(2, 10), 16);
  const letters = [...(token.symbol ?? '').replace(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('').toUpperCase();
  const avatarMark = h('span', { class: 'avatar', 'aria-hidden': 'true' }, letters || '?');
  avatarMark.style.setProperty('--hue', String(seed % 360));
  avatarMark.style.setProperty('--size', `${size}px`);
  return avatarMark;
}

interface PairLike {
  readonly address: string;
  readonly base_token: TokenLike;
  readonly quote_token: TokenLike;
  readonly tokens?: readonly TokenLike[];
}

export function pairName(pair: PairLike): HTMLElement {
  const moreTokens = Math.max(0, (pair.tokens?.length ?? 2) - 2);
  return h(
    'span',
    { class: 'pair-name' },
    h('span', { class: 'symbol' }, symbolOf(pair.base_token)),
    h('span', { class: 'quote' }, '/', h('wbr'), symbolOf(pair.quote_token)),
    moreTokens > 0 && h('span', { class: 'quote' }, ` +${moreTokens}`),
  );
}

/** A link or name with a button that copies its address or hash. In tables the button appears with the pointer or the focus. */
export function withCopy(content: Node, text: string): HTMLElement {
  return h('span', { class: 'with-copy' }, content, copyButton(text));
}

/** A short hash of a transaction with a link and a copy button. */
export function transactionLink(hash: string, title = hash): HTMLElement {
  return h(
    'span',
    { class: 'address' },
    h('a', { href: transactionPath(hash), title, class: 'mono' }, shortHex(hash)),
    copyButton(hash),
  );
}

const PATH_OF_KIND = {
  token: tokenPath,
  pair: pairPath,
  wallet: walletPath,
  contract: contractPath,
} as const;

/** A short address with a link and a copy button. */
export function addressLink(address: string, kind: keyof typeof PATH_OF_KIND): HTMLElement {
  return h(
    'span',
    { class: 'address' },
    h('a', { href: PATH_OF_KIND[kind](address), title: address, class: 'mono' }, shortHex(address)),
    copyButton(address),
  );
}

/** `text` may be a function, for a text that changes. `label` names the button for screen readers. */
export function copyButton(text: string | (() => string), label?: string): HTMLElement {
  const readText = typeof text === 'string' ? () => text : text;
  const name = label ?? `Copy ${readText()}`;
  const copyMark = h('button', { type: 'button', class: 'copy', 'aria-label': name, title: 'Copy' });
  copyMark.addEventListener('click', (event) => {
    event.preventDefault();
    event.stopPropagation();
    void copyText(readText()).then((isCopied) => {
      copyMark.classList.add(isCopied ? 'done' : 'failed');
      copyMark.title = isCopied ? 'Copied' : 'The browser did not copy the text';
      setTimeout(() => copyMark.classList.remove('done', 'failed'), 1_200);
    });
  });
  return copyMark;
}

export function badge(
  text: string,
  tone: 'plain' | 'good' | 'warn' | 'bad' | 'accent' = 'plain',
): HTMLElement {
  return h('span', { class: `badge ${tone}` }, text);
}

export const POOL_TYPES: Readonly<Record<number, string>> = {
  2: 'V2',
  3: 'V3',
  4: 'weighted',
  5: 'stable',
  6: 'crypto',
  7: 'bins',
};

/** The mark of a pool in which nobody can trade any more. */
export const endedBadge = (): HTMLElement => badge('ended', 'warn');

export function poolBadges(pool: {
  readonly dex_name: string;
  readonly pool_type: number;
  readonly fee_bps: number | null;
  readonly flags: readonly string[];
}): HTMLElement {
  return h(
    'span',
    { class: 'badges' },
    badge(pool.dex_name),
    badge(POOL_TYPES[pool.pool_type] ?? `type ${pool.pool_type}`),
    pool.flags.includes('ended') ? endedBadge() : badge(formatFee(pool.fee_bps)),
  );
}

const CONFIDENCE_TONES: Readonly<Record<string, 'good' | 'plain' | 'warn' | 'bad'>> = {
  high: 'good',
  medium: 'plain',
  low: 'warn',
  none: 'bad',
};

export function confidenceBadge(level: string): HTMLElement {
  const confidenceMark = badge(
    level === 'none' ? 'no price' : `${level} confidence`,
    CONFIDENCE_TONES[level] ?? 'plain',
  );
  confidenceMark.title = 'Confidence of the price, from the depth, agreement and freshness of its pools';
  return confidenceMark;
}

interface PriceFields {
  readonly price_usd: string | null;
  readonly price_reason: PriceReason | null;
}

/** The USD price at the head of a page, with a second line. Without a USD price, also the reason. */
export function headPrice({ price_usd, price_reason: reason }: PriceFields, secondLine: string): HTMLElement {
  return h(
    'div',
    { class: 'page-price', title: reason?.text ?? null },
    h('strong', {}, formatUsdPrice(price_usd)),
    h('small', {}, secondLine),
    reason !== null && h('small', { class: 'price-reason' }, reason.text),
  );
}

/** A row of facts: name, value and tooltip. */
export function fact(name: string, value: Node | string, title: string | null = null): HTMLElement {
  return h('div', { class: 'fact', title }, h('dt', {}, name), h('dd', {}, value));
}

export function facts(...rows: readonly (HTMLElement | null)[]): HTMLElement {
  return h('dl', { class: 'facts' }, ...rows);
}

/** A large figure with its name. */
export function tile(
  name: string,
  value: Node | string,
  addition: Node | string | null = null,
  title: string | null = null,
): HTMLElement {
  return h('div', { class: 'tile', title }, h('dt', {}, name), h('dd', {}, h('span', {}, value), addition));
}

/** Buys and sells as a bar in two colors. */
export function buySellBar(buys: number, sells: number): HTMLElement {
  const bar = h(
    'span',
    { class: 'balance-bar', role: 'img', 'aria-label': `${buys} buys, ${sells} sells` },
    h('i'),
    h('b'),
  );
  bar.style.setProperty('--part', String(buys + sells === 0 ? 0.5 : buys / (buys + sells)));
  return bar;
}

export function warningList(
  warnings: readonly { readonly code: string; readonly message: string; readonly severity: string }[],
): HTMLElement | null {
  if (warnings.length === 0) return null;
  return h(
    'ul',
    { class: 'warnings' },
    ...warnings.map(({ message, severity, code }) => h('li', { class: severity, title: code }, message)),
  );
}
