import fc from 'fast-check';

import { findJsonFault } from '../../../src/chains/jsonFault';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const json = fc.json({ maxDepth: 4 });
/** A JSON text with some characters replaced, dropped or doubled. */
const damaged = fc
  .tuple(
    json,
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', ' ', '0', '-', '.', 'e', '\\', '\n', 'true'),
  )
  .map(([text, where, put]) => {
    const place = where % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place + (where % 2));
  });

describe('findJsonFault finds the first fault of a JSON text', () => {
  it('findJsonFault reports a fault for exactly the texts that JSON.parse refuses', () => {
    const property = fc.property(fc.oneof(json, damaged, fc.string()), (text) => {
      expect(findJsonFault(text) === null).toBe(parses(text));
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  it('findJsonFault reports the first fault: the text before the fault is a valid beginning of JSON', () => {
    const property = fc.property(damaged, (text) => {
      const fault = findJsonFault(text);
      if (fault === null) return;
      const lines = text.split('\n');
      const before = [
        ...lines.slice(0, fault.line - 1),
        (lines[fault.line - 1] ?? '').slice(0, fault.column - 1),
      ];
      const inPrefix = findJsonFault(before.join('\n'));
      // When the text is cut off at the fault, the fault must be at the end of the text.
      expect(inPrefix === null || (inPrefix.line === fault.line && inPrefix.column >= fault.column)).toBe(
        true,
      );
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('findJsonFault handles long, deeply nested text without a stack overflow', () => {
    expect(findJsonFault('['.repeat(200_000))).toEqual({
      line: 1,
      column: 200_001,
      expected: 'a value or ]',
    });
  });
});
