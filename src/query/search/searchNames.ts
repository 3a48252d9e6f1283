/** Finds tokens, verified contracts and pairs by name. A contract with the code of a verified contract also
 * has its name. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { verifiedContractsTable } from '../../clickhouse/schema/sourceTables';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { createSlices } from '../../domain/slices';
import type { Token } from '../../wire/primitives';
import type { Counts } from '../logs/logCounts';
import type { Directory } from '../tokens/directory';
import { placeOf, placeOfWords, splitPairWords } from './place';

const { chain_id, address, code_hash, name, path, version } = verifiedContractsTable.types;
const twinRow = rowType({ address, code_hash });
const verifiedRow = rowType({ chain_id, address, code_hash, name, path, version });
type VerifiedRow = RowOf<typeof verifiedRow>;

interface Named {
  readonly type: 'token' | 'contract' | 'pair';
  readonly address: Hex;
  readonly title: string;
  readonly subtitle: string | null;
  /**
   * Quality of a match: 4 exact, 3 prefix, 2 start of a word, 1 inside. A match in a less distinctive name gets half
   * a step less.
   */
  readonly place: number;
}

interface NameSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
  /** Log counts at the snapshot of the search. */
  readonly counts: Promise<Counts>;
  readonly directory: Pick<Directory, 'allTokens'>;
  /** Database of the verified contracts. */
  readonly verifiedDb: string;
}

interface FoundNames {
  /** The best matches first, each address once; at most three times the limit. */
  readonly names: readonly Named[];
  /** False if a list reached the limit, so that further names may match. */
  readonly isWhole: boolean;
}

/** Tokens and verified contracts. `text` is in lower case. */
export async function listNamed(source: NameSource, text: string, limit: number): Promise<FoundNames> {
  const { runner, chainId, verifiedDb } = source;
  const params = { q: text, word: ` ${text}`, limit, chain_id: chainId, verified_db: verifiedDb };
  const [tokens, verified] = await Promise.all([
    Promise.all([source.directory.allTokens(), source.counts]).then(([known, counts]) =>
      listTokensNamed(known.values(), counts, text, limit),
    ),
    runner.run('search/search_verified_names', params, verifiedRow),
  ]);
  const newest = newestOf(verified, (row) => `${row.chain_id} ${row.address}`);
  const byHash = new Map<Hex, VerifiedRow>();
  for (const row of newest)
    if (row.code_hash !== ZERO_HASH && !byHash.has(row.code_hash)) byHash.set(row.code_hash, row);
  const hashes = [...byHash.keys()].map((hash) => hash.slice(2));
  const twins =
    hashes.length === 0 ? [] : await runner.run('search/list_code_twins', { hashes, limit }, twinRow);
  const allNamed = [
    ...tokens,
    ...newest.flatMap((row) =>
      row.chain_id === chainId ? (nameContract(row.address, row, text) ?? []) : [],
    ),
  ];
  allNamed.sort((a, b) => b.place - a.place);
  for (const { address, code_hash: hash } of twins) {
    const row = byHash.get(hash);
    const twin = row === undefined ? null : nameContract(address, row, text);
    if (twin !== null) allNamed.push(twin);
  }
  // A token that is also a verified contract is one hit, with the better of its two matches.
  const byAddress = new Map<Hex, Named>();
  for (const one of allNamed) if (!byAddress.has(one.address)) byAddress.set(one.address, one);
  const isWhole = [tokens, verified, twins].every(({ length }) => length < limit);
  return { names: [...byAddress.values()], isWhole };
}

/** The fields of a pair for searches. `tokens.name` is a text such as `WPLS / DAI`. */
export interface NamedPair {
  readonly pool: { readonly address: string; readonly dex: string };
  readonly tokens: { readonly name: string };
  readonly liquidityUsd: number;
}

/**
 * Pairs whose name contains the text (lower case, not empty), or whose symbols match the words of the text in any
 * order. Sorted by the quality of the match, then by liquidity.
 */
