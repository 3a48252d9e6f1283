/**
 * What a chart calls a pair. The address is the ticker; beside it stands a name, `BASE/QUOTE@dex_name`, which of several
 * pairs with that name the one made first bears alone: nobody takes a name over by making a pair like another one. The
 * later ones are called `BASE/QUOTE@dex_name#address`.
 */
import { parseAddress } from '../../domain/address';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { PairEntry } from '../../query/pairs/pairItem';
import type { PairTable, PairTables } from '../../query/pairs/pairTable';
import { perVersion, type PerVersion } from '../../query/head/perVersion';
import type { Token } from '../../wire/primitives';
import { badParam } from '../params';

export interface PairSymbols {
  readonly table: PairTable;
  /** The name of a pair of the table. */
  nameOf(entry: PairEntry): string;
  /** The pair that a symbol means: its address, or its name in any letter case, also behind `EXCHANGE:`. */
  find(symbol: string): PairEntry | null;
}

export type PairSymbolTables = PerVersion<PairSymbols>;

export function createPairSymbols(pairs: PairTables): PairSymbolTables {
  return perVersion(async (head: HeadSnapshot) => namePairs(await pairs.at(head)));
}

/** The names of all pairs of a table. */
export function namePairs(table: PairTable): PairSymbols {
  const names = new Map<string, string>();
  const byName = new Map<string, PairEntry>();
  for (const entry of [...table.entries].sort(compareAge)) {
    const short = shortName(entry);
    const name = byName.has(short.toLowerCase()) ? `${short}#${entry.pool.address}` : short;
    names.set(entry.pool.address, name);
    byName.set(name.toLowerCase(), entry);
  }
  return {
    table,
    nameOf: (entry) => names.get(entry.pool.address) ?? entry.pool.address,
    find(symbol) {
      const bare = symbol.slice(symbol.lastIndexOf(':') + 1);
      const address = bare.slice(bare.lastIndexOf('#') + 1);
      if (/^0x[0-9a-f]{40}$/i.test(address))
        return table.byAddress.get(parseAddress(address, 'symbol')) ?? null;
      return byName.get(bare.toLowerCase()) ?? null;
    },
  };
}

/** The pair of a symbol. Throws bad_request for a symbol that means none. */
export function findSymbol(symbols: PairSymbols, symbol: string): PairEntry {
  const entry = symbols.find(symbol);
  if (entry === null)
    throw badParam('symbol', symbol, 'the address of a pair, or its name as /udf/search gives it');
  return entry;
}

/** Pairs older than the first indexed block come first; ties by address. */
function compareAge(a: PairEntry, b: PairEntry): number {
  const age = (a.pool.created_block ?? -1) - (b.pool.created_block ?? -1);
  return age !== 0 ? age : a.pool.address < b.pool.address ? -1 : 1;
}

function shortName({ tokens, pool }: PairEntry): string {
  return `${wordOf(tokens.base)}/${wordOf(tokens.quote)}@${pool.dex}`;
}

/** A symbol without the signs that names are made of; its address where nothing is left to call it by. */
function wordOf({ symbol, address }: Token): string {
  const word = (symbol ?? '').replace(/[\s,/@#:]+/gu, '_');
  return word === '' || word === '_' ? address : word;
}
