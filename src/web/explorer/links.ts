/** Links of the explorer's pages: every hash and address with a copy button. */
import { addressPath, blockPath, transactionPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatCount, shortHex } from '../core/format.ts';
import { copyButton } from '../core/pieces.ts';

/** `whole` shows all digits. */
type HexLength = 'short' | 'whole';

function hexLink(hex: string, href: string, length: HexLength): HTMLElement {
  return h(
    'span',
    { class: length === 'whole' ? 'address whole' : 'address' },
    h('a', { href, title: hex, class: 'mono' }, length === 'whole' ? hex : shortHex(hex)),
    copyButton(hex),
  );
}

export function addressOf(address: string, chain: string | null, length: HexLength = 'short'): HTMLElement {
  return hexLink(address, addressPath(address, chain), length);
}

export function transactionOf(hash: string, chain: string | null, length: HexLength = 'short'): HTMLElement {
  return hexLink(hash, transactionPath(hash, chain), length);
}

/** A link to a block by its hash. */
export function blockByHash(hash: string, chain: string | null, length: HexLength = 'short'): HTMLElement {
  return hexLink(hash, blockPath(hash, chain), length);
}

/** A link to a block by its number. */
export function blockNumber(number: number, chain: string | null): HTMLElement {
  return h('a', { href: blockPath(number, chain) }, formatCount(number));
}

/** A link to the logs with this topic at this place. */
export function topicOf(topic: string, topicIndex: number, chain: string | null): HTMLElement {
  return hexLink(topic, logsPath({ [`topic${topicIndex}`]: topic, chainId: chain }), 'whole');
}

/** A text such as a hash that names no page, with its copy button. */
export function copyable(text: string): HTMLElement {
  return h('span', { class: 'address whole' }, h('span', { class: 'mono' }, text), copyButton(text));
}

/** The page of logs with these filters. */
export function logsPath(filters: Readonly<Record<string, string | number | null>>): string {
  const setFilters = Object.entries(filters).filter(([, value]) => value !== null && value !== '');
  return `/logs?${new URLSearchParams(setFilters.map(([name, value]) => [name, String(value)])).toString()}`;
}