export async function listPairsNamed(
  pairs: readonly NamedPair[],
  text: string,
  limit: number,
): Promise<Named[]> {
  const words = splitPairWords(text);
  const best = await listBest<NamedPair>({
    all: pairs,
    limit,
    placeOf: ({ tokens }) => {
      const name = tokens.name.toLowerCase();
      const place = placeOf(name, text);
      return words.length === 0 ? place : Math.max(place, placeOfWords(name.split(' / '), words) - 0.5);
    },
    weightOf: ({ liquidityUsd }) => liquidityUsd,
    addressOf: ({ pool }) => pool.address,
  });
  return best.map(({ one: { pool, tokens }, place }) => ({
    type: 'pair',
    address: `0x${pool.address.slice(2)}`,
    title: tokens.name,
    subtitle: pool.dex,
    place: place - 0.5,
  }));
}

/** Tokens whose symbol or name contains the text. Best matches first, then by log count. */
export async function listTokensNamed(
  tokens: Iterable<Token>,
  { logsOf }: Counts,
  text: string,
  limit: number,
): Promise<Named[]> {
  const best = await listBest<Token>({
    all: tokens,
    limit,
    placeOf: ({ symbol, name }) => Math.max(placeIn(symbol, text), placeIn(name, text)),
    weightOf: ({ address }) => logsOf(address),
    addressOf: ({ address }) => address,
  });
  return best.flatMap(({ one }) => nameToken(one, text) ?? []);
}

interface Scan<T> {
  readonly all: Iterable<T>;
  readonly limit: number;
  /** Quality of the match; 0 if the text does not match. */
  placeOf(one: T): number;
  weightOf(one: T): number;
  addressOf(one: T): string;
}

interface Placed<T> {
  readonly one: T;
  readonly place: number;
  readonly weight: number;
}

/**
 * The items with the best matches. Equal matches are sorted by descending weight, then by address. Lets other
 * requests run during the scan.
 */
async function listBest<T>({
  all,
  limit,
  placeOf: place,
  weightOf,
  addressOf,
}: Scan<T>): Promise<Placed<T>[]> {
  const slices = createSlices();
  const order = (a: Placed<T>, b: Placed<T>): number =>
    b.place - a.place || b.weight - a.weight || (addressOf(a.one) < addressOf(b.one) ? -1 : 1);
  let best: Placed<T>[] = [];
  /** The worst of the best items so far. Null until there are enough items. */
  let worst: Placed<T> | null = null;
  for (const item of all) {
    const foundPlace = place(item);
    if (foundPlace > 0 && foundPlace >= (worst?.place ?? 0)) {
      const placed = { one: item, place: foundPlace, weight: weightOf(item) };
      if (worst === null || order(placed, worst) < 0) best.push(placed);
    }
    if (best.length >= 10 * limit) {
      best = best.sort(order).slice(0, limit);
      worst = best.at(-1) ?? null;
    }
    if (slices.isOver()) await slices.giveWay();
  }
  return best.sort(order).slice(0, limit);
}

/** A token as a hit, or null without a match. */
function nameToken({ address, symbol, name }: Token, text: string): Named | null {
  const place = Math.max(placeIn(symbol, text), placeIn(name, text) - 0.5);
  if (place <= 0) return null;
  return {
    type: 'token',
    address: `0x${address.slice(2)}`,
    title: symbol ?? name ?? '',
    subtitle: name,
    place,
  };
}

function nameContract(address: Hex, { name, path }: VerifiedRow, text: string): Named | null {
  const place = placeOf(name.toLowerCase(), text);
  return place === 0 ? null : { type: 'contract', address, title: name, subtitle: path, place };
}

const placeIn = (name: string | null, text: string): number =>
  name === null ? 0 : placeOf(name.toLowerCase(), text);

function newestOf<Row extends { readonly version: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const earlier = newest.get(keyOf(row));
    if (earlier === undefined || earlier.version < row.version) newest.set(keyOf(row), row);
  }
  return [...newest.values()];
}
