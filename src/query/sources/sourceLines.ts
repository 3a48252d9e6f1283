/**
 * Finds a text in the lines of source files, and cuts snippets. Takes time linear in the text, because source
 * files may be hostile.
 */

/** A line with at least one match, counted from 1. */
export interface LineHit {
  readonly line: number;
  /** Column of the first match in code points, from 1. */
  readonly column: number;
  readonly matches: number;
}

const CONTEXT_LINES = 2;
/** A line longer than this is cut around the match, because minified files are one line. */
const LINE_SHOWN_MAX = 300;

/** The lines of a text, without their line ends. A line end at the end of the file starts no further line. */
export function splitLines(content: string): string[] {
  const lines = content.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/** The text in lower case, with every character at the same index as before. */
export function foldCase(text: string): string {
  // İ is the only character whose lower case has two characters, which would shift all later characters.
  return text.replaceAll('İ', 'i').toLowerCase();
}

/** The lines that contain a text. */
export function findInLines(lines: readonly string[], text: string, caseMatters: boolean): LineHit[] {
  const needle = caseMatters ? text : foldCase(text);
  if (needle === '') return [];
  const hits: LineHit[] = [];
  for (const [index, rawLine] of lines.entries()) {
    const line = caseMatters ? rawLine : foldCase(rawLine);
    const firstMatch = line.indexOf(needle);
    if (firstMatch < 0) continue;
    let matches = 0;
    for (
      let matchIndex = firstMatch;
      matchIndex >= 0;
      matchIndex = line.indexOf(needle, matchIndex + needle.length)
    )
      matches += 1;
    hits.push({ line: index + 1, column: [...line.slice(0, firstMatch)].length + 1, matches });
  }
  return hits;
}

/** A line with up to two lines before and after, each cut to a readable length. */
export function snippetOf(lines: readonly string[], { line, column }: LineHit): string {
  const firstShown = Math.max(0, line - 1 - CONTEXT_LINES);
  const shownLines = lines.slice(firstShown, line + CONTEXT_LINES);
  return shownLines
    .map((text, index) => (firstShown + index === line - 1 ? cutAround(text, column) : cutAround(text, 1)))
    .join('\n');
}

function cutAround(text: string, column: number): string {
  if (text.length <= LINE_SHOWN_MAX) return text;
  const characters = [...text];
  const firstShown = Math.max(
    0,
    Math.min(column - 1 - LINE_SHOWN_MAX / 4, characters.length - LINE_SHOWN_MAX),
  );
  const shownText = characters.slice(firstShown, firstShown + LINE_SHOWN_MAX).join('');
  return `${firstShown > 0 ? '…' : ''}${shownText}${firstShown + LINE_SHOWN_MAX < characters.length ? '…' : ''}`;
}
