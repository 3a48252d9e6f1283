/** Bars from pages of rows: when reading stops, and what an incomplete answer shows. */
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { ReadPage } from '../../../../src/query/bars/barPages';
import type { BarPart } from '../../../../src/query/bars/barParts';
import { readBlockBars } from '../../../../src/query/bars/blockBars';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';

const FIRST = 1_000;
const LAST = 2_000_000;
const BLOCK_SECONDS = 10;
const START = 1_700_000_000;

const unused = (): never => {
  throw new Error('no query is expected');
};
const runner: QueryRunner = { run: unused, write: unused, writeMade: unused };

const timeOf = (block: number): number => START + (block - FIRST) * BLOCK_SECONDS;

const head: HeadSnapshot = {
  version: '1',
  startBlock: FIRST,
  logsFrom: FIRST,
  number: LAST,
  hash: '0x',
  timestamp: timeOf(LAST),
  finalTo: LAST,
  finalNumber: LAST,
  blocks: [],
};

/** One row in each block, whose price is the block's number. A page has at most 40,000 rows. */
function pageReader(
  seconds: number,
  rowsPerBlock = 1,
): { readonly readPage: ReadPage; readonly rows: () => number } {
  let rows = 0;
  return {
    rows: () => rows,
    readPage(before, limit) {
      const from = Math.max(FIRST, before - Math.min(limit, 40_000));
      const parts: BarPart[] = [];
      for (let number = from; number < before; number += 1) {
        const bucket = Math.floor(timeOf(number) / seconds) * seconds;
        const price = { open: number, close: number, high: number, low: number };
        const none = { volume0: 0n, volume1: 0n, volumeUsd: 0n, trades: 0, untracked: 0, buys: 0 };
        parts.push({ bucket, ...price, ...none, openOrd: number, closeOrd: number, lastOrd: number });
      }
      rows += parts.length * rowsPerBlock;
      return Promise.resolve({ parts, rows: parts.length * rowsPerBlock, firstPosition: from });
    },
  };
}

const request = { chainId: 1, firstBlock: FIRST, beforeTime: 4_294_967_295 };

test('reading stops at the wanted number of bars, and these are complete', async () => {
  const { readPage, rows } = pageReader(3_600);
  const read = await readBlockBars(
    runner,
    head,
    { ...request, barSeconds: 3_600, barsWanted: 101 },
    readPage,
  );
  expect(read).toMatchObject({ neverPriced: false, partial: false });
  expect(read.priced).toHaveLength(101);
  expect(rows()).toBeLessThanOrEqual(80_000);
  for (const { bucket, low, high, open, close } of read.priced.slice(0, -1)) {
    const first = FIRST + Math.ceil((bucket - START) / BLOCK_SECONDS);
    expect([open, low, close, high]).toEqual([first, first, first + 359, first + 359]);
  }
});

test('an answer reads a bounded number of rows, and only the oldest of its bars is incomplete', async () => {
  const { readPage, rows } = pageReader(86_400);
  const read = await readBlockBars(
    runner,
    head,
    { ...request, barSeconds: 86_400, barsWanted: 1_001 },
    readPage,
  );
  expect(rows()).toBeGreaterThanOrEqual(300_000);
  expect(rows()).toBeLessThan(350_000);
  expect(read.partial).toBe(true);
  const oldest = LAST - rows() + 1;
  expect(read.priced[0]).toMatchObject({ open: oldest, low: oldest });
  for (const { bucket, open, close } of read.priced.slice(1, -1)) {
    const first = FIRST + Math.ceil((bucket - START) / BLOCK_SECONDS);
    expect([open, close]).toEqual([first, first + 8_639]);
  }
});

test('a series that is read to its first block is complete', async () => {
  const { readPage } = pageReader(86_400);
  const late = { ...head, number: FIRST + 50_000, timestamp: timeOf(FIRST + 50_000) };
  const read = await readBlockBars(
    runner,
    late,
    { ...request, barSeconds: 86_400, barsWanted: 1_001 },
    readPage,
  );
  expect(read.partial).toBe(false);
  expect(read.priced[0]).toMatchObject({ open: FIRST, low: FIRST });
});

test('a bar with too many rows is read until it can be shown, and else the answer is unavailable', async () => {
  const dense = pageReader(2_592_000, 10);
  const read = await readBlockBars(
    runner,
    head,
    { ...request, barSeconds: 2_592_000, barsWanted: 2 },
    dense.readPage,
  );
  expect(read.priced).toHaveLength(2);
  const endless = pageReader(1e9);
  const asked = readBlockBars(runner, head, { ...request, barSeconds: 1e9, barsWanted: 2 }, endless.readPage);
  await expect(asked).rejects.toThrow('too many prices in one bar; ask for shorter bars');
});
