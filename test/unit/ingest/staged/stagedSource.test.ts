import pino from 'pino';

import type { BlockHeader, BlockSource } from '../../../../src/node/blocks/blockSource';
import type { Clock } from '../../../../src/node/rpc/clock';
import { RowWriter } from '../../../../src/clickhouse/rows/rowWriter';
import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { encodeBlocks } from '../../../../src/ingest/staged/blockCodec';
import { PIECE_BLOCKS, pieceOf } from '../../../../src/ingest/staged/stagedBlocks';
import { StagedSource } from '../../../../src/ingest/staged/stagedSource';

const LAST = 5 * PIECE_BLOCKS - 1;
const PATIENCE_MS = 60_000;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const sender = (digit: string): Hex => `0x${digit.repeat(40)}`;

function blockOf(number: number, from = sender('a')): ChainBlock {
  return {
    number,
    hash: hashOf(number + 1),
    parentHash: hashOf(number),
    timestamp: number,
    baseFeePerGas: null,
    transactionCount: 1,
    transactions: [
      { hash: hashOf(7), index: 0, from, effectiveGasPrice: 1n, gasUsed: 1, contractAddress: null },
    ],
    logs: [],
    proof: 'full',
  };
}

const rangeOf = (from: number, to: number): ChainBlock[] =>
  Array.from({ length: to - from + 1 }, (_, index) => blockOf(from + index));

interface Setting {
  readonly staged?: ReadonlyMap<number, readonly ChainBlock[]>;
  readonly hasWorkers?: () => boolean;
  readonly finalTo?: number;
}

function makeSource({ staged = new Map(), hasWorkers = () => true, finalTo = LAST }: Setting) {
  const pieces = new Map(staged);
  const asked: string[] = [];
  const said: string[] = [];
  let time = 0;
  const clock: Clock = {
    now: () => time,
    sleep: (ms) => {
      time += ms;
      return Promise.resolve();
    },
    turn: () => Promise.resolve(),
    random: () => 0.5,
  };
  const node: BlockSource = {
    fetchHeader: (at) => Promise.resolve({ ...blockOf(Number(at)), logsBloom: null } satisfies BlockHeader),
    fetchHeaders: () => Promise.reject(new Error('not used')),
    confirmCanonical: () => Promise.reject(new Error('not used')),
    checkSenders: () => Promise.resolve(),
    fetchRange: (from, to) => {
      asked.push(`${from}-${to}`);
      return Promise.resolve(rangeOf(from, to));
    },
  };
  const source = new StagedSource({
    node,
    staged: {
      read: (piece) => {
        const blocks = pieces.get(piece);
        if (blocks === undefined) return Promise.resolve(null);
        const writer = new RowWriter();
        encodeBlocks(writer, blocks);
        return Promise.resolve(writer.view());
      },
      dropPieces: (first, last) => {
        for (let piece = first; piece <= last; piece += 1) pieces.delete(piece);
        return Promise.resolve();
      },
      create: () => Promise.resolve(),
    },
    proof: 'full',
    tip: { reaches: (block) => Promise.resolve(block <= finalTo) },
    readFinalTo: () => Promise.resolve(null),
    hasWorkers,
    range: { from: 1, to: LAST },
    log: pino({ level: 'warn' }, { write: (line) => said.push((JSON.parse(line) as { msg: string }).msg) }),
    clock,
    signal: new AbortController().signal,
    patienceMs: PATIENCE_MS,
  });
  return { source, pieces, asked, said, elapsed: () => time };
}

test('blocks come from staged pieces, whatever parts of them a range covers', async () => {
  const staged = new Map(
    [0, 1, 2].map((piece) => [piece, rangeOf(piece * PIECE_BLOCKS, (piece + 1) * PIECE_BLOCKS - 1)]),
  );
  const { source, asked } = makeSource({ staged });
  for (const [from, to] of [
    [1, 100],
    [101, 300],
    [301, 301],
  ] as const)
    expect(await source.fetchRange(from, to)).toEqual(rangeOf(from, to));
  expect(asked).toEqual([]);
  expect(source.counts).toEqual({ workers: 301, node: 0 });
});

test('a piece that no worker stages is read from the node after a minute, and later ones at once', async () => {
  const { source, asked, said, elapsed } = makeSource({});
  expect(await source.fetchRange(1, 10)).toEqual(rangeOf(1, 10));
  expect(elapsed()).toBeGreaterThanOrEqual(PATIENCE_MS);
  const before = elapsed();
  await source.fetchRange(11, 200);
  expect(elapsed()).toBe(before);
  expect(asked).toEqual(['1-10', `11-${PIECE_BLOCKS - 1}`, `${PIECE_BLOCKS}-200`]);
  expect(said).toEqual(['no worker has staged the next blocks; reading them from the node']);
});

test('without workers, and for a piece that is not final yet, the node sends the blocks at once', async () => {
  const alone = makeSource({ hasWorkers: () => false });
  await alone.source.fetchRange(1, 10);
  const early = makeSource({ finalTo: 100 });
  await early.source.fetchRange(1, 10);
  expect([alone, early].map((one) => [one.asked, one.elapsed(), one.said])).toEqual([
    [['1-10'], 0, []],
    [['1-10'], 0, []],
  ]);
});

test('a wrong sender of a staged block ends the session, and then the node sends the piece', async () => {
  const from = 2 * PIECE_BLOCKS;
  const wrong = rangeOf(from, from + PIECE_BLOCKS - 1);
  wrong[5] = blockOf(from + 5, sender('b'));
  const { source, pieces, said, asked } = makeSource({ staged: new Map([[2, wrong]]) });
  const blocks = await source.fetchRange(from, from + PIECE_BLOCKS - 1);
  await source.checkSenders(blocks[4]!, new Set([0]));
  await expect(source.checkSenders(blocks[5]!, new Set([0]))).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
  });
  expect(pieces.has(pieceOf(from))).toBe(false);
  // A worker stages the same blocks again.
  pieces.set(2, wrong);
  expect(await source.fetchRange(from, from + 9)).toEqual(rangeOf(from, from + 9));
  expect(asked).toEqual(
    [from + 4, from + 5].map((block) => `${block}-${block}`).concat(`${from}-${from + 9}`),
  );
  expect(said).toEqual(['staged blocks are wrong; the node sends them again']);
});
