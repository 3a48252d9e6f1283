/** What views are made of and what they are given. */
import type { Query } from './api.ts';
import type { LiveStream } from './live.ts';

/** Where the page is: `#/pair/0x…?timeframe=1h` has the path ['pair', '0x…']. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export interface App {
  readonly live: LiveStream;
  /** Goes to a place: `#/tokens`. */
  go(hash: string): void;
  /** Writes the state of a view into the address without going anywhere. */
  remember(query: Query): void;
  /** Calls back when a new block was indexed, not more often than `everyMs`, and only while somebody looks. */
  onHead(callback: () => void, everyMs: number, signal: AbortSignal): void;
  setTitle(title: string): void;
}

/** A view fills `main`; what it started ends when the signal aborts. */
export type View = (app: App, place: Place, main: HTMLElement, signal: AbortSignal) => void;

export const pairHash = (address: string): string => `#/pair/${address}`;
export const tokenHash = (address: string): string => `#/token/${address}`;
export const walletHash = (address: string): string => `#/portfolio/${address}`;
export const contractHash = (address: string): string => `#/contract/${address}`;
