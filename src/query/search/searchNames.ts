/** Finds tokens, verified contracts and pairs by name. A contract with the code of a verified contract also
 * has its name. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { verifiedContractsTable } from '../../clickhouse/schema/sourceTables';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { createSlices } from '../../domain/time/slices';
import type { Token } from '../../wire/primitives';
import type { Counts } from '../logs/logCounts';
import type { Directory } from '../tokens/directory';
import { matchQualityOf, matchQualityOfWords, splitPairWords } from './matchQuality';

const { chain_id, address, code_hash, name, path, version } = verifiedContractsTable.types;
/** A row of list_code_twins.sql. */
const twinRow = rowType({ address, code_hash });
/** A row of search_verified_names.sql. */
const verifiedRow = rowType({ chain_id, address, code_hash, name, path, version });
type VerifiedRow = RowOf<typeof verifiedRow>;

interface NamedHit {
  readonly type: 'token' | 'contract' | 'pair';
  readonly address: Hex;
  readonly title: string;
  readonly subtitle: string | null;
  /**
   * Quality of a match: 4 exact, 3 prefix, 2 start of a word, 1 inside. A match in a less distinctive name gets half
   * a step less.
   */
  readonly quality: number;
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
  readonly names: readonly NamedHit[];
  /** False if a list reached the limit, so that further names may match. */
  readonly isWhole: boolean;
}

/** Tokens and verified contracts. `text` is in lower case. */
export async function listNamed(source: NameSource, text: string, limit: number): Promise<FoundNames> {
  const { runner, chainId, verifiedDb } = source;
  const params = { q: text, word: ` ${text}`, limit, chain_id: chainId, verified_db: verifiedDb };
  const [tokens, verified] = await Promise.all([
    Promise.all([source.directory.allTokens(), source.counts]).then(([tokenMap, counts]) =>
      listTokensNamed(tokenMap.values(), counts, text, limit),
    ),
    runner.run('search/search_verified_names', params, verifiedRow),
  ]);
  const newestRows = newestOf(verified, (row) => `${row.chain_id} ${row.address}`);
  const rowByCodeHash = new Map<Hex, VerifiedRow>();
  for (const row of newestRows)
    if (row.code_hash !== ZERO_HASH && !rowByCodeHash.has(row.code_hash))
      rowByCodeHash.set(row.code_hash, row);
  const hashes = [...rowByCodeHash.keys()].map((hash) => hash.slice(2));
  const twins =
    hashes.length === 0 ? [] : await runner.run('search/list_code_twins', { hashes, limit }, twinRow);
  const allHits = [
    ...tokens,
    ...newestRows.flatMap((row) =>
      row.chain_id === chainId ? (nameContract(row.address, row, text) ?? []) : [],
    ),
  ];
  allHits.sort((a, b) => b.quality - a.quality);
  for (const { address, code_hash: hash } of twins) {
    const row = rowByCodeHash.get(hash);
    const twinHit = row === undefined ? null : nameContract(address, row, text);
    if (twinHit !== null) allHits.push(twinHit);
  }
  // A token that is also a verified contract is one hit, with the better of its two matches.
  const hitByAddress = new Map<Hex, NamedHit>();
  for (const namedHit of allHits)
    if (!hitByAddress.has(namedHit.address)) hitByAddress.set(namedHit.address, namedHit);
  const isWhole = [tokens, verified, twins].every(({ length }) => length < limit);
  return { names: [...hitByAddress.values()], isWhole };
}

/** The fields of a pair for searches. `tokens.name` is a text such as `WPLS / DAI`. */
export interface NamedPair {
  readonly pool: { readonly address: Hex; readonly pool_id: Hex | null; readonly dex: string };
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
): Promise<NamedHit[]> {
  const words = splitPairWords(text);
  const bestPairs = await listBest<NamedPair>({
    items: pairs,
    limit,
    qualityOf: ({ tokens }) => {
      const name = tokens.name.toLowerCase();
      const nameQuality = matchQualityOf(name, text);
      return words.length === 0
        ? nameQuality
        : Math.max(nameQuality, matchQualityOfWords(name.split(' / '), words) - 0.5);
    },
    weightOf: ({ liquidityUsd }) => liquidityUsd,
    addressOf: ({ pool }) => pool.address,
  });
  return bestPairs.map(({ item: { pool, tokens }, quality }) => ({
    type: 'pair',
    address: `0x${pool.address.slice(2)}`,
    title: tokens.name,
    subtitle: pool.dex,
    quality: quality - 0.5,
  }));
}

