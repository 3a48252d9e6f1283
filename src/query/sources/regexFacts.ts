/**
 * What must be known of a regular expression before an engine runs it: how large its automaton becomes, and which text every
 * match holds, for the index. Reads the syntax of RE2; whether an expression is valid is RE2's to say.
 * https://github.com/google/re2/wiki/Syntax
 */

export interface RegexFacts {
  /** About how many states an automaton needs: repetitions multiply. */
  readonly size: number;
  /** Texts that every match contains, in any letter case. */
  readonly literals: readonly string[];
  /** `\A`, `\z` or flags that change what `^` and `$` are: not to be had, lines are matched one by one. */
  readonly anchorsText: boolean;
}

interface Node {
  readonly size: number;
  readonly literals: readonly string[];
  /** The character that this is, where it is one. */
  readonly character: string | null;
}

/** A dot or class over UTF-8 is several states, a class of Unicode's many. */
const CLASS_SIZE = 3;
const UNICODE_CLASS_SIZE = 40;
const DEPTH_MAX = 50;
const TOO_LARGE: Node = { size: Number.MAX_SAFE_INTEGER, literals: [], character: null };

/** Reads an expression; nothing in it makes this slow or throw. */
export function readRegex(text: string): RegexFacts {
  const parser = new Parser(text);
  const { size, literals } = parser.alternatives(0);
  return { size, literals, anchorsText: parser.anchorsText };
}

class Parser {
  anchorsText = false;
  #at = 0;

  constructor(private readonly text: string) {}

  /** Up to a closing bracket or the end. */
  alternatives(depth: number): Node {
    if (depth > DEPTH_MAX) {
      this.#at = this.text.length;
      return TOO_LARGE;
    }
    const branches = [this.#sequence(depth)];
    while (this.text[this.#at] === '|') {
      this.#at += 1;
      branches.push(this.#sequence(depth));
    }
    const [only] = branches;
    if (branches.length === 1 && only !== undefined) return only;
    return { size: sum(branches) + branches.length, literals: [], character: null };
  }

  #sequence(depth: number): Node {
    const literals: string[] = [];
    let size = 0;
    let run = '';
    const endRun = (): void => {
      if (run !== '') literals.push(run);
      run = '';
    };
    while (this.#at < this.text.length && !'|)'.includes(this.text[this.#at] ?? '')) {
      const atom = this.#atom(depth);
      const { min, max, some } = this.#repetition();
      size += some ? atom.size * Math.max(1, max) + 1 : atom.size;
      if (!some && atom.character !== null) run += atom.character;
      else {
        if (min > 0 && atom.character !== null) run += atom.character;
        endRun();
        if (min > 0) literals.push(...atom.literals);
      }
    }
    endRun();
    // A bracket that closes nothing at the top is RE2's to refuse.
    if (depth === 0 && this.#at < this.text.length && this.text[this.#at] === ')')
      this.#at = this.text.length;
    return { size: Math.min(size, Number.MAX_SAFE_INTEGER), literals, character: null };
  }

  #atom(depth: number): Node {
    const character = this.#next();
    if (character === '(') return this.#group(depth);
    if (character === '[') return this.#characterClass();
    if (character === '\\') return this.#escape();
    if (character === '.') return { size: CLASS_SIZE, literals: [], character: null };
    if (character === '^' || character === '$') return { size: 1, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  #group(depth: number): Node {
    const flags = /^\?(?:P?<\w*>|P=\w*|([a-zA-Z-]*)([:)]))/.exec(this.text.slice(this.#at, this.#at + 80));
    if (flags !== null) {
      this.#at += flags[0].length;
      if (/-.*m/.test(flags[1] ?? '')) this.anchorsText = true;
      if (flags[2] === ')') return { size: 0, literals: [], character: null };
    }
    const inner = this.alternatives(depth + 1);
    if (this.text[this.#at] === ')') this.#at += 1;
    return { ...inner, character: null };
  }

  #characterClass(): Node {
    let size = CLASS_SIZE;
    if (this.text[this.#at] === '^') this.#at += 1;
    // A bracket that comes first is itself a member.
    if (this.text[this.#at] === ']') this.#at += 1;
    while (this.#at < this.text.length) {
      const character = this.#next();
      if (character === ']') break;
      if (character === '\\' && /[pP]/.test(this.#next())) size += UNICODE_CLASS_SIZE;
      if (character === '[' && this.text[this.#at] === ':') {
        const end = this.text.indexOf(':]', this.#at);
        if (end >= 0) this.#at = end + 2;
      }
    }
    return { size, literals: [], character: null };
  }

  #escape(): Node {
    const character = this.#next();
    if (character === 'A' || character === 'z' || character === 'Z') this.anchorsText = true;
    if (character === 'Q') {
      const end = this.text.indexOf('\\E', this.#at);
      const quoted = this.text.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.text.length : end + 2;
      return { size: quoted.length, literals: [], character: null };
    }
    if (character === 'p' || character === 'P') {
      this.#at += /^(?:\{[^}]*\}|.)/.exec(this.text.slice(this.#at, this.#at + 80))?.[0].length ?? 0;
      return { size: UNICODE_CLASS_SIZE, literals: [], character: null };
    }
    if (character === 'x') {
      this.#at += /^(?:\{[^}]*\}|..)/.exec(this.text.slice(this.#at, this.#at + 80))?.[0].length ?? 0;
      return { size: 1, literals: [], character: null };
    }
    // Letters and digits mean something, anything else means itself.
    if (/[A-Za-z0-9]/.test(character)) return { size: CLASS_SIZE, literals: [], character: null };
    return { size: 1, literals: [], character };
  }

  #repetition(): { readonly min: number; readonly max: number; readonly some: boolean } {
    let [min, max, some] = [1, 1, false];
    for (;;) {
      const rest = this.text.slice(this.#at, this.#at + 20);
      const found = /^(?:([*+?])|\{(\d{1,5})(?:(,)(\d{0,5}))?\})\??/.exec(rest);
      if (found === null) return { min, max, some };
      this.#at += found[0].length;
      some = true;
      const [, sign, low, comma, high] = found;
      const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
      const most =
        low === undefined ? 1 : comma === undefined ? least : high === '' ? least + 1 : Number(high);
      min *= least;
      max *= Math.max(1, most);
    }
  }

  /** One character, not half of one. */
  #next(): string {
    const code = this.text.codePointAt(this.#at);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }
}

function sum(nodes: readonly Node[]): number {
  return nodes.reduce((total, node) => Math.min(Number.MAX_SAFE_INTEGER, total + node.size), 0);
}
