/**
 * Exports every list of the OpenAPI document as CSV, Parquet and Arrow. Reads the files with the packages that analysts
 * use, and compares them with the JSON answer. Then compares compressed answers with plain ones.
 */
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { writeCsv } from '../../../src/api/formats/csv';
import { startSimApi, type SimApi } from '../../simulation/chain/simApi';
import { readCsv, readTables, type TableRow } from '../../support/readTables';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
}

let api: SimApi;
let lists: readonly string[];

beforeAll(async () => {
  api = await startSimApi(5, 160);
  const { paths } = JSON.parse((await get('/openapi.json')).bytes.toString()) as {
    paths: Record<
      string,
      { get?: { responses: Record<string, { content?: object }>; 'x-example-call'?: string } }
    >;
  };
  lists = Object.entries(paths).flatMap(([path, operation]) =>
    'text/csv' in (operation.get?.responses['200']?.content ?? {})
      ? [operation.get?.['x-example-call'] ?? path]
      : [],
  );
});

afterAll(() => api?.stop());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, path, headers, method, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => {
        const flat = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
        const bytes = Buffer.concat(chunks);
        resolve({ status: answer.statusCode ?? 0, headers: Object.fromEntries(flat), bytes });
      });
    });
    call.once('error', reject);
    call.end();
  });
}

