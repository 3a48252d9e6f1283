/**
 * Searches the sources of verified contracts. ClickHouse finds files by its index and ranks them. Then lines are
 * matched in rank order until the page is full. This process matches plain text. ClickHouse's RE2 matches regular
 * expressions, without backtracking. A file that several contracts share is matched once.
 */
import { address, hash, text, u32 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { filterOf, type RegexQuestion, type SourceQuestion, type SourceSearchSource } from './sourceQuestion';
import { listMatchingFiles } from './sourceRegex';
import { listContents } from './sourceFiles';
import { findInLines, snippetOf, splitLines, type LineHit } from './sourceLines';

/** Maximum number of files per search, in rank order. */
const FILES_MAX = 2_000;
/** Number of files whose matches are counted for the total, even after the page is full. */
const FILES_COUNTED = 100;
/** Number of files per batch, about 4 to 10 kB each. */
const TEXT_BATCH = 100;
const REGEX_BATCH = 16;
/** If a batch takes less time than this, in ms, the next batch is larger by the factor BATCH_GROWTH. */
const BATCH_MS = 40;
const BATCH_GROWTH = 8;
/**
 * Number of further best-ranked files that this program matches itself if the expression is fast, before ClickHouse
 * searches all files for the expression.
 */
const FILES_MORE = 300;
const LINES_MAX = 200_000;

interface SourceHit {
  readonly chain_id: number;
  readonly address: Hex;
  readonly contract_name: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly snippet: string;
  /** Number of matches in this line. */
  readonly matches: number;
  /** Number of contracts of the chain with this file. */
  readonly contracts: number;
}

export interface SourcePage {
  readonly hits: readonly SourceHit[];
  /** Number of matching lines found. */
  readonly total: number;
  /** Whether `total` is complete. */
  readonly exact: boolean;
}

const rankedRow = rowType({ content_hash: hash, address });
type RankedFile = RowOf<typeof rankedRow>;
const lineRow = rowType({ content_hash: hash, line: u32, column: u32, matches: u32 });
const useRow = rowType({ content_hash: hash, contracts: u32, path: text, contract_name: text });

/** One page of matching lines. Throws bad_request for a slow expression. */
export async function searchSources(
  source: SourceSearchSource,
  question: SourceQuestion,
): Promise<SourcePage> {
  const { regex } = question;
  const hitsWanted = question.offset + question.limit;
  if (regex === null) {
    const ranked = await rankByIndex(source, question, question.q);
    return pageOf(source, question, ranked, await lookInto(source, question, ranked.files));
  }
  let progress = nothingFound(question);
  const searchedHashes = new Set<Hex>();
  let expectedMs: number | null = null;
  if (regex.needle !== '') {
    // Most files that contain the longest word also match the expression. The first files are therefore often enough.
    const ranked = await rankByIndex(source, question, regex.needle);
    const first = ranked.files.slice(0, FILES_COUNTED);
    progress = await lookInto(source, question, first);
    if (isWorthMore(ranked, progress, hitsWanted)) {
      const nextFiles = ranked.files.slice(first.length, first.length + FILES_MORE);
      progress = await lookInto(source, question, nextFiles, progress);
    }
    const isComplete = ranked.complete && progress.looked === ranked.files.length;
    if (isComplete || progress.total >= hitsWanted) return pageOf(source, question, ranked, progress);
    for (const file of ranked.files.slice(0, progress.looked)) searchedHashes.add(file.content_hash);
    if (ranked.complete && progress.looked > 0)
      expectedMs = (progress.tookMs / progress.looked) * ranked.files.length;
  }
  const ranked = await rankByRegex(source, question, regex, expectedMs);
  // The files found by the index and the files found by the expression are ranked alike, so the files that
  // were already matched come first.
  const unsearched = ranked.files.filter((file) => !searchedHashes.has(file.content_hash));
  progress = { ...progress, looked: ranked.files.length - unsearched.length };
  return pageOf(source, question, ranked, await lookInto(source, question, unsearched, progress));
}

interface Found {
  /** Hits of the requested page. */
  readonly shown: readonly Located[];
  /** Number of matching lines in the files so far. */
  readonly total: number;
  readonly looked: number;
  /** Time in ms that matching these files took. */
  readonly tookMs: number;
  readonly size: number;
}

function nothingFound({ regex }: SourceQuestion): Found {
  return { shown: [], total: 0, looked: 0, tookMs: 0, size: regex === null ? TEXT_BATCH : REGEX_BATCH };
}

/**
 * Whether matching FILES_MORE further files probably finishes the search: no other files remain then, or the expected
 * number of their matches fills the page.
 */
function isWorthMore(ranked: Ranked, { total, looked, size }: Found, hitsWanted: number): boolean {
  // A slow expression is left to the search over all files, which has a time limit.
  if (size < TEXT_BATCH || looked === 0) return false;
  const isAll = ranked.complete && ranked.files.length <= looked + FILES_MORE;
  return isAll || (total / looked) * (looked + FILES_MORE) >= hitsWanted;
}

/** Matches files in their order after `before`, until the page is full and FILES_COUNTED files are counted. */
async function lookInto(
  source: SourceSearchSource,
  question: SourceQuestion,
  files: readonly RankedFile[],
  before: Found = nothingFound(question),
): Promise<Found> {
  const hitsWanted = question.offset + question.limit;
  const shownHits = [...before.shown];
  let { total, looked, tookMs, size } = before;
  for (let at = 0; at < files.length && (total < hitsWanted || looked < FILES_COUNTED);) {
    // A batch ends at FILES_COUNTED files, so that the number of counted files does not depend on the batch
    // size.
    const filesMax = looked < FILES_COUNTED ? Math.min(size, FILES_COUNTED - looked) : size;
    const batch = files.slice(at, at + filesMax);
    const startedAt = performance.now();
    const located = await locate(source, question, batch);
    const ms = performance.now() - startedAt;
    tookMs += ms;
    if (ms < BATCH_MS) size = Math.min(TEXT_BATCH, size * BATCH_GROWTH);
    at += batch.length;
    looked += batch.length;
    for (const fileHits of located) {
      const skip = Math.max(0, question.offset - total);
      for (const hit of fileHits.hits.slice(skip, Math.max(skip, hitsWanted - total)))
        shownHits.push({ ...fileHits, hit });
      total += fileHits.hits.length;
    }
  }
  return { shown: shownHits, total, looked, tookMs, size };
}

async function pageOf(
  source: SourceSearchSource,
  question: SourceQuestion,
  { files, complete }: Ranked,
  { shown, total, looked }: Found,
): Promise<SourcePage> {
  const exact = complete && looked === files.length;
  return { hits: await describe(source, question, shown), total, exact };
}

interface Ranked {
  readonly files: readonly RankedFile[];
  /** Whether the list has every file that can match. */
  readonly complete: boolean;
}

/** Files that may contain a text, by the index alone. */
async function rankByIndex(
  source: SourceSearchSource,
  question: SourceQuestion,
  needle: string,
): Promise<Ranked> {
  const params = { ...filterOf(source, question), needle, limit: FILES_MAX };
  const files = await source.runner.run('sources/rank_files', params, rankedRow);
  return { files, complete: files.length < FILES_MAX };
}

async function rankByRegex(
  source: SourceSearchSource,
  question: SourceQuestion,
  regex: RegexQuestion,
  expectedMs: number | null,
): Promise<Ranked> {
  const { hashes, complete } = await listMatchingFiles(source, question, regex, {
    max: FILES_MAX,
    expectedMs,
  });
  if (hashes.length === 0) return { files: [], complete };
  const params = {
    ...filterOf(source, question),
    hashes: hashes.map((hash) => hash.slice(2)),
    limit: FILES_MAX,
  };
  return { files: await source.runner.run('sources/rank_hashes', params, rankedRow), complete };
}

interface FileHits {
  readonly file: RankedFile;
  /** Lines of the file. Null if ClickHouse matched the file and its content is still to be read. */
  readonly lines: readonly string[] | null;
  readonly hits: readonly LineHit[];
}

interface Located extends FileHits {
  readonly hit: LineHit;
}

/** The matching lines in the order of the files. Files without a match are left out. */
async function locate(
  source: SourceSearchSource,
  question: SourceQuestion,
  files: readonly RankedFile[],
): Promise<FileHits[]> {
  const hashes = files.map((file) => file.content_hash);
  if (question.regex !== null) {
    const hitsByHash = await matchLines(source, question.regex, hashes);
    return files.flatMap((file) => {
      const hits = hitsByHash.get(file.content_hash) ?? [];
      return hits.length === 0 ? [] : [{ file, lines: null, hits }];
    });
  }
  const contents = await listContents(source.runner, hashes, source.verifiedDb);
  return files.flatMap((file) => {
    const lines = splitLines(contents.get(file.content_hash) ?? '');
    const hits = findInLines(lines, question.q, question.caseMatters);
    return hits.length === 0 ? [] : [{ file, lines, hits }];
  });
}

async function matchLines(
  { runner, verifiedDb }: SourceSearchSource,
  regex: RegexQuestion,
  hashes: readonly Hex[],
): Promise<Map<Hex, LineHit[]>> {
  const params = {
    verified_db: verifiedDb,
    hashes: hashes.map((hash) => hash.slice(2)),
    regex: regex.inLine,
    prefix: regex.prefix,
    limit: LINES_MAX,
  };
  const hitsByHash = new Map<Hex, LineHit[]>();
  for (const { content_hash, ...hit } of await runner.run('sources/match_lines', params, lineRow)) {
    const hits = hitsByHash.get(content_hash);
    if (hits === undefined) hitsByHash.set(content_hash, [hit]);
    else hits.push(hit);
  }
  return hitsByHash;
}

async function describe(
  source: SourceSearchSource,
  question: SourceQuestion,
  shown: readonly Located[],
): Promise<SourceHit[]> {
  if (shown.length === 0) return [];
  const uses = new Set(shown.map(({ file }) => `${file.content_hash.slice(2)}:${file.address.slice(2)}`));
  const params = { ...filterOf(source, question), uses: [...uses], limit: uses.size };
  const { language, ...rest } = params;
  void language;
  const unreadHashes = new Set(
    shown.flatMap(({ file, lines }) => (lines === null ? [file.content_hash] : [])),
  );
  const [rows, contents] = await Promise.all([
    source.runner.run('sources/list_file_uses', rest, useRow),
    unreadHashes.size === 0
      ? new Map<Hex, string>()
      : listContents(source.runner, [...unreadHashes], source.verifiedDb),
  ]);
  const linesByHash = new Map([...contents].map(([hash, content]) => [hash, splitLines(content)]));
  const byHash = new Map(rows.map((row) => [row.content_hash, row]));
  return shown.map(({ file, lines, hit }) => {
    const use = byHash.get(file.content_hash);
    return {
      chain_id: question.chainId,
      address: file.address,
      contract_name: use?.contract_name ?? '',
      path: use?.path ?? '',
      line: hit.line,
      column: hit.column,
      snippet: snippetOf(lines ?? linesByHash.get(file.content_hash) ?? [], hit),
      matches: hit.matches,
      contracts: use?.contracts ?? 1,
    };
  });
}
