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
  let best: { readonly path: string; readonly edits: number } | null = null;
  for (const pattern of patterns) {
    const parts = segmentsOf(pattern);
    for (const candidate of [askedParts, partsWithBase]) {
      const edits = candidate.length === parts.length ? countPathEdits(candidate, parts) : null;
      if (edits === null || (best !== null && best.edits <= edits)) continue;
      best = { path: fill(parts, candidate), edits };
    }
  }
  return best?.path ?? null;
}

const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/');

/** Total edits of the fixed words of a path. A word that is too short for edits may differ in letter case only. */
function countPathEdits(askedParts: readonly string[], parts: readonly string[]): number | null {
  let total = 0;
  let fixed = 0;
  for (const [index, part] of parts.entries()) {
    const word = askedParts[index] ?? '';
    if (part.startsWith(':')) {
      if (word === '') return null;
      continue;
    }
    const edits = countWordEdits(word.toLowerCase(), part);
    if (edits === null) return null;
    total += edits;
    fixed += part === '' ? 0 : 1;
  }
  return fixed === 0 ? null : total;
}

/** A missing plural ending is one edit: `dex` for `dexes`. */
function countWordEdits(word: string, part: string): number | null {
  return `${word}es` === part ? 1 : findEdits(word, part);
}

function fill(parts: readonly string[], askedParts: readonly string[]): string {
  return parts.map((part, index) => (part.startsWith(':') ? (askedParts[index] ?? '') : part)).join('/');
}
