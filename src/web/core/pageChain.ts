/**
 * The chain of the page. All paths of a further chain begin with the chain, as in /base/pairs. The chain stays the same until
 * the browser loads another page.
 */
import type { ChainItem } from '../../wire/chains';

/** The part of all paths that names the chain, such as `/base`; empty for the first chain. */
export function chainPrefix(): string {
  return document.querySelector('meta[name="chain"]')?.getAttribute('content') ?? '';
}

/** The same path on the chain of the page. */
export function inChain(path: string): string {
  const prefix = chainPrefix();
  const isLocal = path.startsWith('/') && !path.startsWith('//');
  return prefix === '' || !isLocal || withoutChain(path) !== null ? path : prefix + path;
}

/** The path without the chain of the page; null if the path is one of another chain. */
export function withoutChain(path: string): string | null {
  const prefix = chainPrefix();
  if (prefix === '' || path === prefix) return path.slice(prefix.length) || '/';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null;
}

/** The first part of the paths of a chain. `chains` is the list of all chains. */
export function prefixOf(chains: readonly ChainItem[], { chain_id, slug }: ChainItem): string {
  return chains[0]?.chain_id === chain_id ? '' : `/${slug || chain_id}`;
}

/** The chain of the page in the list of all chains. */
export function findPageChain(chains: readonly ChainItem[]): ChainItem | undefined {
  return chains.find((chain) => prefixOf(chains, chain) === chainPrefix());
}
