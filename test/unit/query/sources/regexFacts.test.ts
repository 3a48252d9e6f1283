/**
 * Tests facts about a regular expression that are found before an engine runs it: its size, and text that
 * every match must contain.
 */
import fc from 'fast-check';

import { readRegex } from '../../../../src/query/sources/regexFacts';

const SEED = 20_260_101;

test.each([
  ['transferFrom', ['transferFrom']],
  ['function\\s+mint\\(', ['function', 'mint(']],
  ['abc?def', ['ab', 'def']],
  ['abc+def', ['abc', 'def']],
  ['abc|def', []],
  ['(abc|def)ghi', ['ghi']],
  ['(abc)def', ['abc', 'def']],
  ['(abc)?def', ['def']],
  ['(abc){2,}def', ['abc', 'def']],
  ['[abc]def[^]x]ghi', ['def', 'ghi']],
  ['(?i)abc(?P<name>def)', ['abc', 'def']],
  ['\\Qa.b\\Ecd', ['cd']],
  ['\\x41bc\\pLde\\d\\.f', ['bc', 'de', '.f']],
  ['a{x}', ['a{x}']],
  ['^owner$', ['owner']],
] as const)('every match of the expression %s contains %j', (regex, literals) => {
  expect(readRegex(regex).literals).toEqual(literals);
});

test.each([
  ['a{1,100}', 50, 200],
  ['(a{10}){10}', 100, 200],
  ['.{0,300}', 600, 2_000],
  ['(((a{9}){9}){9}){9}', 6_000, 9_000],
  ['\\bfunction\\s+\\w+\\(', 10, 40],
])('the expression %s needs between %i and %i states of the matcher', (regex, least, most) => {
  const { size } = readRegex(regex);
  expect(size).toBeGreaterThanOrEqual(least);
  expect(size).toBeLessThanOrEqual(most);
});

test('anchors for the whole text are distinguished from anchors for a line', () => {
  const anchored = ['\\Aabc', 'abc\\z', '(?-m:abc$)', '(?i-m)abc'].map(
    (each) => readRegex(each).hasTextAnchors,
  );
  expect(anchored).toEqual([true, true, true, true]);
  expect(['^abc$', '\\\\Aabc', '(?i)a-m', '[a-m]'].some((each) => readRegex(each).hasTextAnchors)).toBe(
    false,
  );
});

test('any text is parsed as an expression without an error, and the required literals occur in every match', () => {
  const piece = fc.constantFrom(
    'abc',
    'x',
    '(',
    ')',
    '[',
    ']',
    '{2}',
    '{',
    '}',
    '*',
    '+',
    '?',
    '|',
    '\\',
    '.',
    '^',
    'd',
    '1',
    ',',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.array(fc.constantFrom('abc', 'x', 'd', '1', ','), { maxLength: 9 }),
      (pieces, text) => {
        const source = pieces.join('');
        const { literals, size } = readRegex(source);
        expect(size).toBeGreaterThanOrEqual(0);
        let regex: RegExp;
        try {
          regex = new RegExp(source);
        } catch {
          return;
        }
        const found = regex.exec(text.join(''))?.[0];
        // Skips expressions with digits after a backslash, whose meaning differs between JavaScript and RE2.
        if (found === undefined || /\\\d|\\,/.test(source)) return;
        for (const literal of literals) expect(found).toContain(literal);
      },
    ),
    { seed: SEED, numRuns: 3_000 },
  );
});

test('parsing an expression takes time linear in its length', () => {
  // Quadratic time for 200,000 repetitions would exceed the time limit of the test.
  for (const each of ['(', '[', '\\', 'a{1,9}', '(?:', '(a|', '\\Q', '(?i)']) readRegex(each.repeat(200_000));
});
