/**
 * Suggestions for mistyped words: the parameter of a query or the path that a caller probably meant. The edit distance
 * counts a swap of two neighbours as one edit.
 */
import { AppError } from '../errors';

/** Shorter words get no suggestion: too many other words are one edit away. */
const LENGTH_MIN = 4;
/** Words longer than this may differ by two edits, other words by one. */
const SHORT_LENGTH_MAX = 6;
/** An error shows at most this many characters of the caller's name. */
const SHOWN_MAX = 80;

/** Largest number of edits by which a mistyped word may differ from a known one; 0 for words that are too short. */
function allowedEdits(knownName: string): number {
  if (knownName.length < LENGTH_MIN) return 0;
  return knownName.length <= SHORT_LENGTH_MAX ? 1 : 2;
}

/**
 * Number of edits between a word and a known one. Null if the word is not a likely typing error of the known word.
 */
export function findEdits(word: string, knownName: string): number | null {
  if (word === knownName) return 0;
  const editsAllowed = allowedEdits(knownName);
  if (editsAllowed === 0 || Math.abs(word.length - knownName.length) > editsAllowed) return null;
  const edits = countEdits(word, knownName);
  return edits <= editsAllowed ? edits : null;
}

/** Throws bad_request for a mistyped parameter. All other unknown parameters are ignored. */
export function refuseMistyped(queryParams: URLSearchParams, knownNames: readonly string[]): void {
  const fault = findMistyped(queryParams, knownNames);
  if (fault !== null) throw new AppError('bad_request', fault);
}

/**
 * The error text for the first unknown parameter that resembles a known one. A known parameter that the query
 * also has is not suggested. Null if there is no such parameter.
 */
export function findMistyped(queryParams: URLSearchParams, knownNames: readonly string[]): string | null {
  const absentNames = knownNames.filter((name) => !queryParams.has(name));
  for (const name of new Set(queryParams.keys())) {
    const suggestedName = knownNames.includes(name) ? null : findNearest(name, absentNames);
    if (suggestedName !== null)
      return `${name.slice(0, SHOWN_MAX)}: unknown parameter; did you mean ${suggestedName}?`;
  }
  return null;
}

function findNearest(word: string, knownNames: readonly string[]): string | null {
  let bestMatch: { readonly name: string; readonly edits: number } | null = null;
  for (const name of knownNames) {
    const edits = findEdits(word, name);
    if (edits !== null && (bestMatch === null || edits < bestMatch.edits)) bestMatch = { name, edits };
  }
  return bestMatch?.name ?? null;
}

/** The optimal string alignment distance, row by row. */
function countEdits(a: string, b: string): number {
  let rowBeforeLast: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const lastRow = row;
    row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSameLetter = a[i - 1] === b[j - 1];
      let edits = Math.min(
        (lastRow[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (lastRow[j - 1] ?? 0) + (isSameLetter ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (rowBeforeLast[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    rowBeforeLast = lastRow;
  }
  return row[b.length] ?? 0;
}
