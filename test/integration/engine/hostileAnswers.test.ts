/** Engine answers whose data resembles an engine error: data stays data, and an error stays an error. */
import { createServer } from 'node:http';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { RowReader } from '../../../src/clickhouse/rows/rowReader';
import { AppError } from '../../../src/errors';
import { askRows } from '../../support/engine/askRows';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { listen, type Listening } from '../../support/server/listen';

const MARKER = '\r\n__exception__';
const MEMORY = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)';
const TAG = 'abcdefghijklmnop';
const PATTERNS: readonly (readonly [string, string])[] = [
  ['the exception marker', MARKER],
  ['the exception marker at the end of an address', '\r\n__exception__\0\0\0\0\x01'],
  ['the exception marker and an error text', `${MARKER}\r\n${MEMORY}`],
  ['a complete error frame', `${MARKER}\r\n${TAG}\r\n${MEMORY}\n${MEMORY.length + 1} ${TAG}${MARKER}\r\n`],
  ['an error text', MEMORY],
];

let engine: TestDatabase;
let database: Database;
let writer: Database;
const servers: Listening[] = [];

beforeAll(async () => {
  engine = await createTestDatabase();
  database = openDatabase({ url: engine.readerUrl });
  writer = openDatabase({ url: engine.writerUrl });
});

afterAll(async () => {
  await database.close();
  await writer.close();
  await engine.drop();
  for (const server of servers) await server.close();
});

/**
 * A connection to a server that answers with this body and the header X-ClickHouse-Exception-Tag: TAG. ClickHouse puts
 * this tag around an error that follows data. With `broken`, the server cuts the connection after the body.
 */
async function answerWith(
  body: string | Buffer,
  { broken = false, headers = {} }: { broken?: boolean; headers?: Record<string, string> } = {},
): Promise<Database> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'X-ClickHouse-Exception-Tag': TAG, ...headers });
    if (broken) response.write(body, () => response.destroy());
    else response.end(body);
  });
  const listening = await listen(server);
  servers.push(listening);
  return openDatabase({ url: `http://u:p@127.0.0.1:${listening.port}/d` });
}

async function failureOf(run: Promise<unknown>): Promise<AppError> {
  const error: unknown = await run.then(
    () => new Error('the statement did not fail'),
    (failure: unknown) => failure,
  );
  if (error instanceof AppError) return error;
  throw error;
}

describe.each(PATTERNS)('%s', (_, pattern) => {
  const hex = Buffer.from(pattern, 'latin1').toString('hex');

  test('bytes that resemble an error are returned unchanged as a value in rows, bytes and files', async () => {
    const sql = `SELECT unhex({hex:String}) AS value`;
    expect(await database.select('rows', sql, { hex })).toEqual([{ value: pattern }]);
    const reader = new RowReader(await database.selectBinary('bytes', sql, { hex }));
    expect([reader.text(), reader.done]).toEqual([pattern, true]);
    for (const format of ['CSVWithNames', 'Parquet', 'ArrowStream', 'TSVRaw']) {
      const bytes = await database.selectBinary('file', sql, { hex }, format);
      if (format === 'TSVRaw') expect(bytes.toString()).toBe(`${pattern}\n`);
      else expect(bytes.length).toBeGreaterThan(0);
    }
  });

  test('bytes that resemble an error are returned unchanged among 2 MB of rows, and with parameters too long for a URL', async () => {
    const list = Array.from({ length: 5_000 }, (__, index) => `word ${index}`);
    const sql = `SELECT if(number % 7000 = 0, unhex({hex:String}), toString(number)) AS value
      FROM numbers(200000) ORDER BY number`;
    const long = `SELECT unhex({hex:String}) AS value FROM numbers(3) WHERE length({list:Array(String)}) = 5000`;
    const rows = await askRows<{ value: string }>(database, sql, { hex });
    expect(rows.length).toBe(200_000);
    expect(rows.filter(({ value }) => value === pattern).length).toBe(29);
    expect(await database.select('rows', long, { hex, list })).toEqual(
      [0, 1, 2].map(() => ({ value: pattern })),
    );
    const reader = new RowReader(await database.selectBinary('bytes', long, { hex, list }));
    expect([reader.text(), reader.text(), reader.text(), reader.done]).toEqual([
      ...Array.from({ length: 3 }, () => pattern),
      true,
    ]);
  });

  test('bytes that resemble an error, inside an error message, do not change the code of the error', async () => {
    for (const after of [0, 500_000]) {
      const sql = `SELECT throwIf(number = ${after}, '${pattern.replaceAll('\0', '\\0')}') AS bad FROM numbers(${after + 10})`;
      for (const failing of [database.select('bad', sql), database.selectBinary('bad', sql)]) {
        const failure = await failureOf(failing);
        expect(failure).toMatchObject({ code: 'internal', retryable: false });
        expect(failure.cause).toMatchObject({ code: 395 });
      }
    }
    const command = await failureOf(
      writer.command('bad', `SELECT throwIf(1, '${pattern.replaceAll('\0', '\\0')}')`),
    );
    expect(command).toMatchObject({ code: 'internal', retryable: false });
    expect(command.cause).toMatchObject({ code: 395 });
  });
});

