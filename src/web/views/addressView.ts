/** Decides what an address is (a pair, a token, a contract or a wallet), and opens the page of its kind. */
import { contractPath, pairPath, tokenPath, walletPath, type View } from '../core/app.ts';
import { h } from '../core/dom.ts';
import type { ContractRecord } from '../core/explorerAnswers.ts';
import { replaceBy } from '../core/navigation.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { badge } from '../core/pieces.ts';
import { chainOf, findContract } from '../explorer/contractReads.ts';
import { copyable, logsPath } from '../explorer/links.ts';
import { getDelegate } from '../explorer/nodeAnswers.ts';
import { delegateNote } from '../explorer/walletLists.ts';

export const addressView: View = (app, place, main, signal) => {
  const address = place.path[1]?.toLowerCase() ?? '';
  app.setTitle('Address');
  const head = h('h1', {}, 'Address');
  if (!/^0x[0-9a-f]{40}$/.test(address)) {
    main.replaceChildren(head, emptyNotice('An address is 0x and 40 hex digits'));
    return;
  }
  const view = loadingPanel({
    load: async (loadSignal) => {
      const chain = await chainOf(place.query);
      return { chain, ...(await findPage(address, chain, loadSignal)) };
    },
    render: ({ path, chain, delegate }) => {
      // The page of the kind replaces this one in the history, so that Back leaves the address.
      if (path !== null) replaceBy(path);
      return path === null ? walletWithoutPage(address, chain ?? '', delegate) : skeleton(400, 8);
    },
    skeleton: () => skeleton(400, 8),
    signal,
  });
  main.replaceChildren(head, view.element);
};

/**
 * The page of the address. `chain` is null for the chain of the page. A wallet of another chain has no page (null), because
 * a portfolio shows the chain of the page only.
 */
async function findPage(
  address: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<{ path: string | null; delegate: string | null }> {
  const [record, delegate] = await Promise.all([
    findContract(address, chain, signal),
    getDelegate(address, chain, signal),
  ]);
  // An account that delegates has code, but it is a wallet.
  if (record === null || delegate !== null)
    return { path: chain === null ? walletPath(address) : null, delegate };
  return { path: contractPage(record, chain), delegate };
}

function contractPage({ address, pair, token }: ContractRecord, chain: string | null): string {
  if (chain !== null) return `${contractPath(address)}?chainId=${encodeURIComponent(chain)}`;
  if (pair !== null) return pairPath(address);
  return token === null ? contractPath(address) : tokenPath(address);
}

function walletWithoutPage(address: string, chain: string, delegate: string | null): HTMLElement {
  return h(
    'section',
    { class: 'card contract-card' },
    h('header', { class: 'contract-head' }, badge('wallet'), h('span', { class: 'muted' }, `chain ${chain}`)),
    h('p', { class: 'wallet-name' }, copyable(address)),
    delegate === null ? h('p', {}, 'This address has no code.') : delegateNote(delegate, chain),
    h('p', {}, h('a', { href: logsPath({ topic1: address, chainId: chain }) }, 'Its logs')),
  );
}
