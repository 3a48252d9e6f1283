/** The page of a wallet: tokens, native coin and liquidity positions, with the confidence of each value. */
import type { Portfolio, PortfolioAnswer, PortfolioPosition, PortfolioToken } from '../../wire/portfolio';
import { getAnswer } from '../core/api.ts';
import { pairHash, tokenHash, walletHash, type View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import {
  formatAmount,
  formatCount,
  formatShare,
  formatUsd,
  formatUsdPrice,
  shortHex,
  symbolOf,
} from '../core/format.ts';
import { emptyNotice, loaded, skeleton } from '../core/panel.ts';
import { avatar, badge, change, copyButton, POOL_TYPES, tile, warningList } from '../core/pieces.ts';

const REFRESH_MS = 12_000;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export const portfolioView: View = (app, place, main, signal) => {
  const address = place.path[1] ?? '';
  app.setTitle('Portfolio');
  const form = addressForm('Wallet address', address, (given) => app.go(walletHash(given)));
  const head = h('div', { class: 'look-up' }, h('h1', {}, 'Portfolio'), form);
  if (address === '') {
    main.replaceChildren(
      head,
      emptyNotice('Enter an address to see its tokens, LP tokens and V3 positions.'),
    );
    return;
  }
  const view = loaded({
    load: (life) => getAnswer<PortfolioAnswer>(`/portfolio/${address}`, {}, life),
    render: ({ data }) => {
      app.setTitle(`${shortHex(data.address)} ${formatUsd(data.net_worth_usd)}`);
      return wallet(data);
    },
    skeleton: () => h('div', {}, skeleton('tiles'), skeleton(420, 8)),
    signal,
  });
  app.onHead(() => view.refresh(), REFRESH_MS, signal);
  main.replaceChildren(head, view.element);
};

/** An input field for an address that checks the address at once. */
export function addressForm(
  label: string,
  value: string,
  onaddress: (address: string) => void,
): HTMLFormElement {
  const input = h('input', {
    type: 'text',
    value,
    placeholder: '0x…',
    'aria-label': label,
    class: 'mono',
    spellcheck: 'false',
    autocomplete: 'off',
    maxlength: 42,
  });
  const fault = h('span', { class: 'fault', role: 'alert' });
  const form = h(
    'form',
    { class: 'address-form' },
    input,
    button('Look up', () => undefined, { type: 'submit', class: 'button main' }),
    fault,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = input.value.trim();
    const isAddress = ADDRESS.test(given);
    fault.textContent = isAddress ? '' : 'Enter an address: 0x and 40 hex digits';
    if (isAddress) onaddress(given);
    else input.focus();
  });
  return form;
}

function wallet(data: Portfolio): HTMLElement {
  const isEmpty = data.tokens.length === 0 && data.positions.length === 0 && data.native === null;
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'wallet-name' },
      h('span', { class: 'mono' }, data.address),
      copyButton(data.address),
      h('span', { class: 'muted' }, ` as of block ${formatCount(data.block_number)}`),
    ),
    h(
      'dl',
      { class: 'tiles' },
      tile('Net worth', formatUsd(data.net_worth_usd)),
      tile('Tokens', formatUsd(data.tokens_usd)),
      tile('Positions', formatUsd(data.positions_usd)),
      tile('Native coin', formatUsd(data.native_usd)),
      tile(
        'Unclaimed',
        formatUsd(data.unclaimed_usd),
        null,
        'Fees and withdrawn liquidity that V3 positions can collect',
      ),
      tile(
        'Excluded',
        formatUsd(data.excluded_usd),
        null,
        'Value of tokens and positions without a trusted price; no total includes it',
      ),
    ),
    warningList(data.warnings),
    isEmpty ? emptyNotice('No tokens or positions of this address are known') : holdings(data),
    data.positions.length === 0 ? null : positions(data.positions),
  );
}

