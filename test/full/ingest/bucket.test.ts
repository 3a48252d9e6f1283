/**
 * Backfills from Parquet files and a snapshot in a bucket: the blocks of a backfill from the node, also through failing requests. Each
 * wrong setting and each hostile answer is an error that names the path.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runExport } from '../../../src/commands/snapshot/export';
import { BucketFiles } from '../../../src/ingest/parquet/bucketFiles';
import { hashOf } from '../../simulation/compare/storedContent';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase } from '../../support/engine/engine';
import { BUCKET, isSigned, startBucket, type BucketServer } from '../../support/node/bucketServer';
import { writeCryoFiles } from '../../support/node/cryoFiles';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { countRows, findLine, StubFills } from '../../support/stub/stubFills';

const LAST = 300;
/** The first block after LAST begins the next day, so that the day of the blocks is complete. */
const DAY = '2024-03-01';
const GENESIS = Date.parse('2024-03-02') / 1_000 - 10 * (LAST + 1);
const KEYS = { id: 'CANDLEHOUSE', secret: 'wJalr/XUtn+FEMI' };
const { signal } = new AbortController();

let chain: StubChain;
let folder: string;
let fills: StubFills;
let bucket: BucketServer;
let straightHash: string;

const settings = (changed: Record<string, string> = {}): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: KEYS.id,
  AWS_SECRET_ACCESS_KEY: KEYS.secret,
  AWS_ENDPOINT_URL: bucket.url,
  ...changed,
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bucket-'));
  chain = await startStubChain({
    blocks: LAST + 20,
    logsPerBlock: 8,
    pairs: 12,
    seed: 4,
    provable: true,
    genesisTime: GENESIS,
  });
  fills = new StubFills(chain.url);
  const made = await createTestDatabase();
  const files = join(folder, 'years', 'of blocks+logs');
  mkdirSync(files, { recursive: true });
  const place = { rpcUrl: chain.url, databaseUrl: made.writerUrl, folder: files };
  await writeCryoFiles({ ...place, from: 1, to: LAST, chunk: 50 });
  await made.drop();
  bucket = await startBucket(folder, KEYS);
  const straight = await fills.openTarget();
  await fills.fill(straight, { from: 1, to: LAST });
  straightHash = await hashOf(straight);
});

beforeEach(() => void (bucket.fault = () => 'none'));

afterAll(async () => {
  await fills?.close();
  await bucket?.close();
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the stand-in accepts the signed request of AWS's documentation, and no other", () => {
  const keys = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': empty,
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  };
  expect(isSigned({ method: 'GET', target: '/test.txt', headers }, keys)).toBe(true);
  expect(isSigned({ method: 'GET', target: '/text.txt', headers }, keys)).toBe(false);
  expect(isSigned({ method: 'GET', target: '/test.txt', headers }, { ...keys, secret: 'x' })).toBe(false);
});

test.each([
  ['a pattern', `s3://${BUCKET}/years/of blocks+logs/*.parquet`],
  ['a folder', `s3://${BUCKET}/years/of blocks+logs`],
])('files of %s in a bucket give the rows of the node', async (_, pattern) => {
  const target = await fills.openTarget();
  const lines = await fills.fill(target, { parquet: [pattern] }, settings());
  expect(await hashOf(target)).toBe(straightHash);
  const files = readdirSync(join(folder, 'years', 'of blocks+logs')).length;
  expect(findLine(lines, 'reading blocks from Parquet files')).toMatchObject({
    files,
    to: LAST,
    nodeBlocks: 0,
  });
  expect(bucket.requests.filter((request) => request.includes('continuation-token')).length).toBeGreaterThan(
    1,
  );
});

test('requests that fail, are dropped or end in the middle are repeated', async () => {
  const random = new Random(SEED);
  const counts = { none: 0, busy: 0, drop: 0, cut: 0 };
  // The program gives up after six failures of one request, so the stand-in stops after three.
  const failures = new Map<string, number>();
  bucket.fault = (request) => {
    const luck = random.next();
    // An answer to HEAD has no body to cut off.
    const hasBody = request.startsWith('GET');
    const drawn = luck < 0.1 ? 'busy' : luck < 0.2 ? 'drop' : luck < 0.25 && hasBody ? 'cut' : 'none';
    const failed = failures.get(request) ?? 0;
    const fault = failed < 3 ? drawn : 'none';
    failures.set(request, fault === 'none' ? 0 : failed + 1);
    counts[fault] += 1;
    return fault;
  };
  const target = await fills.openTarget();
  await fills.fill(target, { parquet: [`s3://${BUCKET}/years/of blocks+logs/*.parquet`] }, settings());
  expect(await hashOf(target)).toBe(straightHash);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
});

