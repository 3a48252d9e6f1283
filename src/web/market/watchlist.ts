/** The watchlist: addresses of tokens and pairs, kept in this browser, with import and export as JSON. */
import { chainPrefix } from '../core/pageChain.ts';
import { fieldOf, isAddress, parseJson, readStored, writeStored } from '../core/stored.ts';

export type WatchedKind = 'tokens' | 'pairs';

interface Watchlist {
  readonly tokens: readonly string[];
  readonly pairs: readonly string[];
}

/** Most tokens and most pairs of a watchlist. */
const WATCHED_MAX = 120;
/** Each chain has its own list. */
const KEY = `watchlist${chainPrefix()}`;
const EMPTY: Watchlist = { tokens: [], pairs: [] };

let current: Watchlist | null = null;
const listeners = new Set<() => void>();

export function watchlist(): Watchlist {
  current ??= readWatchlist(readStored(KEY)).list;
  return current;
}

/** Calls back after each change, also after a change in another tab. */
export function onWatchlist(listener: () => void, signal: AbortSignal): void {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

window.addEventListener('storage', ({ key }) => {
  if (key !== KEY && key !== null) return;
  current = null;
  tell();
});

function tell(): void {
  for (const listener of listeners) listener();
}

function keep(next: Watchlist): void {
  current = next;
  writeStored(KEY, next);
  tell();
}

export function isWatched(kind: WatchedKind, address: string): boolean {
  return watchlist()[kind].includes(address);
}

/** Adds or removes an address. Returns whether the address is watched afterwards. A full list accepts no further address. */
export function toggleWatched(kind: WatchedKind, address: string): boolean {
  const list = watchlist();
  const has = list[kind].includes(address);
  if (!has && list[kind].length >= WATCHED_MAX) return false;
  const next = has ? list[kind].filter((other) => other !== address) : [...list[kind], address];
  keep({ ...list, [kind]: next });
  return !has;
}

/** The text of an exported file. */
export function exportWatchlist(): string {
  return `${JSON.stringify({ candlehouse_watchlist: 1, ...watchlist() }, null, 2)}\n`;
}

interface Imported {
  readonly added: number;
  /** Entries that are no addresses, or beyond the limit. */
  readonly refused: number;
}

/** Adds the addresses of an exported file; null if the text is no watchlist. */
export function importWatchlist(text: string): Imported | null {
  const value = parseJson(text);
  if (!Array.isArray(fieldOf(value, 'tokens')) && !Array.isArray(fieldOf(value, 'pairs'))) return null;
  const listBefore = watchlist();
  const { list: given, refused } = readWatchlist(value);
  const tokens = merged(listBefore.tokens, given.tokens);
  const pairs = merged(listBefore.pairs, given.pairs);
  const beyond = tokens.beyond + pairs.beyond;
  const addedCount =
    tokens.all.length + pairs.all.length - listBefore.tokens.length - listBefore.pairs.length;
  keep({ tokens: tokens.all, pairs: pairs.all });
  return { added: addedCount, refused: refused + beyond };
}

function merged(watched: readonly string[], imported: readonly string[]): { all: string[]; beyond: number } {
  const allAddresses = [...new Set([...watched, ...imported])];
  return { all: allAddresses.slice(0, WATCHED_MAX), beyond: Math.max(0, allAddresses.length - WATCHED_MAX) };
}

/** Reads a stored or imported value. Keeps addresses only, each once and in lower case. */
function readWatchlist(value: unknown): { list: Watchlist; refused: number } {
  let refusedCount = 0;
  const readKind = (kind: WatchedKind): string[] => {
    const entries = fieldOf(value, kind);
    if (!Array.isArray(entries)) return [];
    const addresses = new Set<string>();
    for (const entry of entries) {
      const address: unknown = typeof entry === 'string' ? entry.toLowerCase() : null;
      if (isAddress(address) && (addresses.has(address) || addresses.size < WATCHED_MAX))
        addresses.add(address);
      else refusedCount += 1;
    }
    return [...addresses];
  };
  const list =
    typeof value === 'object' && value !== null
      ? { tokens: readKind('tokens'), pairs: readKind('pairs') }
      : EMPTY;
  return { list, refused: refusedCount };
}
