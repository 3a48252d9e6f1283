import { keccak256 } from 'ethers';
import { BloomBuilder, bloomToHex, isEmptyBloom } from '../../../src/chain/bloom';
import { createKeccak, KECCAK_INPUT_BYTES_MAX } from '../../../src/chain/keccak';
import type { ChainLog } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { FakeChain, plainBloom, seededRandom } from '../../support/fakeChain';

test('the hash equals ethers’ for every length that it takes, and refuses longer input', () => {
  const seed = 20_261_121;
  const random = seededRandom(seed);
  const keccak = createKeccak();
  for (let length = 0; length <= KECCAK_INPUT_BYTES_MAX; length += 1) {
    const bytes = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
    const input: Hex = `0x${bytes.toString('hex')}`;
    expect([seed, length, Buffer.from(keccak(input)).toString('hex')]).toEqual([
      seed,
      length,
      keccak256(input).slice(2),
    ]);
  }
  expect(() => keccak(`0x${'00'.repeat(KECCAK_INPUT_BYTES_MAX + 1)}`)).toThrow(RangeError);
});

test('the bloom equals one made by the letter of the Yellow Paper', () => {
  const chain = new FakeChain(99);
  chain.mineMany(60, 30);
  const builder = new BloomBuilder();
  for (const block of chain.blocks) {
    const logs = block.logs as unknown as ChainLog[];
    expect(bloomToHex(builder.build(logs))).toBe(plainBloom(logs));
  }
});

test('the cache of bits stays right while its generations turn over', () => {
  const builder = new BloomBuilder();
  const logOf = (index: number): ChainLog => ({
    address: `0x${index.toString(16).padStart(40, '0')}`,
    topics: [],
    data: '0x',
    transactionHash: '0x',
    transactionIndex: 0,
    logIndex: 0,
  });
  for (let index = 0; index < 80_000; index += 1) builder.build([logOf(index)]);
  for (const index of [0, 1, 40_000, 79_999]) {
    expect(bloomToHex(builder.build([logOf(index)]))).toBe(plainBloom([logOf(index)]));
  }
});

test('an empty bloom is told from a filled one', () => {
  expect(isEmptyBloom(`0x${'0'.repeat(512)}`)).toBe(true);
  expect(isEmptyBloom(`0x${'0'.repeat(511)}1`)).toBe(false);
});
