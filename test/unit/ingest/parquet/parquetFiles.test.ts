/** Plans of Parquet files, values of their rows, and loading of files: without a database. */
import { getCreateAddress } from 'ethers';

import type { Hex } from '../../../../src/domain/hex';
import { chooseColumns, findDataset, insertStatement } from '../../../../src/ingest/parquet/datasets';
import { FilePlan, type ParquetFile } from '../../../../src/ingest/parquet/filePlan';
import { LoadedFiles } from '../../../../src/ingest/parquet/loadedFiles';
import { ParquetRows } from '../../../../src/ingest/parquet/parquetRows';

type Dataset = ParquetFile['dataset'];

function files(spans: Readonly<Record<Dataset, readonly (readonly [number, number])[]>>): ParquetFile[] {
  let number = 0;
  return Object.entries(spans).flatMap(([dataset, list]) =>
    list.map(([from, to]) => {
      number += 1;
      const path = `${dataset}-${from}.parquet`;
      return { number, path, dataset: dataset as Dataset, from, to, rows: 1, columns: new Map() };
    }),
  );
}

test('a plan covers the blocks that all three datasets cover, and names the gaps between them', () => {
  const plan = new FilePlan(
    files({
      blocks: [
        [0, 99],
        [100, 299],
        [500, 599],
      ],
      logs: [
        [200, 299],
        [0, 149],
        [500, 699],
      ],
      transactions: [[50, 599]],
    }),
  );
  expect(plan.covered).toEqual([
    { from: 50, to: 149 },
    { from: 200, to: 299 },
    { from: 500, to: 599 },
  ]);
  const parts = plan
    .partsOf(40, 620)
    .map(({ from, to, files: own }) => [from, to, own?.map(({ path }) => path)]);
  expect(parts).toEqual([
    [40, 49, undefined],
    [50, 149, ['blocks-0.parquet', 'blocks-100.parquet', 'logs-0.parquet', 'transactions-50.parquet']],
    [150, 199, undefined],
    [200, 299, ['blocks-100.parquet', 'logs-200.parquet', 'transactions-50.parquet']],
    [300, 499, undefined],
    [500, 599, ['blocks-500.parquet', 'logs-500.parquet', 'transactions-50.parquet']],
    [600, 620, undefined],
  ]);
  expect(plan.countCovered(40, 250)).toBe(151);
  expect(plan.partsOf(60, 60)).toMatchObject([{ from: 60, to: 60 }]);
  expect(plan.filesAfter(149).map(({ path }) => path)).toEqual([
    'blocks-100.parquet',
    'logs-200.parquet',
    'transactions-50.parquet',
  ]);
});

test('a plan equals a block by block count for many random plans', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const spans = { blocks: cut(seed), logs: cut(seed * 7), transactions: cut(seed * 13) };
    const plan = new FilePlan(files(spans));
    const isIn = (block: number): boolean =>
      Object.values(spans).every((list) => list.some(([from, to]) => from <= block && block <= to));
    const seen = plan
      .partsOf(3, 90)
      .flatMap(({ from, to, files: own }) =>
        Array.from({ length: to - from + 1 }, (_, index) => [from + index, own !== null]),
      );
    expect([seed, seen]).toEqual([
      seed,
      Array.from({ length: 88 }, (_, index) => [3 + index, isIn(3 + index)]),
    ]);
  }
});

/** Ascending spans without overlaps, which depend only on the seed. */
function cut(seed: number): [number, number][] {
  const spans: [number, number][] = [];
  for (let at = seed % 5, step = seed; at < 80; step = (step * 31 + 7) % 101) {
    const to = at + (step % 17);
    spans.push([at, to]);
    at = to + 1 + (step % 3 === 0 ? step % 11 : 0);
  }
  return spans;
}

test('columns decide the dataset; a type that changes their meaning is refused', () => {
  const column = (name: string, physical_type: string, logical_type = 'None') => ({
    name,
    physical_type,
    logical_type,
  });
  const blocks = ['block_number', 'timestamp', 'chain_id'].map((name) => column(name, 'INT64'));
  const hash = column('block_hash', 'BYTE_ARRAY');
  expect(findDataset('x', [...blocks, hash])).toBe('blocks');
  expect(() => findDataset('x', [column('a', 'INT32')])).toThrow(
    'x: got the columns a; allowed: the columns of cryo',
  );
  const columns = chooseColumns('x', 'blocks', [...blocks, hash]);
  expect([...columns.keys()]).toEqual(['block_number', 'block_hash', 'timestamp', 'chain_id']);
  expect(insertStatement('blocks', 7, columns)).toContain(
    'INSERT INTO blocks (file, block_number, block_hash, timestamp, chain_id) SELECT 7, ifNull(block_number, ',
  );
  expect(() =>
    chooseColumns('x', 'blocks', [...blocks, column('block_hash', 'BYTE_ARRAY', 'String (UTF8)')]),
  ).toThrow(
    'x: the column block_hash has the type BYTE_ARRAY (String (UTF8)); allowed: BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY (binary columns: run cryo without --hex)',
  );
});

test('a transaction without a receiver that did not fail creates the contract of its sender and nonce', () => {
  const from: Hex = `0x${'5a'.repeat(20)}`;
  const contractOf = (to: Hex | null, success: boolean | null): unknown =>
    new ParquetRows(() => 'file').transaction({
      file: 1,
      block_number: 9,
      transaction_index: 0,
      transaction_hash: `0x${'01'.repeat(32)}`,
      from_address: from,
      to_address: to,
      nonce: 300,
      gas_used: 21_000,
      gas_price: 7n,
      success,
      transaction_type: null,
      signed_transaction: null,
    }).contractAddress;
  const created = getCreateAddress({ from, nonce: 300 }).toLowerCase();
  expect([contractOf(null, true), contractOf(null, null)]).toEqual([created, created]);
  expect([contractOf(null, false), contractOf(from, true)]).toEqual([null, null]);
});

test('files are loaded once and in turn, the next ones beforehand, and dropped when all blocks are read', async () => {
  const plan = new FilePlan(
    files({
      blocks: [
        [0, 9],
        [10, 19],
        [20, 29],
      ],
      logs: [[0, 29]],
      transactions: [[0, 29]],
    }),
  );
  const said: string[] = [];
  let running = 0;
  const note =
    (word: string) =>
    async ({ path }: ParquetFile): Promise<void> => {
      running += 1;
      expect(running).toBe(1);
      said.push(`${word} ${path}`);
      await Promise.resolve();
      running -= 1;
    };
  const staging = { load: note('load'), release: note('drop') };
  const loaded = new LoadedFiles(staging, plan, new AbortController().signal);
  for (const [part] of [plan.partsOf(0, 4), plan.partsOf(5, 9), plan.partsOf(10, 19), plan.partsOf(20, 29)])
    await loaded.use(part!.files!, part!, 25, () => Promise.resolve());
  await loaded.idle();
  expect(said.toSorted()).toEqual(
    [
      ...['load blocks-0.parquet', 'load blocks-10.parquet', 'load blocks-20.parquet'],
      ...['load logs-0.parquet', 'load transactions-0.parquet'],
      ...['drop blocks-0.parquet', 'drop blocks-10.parquet', 'drop blocks-20.parquet'],
      ...['drop logs-0.parquet', 'drop transactions-0.parquet'],
    ].toSorted(),
  );
  expect(said.indexOf('load blocks-10.parquet')).toBeLessThan(said.indexOf('drop blocks-0.parquet'));
});
