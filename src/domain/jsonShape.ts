/** Looks at the shape of JSON before it is parsed: deep or finely divided text costs a parser far more than its length says. */

export interface JsonBounds {
  /** Lists and objects within each other. */
  readonly depthMax: number;
  /** Lists, objects and commas. */
  readonly partsMax: number;
}

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPENING: ReadonlySet<number> = new Set([91, 123]);
const CLOSING: ReadonlySet<number> = new Set([93, 125]);

/** Whether the text, if it is JSON at all, stays within the bounds. One pass, which ends where a bound is met. */
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

/** Where the string that begins at `start` ends; -1: it does not. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}