const withFormat = (path: string, format: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}format=${format}`;

/** A field of a JSON item by the name of its column. */
function fieldOf(item: unknown, name: string): unknown {
  if (typeof item !== 'object' || item === null) return null;
  const fields = item as Record<string, unknown>;
  if (name in fields) return fields[name] ?? null;
  for (const [key, value] of Object.entries(fields)) {
    if (name.startsWith(`${key}_`) && typeof value === 'object' && !Array.isArray(value)) {
      return fieldOf(value, name.slice(key.length + 1));
    }
  }
  return null;
}

const asCell = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

test('every list has the same rows as CSV, Parquet and Arrow as in its JSON answer', async () => {
  const names = lists.map((path) => path.split('?')[0]);
  for (const part of [
    '/tokens',
    '/pairs',
    '/dexes',
    '/activity',
    '/logs',
    '/contracts',
    '/source-search',
    '/ticks',
    '/pools',
  ]) {
    expect(names).toContainEqual(expect.stringMatching(new RegExp(`${part}$`)));
  }
  const files: ['arrow' | 'parquet', Buffer][] = [];
  const items: unknown[][] = [];
  for (const path of lists) {
    const { data } = JSON.parse((await get(withFormat(path, 'json'))).bytes.toString()) as {
      data: unknown[];
    };
    const csv = await get(withFormat(path, 'csv'));
    expect([path, csv.status, csv.headers['content-type']]).toEqual([path, 200, 'text/csv; charset=utf-8']);
    expect(csv.bytes.toString()).not.toContain('\\N');
    const { names: columns, rows } = readCsv(csv.bytes.toString());
    expect([path, rows.length]).toEqual([path, data.length]);
    rows.forEach((row, at) =>
      columns.forEach((name, column) => {
        const value = asCell(fieldOf(data[at], name));
        expect([path, name, row[column]]).toEqual([path, name, value === null ? null : String(value)]);
      }),
    );
    for (const format of ['arrow', 'parquet'] as const) {
      const file = await get(withFormat(path, format));
      expect([path, format, file.status]).toEqual([path, format, 200]);
      files.push([format, file.bytes]);
      items.push(data);
    }
  }
  readTables(files).forEach((rows, file) => {
    const data = items[file] ?? [];
    expect(rows).toHaveLength(data.length);
    rows.forEach((row: TableRow, at) => {
      for (const [name, value] of Object.entries(row)) expect(value).toEqual(asCell(fieldOf(data[at], name)));
    });
  });
});

test('Arrow is compressed only if asked for, and a wrong format or compression is an error 400', async () => {
  const path = '/api/v1/pairs?limit=100&format=arrow';
  const plain = await get(path);
  const zipped = await get(`${path}&compression=zstd`);
  expect([plain.status, zipped.status]).toEqual([200, 200]);
  expect(zipped.bytes.length).toBeLessThan(plain.bytes.length);
  for (const wrong of ['format=xlsx', 'format=arrow&compression=rar', 'format=', 'format=csv&format=csv']) {
    expect([wrong, (await get(`/api/v1/pairs?${wrong}`)).status]).toEqual([wrong, 400]);
  }
  const mistyped = (await get('/api/v1/pairs?fromat=csv')).bytes.toString();
  expect(mistyped).toContain('did you mean format?');
  expect((await get('/api/v1/pairs?format=json', { Accept: 'text/csv' })).headers['content-type']).toContain(
    'json',
  );
});

test('JSON, CSV, the OpenAPI document and metrics are compressed by Accept-Encoding, and ETags still match', async () => {
  const unpack = { gzip: gunzipSync, br: brotliDecompressSync } as const;
  for (const path of ['/api/v1/pairs', '/api/v1/pairs?format=csv', '/openapi.json', '/metrics']) {
    const plain = await get(path);
    expect([path, plain.headers['content-encoding']]).toEqual([path, undefined]);
    for (const [encoding, unzip] of Object.entries(unpack)) {
      const headers = { 'Accept-Encoding': encoding };
      const answer = await get(path, headers);
      expect([path, answer.status, answer.headers['content-encoding']]).toEqual([path, 200, encoding]);
      expect(answer.headers['vary']).toMatch(/Accept-Encoding/);
      expect(answer.bytes.length).toBeLessThan(plain.bytes.length);
      if (path === '/metrics') continue;
      expect(unzip(answer.bytes).equals(plain.bytes)).toBe(true);
      const etag = answer.headers['etag'] ?? '';
      expect(etag).toBe(`W/${plain.headers['etag']}`);
      const again = await get(path, { ...headers, 'If-None-Match': etag });
      expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, etag]);
      const onlyHead = await get(path, headers, 'HEAD');
      expect([onlyHead.status, onlyHead.headers['content-encoding'], onlyHead.headers['etag']]).toEqual([
        200,
        encoding,
        etag,
      ]);
      expect(onlyHead.headers['content-length']).toBeUndefined();
    }
  }
  const small = await get('/healthz', { 'Accept-Encoding': 'gzip, br' });
  expect([small.headers['content-encoding'], small.headers['vary']]).toEqual([
    undefined,
    expect.stringMatching(/Accept-Encoding/),
  ]);
  const parquet = await get('/api/v1/pairs?format=parquet&limit=100', { 'Accept-Encoding': 'gzip, br' });
  expect(parquet.headers['content-encoding']).toBeUndefined();
});

test('a stream is neither compressed nor held back', async () => {
  const { hostname, port } = new URL(api.url);
  const headers = { 'Accept-Encoding': 'gzip, br, zstd' };
  const first = await new Promise<[string | undefined, string]>((resolve, reject) => {
    const call = request(
      { hostname, port, path: '/api/v1/activity/stream', headers, agent: false },
      (answer) => {
        answer.once('data', (chunk: Buffer) => {
          resolve([answer.headers['content-encoding'], chunk.toString()]);
          call.destroy();
        });
      },
    );
    call.once('error', reject);
    call.end();
  });
  expect(first).toEqual([undefined, expect.stringMatching(/^retry: /)]);
});

test('in CSV a text that a spreadsheet would run as a formula begins with an apostrophe, and numbers stay numbers', () => {
  const texts = ['=HYPERLINK("http://x")', '+1', '-1.4', '@SUM(1)', '\t=1', '\r=1', 'PLS', "a'b", '', null];
  const columns = ['token_symbol', 'price', 'name'].map((name) => ({
    name,
    kind: 'text' as const,
    values: texts,
  }));
  const floats = texts.map((_, at) => -1.4 * (at + 1));
  const csv = writeCsv([...columns, { name: 'change', kind: 'float', values: floats }]).toString();
  const { names, rows } = readCsv(csv);
  expect(names).toEqual(['token_symbol', 'price', 'name', 'change']);
  const safe = [
    '\'=HYPERLINK("http://x")',
    "'+1",
    "'-1.4",
    "'@SUM(1)",
    "'\t=1",
    "'\r=1",
    'PLS',
    "a'b",
    '',
    null,
  ];
  expect(rows.map((row) => row[0])).toEqual(safe);
  expect(rows.map((row) => row[2])).toEqual(safe);
  expect(rows.map((row) => row[1]).slice(0, 4)).toEqual([safe[0], '+1', '-1.4', safe[3]]);
  expect(rows.map((row) => Number(row[3]))).toEqual(floats);
});
