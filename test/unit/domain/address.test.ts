import { getAddress } from 'ethers';
import fc from 'fast-check';

import { findAddress, normaliseText, parseAddress } from '../../../src/domain/address';
import { AppError } from '../../../src/errors';

const WPLS = '0xA1077a294dDE1B09bB078844df40758a5D0f9a27';
const LOWER = '0xa1077a294dde1b09bb078844df40758a5d0f9a27';

function faultOf(input: string, field?: string): AppError {
  try {
    parseAddress(input, field);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error(`accepted ${input}`);
}

describe('parseAddress accepts valid addresses only', () => {
  test.each([
    ['lower case', LOWER],
    ['a correct checksum', WPLS],
    ['upper-case digits', `0x${LOWER.slice(2).toUpperCase()}`],
    ['upper case including the prefix', LOWER.toUpperCase()],
    ['a correct checksum after an upper-case prefix', `0X${WPLS.slice(2)}`],
  ])('parseAddress accepts %s', (_name, input) => {
    expect(parseAddress(input)).toBe(LOWER);
    expect(findAddress(input)).toBe(LOWER);
  });

  it('parseAddress accepts an address without letters', () => {
    expect(parseAddress(`0x${'12'.repeat(20)}`)).toBe(`0x${'12'.repeat(20)}`);
  });

  test.each([
    ['an empty text', ''],
    ['a prefix alone', '0x'],
    ['no prefix', LOWER.slice(2)],
    ['39 digits', LOWER.slice(0, -1)],
    ['41 digits', `${LOWER}0`],
    ['a hash', `0x${'ab'.repeat(32)}`],
    ['a letter that is not a hex digit', `${LOWER.slice(0, -1)}g`],
    ['a leading space', ` ${LOWER}`],
    ['a trailing line break', `${LOWER}\n`],
    ['full-width digits', `0x${'１'.repeat(40)}`],
    ['an ENS name', 'vitalik.eth'],
    ['an ICAP address', 'XE65GB6LDNXYOFTX0NSV3FUWKOWIXAMJK36'],
    ['a wrong checksum', WPLS.replace('A1077a', 'a1077A')],
    ['one letter in the wrong case', WPLS.replace('dDE1', 'dde1')],
  ])('parseAddress refuses %s with bad_request', (_name, input) => {
    const error = faultOf(input);
    expect(error.code).toBe('bad_request');
    expect(findAddress(input)).toBeNull();
  });

  it('the error of parseAddress names the field, the value and the allowed values, and shortens a long value', () => {
    expect(faultOf('0x12', 'token').message).toMatch(/^token: got "0x12"; allowed: 0x and 40 hex digits/);
    expect(faultOf('x'.repeat(5_000)).message.length).toBeLessThan(250);
  });

  it('parseAddress accepts a mixed-case address if and only if its checksum is right', () => {
    const digits = fc.stringMatching(/^[0-9a-fA-F]{40}$/);
    const property = fc.property(digits, (text) => {
      const lower = `0x${text.toLowerCase()}`;
      const oneCase = text === text.toLowerCase() || text === text.toUpperCase();
      const right = oneCase || getAddress(lower) === `0x${text}`;
      expect(findAddress(`0x${text}`)).toBe(right ? lower : null);
      expect(findAddress(getAddress(lower))).toBe(lower);
    });
    fc.assert(property, { numRuns: 500 });
  });
});

describe('normaliseText cleans texts from the chain', () => {
  test.each<[string, string, number, string | null]>([
    ['keeps an ordinary symbol', 'WPLS', 64, 'WPLS'],
    ['keeps inner spaces and trims outer ones', '  Wrapped  Pulse\t', 64, 'Wrapped  Pulse'],
    ['keeps letters of every script', 'Ωμέγα 漢字 عربي', 64, 'Ωμέγα 漢字 عربي'],
    ['keeps emoji', '🚀🌕', 64, '🚀🌕'],
    ['gives null for an empty text', '', 64, null],
    ['gives null for spaces only', ' \u3000\t\n', 64, null],
    ['gives null for control characters only', '\u0000\u0007\u009f', 64, null],
    ['strips trailing zero bytes of a bytes32 symbol', 'MKR\u0000\u0000\u0000', 64, 'MKR'],
    ['strips line breaks', 'A\nB\r\u2028\u2029C', 64, 'ABC'],
    ['strips bidi marks', '\u202eUSDC\u202c\u2066\u200f', 64, 'USDC'],
    ['strips zero-width characters', 'U\u200bS\u200dD\ufeffC', 64, 'USDC'],
    ['strips soft hyphens and fillers', 'U\u00adS\u3164D\u115fC', 64, 'USDC'],
    ['strips tags and variation selectors', 'U\u{e0041}S\ufe0fD', 64, 'USD'],
    ['strips lone surrogates', 'A\ud800B\udc00', 64, 'AB'],
    ['strips the replacement characters of invalid UTF-8', 'A\ufffdB', 64, 'AB'],
    ['strips private-use characters', 'A\ue000B', 64, 'AB'],
    [
      'keeps markup, which the display must escape',
      '<script>alert(1)</script>',
      64,
      '<script>alert(1)</script>',
    ],
    ['keeps quotes and wildcards', `%_'"\\`, 64, `%_'"\\`],
    ['cuts between characters, not inside an emoji', '🚀'.repeat(70), 64, '🚀'.repeat(64)],
    ['cuts after stripping', `\u200b${'a'.repeat(10)}`, 4, 'aaaa'],
    ['leaves no space at the cut', 'abc def', 4, 'abc'],
  ])('normaliseText %s', (_name, raw, maxLength, expected) => {
    expect(normaliseText(raw, maxLength)).toBe(expected);
  });

  it('normaliseText returns clean text within the length limit, and does not change it when applied twice', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 200 });
    const property = fc.property(hostile, fc.integer({ min: 1, max: 128 }), (raw, maxLength) => {
      const text = normaliseText(raw, maxLength);
      if (text === null) return;
      expect([...text].length).toBeLessThanOrEqual(maxLength);
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
      expect(text).toBe(text.trim());
      expect(normaliseText(text, maxLength)).toBe(text);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('normaliseText handles a symbol of a million characters', () => {
    expect(normaliseText('x'.repeat(1_000_000), 64)).toBe('x'.repeat(64));
    expect(normaliseText('\u200b'.repeat(1_000_000), 64)).toBeNull();
  });
});
