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
  readonly anchorsText: boolean;
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
const DEPTH_MAX = 50;
const TOO_LARGE: Node = { size: Number.MAX_SAFE_INTEGER, literals: [], character: null };

/** Parses an expression. No input is slow, and no input throws. */
export function readRegex(text: string): RegexFacts {
  const parser = new Parser(text);
  const { size, literals } = parser.alternatives(0);
  return { size, literals, anchorsText: parser.anchorsText };
}

class Parser {
  anchorsText = false;
  private at = 0;

  constructor(private readonly text: string) {}

  /** Parses up to a closing bracket or the end. */
  alternatives(depth: number): Node {
    if (depth > DEPTH_MAX) {
      this.at = this.text.length;
      return TOO_LARGE;
    }
    const branches = [this.sequence(depth)];
    while (this.text[this.at] === '|') {
      this.at += 1;
      branches.push(this.sequence(depth));
    }
    const [onlyBranch] = branches;
    if (branches.length === 1 && onlyBranch !== undefined) return onlyBranch;
    return { size: sum(branches) + branches.length, literals: [], character: null };
  }

  private sequence(depth: number): Node {
    const literals: string[] = [];
    let size = 0;
    let run = '';
    const endRun = (): void => {
      if (run !== '') literals.push(run);
      run = '';
    };
    while (this.at < this.text.length && !'|)'.includes(this.text[this.at] ?? '')) {
      const atom = this.atom(depth);
      const { min, max, some } = this.repetition();
      size += some ? atom.size * Math.max(1, max) + 1 : atom.size;
      if (!some && atom.character !== null) run += atom.character;
      else {
        if (min > 0 && atom.character !== null) run += atom.character;
        endRun();
        if (min > 0) literals.push(...atom.literals);
      }
    }
    endRun();
    // RE2 refuses a closing bracket without an opening bracket.
    if (depth === 0 && this.at < this.text.length && this.text[this.at] === ')') this.at = this.text.length;
    return { size: Math.min(size, Number.MAX_SAFE_INTEGER), literals, character: null };
  }

  private atom(depth: number): Node {
    const character = this.next();
    if (character === '(') return this.group(depth);
    if (character === '[') return this.characterClass();
    if (character === '\\') return this.escape();
    if (character === '.') return { size: CLASS_SIZE, literals: [], character: null };
    if (character === '^' || character === '$') return { size: 1, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  private group(depth: number): Node {
    const flags = /^\?(?:P?<\w*>|P=\w*|([a-zA-Z-]*)([:)]))/.exec(this.text.slice(this.at, this.at + 80));
    if (flags !== null) {
      this.at += flags[0].length;
      if (/-.*m/.test(flags[1] ?? '')) this.anchorsText = true;
      if (flags[2] === ')') return { size: 0, literals: [], character: null };
    }
    const group = this.alternatives(depth + 1);
    if (this.text[this.at] === ')') this.at += 1;
    return { ...group, character: null };
  }

  private characterClass(): Node {
    let size = CLASS_SIZE;
    if (this.text[this.at] === '^') this.at += 1;
    // A closing bracket as the first character of a class is a member of the class.
    if (this.text[this.at] === ']') this.at += 1;
    while (this.at < this.text.length) {
      const character = this.next();
      if (character === ']') break;
      if (character === '\\' && /[pP]/.test(this.next())) size += UNICODE_CLASS_SIZE;
      if (character === '[' && this.text[this.at] === ':') {
        const end = this.text.indexOf(':]', this.at);
        if (end >= 0) this.at = end + 2;
      }
    }
    return { size, literals: [], character: null };
  }

  private escape(): Node {
    const character = this.next();
    if (character === 'A' || character === 'z' || character === 'Z') this.anchorsText = true;
    if (character === 'Q') {
      const end = this.text.indexOf('\\E', this.at);
      const quoted = this.text.slice(this.at, end < 0 ? undefined : end);
      this.at = end < 0 ? this.text.length : end + 2;
      return { size: quoted.length, literals: [], character: null };
    }
    if (character === 'p' || character === 'P') {
      this.at += /^(?:\{[^}]*\}|.)/.exec(this.text.slice(this.at, this.at + 80))?.[0].length ?? 0;
      return { size: UNICODE_CLASS_SIZE, literals: [], character: null };
    }
    if (character === 'x') {
      this.at += /^(?:\{[^}]*\}|..)/.exec(this.text.slice(this.at, this.at + 80))?.[0].length ?? 0;
      return { size: 1, literals: [], character: null };
    }
    // Escaped letters and digits are special. Every other escaped character is literal.
    if (/[A-Za-z0-9]/.test(character)) return { size: CLASS_SIZE, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  private repetition(): { readonly min: number; readonly max: number; readonly some: boolean } {
    let [min, max, some] = [1, 1, false];
    for (;;) {
      const ahead = this.text.slice(this.at, this.at + 20);
      const quantifier = /^(?:([*+?])|\{(\d{1,5})(?:(,)(\d{0,5}))?\})\??/.exec(ahead);
      if (quantifier === null) return { min, max, some };
      this.at += quantifier[0].length;
      some = true;
      const [, sign, low, comma, high] = quantifier;
      const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
      const highest =
        low === undefined ? 1 : comma === undefined ? least : high === '' ? least + 1 : Number(high);
      min *= least;
      max *= Math.max(1, highest);
    }
  }

  /** Reads one code point. */
  private next(): string {
    const code = this.text.codePointAt(this.at);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.at += character.length;
    return character;
  }
}

function sum(nodes: readonly Node[]): number {
  return nodes.reduce((total, node) => Math.min(Number.MAX_SAFE_INTEGER, total + node.size), 0);
}
