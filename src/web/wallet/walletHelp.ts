/** Help on the page of wallets, shown without an address and for a wallet without known tokens. */
import type { ActivityEntry } from '../../wire/activity';
import type { OverviewAnswer } from '../../wire/overview';
import { getAnswer } from '../core/api.ts';
import { contractPath, walletPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatCount } from '../core/format.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { recentWallets } from './recentWallets.ts';

/** Number of swaps in which to look for traders, and most traders to name. */
const SWAPS_SEARCHED = 50;
const TRADERS_MAX = 6;

export function noWallet(signal: AbortSignal): HTMLElement {
  const recentAddresses = recentWallets();
  const traderList = loadingPanel({
    load: (loadSignal) =>
      getAnswer<{ data: readonly ActivityEntry[] }>(
        '/activity',
        { event_type: 'swap', limit: SWAPS_SEARCHED },
        loadSignal,
      ),
    render: ({ data }) => {
      const makers = data.flatMap((entry) => ('maker' in entry && entry.maker !== null ? [entry.maker] : []));
      const newestMakers = [...new Set(makers)].slice(0, TRADERS_MAX);
      return newestMakers.length === 0 ? h('span') : walletList('Wallets that traded just now', newestMakers);
    },
    skeleton: () => skeleton(140, 4),
    signal,
  });
  return h(
    'div',
    { class: 'card wallet-help' },
    emptyNotice(
      'Enter the address of a wallet to see its tokens, LP tokens and V3 positions, with their value now.',
    ),
    recentAddresses.length > 0 && walletList('Wallets that you looked at', recentAddresses),
    traderList.element,
  );
}

function walletList(title: string, addresses: readonly string[]): HTMLElement {
  return h(
    'section',
    {},
    h('h2', {}, title),
    h(
      'ul',
      {},
      ...addresses.map((address) =>
        h('li', {}, h('a', { class: 'mono', href: walletPath(address) }, address)),
      ),
    ),
  );
}

/** Says why a wallet may look empty. */
export function emptyWallet(address: string, signal: AbortSignal): HTMLElement {
  const indexStart = loadingPanel({
    load: (loadSignal) => getAnswer<OverviewAnswer>('/overview', {}, loadSignal),
    render: ({ data: { history } }) =>
      h(
        'span',
        {},
        history.start_block <= 1
          ? 'The index begins at the first block, so no transfer is missing.'
          : `The index begins at block ${formatCount(history.start_block)}. Tokens that did not move since then may be missing.`,
      ),
    skeleton: () => h('span'),
    signal,
  });
  return h(
    'div',
    { class: 'card wallet-help' },
    emptyNotice('No tokens or positions of this address are known.'),
    h(
      'ul',
      { class: 'wallet-reasons' },
      h('li', {}, 'Compare the address with the one in your wallet, and check that it is on this chain.'),
      h('li', {}, indexStart.element),
      h('li', {}, 'Tokens that are staked in, or lent to, another contract belong to that contract.'),
      h(
        'li',
        {},
        'An address with code is a contract: ',
        h('a', { href: contractPath(address) }, 'look at the contract'),
        '.',
      ),
      h('li', {}, h('a', { href: '/portfolio' }, 'Look at other wallets')),
    ),
  );
}
