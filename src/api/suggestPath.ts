/** Suggests an existing path for a mistyped one, such as /api/v1/pairs/0x… for /api/v1/pair/0x…. */
import { findEdits } from './suggestName';

const BASE = '/api/v1';

/**
 * The path that the caller probably meant; null if no known path is similar. `patterns` are paths in the router's
 * syntax. A path without /api/v1 is also compared with the paths below /api/v1.
 */
export function suggestPath(path: string, patterns: readonly string[]): string | null {
  const askedParts = segmentsOf(path);
  const partsWithBase = segmentsOf(BASE + path);
  let bestPath: { readonly path: string; readonly edits: number } | null = null;
  for (const pattern of patterns) {
    const patternParts = segmentsOf(pattern);
    for (const candidate of [askedParts, partsWithBase]) {
      const edits = candidate.length === patternParts.length ? countPathEdits(candidate, patternParts) : null;
      if (edits === null || (bestPath !== null && bestPath.edits <= edits)) continue;
      bestPath = { path: fillPattern(patternParts, candidate), edits };
    }
  }
  return bestPath?.path ?? null;
}

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/');

/** Total edits of the fixed words of a path. A word that is too short for edits may differ in letter case only. */
function countPathEdits(askedParts: readonly string[], patternParts: readonly string[]): number | null {
  let totalEdits = 0;
  let fixedWords = 0;
  for (const [index, patternPart] of patternParts.entries()) {
    const word = askedParts[index] ?? '';
    if (patternPart.startsWith(':')) {
      if (word === '') return null;
      continue;
    }
    const edits = countWordEdits(word.toLowerCase(), patternPart);
    if (edits === null) return null;
    totalEdits += edits;
    fixedWords += patternPart === '' ? 0 : 1;
  }
  return fixedWords === 0 ? null : totalEdits;
}

/** A missing plural ending is one edit: `dex` for `dexes`. */
function countWordEdits(word: string, part: string): number | null {
  return `${word}es` === part ? 1 : findEdits(word, part);
}

function fillPattern(parts: readonly string[], askedParts: readonly string[]): string {
  return parts.map((part, index) => (part.startsWith(':') ? (askedParts[index] ?? '') : part)).join('/');
}
