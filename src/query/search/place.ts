/** Quality of the match of a search text in a name. All texts are in lower case. */

export const PLACE_EXACT = 4;

/** Characters between the symbols of a pair in a search text: `weth/usdc`, `weth usdc`, `weth-usdc`. */
const BETWEEN = /[\s/\-_:,]+/;
/** End of a pair name whose second symbol is not typed yet: `weth/`. */
const OPEN_END = /[/-]\s*$/;
/** A search text with more words than this is not read as the symbols of a pair. */
const WORDS_MAX = 4;

/** 4 exact, 3 prefix, 2 start of a word, 1 inside, 0 no match. */
export function placeOf(name: string, text: string): number {
  if (!name.includes(text)) return 0;
  if (name === text) return PLACE_EXACT;
  if (name.startsWith(text)) return 3;
  return name.includes(` ${text}`) ? 2 : 1;
}

/**
 * The words of a search text that may name the tokens of a pair. Empty for other texts: a single word names a pair only
 * with a separator after it.
 */
export function splitPairWords(text: string): readonly string[] {
  const words = text.split(BETWEEN).filter((word) => word !== '');
  const wordsMin = OPEN_END.test(text) ? 1 : 2;
  return words.length < wordsMin || words.length > WORDS_MAX ? [] : words;
}

/**
 * Matches each word with a different name, in any order. The quality is that of the worst word; 0 if a word matches no
 * name, or without words.
 */
export function placeOfWords(names: readonly string[], words: readonly string[]): number {
  const [word, ...rest] = words;
  if (word === undefined || words.length > names.length) return 0;
  let best = 0;
  for (const [index, name] of names.entries()) {
    const place = placeOf(name, word);
    if (place <= best) continue;
    const placeOfRest = rest.length === 0 ? place : placeOfWords(names.toSpliced(index, 1), rest);
    best = Math.max(best, Math.min(place, placeOfRest));
  }
  return best;
}