function holdings(data: Portfolio): HTMLElement {
  const names = ['Token', 'Balance', 'Price', '24h', 'Value', 'Share'];
  const rows = data.tokens.map(tokenRow);
  if (data.native !== null) rows.unshift(nativeRow(data.native));
  return plainTable('Tokens', names, rows);
}

function tokenRow(token: PortfolioToken): HTMLTableRowElement {
  const isCounted = token.price_confidence === 'high' || token.price_confidence === 'medium';
  return row(
    tokenHash(token.address),
    h(
      'a',
      { class: 'named', href: tokenHash(token.address) },
      avatar(token),
      h('span', { class: 'symbol' }, symbolOf(token)),
      h('span', { class: 'full' }, token.name ?? ''),
      ...token.flags.map((flag) => badge(flag, 'warn')),
    ),
    formatAmount(token.balance),
    formatUsdPrice(token.price_usd),
    change(token.price_change_24h),
    h(
      'span',
      {
        class: isCounted ? null : 'doubtful',
        title: isCounted ? null : 'Not in the totals: the price has low confidence',
      },
      formatUsd(token.value_usd),
    ),
    formatShare(token.portfolio_pct),
  );
}

function nativeRow(native: NonNullable<Portfolio['native']>): HTMLTableRowElement {
  return row(
    null,
    h(
      'span',
      { class: 'named' },
      avatar({ address: '0x000000ee', symbol: native.symbol }),
      h('span', { class: 'symbol' }, native.symbol),
      badge('native'),
    ),
    formatAmount(native.balance),
    formatUsdPrice(native.price_usd),
    change(native.price_change_24h),
    formatUsd(native.value_usd),
    '–',
  );
}

function positions(items: readonly PortfolioPosition[]): HTMLElement {
  const rows = items.map((item) =>
    row(
      pairHash(item.pair_address),
      h(
        'a',
        { class: 'named', href: pairHash(item.pair_address) },
        h('span', { class: 'symbol' }, item.tokens.map(symbolOf).join(' / ')),
        badge(item.dex_name),
        badge(POOL_TYPES[item.pool_type] ?? ''),
        item.in_range === undefined || item.in_range === null
          ? null
          : badge(item.in_range ? 'in range' : 'out of range', item.in_range ? 'good' : 'warn'),
      ),
      h(
        'span',
        { class: 'amounts' },
        ...item.tokens.map((token) => h('span', {}, `${formatAmount(token.amount)} ${symbolOf(token)}`)),
      ),
      formatShare(item.share_pct),
      formatShare(item.apr_24h),
      formatUsd(item.value_usd),
      formatUsd(item.unclaimed_usd),
    ),
  );
  return plainTable('Positions', ['Pool', 'Amounts', 'Pool share', 'APR 24h', 'Value', 'Unclaimed'], rows);
}

function row(hash: string | null, ...cells: readonly (Node | string)[]): HTMLTableRowElement {
  const line = h(
    'tr',
    {},
    ...cells.map((cell, index) => h('td', { class: index === 0 ? 'left' : null }, cell)),
  );
  line.addEventListener('click', (event) => {
    if (hash !== null && !(event.target instanceof Element && event.target.closest('a, button') !== null))
      location.hash = hash;
  });
  return line;
}

function plainTable(
  title: string,
  names: readonly string[],
  rows: readonly HTMLTableRowElement[],
): HTMLElement {
  const heads = names.map((name, index) =>
    h('th', { scope: 'col', class: index === 0 ? 'left' : null }, name),
  );
  return h(
    'section',
    { class: 'card list-card' },
    h(
      'div',
      { class: 'card-bar' },
      h('h2', {}, title),
      h('span', { class: 'muted' }, formatCount(rows.length)),
    ),
    h(
      'div',
      { class: 'table-scroll' },
      h(
        'table',
        { class: `data holdings ${title.toLowerCase()}`, 'aria-label': title },
        h('thead', {}, h('tr', {}, ...heads)),
        h('tbody', {}, ...rows),
      ),
    ),
  );
}
