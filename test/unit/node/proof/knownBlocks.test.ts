/**
 * Hashes and roots of blocks of Ethereum. The header of block 0 is public. Recorded blocks are not part of the project:
 * the test reads them from the folder RECORDED_BLOCKS, with `blocks.ndjson.gz` and `receipts.ndjson.gz`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { BlockProver } from '../../../../src/node/proof/blockProof';
import { encodeReceipt } from '../../../../src/node/proof/encodeReceipt';
import { loadKeccak } from '../../../../src/node/proof/keccak';
import { listRoot } from '../../../../src/node/proof/listRoot';
import { RlpWriter } from '../../../../src/node/proof/rlpWriter';
import type { Json } from '../../../support/node/lies';

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const GENESIS: Json = {
  number: '0x0',
  hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  parentHash: `0x${'00'.repeat(32)}`,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: `0x${'00'.repeat(20)}`,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: `0x${'00'.repeat(256)}`,
  difficulty: '0x400000000',
  gasLimit: '0x1388',
  gasUsed: '0x0',
  timestamp: '0x0',
  extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
  mixHash: `0x${'00'.repeat(32)}`,
  nonce: '0x0000000000000042',
  transactions: [],
};

test('block 0 of Ethereum has its known hash, transactions root and receipts root', async () => {
  const prover = await BlockProver.create();
  expect(prover.prove({ header: GENESIS, receipts: [] })).toMatchObject({ level: 'full', fault: null });
  const later = { ...GENESIS, timestamp: '0x1' };
  expect(prover.prove({ header: later, receipts: [] }).fault).toEqual({
    text: expect.stringMatching(/^hash is 0xd4e56740.*computed 0x/) as string,
    isUnknown: false,
  });
});

const folder = process.env['RECORDED_BLOCKS'];
const isRecorded = folder !== undefined && existsSync(join(folder, 'receipts.ndjson.gz'));

async function checkRecorded(): Promise<void> {
  const read = (name: string): Json[] =>
    gunzipSync(readFileSync(join(folder ?? '', `${name}.ndjson.gz`)))
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
  const receipts = read('receipts');
  const keccak = await loadKeccak();
  const [values, nodes] = [new RlpWriter(), new RlpWriter()];
  const blocks = read('blocks');
  let logs = 0;
  for (const block of blocks) {
    values.clear();
    const own = receipts.filter((receipt) => receipt['blockNumber'] === block['number']);
    own.sort((one, other) => Number(one['transactionIndex']) - Number(other['transactionIndex']));
    const leaves = own.map((receipt) => {
      const mark = values.size;
      encodeReceipt(receipt, values);
      logs += (receipt['logs'] as Json[]).length;
      return values.since(mark);
    });
    nodes.clear();
    const root = `0x${Buffer.from(listRoot(leaves, keccak, nodes)).toString('hex')}`;
    expect([block['number'], root]).toEqual([block['number'], block['receiptsRoot']]);
  }
  process.stderr.write(
    `the receipts roots of ${blocks.length} recorded blocks with ${logs} logs are right\n`,
  );
}

if (isRecorded) test('recorded blocks have the receipts roots of their headers', checkRecorded);
