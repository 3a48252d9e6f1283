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
  const [quoteCode, commaCode, backslashCode] = [34, 44, 92];
  const isOpening = (charCode: number): boolean => charCode === 91 || charCode === 123;
  const isClosing = (charCode: number): boolean => charCode === 93 || charCode === 125;
  /** End of the string that begins at `start`; -1 if the string has no end. */
  const endOfString = (start: number): number => {
    for (
      let quoteAt = text.indexOf('"', start + 1);
      quoteAt !== -1;
      quoteAt = text.indexOf('"', quoteAt + 1)
    ) {
      let beforeQuote = quoteAt - 1;
      while (text.charCodeAt(beforeQuote) === backslashCode) beforeQuote -= 1;
      if ((quoteAt - beforeQuote) % 2 === 1) return quoteAt;
    }
    return -1;
  };
  let depth = 0;
  let partCount = 0;
  for (let position = 0; position < text.length; position += 1) {
    const charCode = text.charCodeAt(position);
    if (charCode === quoteCode) {
      const stringEnd = endOfString(position);
      if (stringEnd === -1) return true;
      position = stringEnd;
    } else if (isOpening(charCode)) {
      depth += 1;
      partCount += 1;
    } else if (isClosing(charCode)) depth -= 1;
    else if (charCode === commaCode) partCount += 1;
    if (depth > depthMax || partCount > partsMax) return false;
  }
  return true;
}
