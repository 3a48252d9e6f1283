/** The interface between the page and its views. */
import type { Query } from './api.ts';
import type { LiveStream } from './live.ts';

/** The location of the page: `#/pair/0x…?timeframe=1h` has the path ['pair', '0x…']. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export interface App {
  readonly live: LiveStream;
  /** Navigates to a location such as `#/tokens`. */
  go(hash: string): void;
  /** Writes the state of a view into the address bar without navigating. */
  remember(query: Query): void;
  /** Calls back for new blocks, at most every `everyMs`, and only while the page is visible. */
  onHead(callback: () => void, everyMs: number, signal: AbortSignal): void;
  setTitle(title: string): void;
}

/** A view fills the element `main`. Everything that the view starts ends when the signal aborts. */
export type View = (app: App, place: Place, main: HTMLElement, signal: AbortSignal) => void;

export const pairHash = (address: string): string => `#/pair/${address}`;
export const tokenHash = (address: string): string => `#/token/${address}`;
export const walletHash = (address: string): string => `#/portfolio/${address}`;
export const transactionHash = (hash: string): string => `#/tx/${hash}`;
export const contractHash = (address: string): string => `#/contract/${address}`;
