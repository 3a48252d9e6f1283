/** Links of the explorer's pages: every hash and address with a copy button. */
import { addressPath, blockPath, transactionPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatCount, shortHex } from '../core/format.ts';
import { copyButton } from '../core/pieces.ts';

/** `whole` shows all digits. */
type Length = 'short' | 'whole';

function hexLink(hex: string, href: string, length: Length): HTMLElement {
  return h(
    'span',
    { class: length === 'whole' ? 'address whole' : 'address' },
    h('a', { href, title: hex, class: 'mono' }, length === 'whole' ? hex : shortHex(hex)),
    copyButton(hex),
  );
}

export function addressOf(address: string, chain: string | null, length: Length = 'short'): HTMLElement {
  return hexLink(address, addressPath(address, chain), length);
}

export function transactionOf(hash: string, chain: string | null, length: Length = 'short'): HTMLElement {
  return hexLink(hash, transactionPath(hash, chain), length);
}

/** A link to a block by its hash. */
export function blockByHash(hash: string, chain: string | null, length: Length = 'short'): HTMLElement {
  return hexLink(hash, blockPath(hash, chain), length);
}

/** A link to a block by its number. */
export function blockNumber(number: number, chain: string | null): HTMLElement {
  return h('a', { href: blockPath(number, chain) }, formatCount(number));
}

/** A link to the logs with this topic at this place. */
export function topicOf(topic: string, place: number, chain: string | null): HTMLElement {
  return hexLink(topic, logsPath({ [`topic${place}`]: topic, chainId: chain }), 'whole');
}

/** A text such as a hash that names no page, with its copy button. */
export function copyable(text: string): HTMLElement {
  return h('span', { class: 'address whole' }, h('span', { class: 'mono' }, text), copyButton(text));
}

/** The page of logs with these filters. */
export function logsPath(filters: Readonly<Record<string, string | number | null>>): string {
  const nonEmpty = Object.entries(filters).filter(([, value]) => value !== null && value !== '');
  return `/logs?${new URLSearchParams(nonEmpty.map(([name, value]) => [name, String(value)])).toString()}`;
}
