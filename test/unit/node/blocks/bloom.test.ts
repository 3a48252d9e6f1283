import { BloomBuilder, bloomToHex, isEmptyBloom } from '../../../../src/node/blocks/bloom';
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

test('isEmptyBloom distinguishes an empty bloom from one with a single bit', () => {
  expect(isEmptyBloom(`0x${'0'.repeat(512)}`)).toBe(true);
  expect(isEmptyBloom(`0x${'0'.repeat(511)}1`)).toBe(false);
});
