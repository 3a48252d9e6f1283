/**
 * Names of pairs in charts. The ticker is the address. A pair also has a name, `BASE/QUOTE@dex_name`. Among several
 * pairs with the same name, the oldest one keeps it, so that a copy cannot take over the name. Later pairs are
 * named `BASE/QUOTE@dex_name#address`.
 */
import { parseAddress } from '../../domain/address';
import type { PairEntry } from '../../query/pairs/pairItem';
import type { PairTable, PairTables } from '../../query/pairs/pairTable';
import { perVersion, type PerVersion } from '../../query/head/perVersion';
import type { Token } from '../../wire/primitives';
import { badParam } from '../params';

export interface PairSymbols {
  readonly table: PairTable;
  nameOf(entry: PairEntry): string;
  /** Finds a pair by address or by name in any letter case, with an optional prefix `EXCHANGE:`. */
  find(symbol: string): PairEntry | null;
}

export type PairSymbolTables = PerVersion<PairSymbols>;

export function createPairSymbols(pairs: PairTables): PairSymbolTables {
  return perVersion({ read: async (head) => namePairs(await pairs.at(head)) });
}

/** Gives names to all pairs of a table. */
function namePairs(table: PairTable): PairSymbols {
  const nameByAddress = new Map<string, string>();
  const entryByName = new Map<string, PairEntry>();
  for (const entry of [...table.entries].sort(compareAge)) {
    const plainName = plainNameOf(entry);
    const name = entryByName.has(plainName.toLowerCase()) ? `${plainName}#${entry.pool.address}` : plainName;
    nameByAddress.set(entry.pool.address, name);
    entryByName.set(name.toLowerCase(), entry);
  }
  return {
    table,
    nameOf: (entry) => nameByAddress.get(entry.pool.address) ?? entry.pool.address,
    find(symbol) {
      const nameWithoutExchange = symbol.slice(symbol.lastIndexOf(':') + 1);
      const address = nameWithoutExchange.slice(nameWithoutExchange.lastIndexOf('#') + 1);
      if (/^0x[0-9a-f]{40}$/i.test(address))
        return table.byAddress.get(parseAddress(address, 'symbol')) ?? null;
      return entryByName.get(nameWithoutExchange.toLowerCase()) ?? null;
    },
  };
}

/** Finds the pair of a symbol. Throws bad_request for an unknown symbol. */
export function findSymbol(symbols: PairSymbols, symbol: string): PairEntry {
  const entry = symbols.find(symbol);
  if (entry === null) throw badParam('symbol', symbol, 'the address of a pair, or its symbol in /udf/search');
  return entry;
}

/** Sorts by creation block, then by address. Pairs older than the first indexed block come first. */
function compareAge(a: PairEntry, b: PairEntry): number {
  const ageOrder = (a.pool.created_block ?? -1) - (b.pool.created_block ?? -1);
  return ageOrder !== 0 ? ageOrder : a.pool.address < b.pool.address ? -1 : 1;
}

function plainNameOf({ tokens, pool }: PairEntry): string {
  return `${symbolWordOf(tokens.base)}/${symbolWordOf(tokens.quote)}@${pool.dex}`;
}

/** A token symbol without the characters that separate names. Returns the address if no character remains. */
function symbolWordOf({ symbol, address }: Token): string {
  const word = (symbol ?? '').replace(/[\s,/@#:]+/gu, '_');
  return word === '' || word === '_' ? address : word;
}