/** Tokens whose symbol or name contains the text. Best matches first, then by log count. */
export async function listTokensNamed(
  tokens: Iterable<Token>,
  { logsOf }: Counts,
  text: string,
  limit: number,
): Promise<NamedHit[]> {
  const bestTokens = await listBest<Token>({
    items: tokens,
    limit,
    qualityOf: ({ symbol, name }) => Math.max(qualityIn(symbol, text), qualityIn(name, text)),
    weightOf: ({ address }) => logsOf(address),
    addressOf: ({ address }) => address,
  });
  return bestTokens.flatMap(({ item }) => nameToken(item, text) ?? []);
}

interface BestQuestion<T> {
  readonly items: Iterable<T>;
  readonly limit: number;
  /** Quality of the match; 0 if the text does not match. */
  qualityOf(item: T): number;
  weightOf(item: T): number;
  addressOf(item: T): string;
}

interface RankedItem<T> {
  readonly item: T;
  readonly quality: number;
  readonly weight: number;
}

/**
 * The items with the best matches. Equal matches are sorted by descending weight, then by address. Lets other
 * requests run during the scan.
 */
async function listBest<T>({
  items,
  limit,
  qualityOf: itemQuality,
  weightOf,
  addressOf,
}: BestQuestion<T>): Promise<RankedItem<T>[]> {
  const slices = createSlices();
  const compareRanked = (a: RankedItem<T>, b: RankedItem<T>): number =>
    b.quality - a.quality || b.weight - a.weight || (addressOf(a.item) < addressOf(b.item) ? -1 : 1);
  let bestItems: RankedItem<T>[] = [];
  /** The worst of the best items so far. Null until there are enough items. */
  let worstOfBest: RankedItem<T> | null = null;
  for (const item of items) {
    const foundQuality = itemQuality(item);
    if (foundQuality > 0 && foundQuality >= (worstOfBest?.quality ?? 0)) {
      const rankedItem = { item, quality: foundQuality, weight: weightOf(item) };
      if (worstOfBest === null || compareRanked(rankedItem, worstOfBest) < 0) bestItems.push(rankedItem);
    }
    if (bestItems.length >= 10 * limit) {
      bestItems = bestItems.sort(compareRanked).slice(0, limit);
      worstOfBest = bestItems.at(-1) ?? null;
    }
    if (slices.isOver()) await slices.giveWay();
  }
  return bestItems.sort(compareRanked).slice(0, limit);
}

/** A token as a hit, or null without a match. */
function nameToken({ address, symbol, name }: Token, text: string): NamedHit | null {
  const quality = Math.max(qualityIn(symbol, text), qualityIn(name, text) - 0.5);
  if (quality <= 0) return null;
  return {
    type: 'token',
    address: `0x${address.slice(2)}`,
    title: symbol ?? name ?? '',
    subtitle: name,
    quality,
  };
}

function nameContract(address: Hex, { name, path }: VerifiedRow, text: string): NamedHit | null {
  const quality = matchQualityOf(name.toLowerCase(), text);
  return quality === 0 ? null : { type: 'contract', address, title: name, subtitle: path, quality };
}

const qualityIn = (name: string | null, text: string): number =>
  name === null ? 0 : matchQualityOf(name.toLowerCase(), text);

function newestOf<Row extends { readonly version: number }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const newestByKey = new Map<string, Row>();
  for (const row of rows) {
    const earlierRow = newestByKey.get(keyOf(row));
    if (earlierRow === undefined || earlierRow.version < row.version) newestByKey.set(keyOf(row), row);
  }
  return [...newestByKey.values()];
}
