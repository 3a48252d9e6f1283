/**
 * Checks the depth and the number of parts of JSON text before parsing. Deeply nested text, or text of very
 * many small parts, costs a parser far more than its length suggests.
 */

interface JsonBounds {
  /** Limit of the nesting depth of lists and objects. */
  readonly depthMax: number;
  /** Limit of the number of lists, objects and commas. */
  readonly partsMax: number;
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** Whether the text stays within the bounds, assuming that it is JSON. Stops at the first exceeded bound. */
export function isWithin(text: string, { depthMax, partsMax }: JsonBounds): boolean {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) {
      const end = endOfString(text, at);
      if (end === -1) return true;
      at = end;
    } else if (OPENING.has(sign)) {
      depth += 1;
      parts += 1;
    } else if (CLOSING.has(sign)) depth -= 1;
    else if (sign === COMMA) parts += 1;
    if (depth > depthMax || parts > partsMax) return false;
  }
  return true;
}

/** End of the string that begins at `start`; -1 if the string has no end. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let beforeSlashes = at - 1;
    while (text.charCodeAt(beforeSlashes) === BACKSLASH) beforeSlashes -= 1;
    if ((at - beforeSlashes) % 2 === 1) return at;
  }
  return -1;
}
