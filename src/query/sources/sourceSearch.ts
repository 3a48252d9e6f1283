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
const MORE_FILES = 300;
/** Safety limit for the lines that one search finds. */
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
/** A row of match_lines.sql. `column` counts from 1. */
const lineRow = rowType({ content_hash: hash, line: u32, column: u32, matches: u32 });
/** A row of list_file_uses.sql: one use of a file, and the number of contracts that have the file. */
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
    return pageOf(source, question, ranked, await matchInOrder(source, question, ranked.files));
  }
  let progress = startProgress(question);
  const searchedHashes = new Set<Hex>();
  let expectedMs: number | null = null;
  if (regex.needle !== '') {
    // Most files that contain the longest word also match the expression. The first files are therefore often enough.
    const ranked = await rankByIndex(source, question, regex.needle);
    const firstFiles = ranked.files.slice(0, FILES_COUNTED);
    progress = await matchInOrder(source, question, firstFiles);
    if (isWorthMore(ranked, progress, hitsWanted)) {
      const nextFiles = ranked.files.slice(firstFiles.length, firstFiles.length + MORE_FILES);
      progress = await matchInOrder(source, question, nextFiles, progress);
    }
    const isComplete = ranked.complete && progress.filesSearched === ranked.files.length;
    if (isComplete || progress.matchingLines >= hitsWanted) return pageOf(source, question, ranked, progress);
    for (const file of ranked.files.slice(0, progress.filesSearched)) searchedHashes.add(file.content_hash);
    if (ranked.complete && progress.filesSearched > 0)
      expectedMs = (progress.tookMs / progress.filesSearched) * ranked.files.length;
  }
  const ranked = await rankByRegex(source, question, regex, expectedMs);
  // The files found by the index and the files found by the expression are ranked alike, so the files that
  // were already matched come first.
  const unsearchedFiles = ranked.files.filter((file) => !searchedHashes.has(file.content_hash));
  progress = { ...progress, filesSearched: ranked.files.length - unsearchedFiles.length };
  return pageOf(source, question, ranked, await matchInOrder(source, question, unsearchedFiles, progress));
}

interface Progress {
  /** Hits of the requested page. */
  readonly shownHits: readonly LocatedHit[];
  /** Number of matching lines in the files so far. */
  readonly matchingLines: number;
  readonly filesSearched: number;
  /** Time in ms that matching these files took. */
  readonly tookMs: number;
  readonly batchSize: number;
}

function startProgress({ regex }: SourceQuestion): Progress {
  return {
    shownHits: [],
    matchingLines: 0,
    filesSearched: 0,
    tookMs: 0,
    batchSize: regex === null ? TEXT_BATCH : REGEX_BATCH,
  };
}

/**
 * Whether matching FILES_MORE further files probably finishes the search: no other files remain then, or the expected
 * number of their matches fills the page.
 */
function isWorthMore(
  ranked: Ranked,
  { matchingLines, filesSearched, batchSize }: Progress,
  hitsWanted: number,
): boolean {
  // A slow expression is left to the search over all files, which has a time limit.
  if (batchSize < TEXT_BATCH || filesSearched === 0) return false;
  const isAll = ranked.complete && ranked.files.length <= filesSearched + MORE_FILES;
  return isAll || (matchingLines / filesSearched) * (filesSearched + MORE_FILES) >= hitsWanted;
}

/** Matches files in their order after `earlierProgress`, until the page is full and FILES_COUNTED files are counted. */
async function matchInOrder(
  source: SourceSearchSource,
  question: SourceQuestion,
  files: readonly RankedFile[],
  earlierProgress: Progress = startProgress(question),
): Promise<Progress> {
  const hitsWanted = question.offset + question.limit;
  const shownHits = [...earlierProgress.shownHits];
  let { matchingLines, filesSearched, tookMs, batchSize } = earlierProgress;
  for (
    let fileIndex = 0;
    fileIndex < files.length && (matchingLines < hitsWanted || filesSearched < FILES_COUNTED);
  ) {
    // A batch ends at FILES_COUNTED files, so that the number of counted files does not depend on the batch
    // size.
    const filesMax =
      filesSearched < FILES_COUNTED ? Math.min(batchSize, FILES_COUNTED - filesSearched) : batchSize;
    const batch = files.slice(fileIndex, fileIndex + filesMax);
    const startedAt = performance.now();
    const hitsOfBatch = await findHits(source, question, batch);
    const batchMs = performance.now() - startedAt;
    tookMs += batchMs;
    if (batchMs < BATCH_MS) batchSize = Math.min(TEXT_BATCH, batchSize * BATCH_GROWTH);
    fileIndex += batch.length;
    filesSearched += batch.length;
    for (const fileHits of hitsOfBatch) {
      const skip = Math.max(0, question.offset - matchingLines);
      for (const hit of fileHits.hits.slice(skip, Math.max(skip, hitsWanted - matchingLines)))
        shownHits.push({ ...fileHits, hit });
      matchingLines += fileHits.hits.length;
    }
  }
  return { shownHits, matchingLines, filesSearched, tookMs, batchSize };
}

async function pageOf(
  source: SourceSearchSource,
  question: SourceQuestion,
  { files, complete }: Ranked,
  { shownHits, matchingLines, filesSearched }: Progress,
): Promise<SourcePage> {
  const exact = complete && filesSearched === files.length;
  return { hits: await describeHits(source, question, shownHits), total: matchingLines, exact };
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

interface LocatedHit extends FileHits {
  readonly hit: LineHit;
}

/** The matching lines in the order of the files. Files without a match are left out. */
async function findHits(
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

async function describeHits(
  source: SourceSearchSource,
  question: SourceQuestion,
  locatedHits: readonly LocatedHit[],
): Promise<SourceHit[]> {
  if (locatedHits.length === 0) return [];
  const useKeys = new Set(
    locatedHits.map(({ file }) => `${file.content_hash.slice(2)}:${file.address.slice(2)}`),
  );
  const params = { ...filterOf(source, question), uses: [...useKeys], limit: useKeys.size };
  const { language, ...useParams } = params;
  void language;
  const unreadHashes = new Set(
    locatedHits.flatMap(({ file, lines }) => (lines === null ? [file.content_hash] : [])),
  );
  const [rows, contents] = await Promise.all([
    source.runner.run('sources/list_file_uses', useParams, useRow),
    unreadHashes.size === 0
      ? new Map<Hex, string>()
      : listContents(source.runner, [...unreadHashes], source.verifiedDb),
  ]);
  const linesByHash = new Map([...contents].map(([hash, content]) => [hash, splitLines(content)]));
  const useByHash = new Map(rows.map((row) => [row.content_hash, row]));
  return locatedHits.map(({ file, lines, hit }) => {
    const use = useByHash.get(file.content_hash);
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
