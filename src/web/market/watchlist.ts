/** The watchlist: addresses of tokens and pairs, kept in this browser, with import and export as JSON. */
import { chainPrefix } from '../core/pageChain.ts';
import { fieldOf, isAddress, isPool, parseJson, readStored, writeStored } from '../core/stored.ts';

export type WatchedKind = 'tokens' | 'pairs';

interface Watchlist {
  readonly tokens: readonly string[];
  readonly pairs: readonly string[];
}

/** Most tokens and most pairs of a watchlist. */
const WATCHED_MAX = 120;
/** Each chain has its own list. */
const STORAGE_KEY = `watchlist${chainPrefix()}`;
const EMPTY: Watchlist = { tokens: [], pairs: [] };

let cachedList: Watchlist | null = null;
const listeners = new Set<() => void>();

export function watchlist(): Watchlist {
  cachedList ??= readWatchlist(readStored(STORAGE_KEY)).list;
  return cachedList;
}

/** Calls back after each change, also after a change in another tab. */
export function onWatchlist(listener: () => void, signal: AbortSignal): void {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

window.addEventListener('storage', ({ key }) => {
  if (key !== STORAGE_KEY && key !== null) return;
  cachedList = null;
  notifyListeners();
});

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

function store(list: Watchlist): void {
  cachedList = list;
  writeStored(STORAGE_KEY, list);
  notifyListeners();
}

export function isWatched(kind: WatchedKind, address: string): boolean {
  return watchlist()[kind].includes(address);
}

/** Adds or removes an address. Returns whether the address is watched afterwards. A full list accepts no further address. */
export function toggleWatched(kind: WatchedKind, address: string): boolean {
  const list = watchlist();
  const isListed = list[kind].includes(address);
  if (!isListed && list[kind].length >= WATCHED_MAX) return false;
  const addresses = isListed ? list[kind].filter((other) => other !== address) : [...list[kind], address];
  store({ ...list, [kind]: addresses });
  return !isListed;
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
  const { list: importedList, refused } = readWatchlist(value);
  const tokens = mergeAddresses(listBefore.tokens, importedList.tokens);
  const pairs = mergeAddresses(listBefore.pairs, importedList.pairs);
  const droppedCount = tokens.droppedCount + pairs.droppedCount;
  const addedCount =
    tokens.kept.length + pairs.kept.length - listBefore.tokens.length - listBefore.pairs.length;
  store({ tokens: tokens.kept, pairs: pairs.kept });
  return { added: addedCount, refused: refused + droppedCount };
}

function mergeAddresses(
  watchedAddresses: readonly string[],
  importedAddresses: readonly string[],
): { kept: string[]; droppedCount: number } {
  const allAddresses = [...new Set([...watchedAddresses, ...importedAddresses])];
  return {
    kept: allAddresses.slice(0, WATCHED_MAX),
    droppedCount: Math.max(0, allAddresses.length - WATCHED_MAX),
  };
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
      const isName = kind === 'pairs' ? isPool : isAddress;
      if (isName(address) && (addresses.has(address) || addresses.size < WATCHED_MAX)) addresses.add(address);
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
