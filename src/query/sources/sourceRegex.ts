/**
 * Runs regular expressions over source files. Expressions are checked before the engine sees them. Files are
 * read in slices. The size of a slice depends on the time of the previous slice, so no expression blocks the
 * engine for long.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { bool, hash } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import { readRegex } from './regexFacts';
import { filterOf, type RegexQuestion, type SourceQuestion, type SourceSearchSource } from './sourceQuestion';
import { TIME_BUDGETS } from '../head/timeBudgets';

/** Largest number of automaton states. With this many states, ClickHouse reads at least 1 MB a second. */
const STATES_MAX = 300;
/** Number of values that the first two bytes of a hash can have. A slice is a range of these values. */
const PREFIX_COUNT = 65_536;
/** Width of the first slice, and the largest factor by which the next slice is wider. */
const FIRST_SLICE_WIDTH = 4;
/** Width of the first slice for a search that uses the index, because the index selects few files. */
const FIRST_INDEXED_SLICE_WIDTH = 1_024;
const SLICE_GROWTH = 64;
/** Shortest text for the index, which has texts of three characters. */
const LITERAL_LENGTH_MIN = 3;
/** Largest length of the text for the index. A longer text would not reduce the number of files. */
const NEEDLE_MAX = 60;

const checkRow = rowType({ matches_nothing: bool });
const hashRow = rowType({ content_hash: hash });

/**
 * Checks a regular expression and prepares it for the search. Throws bad_request with field q for an
 * expression that is invalid, too large, or matches the empty text.
 */
export async function readRegexQuestion(
  runner: QueryRunner,
  q: string,
  caseMatters: boolean,
): Promise<RegexQuestion> {
  const { size, literals, hasTextAnchors } = readRegex(q);
  if (hasTextAnchors)
    throw refuseRegex(q, 'an expression without \\A, \\z and (?-m); use ^ and $ for the ends of a line');
  if (size > STATES_MAX)
    throw refuseRegex(
      q,
      `an expression of at most ${STATES_MAX} states; nested repetitions multiply the states`,
    );
  const flags = caseMatters ? '' : 'i';
  const inLine = flags === '' ? q : `(?${flags})${q}`;
  if (await matchesNothing(runner, q, inLine))
    throw refuseRegex(q, 'an expression that does not match the empty text');
  const longestLiteral = literals.reduce(
    (longestSoFar, literal) => (literal.length > longestSoFar.length ? literal : longestSoFar),
    '',
  );
  return {
    inFile: `(?${flags}m)${q}`,
    inLine,
    prefix: `${flags === '' ? '' : `(?${flags})`}^(.*?)(?:${q})`,
    needle:
      [...longestLiteral].length >= LITERAL_LENGTH_MIN
        ? [...longestLiteral].slice(0, NEEDLE_MAX).join('')
        : '',
  };
}

function refuseRegex(q: string, allowed: string): AppError {
  const shownText = q.length > 80 ? `${q.slice(0, 80)}…` : q;
  return new AppError('bad_request', `q: got "${shownText}"; allowed: ${allowed}`);
}

async function matchesNothing(runner: QueryRunner, q: string, regex: string): Promise<boolean> {
  try {
    const [row] = await runner.run('sources/check_regex', { regex }, checkRow);
    return row?.matches_nothing === true;
  } catch (error) {
    const reason = /cannot compile re2: [\s\S]*?, error: (.{1,80}?)(?:\. Look at|$)/.exec(
      errorText(error),
    )?.[1];
    if (reason === undefined) throw error;
    throw refuseRegex(q, `a regular expression of RE2 (${reason})`);
  }
}

/** A search that is expected to take less time than this, in ms, reads all files in one slice. */
const ONE_SLICE_MS = 300;

/**
 * Files with a match, at most `filesMax`, in no order. The needle is a text that every match must contain; the
 * index finds files that contain it. `expectedMs` is the expected time to match all these files; null if
 * unknown. Throws bad_request if the expression takes too long.
 */
export async function listMatchingFiles(
  source: SourceSearchSource,
  question: SourceQuestion,
  regex: RegexQuestion,
  { max: filesMax, expectedMs }: { readonly max: number; readonly expectedMs: number | null },
): Promise<{ readonly hashes: readonly Hex[]; readonly complete: boolean }> {
  const startedAt = performance.now();
  const hashes: Hex[] = [];
  const filter = filterOf(source, question);
  const isQuick = expectedMs !== null && expectedMs <= ONE_SLICE_MS;
  let sliceWidth = isQuick
    ? PREFIX_COUNT
    : regex.needle === ''
      ? FIRST_SLICE_WIDTH
      : FIRST_INDEXED_SLICE_WIDTH;
  for (let sliceStart = 0; sliceStart < PREFIX_COUNT;) {
    const sliceEnd = Math.min(PREFIX_COUNT, sliceStart + sliceWidth);
    const sliceStartedAt = performance.now();
    const params = {
      ...filter,
      from: hashBoundOf(sliceStart),
      to: sliceEnd === PREFIX_COUNT ? '' : hashBoundOf(sliceEnd),
      needle: regex.needle,
      regex: regex.inFile,
      limit: filesMax - hashes.length,
    };
    const rows = await source.runner.run('sources/match_files', params, hashRow);
    for (const row of rows) hashes.push(row.content_hash);
    sliceStart = sliceEnd;
    if (hashes.length >= filesMax) return { hashes, complete: sliceStart === PREFIX_COUNT };
    const now = performance.now();
    const leftMs = TIME_BUDGETS.regexMs - (now - startedAt);
    if (leftMs <= 0 && sliceStart < PREFIX_COUNT) {
      if (hashes.length > 0) return { hashes, complete: false };
      throw refuseRegex(
        question.q,
        `an expression that takes less than ${TIME_BUDGETS.regexMs / 1000} s, for example one that contains a word`,
      );
    }
    // The next slice should take half of the remaining time, at the speed of this slice.
    const pacedWidth = Math.floor((sliceWidth * leftMs) / 2 / Math.max(1, now - sliceStartedAt));
    sliceWidth = Math.max(1, Math.min(sliceWidth * SLICE_GROWTH, pacedWidth));
  }
  return { hashes, complete: true };
}

/** The smallest hash of a slice. */
function hashBoundOf(prefixNumber: number): string {
  return prefixNumber.toString(16).padStart(4, '0').padEnd(64, '0');
}
