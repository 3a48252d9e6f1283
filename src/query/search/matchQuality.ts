/** Quality of the match of a search text in a name. All texts are in lower case. */

export const QUALITY_EXACT = 4;

/** Characters between the symbols of a pair in a search text: `weth/usdc`, `weth usdc`, `weth-usdc`. */
const SYMBOL_SEPARATORS = /[\s/\-_:,]+/;
/** End of a pair name whose second symbol is not typed yet: `weth/`. */
const OPEN_PAIR_END = /[/-]\s*$/;
/** A search text with more words than this is not read as the symbols of a pair. */
const WORDS_MAX = 4;

/** 4 exact, 3 prefix, 2 start of a word, 1 inside, 0 no match. */
export function matchQualityOf(name: string, text: string): number {
  if (!name.includes(text)) return 0;
  if (name === text) return QUALITY_EXACT;
  if (name.startsWith(text)) return 3;
  return name.includes(` ${text}`) ? 2 : 1;
}

/**
 * The words of a search text that may name the tokens of a pair. Empty for other texts: a single word names a pair only
 * with a separator after it.
 */
export function splitPairWords(text: string): readonly string[] {
  const words = text.split(SYMBOL_SEPARATORS).filter((word) => word !== '');
  const wordsMin = OPEN_PAIR_END.test(text) ? 1 : 2;
  return words.length < wordsMin || words.length > WORDS_MAX ? [] : words;
}

/**
 * Matches each word with a different name, in any order. The quality is that of the worst word; 0 if a word matches no
 * name, or without words.
 */
export function matchQualityOfWords(names: readonly string[], words: readonly string[]): number {
  const [word, ...otherWords] = words;
  if (word === undefined || words.length > names.length) return 0;
  let bestQuality = 0;
  for (const [index, name] of names.entries()) {
    const quality = matchQualityOf(name, word);
    if (quality <= bestQuality) continue;
    const qualityOfOthers =
      otherWords.length === 0 ? quality : matchQualityOfWords(names.toSpliced(index, 1), otherWords);
    bestQuality = Math.max(bestQuality, Math.min(quality, qualityOfOthers));
  }
  return bestQuality;
}
