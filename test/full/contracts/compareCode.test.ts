/** Tests the comparison of contract code byte by byte: only certain bytes may differ. */
import type { Hex } from '../../../src/domain/hex';
import { compareCode, findMetadata, hasMetadataHash } from '../../../src/contracts/verify/compareCode';
import { findCompilers } from '../../../src/contracts/verify/compilers';
import {
  readCompiled,
  withComments,
  withOutputs,
  type CompiledContract,
} from '../../../src/contracts/verify/standardJson';
import { TRICKY } from '../../support/worlds/worldSources';

const ADDRESS: Hex = `0x${'5a'.repeat(20)}`;
const compiled = new Map<string, CompiledContract>();
let commented: CompiledContract;

beforeAll(async () => {
  const compilers = findCompilers({ clockMs: 100_000, niceness: 0 });
  const every = { path: 'contracts/Tricky.sol', name: '*' };
  const { output } = await compilers.compile('0.8.30', withOutputs(TRICKY.input, every, '0.8.30'));
  for (const name of ['Sum_Library', 'Linked', 'Immutable_Vault', 'Vault_Maker'])
    compiled.set(name, readCompiled(output, { path: every.path, name }));
  const maker = { path: every.path, name: 'Vault_Maker' };
  const again = await compilers.compile('0.8.30', withOutputs(withComments(TRICKY.input), maker, '0.8.30'));
  commented = readCompiled(again.output, maker);
});

const options = { kind: 'runtime', address: ADDRESS, metadata: [], libraries: new Map() } as const;
const toHex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;

test('identical code matches, and extra bytes at the end match only for creation code', () => {
  const { runtime, creation } = compiled.get('Vault_Maker')!;
  expect(hasMetadataHash(runtime.code)).toBe(true);
  expect(compareCode(`0x${runtime.code}`, runtime, options)).toEqual({
    match: { exact: false, libraries: {}, trailingHex: '' },
  });
  expect(compareCode(`0x${runtime.code}00`, runtime, options)).toMatchObject({ lengths: true });
  expect(compareCode(`0x${creation.code}abcd`, creation, { ...options, kind: 'creation' })).toMatchObject({
    match: { trailingHex: 'abcd' },
  });
});

test('every changed byte is a difference, except in metadata, which a changed comment also changes', () => {
  const { runtime } = compiled.get('Vault_Maker')!;
  const metadata = findMetadata(runtime.code, commented.runtime.code)!;
  // The metadata of the contract itself, and the metadata of the vault that its code embeds.
  expect(metadata).toHaveLength(2);
  const bytes = Buffer.from(runtime.code, 'hex');
  const inMetadata = (at: number): boolean =>
    metadata.some(({ start, length }) => at >= start && at < start + length);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = bytes[at]! ^ 0x01;
    const result = compareCode(toHex(bytes), runtime, { ...options, metadata });
    bytes[at] = bytes[at]! ^ 0x01;
    if (inMetadata(at))
      expect([at, result]).toEqual([at, { match: { exact: false, libraries: {}, trailingHex: '' } }]);
    else expect([at, 'difference' in result]).toEqual([at, true]);
  }
  // With default settings solc appends 53 bytes of metadata: a CBOR map of 51 bytes, and 2 bytes with its length.
  expect(metadata.map(({ length }) => length)).toEqual([53, 53]);
  expect(metadata[1]!.start + 53).toBe(bytes.length);
});

test('an immutable may have any value, but the same value at each place', () => {
  const { runtime } = compiled.get('Immutable_Vault')!;
  expect(runtime.immutables.size).toBe(2);
  const bytes = Buffer.from(runtime.code, 'hex');
  const fill = (value: number): void => {
    for (const ranges of runtime.immutables.values())
      for (const { start, length } of ranges) bytes.fill(value, start, start + length);
  };
  fill(0x11);
  expect(compareCode(toHex(bytes), runtime, options)).toHaveProperty('match');
  const twice = [...runtime.immutables.values()].find((ranges) => ranges.length > 1);
  if (twice === undefined) throw new Error('no immutable occurs twice in the code');
  bytes[twice[0]!.start] = 0x12;
  expect(compareCode(toHex(bytes), runtime, options)).toEqual({
    difference: 'the code on the chain contains different values for one immutable variable',
  });
});

test('the code of a library may contain only its own address', () => {
  const { runtime } = compiled.get('Sum_Library')!;
  expect(runtime.code.startsWith(`73${'00'.repeat(20)}3014`)).toBe(true);
  const deployed = (address: Hex): Hex => `0x73${address.slice(2)}${runtime.code.slice(42)}`;
  expect(compareCode(deployed(ADDRESS), runtime, options)).toHaveProperty('match');
  expect(compareCode(deployed(`0x${'5b'.repeat(20)}`), runtime, options)).toHaveProperty('difference');
});

test('a linked library is reported with its address, and a missing, wrong or second library address is a difference', () => {
  const { runtime } = compiled.get('Linked')!;
  const name = 'contracts/Tricky.sol:Sum_Library';
  const [hole] = runtime.links.get(name)!;
  const linked = (byte: string): string =>
    runtime.code.slice(0, 2 * hole!.start) + byte.repeat(20) + runtime.code.slice(2 * (hole!.start + 20));
  expect(compareCode(`0x${linked('c4')}`, runtime, options)).toMatchObject({
    match: { libraries: { [name]: `0x${'c4'.repeat(20)}` } },
  });
  const right: Hex = `0x${'c4'.repeat(20)}`;
  const wrong: Hex = `0x${'c5'.repeat(20)}`;
  for (const told of [name, 'Sum_Library']) {
    const compare = (address: Hex) =>
      compareCode(`0x${linked('c4')}`, runtime, { ...options, libraries: new Map([[told, address]]) });
    expect(compare(right)).toHaveProperty('match.libraries', { [name]: right });
    expect(compare(wrong)).toEqual({
      difference: `library ${name} has the address ${right} in the code on the chain, not ${wrong}`,
    });
  }
  expect(compareCode(`0x${linked('00')}`, runtime, options)).toEqual({
    difference: `the code on the chain contains no address for library ${name}`,
  });
  const two = { ...runtime, links: new Map([[name, [hole!, { start: 0, length: 20 }]]]) };
  expect(compareCode(`0x${linked('c4')}`, two, options)).toEqual({
    difference: `the code on the chain contains 2 addresses for library ${name}; allowed: 1`,
  });
});

test('findMetadata finds no metadata if the two codes also differ elsewhere', () => {
  const { runtime } = compiled.get('Vault_Maker')!;
  const other =
    runtime.code.slice(0, 100) + (runtime.code[100] === 'a' ? 'b' : 'a') + runtime.code.slice(101);
  expect(findMetadata(runtime.code, other)).toBeNull();
  expect(findMetadata(runtime.code, runtime.code)).toEqual([]);
  expect(findMetadata(runtime.code, `${runtime.code}00`)).toBeNull();
});
