/** Inputs of the read tab: exact values, and messages that name the parameter and what is allowed. */
import { rangeOf, readPart, type AbiValue } from '../../../../src/web/explorer/abiCoder';
import { readInput } from '../../../../src/web/explorer/abiInput';
import { toChecksum } from '../../../../src/web/explorer/keccak';

const read = (param: unknown, text: string): AbiValue =>
  readInput(readPart(param).type, text, 'amount', { rangeOf, toChecksum });

const MAX = 2n ** 256n - 1n;
const ADDRESS = '0x52908400098527886e0f7030069857d2e4169ee7';
const ORDER = {
  type: 'tuple',
  components: [
    { name: 'maker', type: 'address' },
    { name: 'amounts', type: 'uint256[]' },
  ],
};

test('integers are exact, in decimal and in hex, also inside of lists', () => {
  expect(read({ type: 'uint256' }, String(MAX))).toBe(MAX);
  expect(read({ type: 'uint256' }, ` 0x${'f'.repeat(64)} `)).toBe(MAX);
  expect(read({ type: 'int256' }, String(-(2n ** 255n)))).toBe(-(2n ** 255n));
  expect(read({ type: 'uint256[]' }, `[${MAX}, "${MAX - 1n}", 0x10]`)).toEqual([MAX, MAX - 1n, 16n]);
  expect(read(ORDER, `[${ADDRESS}, [1, ${MAX}]]`)).toEqual([ADDRESS, [1n, MAX]]);
});

test('texts, booleans and bytes are taken as they are', () => {
  expect(read({ type: 'string' }, ' two  words ')).toBe(' two  words ');
  expect(read({ type: 'string[]' }, '["a, [b]", "12", "say \\"hi\\""]')).toEqual([
    'a, [b]',
    '12',
    'say "hi"',
  ]);
  expect(read({ type: 'bool[]' }, '[true, false]')).toEqual([true, false]);
  expect(read({ type: 'bytes' }, '0xABCD')).toBe('0xabcd');
  expect(read({ type: 'address' }, toChecksum(ADDRESS))).toBe(ADDRESS);
});

test.each([
  ['uint8', '256', 'amount: got "256"; allowed: an integer from 0 to 2^8 − 1'],
  ['uint256', '-1', 'amount: got "-1"; allowed: an integer from 0 to 2^256 − 1'],
  ['uint256', String(MAX + 1n), `amount: got "${MAX + 1n}"; allowed: an integer from 0 to 2^256 − 1`],
  ['uint256', '1.5', 'amount: got "1.5"; allowed: an integer from 0 to 2^256 − 1'],
  ['uint256', '1e18', 'amount: got "1e18"; allowed: an integer from 0 to 2^256 − 1'],
  ['uint256', '', 'amount: got ""; allowed: an integer from 0 to 2^256 − 1'],
  ['int8', '128', 'amount: got "128"; allowed: an integer from −2^7 to 2^7 − 1'],
  ['bytes4', '0x12', 'amount: got "0x12"; allowed: 0x and 8 hex digits'],
  ['bytes', '0x123', 'amount: got "0x123"; allowed: 0x and an even number of hex digits'],
  ['bool', 'yes', 'amount: got "yes"; allowed: true or false'],
  ['address', '0x12', 'amount: got "0x12"; allowed: an address: 0x and 40 hex digits'],
  ['uint256[2]', '[1]', 'amount: got "["1"]"; allowed: a list of 2 values, such as [uint256, …]'],
  ['uint256[]', '[1, x]', 'amount[1]: got "x"; allowed: an integer from 0 to 2^256 − 1'],
  ['uint256[]', '{', 'amount: got "{"; allowed: a list of values, such as [uint256, …]'],
])('%s refuses %s and says what is allowed', (type, text, message) => {
  expect(() => read({ type }, text)).toThrow(message);
});

test('a wrong checksum and a wrong field of a tuple are named', () => {
  const wrong = toChecksum(ADDRESS).replace('E4169EE7', 'e4169EE7');
  expect(() => read({ type: 'address' }, wrong)).toThrow('checksum of EIP-55');
  expect(() => read(ORDER, `[${ADDRESS}, [1, -1]]`)).toThrow(
    'amount.amounts[1]: got "-1"; allowed: an integer from 0 to 2^256 − 1',
  );
  expect(() => read(ORDER, `[${ADDRESS}]`)).toThrow(
    'allowed: a list of 2 values: [address maker, uint256[] amounts]',
  );
});
