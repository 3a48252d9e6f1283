/**
 * Backfills from Parquet files with cryo's columns. Expects the rows that a backfill from the node stores, whatever the
 * files lack; and a clear error, without a wrong row, for each kind of wrong file.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { readStoredState } from '../../../src/ingest/store/storedState';
import { hashOf } from '../../simulation/compare/storedContent';
import { askRows } from '../../support/engine/askRows';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { writeCryoFiles, type CryoOptions } from '../../support/node/cryoFiles';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import {
  atLeast,
  countRows,
  findLine,
  listLevels,
  StubFills,
  type FillTarget,
} from '../../support/stub/stubFills';

const CHAIN_ID = 369;
const BLOCKS = 1_400;
const LAST = 1_200;

let chain: StubChain;
let folder: string;
let made: TestDatabase;
let fills: StubFills;
let straight: FillTarget;
let straightHash: string;

function write(name: string, options: Partial<CryoOptions> = {}): Promise<string[]> {
  const place = { rpcUrl: chain.url, databaseUrl: made.writerUrl, folder: join(folder, name) };
  return writeCryoFiles({ ...place, from: 1, to: LAST, chunk: 300, ...options });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parquet-'));
  chain = await startStubChain({
    blocks: BLOCKS,
    logsPerBlock: 8,
    pairs: 12,
    seed: 4,
    provable: true,
    transactionsMin: 2,
  });
  made = await createTestDatabase();
  fills = new StubFills(chain.url);
  straight = await fills.openTarget();
  await fills.fill(straight, { from: 1, to: LAST });
  straightHash = await hashOf(straight);
  await write('whole');
});

afterAll(async () => {
  await fills?.close();
  await made?.drop();
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('files with parent hashes and blooms give the rows and the range hashes of the node', async () => {
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { parquet: [join(folder, 'whole', '*.parquet')] });
  expect(await hashOf(target)).toBe(straightHash);
  const [ours, theirs] = await Promise.all(
    [target, straight].map(({ database }) => readRangeHashes(database, CHAIN_ID, 0, LAST)),
  );
  expect([...ours!.keys()]).toEqual([0]);
  expect(ours).toEqual(theirs);
  expect(findLine(lines, 'reading blocks from Parquet files')).toMatchObject({
    files: 12,
    from: 1,
    to: LAST,
    nodeBlocks: 0,
  });
  expect(findLine(lines, 'files do not prove')).toMatchObject({ level: 'bloom', headers: 'files' });
  expect(findLine(lines, 'blocks were read')).toMatchObject({ files: atLeast(LAST), node: 0 });
  expect(findLine(lines, 'backfill done')['logsPerSecond']).toBeGreaterThan(0);
});

test("with cryo's default columns the headers come from the node, and PROOF=headers proves them", async () => {
  await write('default', { withHeaders: false });
  const parquet = [join(folder, 'default')];
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { parquet });
  expect(await hashOf(target)).toBe(straightHash);
  expect(findLine(lines, 'files do not prove')).toMatchObject({ level: 'bloom', headers: 'node' });
  const proven = await fills.openTarget();
  await fills.fill(proven, { parquet: [join(folder, 'whole')] }, { PROOF: 'headers' });
  expect(await hashOf(proven)).toBe(straightHash);
  expect(await listLevels(proven)).toBe('headers');
  expect(await listLevels(target)).toBe('bloom');
  await expect(fills.fill(await fills.openTarget(), { parquet }, { PROOF: 'receipts' })).rejects.toThrow(
    'allowed with --parquet: auto, none, bloom or headers',
  );
});

test('the node sends the blocks that a dataset lacks, and the blocks before and after all files', async () => {
  const from = join(folder, 'whole');
  const to = join(folder, 'gaps');
  mkdirSync(to);
  const missing = /logs__00000301|transactions__00000901|__00000001_/;
  for (const name of readdirSync(from))
    if (!missing.test(name)) copyFileSync(join(from, name), join(to, name));
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { from: 1, to: LAST, parquet: [join(to, '*.parquet')] });
  expect(await hashOf(target)).toBe(straightHash);
  expect(findLine(lines, 'reading blocks')).toMatchObject({ files: 7, blocks: 300, nodeBlocks: 900 });
  const { files, node } = findLine(lines, 'blocks were read');
  expect([files, node]).toEqual([atLeast(300), atLeast(900)]);
});

test('the order of rows, the names of files and the older name of a column do not matter', async () => {
  const paths = await write('plain', {
    change: (rows) => Object.values(rows).forEach((list) => list.reverse()),
    columns: { 'logs.address': 'unhex(substring(assumeNotNull(address), 3)) AS contract_address' },
  });
  const renamed = join(folder, 'renamed');
  mkdirSync(renamed);
  for (const [index, path] of paths.entries()) copyFileSync(path, join(renamed, `${index}.parquet`));
  const target = await fills.openTarget();
  await fills.fill(target, { parquet: [renamed] });
  expect(await hashOf(target)).toBe(straightHash);
});

test('a second backfill continues after the stored blocks, and nothing remains of the staged rows', async () => {
  const parquet = [join(folder, 'whole')];
  const target = await fills.openTarget();
  await fills.fill(target, { to: 450, parquet });
  expect((await readStoredState(target.database, CHAIN_ID))!.cursor.number).toBe(450);
  const lines = await fills.fill(target, { parquet });
  expect(findLine(lines, 'blocks were read')).toMatchObject({ files: atLeast(LAST - 450), node: 0 });
  expect(await hashOf(target)).toBe(straightHash);
  const left = await askRows(
    target.database,
    `SELECT name FROM system.databases WHERE name = '${target.test.database}_parquet' LIMIT 1`,
  );
  expect(left).toEqual([]);
});

/** Wrong files, and what the error must say. The files have the blocks 1 to 20. */
const WRONG: readonly (readonly [name: string, options: Partial<CryoOptions>, error: RegExp])[] = [
  [
    'rows of another chain',
    { change: ({ logs }) => (logs[7]!['chain_id'] = 1) },
    /logs__\S+parquet: block \d+: chain_id is 1; allowed: 369/,
  ],
  [
    'a missing column',
    { columns: { 'logs.data': '' } },
    /logs__\S+parquet: the column data is missing; a file of logs needs block_number, .*data, chain_id/,
  ],
  [
    'numbers as text',
    { columns: { 'transactions.nonce': 'nonce' } },
    /transactions__\S+parquet: the column nonce has the type BYTE_ARRAY \(\S*\); allowed: INT32 or INT64/,
  ],
  [
    'hex text in a binary column',
    { columns: { 'logs.address': 'address' } },
    /logs__\S+parquet: block 1, log 0: address is 42 bytes; allowed: 20 bytes/,
  ],
  [
    'a negative number',
    { columns: { 'blocks.timestamp': 'toInt64(-5) AS timestamp' } },
    /blocks__\S+parquet: block \d+: timestamp is \d+; allowed: 0 to 4294967295/,
  ],
  [
    'a null',
    { change: ({ logs }) => (logs[20]!['data'] = null) },
    /logs__\S+parquet: block \d+, log \d+: data is null; allowed: a value/,
  ],
  [
    'a null topic before another topic',
    { change: ({ logs }) => (logs[3]!['topic0'] = null) },
    /logs__\S+parquet: block 1, log 3: topic0 is null; allowed: 32 bytes, because topic1 is not null/,
  ],
  [
    'a null block number',
    { change: ({ blocks }) => (blocks[4]!['block_number'] = null) },
    /blocks__\S+parquet: block_number is null; allowed: 1 to 20, the range of the file/,
  ],
  [
    'a log that is there twice',
    { change: ({ logs }) => logs.push(logs[5]!) },
    /logs__\S+parquet: block 1, log 5 has two rows; allowed: one row per log of the block/,
  ],
  [
    'a log that is missing between others',
    { change: ({ logs }) => logs.splice(5, 1) },
    /logs__\S+parquet: block 1, log 5 has no row before log 6/,
  ],
  [
    'logs that are missing at the end of a block',
    {
      change: (rows) =>
        (rows.logs = rows.logs.filter((row) => row['block_number'] !== 9 || Number(row['log_index']) < 4)),
    },
    /logs__\S+parquet: block 9 fails verification \(bloom\)/,
  ],
  [
    'a log with another topic',
    { change: ({ logs }) => (logs[30]!['topic1'] = `0x${'ab'.repeat(32)}`) },
    /parquet: block \d+ fails verification \(bloom\)/,
  ],
  [
    'a log of another transaction',
    { change: ({ logs }) => (logs[30]!['transaction_hash'] = `0x${'ab'.repeat(32)}`) },
    /logs__\S+parquet: block \d+, log \d+: transaction_hash is 0xabab/,
  ],
  [
    'a transaction that is missing',
    {
      change: (rows) =>
        (rows.transactions = rows.transactions.filter(
          (row) => row['block_number'] !== 1 || row['transaction_index'] === 0,
        )),
    },
    /parquet: block 1(, log \d+: transaction_index is 1| used \d+ gas, but its 1 transactions used \d+| has 1 transactions)/,
  ],
  [
    'a block that is missing',
    { change: ({ blocks }) => blocks.splice(6, 1) },
    /blocks__\S+parquet: block 7 has no row; allowed: one row per block/,
  ],
  [
    'a block that is there twice',
    { change: ({ blocks }) => blocks.push(blocks[6]!) },
    /blocks__\S+parquet: block 7 has two rows/,
  ],
  [
    'a block with another parent',
    { change: ({ blocks }) => (blocks[6]!['parent_hash'] = `0x${'ab'.repeat(32)}`) },
    /blocks__\S+parquet: block 7 fails verification \(parent_link\)/,
  ],
  [
    'the blocks of another branch',
    { change: ({ blocks }) => (blocks[19]!['block_hash'] = `0x${'ab'.repeat(32)}`) },
    /blocks__\S+parquet: block 20: block_hash is 0xabab.*; allowed: 0x[0-9a-f]{64}, as the node says/,
  ],
  [
    'no transactions',
    { datasets: ['blocks', 'logs'] },
    /none of the 2 files has transactions; allowed: files of/,
  ],
];

