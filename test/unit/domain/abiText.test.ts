import { AbiCoder } from 'ethers';

import { NAME_MAX, readAbiText, SYMBOL_MAX } from '../../../src/domain/abiText';
import type { Hex } from '../../../src/domain/hex';

const coder = AbiCoder.defaultAbiCoder();
const string = (text: string): Hex => `0x${coder.encode(['string'], [text]).slice(2)}`;
const bytes = (value: Buffer): Hex => `0x${coder.encode(['bytes'], [value]).slice(2)}`;
const bytes32 = (value: Buffer): Hex => `0x${value.toString('hex').padEnd(64, '0')}`;
const [AB, FACE] = ['ab'.repeat(32), '\u{1F600}'];

describe('a symbol or name is cut to its bound', () => {
  it.each([
    ['65 letters', 'x'.repeat(65)],
    ['a megabyte', 'x'.repeat(2 ** 20)],
    ['characters of four bytes', FACE.repeat(2_000)],
    ['characters of three bytes', '\u20AC'.repeat(2_000)],
    ['mixed characters', `a${FACE}\u20AC\u00E9`.repeat(500)],
  ])('of %s', (_, text) => {
    for (const max of [SYMBOL_MAX, NAME_MAX]) {
      const kept = [...text].slice(0, max).join('');
      expect(readAbiText(string(text), max)).toBe(kept);
    }
  });

  it('no cut leaves half a character behind', () => {
    for (let bytesKept = 60; bytesKept < 70; bytesKept += 1) {
      const cut = Buffer.from(FACE.repeat(20)).subarray(0, bytesKept);
      expect(readAbiText(bytes(cut), SYMBOL_MAX)).toBe(FACE.repeat(Math.floor(bytesKept / 4)));
    }
    const full = Buffer.from(`a${FACE.repeat(8)}`).subarray(0, 32);
    expect(readAbiText(bytes32(full), SYMBOL_MAX)).toBe(`a${FACE.repeat(7)}`);
  });
});

describe('a text that is no usual string', () => {
  it.each<[string, Hex, string | null]>([
    ['bytes32', bytes32(Buffer.from('MKR')), 'MKR'],
    ['bytes32 without a NUL', bytes32(Buffer.from(AB.slice(0, 32))), AB.slice(0, 32)],
    [
      'a string at another offset',
      `0x${'40'.padStart(64, '0')}${'0'.repeat(64)}${string('OK').slice(66)}`,
      'OK',
    ],
    ['an offset beyond the data', `0x${'f'.repeat(64)}${string('OK').slice(66)}`, null],
    ['a length beyond the data', `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}${AB}`, null],
    ['one byte less than the length', string('x'.repeat(32)).slice(0, -2) as Hex, null],
    ['NULs around the text', string('\0A\0B\0'), 'AB'],
    ['only NULs', string('\0\0\0'), null],
    ['bytes that are not UTF-8', bytes(Buffer.from([0xff, 0xfe, 0x41, 0xc3, 0x28])), 'A('],
    ['an empty string', string(''), null],
    ['less than a word', '0x41', null],
  ])('%s', (_, data, text) => {
    expect(readAbiText(data, SYMBOL_MAX)).toBe(text);
  });
});