test('rows followed by an error frame with the tag of the answer are an error of the engine, even if the connection breaks', async () => {
  const rows = '{"a":1}\n'.repeat(300_000);
  for (const broken of [false, true]) {
    const text = `${MEMORY}\n`;
    const frame = `${MARKER}\r\n${TAG}\r\n${text}${text.length} ${TAG}${MARKER}\r\n`;
    const stub = await answerWith(rows + frame, { broken });
    const failure = await failureOf(stub.selectBinary('framed', 'SELECT 1'));
    expect(failure).toMatchObject({ code: 'unavailable', retryable: true });
    expect(failure.cause).toMatchObject({ code: 241 });
    await stub.close();
  }
});

test.each([
  ['a wrong tag', `${MARKER}\r\nqqqqqqqqqqqqqqqq\r\nCode: 241.\n11 qqqqqqqqqqqqqqqq${MARKER}\r\n`],
  ['a wrong length', `${MARKER}\r\n${TAG}\r\nCode: 241.\n99 ${TAG}${MARKER}\r\n`],
  ['a length that is not a number', `${MARKER}\r\n${TAG}\r\nCode: 241.\nxx ${TAG}${MARKER}\r\n`],
  ['no opening marker', `Code: 241.\n11 ${TAG}${MARKER}\r\n`],
  ['a byte after it', `${MARKER}\r\n${TAG}\r\nCode: 241.\n11 ${TAG}${MARKER}\r\n.`],
])('an answer that ends with an error frame with %s is data', async (_, bytes) => {
  const stub = await answerWith(bytes);
  expect((await stub.selectBinary('data', 'SELECT 1')).toString()).toBe(bytes);
  await stub.close();
});

test('bytes without a tag are refused, because an error at their end could not be recognised', async () => {
  const stub = await answerWith('{"a":1}\n', { headers: { 'X-ClickHouse-Exception-Tag': '' } });
  const failure = await failureOf(stub.selectBinary('untagged', 'SELECT 1'));
  expect(failure.message).toContain('x-clickhouse-exception-tag');
  await stub.close();
});

test('an answer that ends early is an error, whatever its last bytes are', async () => {
  for (const body of ['{"a":1}\n', `{"a":1}\n${MARKER}\r\nqqqq\r\n${MEMORY}\n`]) {
    const stub = await answerWith(body, { broken: true });
    const failure = await failureOf(stub.selectBinary('half', 'SELECT 1'));
    expect(failure).toMatchObject({ code: 'unavailable', retryable: true });
    expect(failure.message).toContain('ECONNRESET');
    await failureOf(stub.select('half', 'SELECT 1'));
    await stub.close();
  }
});
