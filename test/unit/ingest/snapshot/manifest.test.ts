/** The index and the manifests of snapshots: what they list must fit together. */
import {
  parseIndex,
  parseManifest,
  rootOfFiles,
  sha256Of,
  toJson,
  type DayManifest,
  type IndexedDay,
  type SnapshotFile,
} from '../../../../src/ingest/snapshot/manifest';
import { merkleRoot } from '../../../../src/ingest/snapshot/merkleRoot';

// https://github.com/google/certificate-transparency/blob/master/cpp/merkletree/merkle_tree_test.cc
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];

test.each([
  [0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  [1, '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  [2, 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  [3, 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  [8, '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
])('the Merkle root of %d leaves is that of RFC 6962', (count, root) => {
  expect(merkleRoot(LEAVES.slice(0, count).map((leaf) => Buffer.from(leaf, 'hex')))).toBe(root);
});

const hash = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`;
const file = (
  name: string,
  dataset: SnapshotFile['dataset'],
  from_block: number,
  to_block: number,
): SnapshotFile => ({
  name: `${name}.parquet`,
  dataset,
  from_block,
  to_block,
  bytes: 10,
  sha256: sha256Of(Buffer.from(name)),
});
const FILES = [
  file('transactions_1', 'transactions', 5, 6),
  file('logs_1', 'logs', 5, 6),
  file('transactions_2', 'transactions', 7, 9),
  file('logs_2', 'logs', 7, 9),
  file('blocks', 'blocks', 5, 9),
];
const MANIFEST: DayManifest = {
  version: 1,
  chain_id: 369,
  day: '2026-01-01',
  from_block: 5,
  from_hash: hash('05'),
  parent_hash: hash('04'),
  to_block: 9,
  to_hash: hash('09'),
  level: 'full',
  headers: [{ to_block: 9, to_hash: hash('09'), root: '00'.repeat(32) }],
  start_block: 1,
  range_hashes: [],
  files: FILES,
  files_root: rootOfFiles(FILES),
};

function parse(change: Partial<DayManifest>, indexed: Partial<IndexedDay> = {}): DayManifest {
  const bytes = toJson({ ...MANIFEST, ...change });
  const day = {
    day: '2026-01-01',
    from_block: 5,
    to_block: 9,
    to_hash: hash('09'),
    manifest: sha256Of(bytes),
  };
  return parseManifest('manifest', bytes, { ...day, ...indexed }, 369);
}

test('a manifest must be the one of the index', () => {
  expect(parse({})).toEqual(MANIFEST);
  expect(() => parse({}, { manifest: '00'.repeat(32) })).toThrow(/the SHA-256 is .* as the index says/);
  expect(() => parse({}, { to_block: 8 })).toThrow('to_block is 9; allowed: 8, as the index says');
  expect(() => parse({ chain_id: 1 })).toThrow('chain_id is 1; allowed: 369, the chain of CHAIN_ID');
});

test('the files of each dataset have every block of the day once', () => {
  const without = (name: string): Partial<DayManifest> => {
    const files = FILES.filter((one) => one.name !== `${name}.parquet`);
    return { files, files_root: rootOfFiles(files) };
  };
  expect(() => parse(without('logs_1'))).toThrow(
    'logs_2.parquet has the blocks 7-9; allowed: a file of logs that begins with block 5',
  );
  expect(() => parse(without('transactions_2'))).toThrow(
    'the files of transactions end with block 6; allowed: block 9',
  );
  expect(() => parse({ files: FILES.toReversed() })).toThrow(/files_root is .* the root of the listed files/);
  const twice = [...FILES, file('more', 'logs', 9, 9)];
  expect(() => parse({ files: twice, files_root: rootOfFiles(twice) })).toThrow(
    'more.parquet has the blocks 9-9',
  );
});

test('the headers end as the files of blocks and as the day', () => {
  const [headers] = MANIFEST.headers;
  expect(() => parse({ headers: [{ ...headers!, to_block: 8 }] })).toThrow('headers end at the blocks 8');
  expect(() => parse({ headers: [{ ...headers!, to_hash: hash('08') }] })).toThrow(
    'headers end at the blocks 9',
  );
});

test('a file name cannot leave the folder of its day', () => {
  const files = FILES.map((one) => ({ ...one, name: `../${one.name}` }));
  expect(() => parse({ files, files_root: rootOfFiles(files) })).toThrow('files.0.name: Invalid string');
});

test('the days of an index ascend without overlaps', () => {
  const day = (name: string, from_block: number, to_block: number): IndexedDay => {
    return { day: name, from_block, to_block, to_hash: hash('01'), manifest: '00'.repeat(32) };
  };
  const read = (...days: IndexedDay[]) =>
    parseIndex('index', toJson({ version: 1, chain_id: 369, days }), 369).days;
  const [first, second] = [day('2026-01-01', 1, 9), day('2026-01-03', 12, 20)];
  expect(read(first, second)).toEqual([first, second]);
  expect(() => read(second, first)).toThrow(
    'the day 2026-01-01 has the blocks 1-9; allowed: days and blocks in ascending order',
  );
  expect(() => read(first, { ...second, from_block: 9 })).toThrow('the day 2026-01-03 has the blocks 9-20');
  expect(() => parseIndex('index', Buffer.from('<html>'), 369)).toThrow('index: the file is not JSON');
});
