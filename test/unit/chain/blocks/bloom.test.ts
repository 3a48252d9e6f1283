import { BloomBuilder, bloomToHex, isEmptyBloom } from '../../../../src/chain/blocks/bloom';
import type { ChainLog } from '../../../../src/domain/block';
import { FakeChain, plainBloom } from '../../../support/node/fakeChain';

test('the bloom equals the plain computation of the Yellow Paper', async () => {
  const chain = new FakeChain(99);
  chain.mineMany(60, 30);
  const builder = await BloomBuilder.create();
  for (const block of chain.blocks) {
    const logs = block.logs as unknown as ChainLog[];
    expect(bloomToHex(builder.build(logs))).toBe(plainBloom(logs));
  }
});

test('the cache of bloom bits stays right after evictions', async () => {
  const builder = await BloomBuilder.create();
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

test('isEmptyBloom distinguishes an empty bloom from one with a single bit', () => {
  expect(isEmptyBloom(`0x${'0'.repeat(512)}`)).toBe(true);
  expect(isEmptyBloom(`0x${'0'.repeat(511)}1`)).toBe(false);
});
