/**
 * Analyses a regular expression before ClickHouse runs it. Computes the size of its automaton, and texts that every
 * match contains, for the index. Parses the syntax of RE2; only RE2 itself checks whether the expression is valid.
 * https://github.com/google/re2/wiki/Syntax
 */

interface RegexFacts {
  /** Approximate number of states of the automaton. Repetitions multiply the number. */
  readonly size: number;
  /** Texts that every match contains, in any letter case. */
  readonly literals: readonly string[];
  /**
   * Whether the expression has `\A`, `\z` or flags that change `^` and `$`. These are not supported, because each
   * line is matched on its own.
   */
  readonly hasTextAnchors: boolean;
}

interface Node {
  readonly size: number;
  readonly literals: readonly string[];
  /** The literal character of this node, or null. */
  readonly character: string | null;
}

/** Number of automaton states of a dot or a class: several, because of UTF-8. A Unicode class has many. */
const CLASS_SIZE = 3;
const UNICODE_CLASS_SIZE = 40;
/** Largest depth of nested groups. */
const DEPTH_MAX = 50;
/** Longest name of a group or of a class of characters, and longest quantifier, that is recognised. */
const NAME_LENGTH_MAX = 80;
const QUANTIFIER_LENGTH_MAX = 20;
const TOO_LARGE: Node = { size: Number.MAX_SAFE_INTEGER, literals: [], character: null };

/** Parses an expression. No input is slow, and no input throws. */
export function readRegex(text: string): RegexFacts {
  const parser = new Parser(text);
  const { size, literals } = parser.parseAlternatives(0);
  return { size, literals, hasTextAnchors: parser.anchorsText };
}

class Parser {
  anchorsText = false;
  private position = 0;

  constructor(private readonly text: string) {}

  /** Parses up to a closing bracket or the end. */
  parseAlternatives(depth: number): Node {
    if (depth > DEPTH_MAX) {
      this.position = this.text.length;
      return TOO_LARGE;
    }
    const branches = [this.parseSequence(depth)];
    while (this.text[this.position] === '|') {
      this.position += 1;
      branches.push(this.parseSequence(depth));
    }
    const [onlyBranch] = branches;
    if (branches.length === 1 && onlyBranch !== undefined) return onlyBranch;
    return { size: sumSizes(branches) + branches.length, literals: [], character: null };
  }

  private parseSequence(depth: number): Node {
    const literals: string[] = [];
    let size = 0;
    let literalRun = '';
    const endLiteralRun = (): void => {
      if (literalRun !== '') literals.push(literalRun);
      literalRun = '';
    };
    while (this.position < this.text.length && !'|)'.includes(this.text[this.position] ?? '')) {
      const atom = this.parseAtom(depth);
      const { min, max, hasQuantifier } = this.parseRepetition();
      size += hasQuantifier ? atom.size * Math.max(1, max) + 1 : atom.size;
      if (!hasQuantifier && atom.character !== null) literalRun += atom.character;
      else {
        if (min > 0 && atom.character !== null) literalRun += atom.character;
        endLiteralRun();
        if (min > 0) literals.push(...atom.literals);
      }
    }
    endLiteralRun();
    // RE2 refuses a closing bracket without an opening bracket, so the rest is not parsed.
    if (depth === 0 && this.position < this.text.length && this.text[this.position] === ')')
      this.position = this.text.length;
    return { size: Math.min(size, Number.MAX_SAFE_INTEGER), literals, character: null };
  }

  /** The next characters, at most `length`. */
  private upcoming(length: number): string {
    return this.text.slice(this.position, this.position + length);
  }

  private parseAtom(depth: number): Node {
    const character = this.readCharacter();
    if (character === '(') return this.parseGroup(depth);
    if (character === '[') return this.parseClass();
    if (character === '\\') return this.parseEscape();
    if (character === '.') return { size: CLASS_SIZE, literals: [], character: null };
    if (character === '^' || character === '$') return { size: 1, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  private parseGroup(depth: number): Node {
    const flags = /^\?(?:P?<\w*>|P=\w*|([a-zA-Z-]*)([:)]))/.exec(this.upcoming(NAME_LENGTH_MAX));
    if (flags !== null) {
      this.position += flags[0].length;
      if (/-.*m/.test(flags[1] ?? '')) this.anchorsText = true;
      if (flags[2] === ')') return { size: 0, literals: [], character: null };
    }
    const group = this.parseAlternatives(depth + 1);
    if (this.text[this.position] === ')') this.position += 1;
    return { ...group, character: null };
  }

  private parseClass(): Node {
    let size = CLASS_SIZE;
    if (this.text[this.position] === '^') this.position += 1;
    // A closing bracket as the first character of a class is a member of the class.
    if (this.text[this.position] === ']') this.position += 1;
    while (this.position < this.text.length) {
      const character = this.readCharacter();
      if (character === ']') break;
      if (character === '\\' && /[pP]/.test(this.readCharacter())) size += UNICODE_CLASS_SIZE;
      if (character === '[' && this.text[this.position] === ':') {
        const end = this.text.indexOf(':]', this.position);
        if (end >= 0) this.position = end + 2;
      }
    }
    return { size, literals: [], character: null };
  }

  private parseEscape(): Node {
    const character = this.readCharacter();
    if (character === 'A' || character === 'z' || character === 'Z') this.anchorsText = true;
    if (character === 'Q') {
      const end = this.text.indexOf('\\E', this.position);
      const quoted = this.text.slice(this.position, end < 0 ? undefined : end);
      this.position = end < 0 ? this.text.length : end + 2;
      return { size: quoted.length, literals: [], character: null };
    }
    if (character === 'p' || character === 'P') {
      this.position += /^(?:\{[^}]*\}|.)/.exec(this.upcoming(NAME_LENGTH_MAX))?.[0].length ?? 0;
      return { size: UNICODE_CLASS_SIZE, literals: [], character: null };
    }
    if (character === 'x') {
      this.position += /^(?:\{[^}]*\}|..)/.exec(this.upcoming(NAME_LENGTH_MAX))?.[0].length ?? 0;
      return { size: 1, literals: [], character: null };
    }
    // Escaped letters and digits are special. Every other escaped character is literal.
    if (/[A-Za-z0-9]/.test(character)) return { size: CLASS_SIZE, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  private parseRepetition(): { readonly min: number; readonly max: number; readonly hasQuantifier: boolean } {
    let [min, max, hasQuantifier] = [1, 1, false];
    for (;;) {
      const nextText = this.upcoming(QUANTIFIER_LENGTH_MAX);
      const quantifier = /^(?:([*+?])|\{(\d{1,5})(?:(,)(\d{0,5}))?\})\??/.exec(nextText);
      if (quantifier === null) return { min, max, hasQuantifier };
      this.position += quantifier[0].length;
      hasQuantifier = true;
      const [, shortQuantifier, lowText, comma, highText] = quantifier;
      const leastCount = shortQuantifier === undefined ? Number(lowText) : shortQuantifier === '+' ? 1 : 0;
      const highestCount =
        lowText === undefined
          ? 1
          : comma === undefined
            ? leastCount
            : highText === ''
              ? leastCount + 1
              : Number(highText);
      min *= leastCount;
      max *= Math.max(1, highestCount);
    }
  }

  /** Reads one code point. */
  private readCharacter(): string {
    const code = this.text.codePointAt(this.position);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.position += character.length;
    return character;
  }
}

function sumSizes(nodes: readonly Node[]): number {
  return nodes.reduce((total, node) => Math.min(Number.MAX_SAFE_INTEGER, total + node.size), 0);
}