test('each kind of wrong row or column is an error that names the file, and no row is stored', async () => {
  for (const [name, options, error] of WRONG) {
    const target = await fills.openTarget();
    const own = name.replaceAll(' ', '-');
    await write(own, { to: 20, chunk: 20, ...options });
    const failed = await fills
      .fill(target, { parquet: [join(folder, own)] })
      .catch((caught: unknown) => caught);
    expect([name, failed instanceof Error ? failed.message : failed]).toEqual([
      name,
      expect.stringMatching(error),
    ]);
    expect([name, await countRows(target)]).toEqual([name, '0']);
  }
});

test('each kind of wrong file is an error that names the file', async () => {
  const paths = await write('small', { to: 20, chunk: 20 });
  const logs = paths.find((path) => path.includes('logs'))!;
  const bytes = readFileSync(logs);
  const target = await fills.openTarget();
  const cases: readonly (readonly [string, Buffer, RegExp])[] = [
    [
      logs,
      bytes.subarray(0, 900),
      /logs__\S+parquet: the file does not end with PAR1; allowed: a whole Parquet file/,
    ],
    [logs, Buffer.from('block_number,data\n1,2\n'), /logs__\S+parquet: the file does not begin with PAR1/],
    [logs, Buffer.alloc(0), /logs__\S+parquet: the file does not begin with PAR1/],
    [logs, damaged(bytes, 0.3), /logs__\S+parquet: ClickHouse cannot read the file/],
    [logs, damaged(bytes, 0.9), /logs__\S+parquet: /],
    [
      logs.replace('to_00000020', 'to_00000010'),
      bytes,
      /block_number is \d+; allowed: 1 to 10, the range of the file/,
    ],
    [
      logs.replace('stub__', 'again__'),
      bytes,
      /logs__\S+ has logs of the blocks 1-20, and \S+logs__.* of 1-20; allowed: at most one/,
    ],
  ];
  for (const [path, content, error] of cases) {
    const place = join(folder, 'small');
    writeFileSync(path, content);
    if (!path.includes('again')) rmSync(logs, { force: path !== logs });
    writeFileSync(path, content);
    await expect(fills.fill(target, { parquet: [place] })).rejects.toThrow(error);
    rmSync(path);
    writeFileSync(logs, bytes);
  }
  await expect(fills.fill(target, { parquet: [join(folder, 'none', '*.parquet')] })).rejects.toThrow(
    'no file matches',
  );
  await fills.fill(target, { parquet: [join(folder, 'small')] });
});

/** The bytes with 60 wrong ones at a share of the length. */
function damaged(bytes: Buffer, share: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xff, Math.floor(copy.length * share), Math.floor(copy.length * share) + 60);
  return copy;
}