test('a snapshot is written into a bucket, and read from there', async () => {
  const exporter = await fills.openTarget();
  await fills.fill(exporter, { from: 1, to: LAST + 5 });
  const failed = new Set<string>();
  bucket.fault = (request) => {
    const isFirst = !failed.has(request);
    failed.add(request);
    return isFirst && request.startsWith('PUT') ? 'busy' : 'none';
  };
  const days = { from: DAY, to: DAY };
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  const place = { days, out: `s3://${BUCKET}/days` };
  await runExport(fills.configOf(exporter, settings()), silent, signal, place, output);
  expect(lines.join('')).toContain(`${DAY}: blocks 1-${LAST}, 3 files`);
  await runExport(fills.configOf(exporter, settings()), silent, signal, place, output);
  expect(lines.at(-1)).toBe(`${DAY}: exported already\n`);
  const target = await fills.openTarget();
  await fills.fill(target, { snapshot: place.out }, settings());
  expect(await hashOf(target)).toBe(straightHash);
});

/** Wrong settings and paths, and what the error must say. */
const WRONG: readonly (readonly [string, string, Record<string, string>, RegExp])[] = [
  [
    'a wrong secret',
    `s3://${BUCKET}/years/*.parquet`,
    { AWS_SECRET_ACCESS_KEY: 'x' },
    /s3:\S+: the bucket refuses the request; check AWS_ACCESS_KEY_ID.*HTTP 403/,
  ],
  [
    'no keys',
    `s3://${BUCKET}/years/*.parquet`,
    { AWS_ACCESS_KEY_ID: '' },
    /the bucket refuses the request.*HTTP 403/,
  ],
  [
    'an unknown bucket',
    's3://other-files/*.parquet',
    {},
    /s3:\/\/other-files\/\*.parquet: there is no such file or bucket \(HTTP 404\)/,
  ],
  [
    'an unknown file',
    `s3://${BUCKET}/years/x.parquet`,
    {},
    /years\/x.parquet: there is no such file or bucket \(HTTP 404\)/,
  ],
  [
    'no match',
    `s3://${BUCKET}/years/x*.parquet`,
    {},
    /--parquet s3:\S+: no file matches; allowed: a file, a folder/,
  ],
  [
    'a pattern of folders',
    `s3://${BUCKET}/*/x.parquet`,
    {},
    /allowed: s3:\/\/bucket\/folder\/\*.parquet, with \* in the last part only/,
  ],
  ['no bucket', 's3://*.parquet', {}, /got no path of a bucket; allowed: s3:/],
];

test('a wrong setting or path is an error that names it', async () => {
  for (const [name, pattern, changed, error] of WRONG) {
    const target = await fills.openTarget();
    const failed = await fills
      .fill(target, { parquet: [pattern] }, settings(changed))
      .catch((caught: unknown) => caught);
    expect([name, String(failed)]).toEqual([name, expect.stringMatching(error)]);
    expect(String(failed)).not.toContain(KEYS.secret);
    expect(await countRows(target)).toBe('0');
  }
});

test('a list without an end, and a server that ignores ranges, are errors', async () => {
  const files = new BucketFiles({
    endpoint: bucket.url,
    region: 'us-east-1',
    keys: { ...KEYS, session: null },
  });
  bucket.fault = () => 'endless';
  await expect(files.list(`s3://${BUCKET}/*.parquet`, signal)).rejects.toThrow(/got more than 8388608 bytes/);
  const own = await startBucket(folder, null, 0);
  const endless = new BucketFiles({ endpoint: own.url, region: 'us-east-1', keys: null });
  await expect(
    endless.list(`s3://${BUCKET}/years/of blocks+logs/*.parquet`, signal).finally(() => own.close()),
  ).rejects.toThrow(/lists more than 1000 pages of names/);
  bucket.fault = () => 'whole';
  const [path = ''] = await files.list(`s3://${BUCKET}/years/of blocks+logs`, signal);
  const file = await files.open(path, signal);
  await expect(file.read(4, 8)).rejects.toThrow(/the bucket answers 200 to a Range; allowed: 206/);
  bucket.fault = () => 'busy';
  await expect(files.open(path, signal)).rejects.toThrow(/parquet: the bucket answers HTTP 503/);
  await bucket.close();
  await expect(files.open(path, signal)).rejects.toThrow(
    /parquet: the bucket does not answer \(.*ECONNREFUSED/,
  );
});
