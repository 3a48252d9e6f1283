/** The choice of the chain in the header. It is hidden if the service has one chain. */
import type { ChainItem } from '../../wire/chains';
import { getAnswer } from '../core/api.ts';
import { h } from '../core/dom.ts';
import { findPageChain, inChain, prefixOf, withoutChain } from '../core/pageChain.ts';

/** Fills the choice, and makes the links around the content lead to the chain of the page. */
export async function setUpChainSwitch(choice: HTMLElement): Promise<void> {
  for (const link of document.querySelectorAll('header a[href^="/"], footer a[href^="/"]'))
    link.setAttribute('href', inChain(link.getAttribute('href') ?? '/'));
  const { data: chains } = await getAnswer<{ data: readonly ChainItem[] }>(
    '/chains',
    {},
    new AbortController().signal,
  );
  if (!(choice instanceof HTMLSelectElement) || chains.length < 2) return;
  const pageChain = findPageChain(chains);
  choice.append(
    ...chains.map((chain) =>
      h('option', { value: prefixOf(chains, chain), selected: chain === pageChain }, chain.name),
    ),
  );
  choice.hidden = false;
  // What a longer path names, such as a token, need not exist on the other chain.
  choice.addEventListener('change', () => {
    const path = withoutChain(location.pathname) ?? '/';
    location.assign(choice.value + (path.split('/').length > 2 ? '/' : path));
  });
}
