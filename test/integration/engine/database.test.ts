import { createServer, type RequestListener } from 'node:http';

import { createClient } from '@clickhouse/client';
import fc from 'fast-check';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { RowReader } from '../../../src/clickhouse/rows/rowReader';
import { countReads } from '../../../src/clickhouse/client/readCost';
import { AppError } from '../../../src/errors';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { listen, type Listening } from '../../support/server/listen';

let test_: TestDatabase;
let database: Database;
const servers: Listening[] = [];

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = openDatabase({ url: test_.readerUrl });
});

afterAll(async () => {
  await database.close();
  await test_.drop();
  for (const server of servers) await server.close();
});

/** The address of a server that answers with `answer` instead of ClickHouse. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('X-ClickHouse-Exception-Tag', 'abcdefghijklmnop');
    answer(request, response);
  });
  const listening = await listen(server);
  servers.push(listening);
  return `http://u:p@127.0.0.1:${listening.port}/d`;
}

async function failureOf(run: Promise<unknown>): Promise<AppError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the statement did not fail');
}

const text = fc.string({ unit: 'binary', maxLength: 20 });

test('parameters of every type reach the engine unchanged, whatever characters a text contains', async () => {
  const given = fc.record({
    words: text,
    number: fc.integer(),
    flag: fc.boolean(),
    big: fc.bigInt(0n, (1n << 64n) - 1n),
    list: fc.array(text, { maxLength: 4 }),
    numbers: fc.array(fc.nat(), { maxLength: 4 }),
  });
  const sql = `SELECT {words:String} AS words, {number:Int32} AS number, {flag:Bool} AS flag,
    toString({big:UInt64}) AS big, {list:Array(String)} AS list, {numbers:Array(UInt32)} AS numbers`;
  await fc.assert(
    fc.asyncProperty(given, async (params) => {
      const [row] = await database.select('echo', sql, params);
      expect(row).toEqual({ ...params, big: params.big.toString() });
    }),
    { numRuns: 30 },
  );
});

test.each([0, 1, 2, 60_000])(
  'an answer of %i rows equals the answer of the official client',
  async (rows) => {
    const client = createClient({ url: test_.readerUrl });
    const query = `SELECT number, concat('a\\n"', toString(number)) AS name, number / 3 AS third, [number] AS list
    FROM numbers(${rows})`;
    const expected: unknown[] = await (await client.query({ query, format: 'JSONEachRow' })).json();
    await client.close();
    const found = await database.select('rows', query);
    expect(found.length).toBe(rows);
    // Compares texts, because Jest takes seconds to compare many objects.
    expect(JSON.stringify(found) === JSON.stringify(expected)).toBe(true);
  },
);

test('parameters that are too long for a URL reach the engine too', async () => {
  const list = Array.from({ length: 5_000 }, (_, index) => `word ${index}`);
  const rows = await database.select('long', 'SELECT {list:Array(String)} AS list', { list });
  expect(rows).toEqual([{ list }]);
});

test('the rows and bytes that a statement reads count for the request that runs it, and for no other', async () => {
  const [mine, other] = [
    { rows: 0, bytes: 0 },
    { rows: 0, bytes: 0 },
  ];
  const sql = 'SELECT sum(number) AS n FROM numbers(100000)';
  await countReads(mine, async () => {
    await database.select('sum', sql);
    expect(mine.rows).toBe(100_000);
    await database.selectBinary('sum', sql);
  });
  await database.select('sum', sql);
  await countReads(other, () => database.select('one', 'SELECT 1 AS one'));
  expect(mine).toEqual({ rows: 200_000, bytes: 1_600_000 });
  expect(other.rows).toBe(1);
});

test('an error of the engine has its number and its name', async () => {
  const error = await failureOf(database.select('wrong', 'SELECT no_such_column FROM system.one'));
  expect(error).toMatchObject({
    code: 'internal',
    retryable: false,
  });
  expect(error.cause).toMatchObject({ code: 47 });
  expect(error.message).toContain('(UNKNOWN_IDENTIFIER)');
  expect(error.message).toContain('ClickHouse, wrong: ');
});

test.each([10, 100_000, 500_000])(
  'an error after %i rows fails the read, and no partial answer is returned',
  async (good) => {
    const sql = `SELECT throwIf(number = ${good}, 'as asked') AS bad, number FROM numbers(${good + 10})`;
    for (const read of [() => database.select('half', sql), () => database.selectBinary('half', sql)])
      expect((await failureOf(read())).message).toContain('as asked');
  },
);

const LIST = Array.from({ length: 5_000 }, (_, index) => `word ${index}`);

test.each([
  ['in the URL', {}],
  ['too long for the URL', { list: LIST }],
])('binary rows read with the parameters %s equal the values of the engine', async (_, params) => {
  const rows = 1_200;
  const wide =
    "toUInt256(number) * toUInt256(number + 1) * toUInt256('1000000007000000000000000000000000000000000')";
  const where = 'list' in params ? 'WHERE length({list:Array(String)}) = 5000' : '';
  const sql = `SELECT number::UInt8 AS a, number::UInt16 AS b, number::UInt32 AS c, number * 3000000000000 AS d,
    number / 7 AS e, if(number = 0, 0, ${wide})::UInt256 AS f, ((number - 5) * 1.5)::Decimal(38, 12) AS g,
    number % 3 = 0 AS h, unhex(concat('ab', leftPad(hex(number), 4, '0')))::FixedString(3) AS i,
    repeat('\\x00z', number % 200) AS j, 'ab'::FixedString(2) AS k, i AS l
    FROM numbers(${rows}) ${where}`;
  const reader = new RowReader(await database.selectBinary('bytes', sql, params));
  for (let n = 0; n < rows; n += 1) {
    const big = BigInt(n) * BigInt(n + 1) * 1000000007000000000000000000000000000000000n;
    expect([reader.u8(), reader.u16(), reader.u32(), reader.u64(), reader.f64()]).toEqual([
      n % 256,
      n,
      n,
      n * 3_000_000_000_000,
      n / 7,
    ]);
    expect(reader.u256()).toBe(big);
    expect(reader.decimal128()).toBe((BigInt(n) - 5n) * 1_500_000_000_000n);
    const hex = `ab${n.toString(16).padStart(4, '0')}`;
    expect([reader.bool(), reader.hex(3)]).toEqual([n % 3 === 0, hex]);
    // The text has two bytes per repetition. From 64 repetitions (128 bytes) on, the length before the text takes two
    // bytes.
    expect(reader.text0x()).toBe(`0x${'007a'.repeat(n % 200)}`);
    reader.skip(2);
    expect(reader.hex0x(3)).toBe(`0x${hex}`);
  }
  expect(reader.done).toBe(true);
  expect(() => reader.u8()).toThrow('out of range');
});

test('a server that is down or closes the connection is a retryable error', async () => {
  const url = await serve((_, response) => {
    response.write('{"a":1}\n');
    response.socket?.destroy();
  });
  const broken = openDatabase({ url });
  expect(await failureOf(broken.select('broken', 'SELECT 1'))).toMatchObject({
    code: 'unavailable',
    retryable: true,
  });
  await broken.close();
  const away = openDatabase({ url: 'http://u:p@127.0.0.1:1/d' });
  expect(await failureOf(away.select('away', 'SELECT 1'))).toMatchObject({
    code: 'unavailable',
    retryable: true,
  });
  await away.close();
});

test('a server that exceeds the timeout is a retryable error', async () => {
  const url = await serve(() => undefined);
  const slow = openDatabase({ url, requestTimeoutMs: 50 });
  expect(await failureOf(slow.select('slow', 'SELECT 1'))).toMatchObject({
    code: 'unavailable',
    retryable: true,
  });
  await slow.close();
});

test('a read on a connection that the server has closed is repeated', async () => {
  let asked = 0;
  const url = await serve((request, response) => {
    asked += 1;
    if (asked % 3 === 2) request.socket.destroy();
    else response.end(`{"asked":${asked}}\n`);
  });
  const idle = openDatabase({ url });
  expect(await idle.select('first', 'SELECT 1')).toEqual([{ asked: 1 }]);
  expect(await idle.select('second', 'SELECT 1')).toEqual([{ asked: 3 }]);
  expect((await idle.selectBinary('third', 'SELECT 1')).toString()).toBe('{"asked":4}\n');
  expect((await idle.selectBinary('fourth', 'SELECT 1')).toString()).toBe('{"asked":6}\n');
  await idle.close();
});

test('an insert on a connection that the server has closed fails, because its rows may be stored', async () => {
  let asked = 0;
  const url = await serve((request, response) => {
    asked += 1;
    if (asked === 2) request.socket.destroy();
    else request.resume().on('end', () => response.end());
  });
  const idle = openDatabase({ url });
  await idle.insert('t', ['a'], Buffer.alloc(8), 'token');
  const again = idle.insert('t', ['a'], Buffer.alloc(8), 'token');
  expect(await failureOf(again)).toMatchObject({ code: 'unavailable', retryable: true });
  expect(asked).toBe(2);
  await idle.close();
});

test('an insert fails if its answer ends early, and the process continues', async () => {
  const url = await serve((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Length', 5);
      response.write('a', () => response.socket?.destroy());
    });
  });
  const broken = openDatabase({ url });
  const failure = await failureOf(broken.insert('t', ['a'], Buffer.alloc(8), 'token'));
  expect(failure).toMatchObject({ code: 'unavailable', retryable: true });
  await broken.close();
});

test('inserted bytes are stored, and rows that the engine cannot parse are an error', async () => {
  const writer = openDatabase({ url: test_.writerUrl });
  await writer.command('create', 'CREATE TABLE direct_rows (a UInt64) ENGINE = MergeTree ORDER BY a');
  const body = Buffer.alloc(16);
  body.writeBigUInt64LE(7n, 8);
  await writer.insert('direct_rows', ['a'], body);
  expect(await writer.select('read', 'SELECT a FROM direct_rows ORDER BY a')).toEqual([
    { a: '0' },
    { a: '7' },
  ]);
  const failure = await failureOf(writer.insert('direct_rows', ['a'], body.subarray(0, 13)));
  expect(failure.message).toMatch(/^ClickHouse, insert direct_rows: .*read/i);
  expect(await writer.select('count', 'SELECT count() AS rows FROM direct_rows')).toEqual([{ rows: '2' }]);
  await writer.close();
});
