/** Tests where a text occurs in lines, and the lines around it. */
import fc from 'fast-check';

import { findInLines, foldCase, snippetOf, splitLines } from '../../../../src/query/sources/sourceLines';

test('lines end with LF or CRLF, and a final line break does not start another line', () => {
  expect(splitLines('a\nb\r\nc')).toEqual(['a', 'b', 'c']);
  expect(splitLines('a\n')).toEqual(['a']);
  expect(splitLines('')).toEqual(['']);
  expect(splitLines('\n\n')).toEqual(['', '']);
});

test('columns count characters, also after characters of two UTF-16 units', () => {
  expect(findInLines(['🦄🦄Ab ab'], 'AB', false)).toEqual([{ line: 1, column: 3, matches: 2 }]);
  expect(findInLines(['🦄🦄Ab ab'], 'ab', true)).toEqual([{ line: 1, column: 6, matches: 1 }]);
  expect(findInLines(['İİabc'], 'ABC', false)).toEqual([{ line: 1, column: 3, matches: 1 }]);
});

test('matches of a text in a line do not overlap', () => {
  expect(findInLines(['aaaa'], 'aa', true)).toEqual([{ line: 1, column: 1, matches: 2 }]);
});

test('case folding keeps the position of each character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
      const folded = foldCase(text);
      if (!/[^\u0000-\u024f]/u.test(text)) expect(folded.length).toBe(text.length);
    }),
    { seed: 7 },
  );
});

test('a snippet is the line with two lines before and after it, fewer at the ends of the file', () => {
  const lines = ['1', '2', '3', '4', '5'];
  const at = (line: number): string => snippetOf(lines, { line, column: 1, matches: 1 });
  expect([at(1), at(3), at(5)]).toEqual(['1\n2\n3', '1\n2\n3\n4\n5', '3\n4\n5']);
});
