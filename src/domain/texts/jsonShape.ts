/**
 * Checks the depth and the number of parts of JSON text before parsing. Deeply nested text, or text of very
 * many small parts, costs a parser far more than its length suggests.
 */

export interface JsonBounds {
  /** Limit of the nesting depth of lists and objects. */
  readonly depthMax: number;
  /** Limit of the number of lists, objects and commas. */
  readonly partsMax: number;
}

/**
 * Whether the text stays within the bounds, assuming that it is JSON. Stops at the first exceeded bound. Uses no name of
 * this module, because `textThread.ts` runs the text of this function in another thread.
 */
export function isWithin(text: string, { depthMax, partsMax }: JsonBounds): boolean {
  const [quote, comma, backslash] = [34, 44, 92];
  const isOpening = (sign: number): boolean => sign === 91 || sign === 123;
  const isClosing = (sign: number): boolean => sign === 93 || sign === 125;
  /** End of the string that begins at `start`; -1 if the string has no end. */
  const endOfString = (start: number): number => {
    for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
      let before = at - 1;
      while (text.charCodeAt(before) === backslash) before -= 1;
      if ((at - before) % 2 === 1) return at;
    }
    return -1;
  };
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === quote) {
      const end = endOfString(at);
      if (end === -1) return true;
      at = end;
    } else if (isOpening(sign)) {
      depth += 1;
      parts += 1;
    } else if (isClosing(sign)) depth -= 1;
    else if (sign === comma) parts += 1;
    if (depth > depthMax || parts > partsMax) return false;
  }
  return true;
}
