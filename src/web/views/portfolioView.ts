/** The page of a wallet: tokens, native coin and liquidity positions, with the confidence of each value. */
import type { Portfolio, PortfolioAnswer } from '../../wire/portfolio';
import { getAnswer } from '../core/api.ts';
import { walletPath, type App, type View } from '../core/app.ts';
import { button, h, segments, showIn } from '../core/dom.ts';
import { formatCount, formatUsd, shortHex } from '../core/format.ts';
import { loadingPanel, skeleton } from '../core/panel.ts';
import { copyButton, tile, warningList } from '../core/pieces.ts';
import type { Place } from '../core/place.ts';
import { getDelegate } from '../explorer/nodeAnswers.ts';
import { delegateNote, walletActivity, walletTransfers } from '../explorer/walletLists.ts';
import { rememberWallet } from '../wallet/recentWallets.ts';
import { emptyWallet, noWallet } from '../wallet/walletHelp.ts';
import { isEmptyWallet, walletTables } from '../wallet/walletTables.ts';
import type { StoredOrder } from '../wallet/sortedTable.ts';

/** New blocks refresh the view at most this often. */
const REFRESH_MS = 12_000;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export const portfolioView: View = (app, place, main, signal) => {
  const address = place.path[1] ?? '';
  app.setTitle('Portfolio');
  const form = addressForm('Wallet address', address, (enteredAddress) => app.go(walletPath(enteredAddress)));
  const head = h('div', { class: 'look-up' }, h('h1', {}, 'Portfolio'), form);
  if (address === '') {
    main.replaceChildren(head, noWallet(signal));
    return;
  }
  const figuresBox = h('div');
  const orderOf = (table: string): StoredOrder => ({
    initialOrder: place.query.get(table),
    store: (order) => app.remember({ [table]: order }),
  });
  const tables = walletTables(orderOf, signal);
  const delegateBox = h('div');
  const page = h(
    'div',
    {},
    figuresBox,
    delegateBox,
    tables.element,
    walletActivityTabs(app, address.toLowerCase(), place, signal),
  );
  void getDelegate(address, null, signal)
    .then((contract) => contract !== null && delegateBox.replaceChildren(delegateNote(contract, null)))
    .catch(() => undefined);
  let helpBox: HTMLElement | null = null;
  const view = loadingPanel({
    load: (loadSignal) => getAnswer<PortfolioAnswer>(`/portfolio/${address}`, {}, loadSignal),
    render: ({ data }) => {
      app.setTitle(`${shortHex(data.address)} ${formatUsd(data.net_worth_usd)}`);
      rememberWallet(data.address);
      showIn(figuresBox, figures(data));
      tables.show(data);
      helpBox?.remove();
      if (isEmptyWallet(data)) page.append((helpBox ??= emptyWallet(data.address, signal)));
      return page;
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
  const faultText = h('span', { class: 'fault', role: 'alert' });
  const form = h(
    'form',
    { class: 'address-form' },
    input,
    button('Look up', () => undefined, { type: 'submit', class: 'button main' }),
    faultText,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const address = input.value.trim();
    const isAddress = ADDRESS.test(address);
    faultText.textContent = isAddress ? '' : 'Enter an address: 0x and 40 hex digits';
    if (isAddress) onaddress(address);
    else input.focus();
  });
  return form;
}

type WalletList = 'activity' | 'transfers';

/** The trades and the transfers of a wallet. */
function walletActivityTabs(app: App, address: string, { query }: Place, signal: AbortSignal): HTMLElement {
  const body = h('div');
  const showList = (list: WalletList): void =>
    body.replaceChildren((list === 'transfers' ? walletTransfers : walletActivity)(address, signal));
  const firstList = query.get('tab') === 'transfers' ? 'transfers' : 'activity';
  const tabs = segments<WalletList>({
    label: 'Trades and transfers',
    values: [
      ['activity', 'Activity'],
      ['transfers', 'Transfers'],
    ],
    value: firstList,
    onchange: (list) => {
      app.remember({ tab: list === 'activity' ? null : list });
      showList(list);
    },
  });
  showList(firstList);
  return h('section', { class: 'card list-card wallet-lists' }, h('div', { class: 'card-bar' }, tabs), body);
}

/** The figures of a wallet. They change with each block, and the tables below stay. */
function figures(data: Portfolio): HTMLElement {
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
  );
}
