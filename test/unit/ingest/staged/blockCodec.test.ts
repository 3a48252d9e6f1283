import { RowWriter } from '../../../../src/clickhouse/rows/rowWriter';
import {
  PROOF_LEVELS,
  type ChainBlock,
  type ChainLog,
  type ChainTransaction,
} from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { decodeBlocks, encodeBlocks } from '../../../../src/ingest/staged/blockCodec';
import { Random } from '../../../support/random';

const random = new Random(8);
const hexOf = (bytes: number): Hex =>
  `0x${Array.from({ length: bytes }, () => random.int(0, 255).toString(16).padStart(2, '0')).join('')}`;
const maybe = <T>(value: T): T | null => (random.chance(0.3) ? null : value);

function makeTransaction(index: number): ChainTransaction {
  return {
    hash: hexOf(32),
    index,
    from: maybe(hexOf(20)),
    effectiveGasPrice: maybe(random.big(256)),
    gasUsed: maybe(random.int(0, 2 ** 40)),
    contractAddress: maybe(hexOf(20)),
  };
}

function makeLog(logIndex: number, transactions: readonly ChainTransaction[]): ChainLog {
  const transactionIndex = random.int(0, 300);
  return {
    address: hexOf(20),
    topics: Array.from({ length: random.int(0, 4) }, () => hexOf(32)),
    data: hexOf(random.pick([0, 1, 32, 127, 128, 300])),
    transactionHash: transactions[transactionIndex]?.hash ?? hexOf(32),
    transactionIndex,
    logIndex,
  };
}

function makeBlock(number: number): ChainBlock {
  // Without receipts and bodies, a block has no transactions.
  const count = random.chance(0.3) ? 0 : random.int(0, 200);
  const transactions = Array.from({ length: count }, (_, index) => makeTransaction(index));
  return {
    number,
    hash: hexOf(32),
    parentHash: hexOf(32),
    timestamp: random.int(0, 2 ** 33),
    baseFeePerGas: maybe(random.big(256)),
    transactionCount: random.int(count, 300),
    transactions,
    logs: Array.from({ length: random.int(0, 40) }, (_, index) => makeLog(index, transactions)),
    proof: random.pick(PROOF_LEVELS),
  };
}

function encode(blocks: readonly ChainBlock[]): Buffer {
  const writer = new RowWriter(8);
  encodeBlocks(writer, blocks);
  return writer.view();
}

test('decoded blocks equal the encoded ones, whatever is missing in them', () => {
  const blocks = Array.from({ length: 60 }, (_, index) => makeBlock(index + 7));
  expect(decodeBlocks(encode(blocks))).toEqual(blocks);
  expect(decodeBlocks(encode([]))).toEqual([]);
});

test('a block without a level of proof is decoded as one that is proven by its bloom', () => {
  const { proof: _, ...block } = makeBlock(1);
  expect(decodeBlocks(encode([block]))).toEqual([{ ...block, proof: 'bloom' }]);
});

test('cut bytes and bytes of another version are refused', () => {
  const bytes = encode([makeBlock(1), makeBlock(2)]);
  for (const length of [0, 1, 40, bytes.length - 1])
    expect(() => decodeBlocks(bytes.subarray(0, length))).toThrow();
  const other = Buffer.from(bytes);
  other[0] = 99;
  expect(() => decodeBlocks(other)).toThrow('got the version 99 of the encoding, not 1');
});
