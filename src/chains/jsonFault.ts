/**
 * Finds the place of a JSON syntax error. JSON.parse names the place only sometimes, and its texts differ
 * between versions.
 */

const BLANK = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a key'
  | 'a key or }'
  | 'a colon'
  | 'a comma or ]'
  | 'a comma or }'
  | 'the end';

interface JsonFault {
  /** Line and column, counted from 1; columns count UTF-16 units. */
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

/**
 * Returns the first place where the text is not JSON; null if the text is valid. The time grows linearly with
 * the text.
 */
export function findJsonFault(text: string): JsonFault | null {
  const openBrackets: ('{' | '[')[] = [];
  let expected: Expected = 'a value';
  let position = 0;

  const afterValue = (): Expected => {
    const innermostBracket = openBrackets.at(-1);
    if (innermostBracket === undefined) return 'the end';
    return innermostBracket === '{' ? 'a comma or }' : 'a comma or ]';
  };
  for (;;) {
    position = endOf(BLANK, text, position) ?? position;
    const character = text[position];
    const step = nextStep(expected, character);
    if (step === 'done') return null;
    if (step === 'string' || step === 'scalar' || step === 'key') {
      const valueEnd = endOf(step === 'scalar' ? SCALAR : STRING, text, position);
      if (valueEnd === null) return faultAt(text, position, expected);
      position = valueEnd;
      expected = step === 'key' ? 'a colon' : afterValue();
      continue;
    }
    if (step === null) return faultAt(text, position, expected);
    position += 1;
    if (step === 'open' && (character === '{' || character === '[')) {
      openBrackets.push(character);
      expected = character === '{' ? 'a key or }' : 'a value or ]';
    } else if (step === 'close') {
      openBrackets.pop();
      expected = afterValue();
    } else {
      expected = step === 'colon' || openBrackets.at(-1) === '[' ? 'a value' : 'a key';
    }
  }
}

type Step = 'done' | 'open' | 'close' | 'comma' | 'colon' | 'key' | 'string' | 'scalar' | null;

function nextStep(expected: Expected, character: string | undefined): Step {
  if (expected === 'the end') return character === undefined ? 'done' : null;
  if (character === undefined) return null;
  if (expected === 'a colon') return character === ':' ? 'colon' : null;
  if (expected.endsWith(character) && '}]'.includes(character)) return 'close';
  if (expected.startsWith('a comma')) return character === ',' ? 'comma' : null;
  if (expected.startsWith('a key')) return character === '"' ? 'key' : null;
  if ('{['.includes(character)) return 'open';
  return character === '"' ? 'string' : 'scalar';
}

/**
 * Returns the position after the match of the pattern that begins at `position`. Null if the pattern does not
 * match there.
 */
function endOf(pattern: RegExp, text: string, position: number): number | null {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function faultAt(text: string, position: number, expected: string): JsonFault {
  const linesBefore = text.slice(0, position).split('\n');
  return { line: linesBefore.length, column: (linesBefore.at(-1)?.length ?? 0) + 1, expected };
}
