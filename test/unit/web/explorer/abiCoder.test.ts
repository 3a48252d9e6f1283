/** The page's ABI coder against ethers: random types and values, hostile data, keccak256 and checksums. */
import { AbiCoder, getAddress, keccak256 as ethersKeccak, hexlify } from 'ethers';

import {
  AbiFault,
  decode,
  encode,
  readPart,
  type AbiPart,
  type AbiValue,
} from '../../../../src/web/explorer/abiCoder';
import { keccak256, toChecksum } from '../../../../src/web/explorer/keccak';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

const random = new Random(SEED);
const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, () => random.int(0, 255));
const hexOf = (length: number): string => hexlify(bytesOf(length));
const bigOf = (bits: number): bigint => BigInt.asUintN(bits, BigInt(`0x0${hexOf(32).slice(2)}`));

interface Sample {
  readonly param: { type: string; name: string; components?: unknown[] };
  readonly value: AbiValue;
}

function plainSample(): Sample {
  const bits = 8 * (1 + random.int(0, 31));
  const one = <T extends AbiValue>(type: string, value: T): Sample => ({ param: { type, name: 'x' }, value });
  const makers: (() => Sample)[] = [
    () => one(`uint${bits}`, random.int(0, 3) === 0 ? 2n ** BigInt(bits) - 1n : bigOf(bits)),
    () =>
      one(
        `int${bits}`,
        random.int(0, 3) === 0 ? -(2n ** BigInt(bits - 1)) : BigInt.asIntN(bits, bigOf(bits)),
      ),
    () => one('address', hexOf(20)),
    () => one('bool', random.int(0, 1) === 0),
    () => one('bytes', hexOf(random.int(0, 69))),
    () => one('string', random.pick(['', 'plain', 'ä€😀', '\u202eabc', '<b>'])),
    () => one(`bytes${bits / 8}`, hexOf(bits / 8)),
  ];
  return random.pick(makers)();
}

/** A parameter with nested arrays and tuples, and a value of it. */
function makeSample(depth: number): Sample {
  const kind = depth === 0 ? 0 : random.int(0, 3);
  if (kind < 2) return plainSample();
  if (kind === 2) {
    const parts = Array.from({ length: 1 + random.int(0, 3) }, () => makeSample(depth - 1));
    const components = parts.map(({ param }, index) => ({ ...param, name: `p${index}` }));
    return { param: { type: 'tuple', name: 't', components }, value: parts.map(({ value }) => value) };
  }
  const { param, value } = makeSample(depth - 1);
  const count = random.int(0, 3);
  const isFixed = count > 0 && random.int(0, 1) === 0;
  const type = `${param.type}[${isFixed ? count : ''}]`;
  return { param: { ...param, type }, value: Array.from({ length: count }, () => value) };
}

test('keccak256 and checksums are those of ethers, for inputs around the length of a block', () => {
  for (const length of [0, 1, 31, 32, 135, 136, 137, 271, 272, 273, 1_000]) {
    const bytes = bytesOf(length);
    expect(keccak256(bytes)).toBe(ethersKeccak(bytes));
  }
  for (let round = 0; round < 50; round += 1) {
    const address = hexOf(20);
    expect(toChecksum(address)).toBe(getAddress(address));
  }
});

test('random values of random types are encoded as by ethers, and decoded to the same values', () => {
  for (let round = 0; round < 400; round += 1) {
    const samples = Array.from({ length: 1 + random.int(0, 2) }, () => makeSample(3));
    const parts = samples.map(({ param }) => readPart(param));
    const types = parts.map(({ type }) => type);
    const values = samples.map(({ value }) => value);
    const data = `0x${encode(types, values)}`;
    const names = types.map(({ name }) => name.replaceAll('(', 'tuple('));
    expect([SEED, round, names, data]).toEqual([
      SEED,
      round,
      names,
      AbiCoder.defaultAbiCoder().encode(names, values as unknown[]),
    ]);
    expect(decode(types, data)).toEqual(values);
  }
});

test('the greatest and the least integers of every size survive encoding and decoding', () => {
  for (const bits of [8, 128, 248, 256]) {
    const [unsigned, signed] = [readPart({ type: `uint${bits}` }), readPart({ type: `int${bits}` })];
    const values = [2n ** BigInt(bits) - 1n, -(2n ** BigInt(bits - 1))];
    const types = [unsigned.type, signed.type];
    expect(decode(types, `0x${encode(types, values)}`)).toEqual(values);
  }
});

const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const typesOf = (...types: string[]): AbiPart['type'][] => types.map((type) => readPart({ type }).type);

test('data that does not fit its types is an error, not a wrong value', () => {
  const wrong: [string, string][] = [
    ['uint256', '0x'],
    ['uint256', `0x${'0'.repeat(62)}`],
    ['uint8', `0x${word(256)}`],
    ['bool', `0x${word(2)}`],
    ['address', `0x${word(2n ** 160n)}`],
    ['bytes4', `0x${'12'.repeat(32)}`],
    ['string', `0x${word(2n ** 255n)}`],
    ['string', `0x${word(32)}${word(1_000)}`],
    ['uint256[]', `0x${word(32)}${word(2n ** 200n)}`],
  ];
  for (const [type, data] of wrong) expect(() => decode(typesOf(type), data)).toThrow(AbiFault);
});

test('short data that names the same list again and again ends with an error after a bounded number of values', () => {
  // Each list has 32 items, and every item is the list after it, so the values would be 32 to the power of 8.
  const count = 32;
  const list = (next: bigint): string => word(count) + word(next).repeat(count);
  const step = BigInt(32 * count);
  const data = `0x${word(32)}${list(step).repeat(8)}`;
  expect(() => decode(typesOf('uint256[][][][][][][][]'), data)).toThrow(AbiFault);
});

test('types that Solidity does not have, and types nested too deeply, are refused', () => {
  for (const type of ['uint7', 'uint264', 'bytes33', 'bytes0', 'fixed128x18', 'map', 'uint256[99999]'])
    expect(() => readPart({ type })).toThrow(AbiFault);
  expect(() => readPart({ type: `uint256${'[]'.repeat(40)}` })).toThrow(AbiFault);
  expect(() => readPart({ type: 'tuple' })).toThrow(AbiFault);
});
