import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

import { encodeRlp } from 'ethers';

import { loadKeccak } from '../../../src/node/proof/keccak';
import { listRoot } from '../../../src/node/proof/listRoot';
import { RlpWriter } from '../../../src/node/proof/rlpWriter';
import { createRandom } from '../../support/createRandom';

const ORACLE = resolve('test/support/oracle/trieRoots.mjs');

test('the trie root of a list equals the root by @ethereumjs/mpt, for list lengths around each change in the form of the keys', async () => {
  const random = createRandom(32);
  const lengths = [0, 1, 2, 3, 16, 17, 127, 128, 129, 130, 255, 256, 257, 300];
  // The trie of a list stores short values inside their parent node, and long values by their hash.
  const lists = lengths.flatMap((length) =>
    [1, 40, 600].map((longest) =>
      Array.from({ length }, () => {
        const bytes = Buffer.alloc(1 + random.int(longest));
        return bytes.map(() => 1 + random.int(255)) as Buffer;
      }),
    ),
  );
  const input = JSON.stringify(lists.map((list) => list.map((value) => value.toString('hex'))));
  const expected = JSON.parse(
    execFileSync(process.execPath, [ORACLE], { input, maxBuffer: 2 ** 26 }).toString(),
  ) as string[];
  const keccak = await loadKeccak();
  const scratch = new RlpWriter();
  const roots = lists.map((list) => {
    scratch.clear();
    return Buffer.from(listRoot(list, keccak, scratch)).toString('hex');
  });
  expect(roots).toEqual(expected);
});

test('strings, integers and lists of every length have the RLP encoding of ethers', () => {
  const writer = new RlpWriter();
  for (const length of [0, 1, 2, 54, 55, 56, 57, 255, 256, 257, 70_000, 300_000]) {
    for (const first of ['00', '7f', '80', 'ff']) {
      const hex = length === 0 ? '0x' : `0x${first}${'ab'.repeat(length - 1)}`;
      writer.clear();
      const mark = writer.size;
      writer.quantity('0x000400', 'b');
      writer.data(hex, 'a');
      writer.quantity('0x0', 'c');
      writer.list(mark);
      expect(`0x${writer.since(0).toString('hex')}`).toBe(encodeRlp(['0x', hex, '0x0400']));
    }
  }
});

test.each(['0x1', '0xzz', '12', null, 7, '0x12 '])(
  'data that is not hex of whole bytes is refused: %p',
  (value) => {
    expect(() => new RlpWriter().data(value, 'input')).toThrow('input is not hex');
  },
);
