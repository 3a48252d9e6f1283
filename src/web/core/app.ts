/** The interface between the page and its views. */
import type { Query } from './api.ts';
import type { LiveStream } from './live.ts';
import type { Place } from './place.ts';

export interface App {
  readonly live: LiveStream;
  /** Navigates to a location such as `/tokens`. */
  go(path: string): void;
  /** Writes the state of a view into the address bar without navigating. Parameters that are not named stay. */
  remember(query: Query): void;
  /** Calls back for new blocks, at most every `everyMs`, and only while the page is visible. */
  onHead(callback: () => void, everyMs: number, signal: AbortSignal): void;
  setTitle(title: string): void;
}

/** A view fills the element `main`. Everything that the view starts ends when the signal aborts. */
export type View = (app: App, place: Place, main: HTMLElement, signal: AbortSignal) => void;

export const pairPath = (address: string): string => `/pair/${address}`;
export const tokenPath = (address: string): string => `/token/${address}`;
export const walletPath = (address: string): string => `/portfolio/${address}`;
export const transactionPath = (hash: string, chain: string | null = null): string =>
  `/tx/${hash}${chainQuery(chain)}`;
export const contractPath = (address: string): string => `/contract/${address}`;
/** `name` is the short name of the DEX, `dex_name` in the API. */
export const dexPath = (name: string): string => `/dex/${encodeURIComponent(name)}`;
/** The page that decides whether the address is a token, a pair, a contract or a wallet. */
export const addressPath = (address: string, chain: string | null = null): string =>
  `/address/${address}${chainQuery(chain)}`;
/** `block` is a number or a hash. */
export const blockPath = (block: number | string, chain: string | null = null): string =>
  `/block/${block}${chainQuery(chain)}`;

/** The default chain has no parameter. */
function chainQuery(chain: string | null): string {
  return chain === null ? '' : `?chainId=${encodeURIComponent(chain)}`;
}
