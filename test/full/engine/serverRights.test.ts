/** The rights of the embedded engine's users, and the data that they must not see. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createClient } from '@clickhouse/client';
import pino from 'pino';

import { startEmbeddedServer, type EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { ask, cleanUp, isRunning, makeFolder, makeTable, silent, start } from '../../support/engine/embedded';

afterAll(cleanUp);

describe('the users of a running engine have only the rights that they need', () => {
  let server: EmbeddedServer;
  const lines: string[] = [];
  let dataDir: string;

  beforeAll(async () => {
    dataDir = makeFolder();
    process.env['CANDLEHOUSE_TEST_SECRET'] = 'do-not-inherit';
    server = await start(dataDir, {
      log: pino({ level: 'info' }, { write: (line: string) => lines.push(line) }),
    });
    delete process.env['CANDLEHOUSE_TEST_SECRET'];
    await makeTable(server, 7);
  });

  test('both database users reach the database candlehouse', async () => {
    expect(await ask(server.writerUrl, 'SELECT currentDatabase(), a FROM t')).toBe('candlehouse\t7');
    expect(await ask(server.readerUrl, 'SELECT currentDatabase(), a FROM t')).toBe('candlehouse\t7');
    expect(server.status()).toEqual({ state: 'up', reason: '', restarts: 0 });
    expect(isRunning(server.pid())).toBe(true);
  });

  test.each([
    ['INSERT INTO t VALUES (1)', 'ACCESS_DENIED'],
    ['CREATE TABLE u (a UInt8) ENGINE = Memory', 'ACCESS_DENIED'],
    ['CREATE TEMPORARY TABLE u (a UInt8)', 'ACCESS_DENIED'],
    ['ALTER TABLE t DELETE WHERE 1', 'ACCESS_DENIED'],
    ['TRUNCATE TABLE t', 'ACCESS_DENIED'],
    ['DROP TABLE t', 'ACCESS_DENIED'],
    ['DROP DATABASE candlehouse', 'ACCESS_DENIED'],
    ['OPTIMIZE TABLE t', 'ACCESS_DENIED'],
    ['SYSTEM STOP MERGES candlehouse.t', 'ACCESS_DENIED'],
    ['SYSTEM STOP LISTEN HTTP', 'ACCESS_DENIED'],
    ['KILL QUERY WHERE 1', 'ACCESS_DENIED'],
    ["SELECT * FROM file('/etc/passwd', 'LineAsString')", 'ACCESS_DENIED'],
    ["SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')", 'ACCESS_DENIED'],
    ["SELECT * FROM remote('127.0.0.1', 'candlehouse.t')", 'ACCESS_DENIED'],
    ["SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", 'ACCESS_DENIED'],
    ["SELECT * FROM s3('http://127.0.0.1:1/bucket/key', 'LineAsString')", 'ACCESS_DENIED'],
    ["SELECT * FROM executable('ls', 'LineAsString', 'a String')", 'ACCESS_DENIED'],
    ["SELECT * FROM t INTO OUTFILE '/tmp/x'", 'INTO_OUTFILE_NOT_ALLOWED'],
    ['SELECT * FROM system.users', 'ACCESS_DENIED'],
    ['SELECT * FROM system.processes', 'ACCESS_DENIED'],
    ['SELECT * FROM system.server_settings', 'ACCESS_DENIED'],
    ['SELECT * FROM system.disks', 'ACCESS_DENIED'],
    ["SELECT * FROM remoteSecure('127.0.0.1', 'candlehouse.t')", 'ACCESS_DENIED'],
    ["SELECT * FROM cluster('default', 'candlehouse.t')", 'CLUSTER_DOESNT_EXIST'],
    ["SELECT * FROM urlCluster('default', 'http://127.0.0.1:1/', 'LineAsString')", 'CLUSTER_DOESNT_EXIST'],
    ["SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')", 'ACCESS_DENIED'],
    ["SELECT * FROM mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'e String')", 'ACCESS_DENIED'],
    ["SELECT * FROM sqlite('/tmp/x.db', 't')", 'PATH_ACCESS_DENIED'],
    ["SELECT * FROM azureBlobStorage('http://127.0.0.1:1', 'a', 'b', 'c', 'd')", 'ACCESS_DENIED'],
    ["SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', 'TSV', 'a String')", 'ACCESS_DENIED'],
    ["SELECT * FROM merge('system', '.*')", 'CANNOT_EXTRACT_TABLE_STRUCTURE'],
    ["INSERT INTO FUNCTION file('/tmp/x.csv') SELECT 1", 'ACCESS_DENIED'],
    ["INSERT INTO FUNCTION url('http://127.0.0.1:1/') SELECT 1", 'ACCESS_DENIED'],
    ['SELECT * FROM system.parts', 'ACCESS_DENIED'],
    ['SELECT * FROM system.macros', 'ACCESS_DENIED'],
    ['SELECT * FROM system.named_collections', 'ACCESS_DENIED'],
    ['SHOW CREATE USER reader', 'ACCESS_DENIED'],
    ['CREATE FUNCTION f AS (x) -> x', 'ACCESS_DENIED'],
    ['CREATE USER u', 'ACCESS_DENIED'],
    ['GRANT SELECT ON system.* TO CURRENT_USER', 'ACCESS_DENIED'],
    ["BACKUP TABLE t TO File('/tmp/x')", 'ACCESS_DENIED'],
    ['SELECT addressToLine(toUInt64(1))', 'ACCESS_DENIED'],
    ['SELECT 1 SETTINGS max_threads = 8', 'READONLY'],
    ['SELECT 1 SETTINGS max_execution_time = 0', 'READONLY'],
    ['SELECT 1 SETTINGS max_memory_usage = 0', 'READONLY'],
    ['SELECT 1 SETTINGS readonly = 0', 'READONLY'],
    ['SET max_result_rows = 0', 'READONLY'],
    ['SELECT number FROM numbers(2000001)', 'TOO_MANY_ROWS_OR_BYTES'],
    ['SELECT 1 SETTINGS max_result_bytes = 1073741824', 'READONLY'],
    ['SELECT count() FROM numbers(1000000000)', 'TOO_MANY_ROWS'],
    ["SELECT groupArray(repeat('x', 100000)) FROM numbers(100000)", 'MEMORY_LIMIT_EXCEEDED'],
    ['SELECT sleep(4)', 'TOO_SLOW'],
    [
      'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r',
      'TOO_DEEP_RECURSION',
    ],
    ["SELECT repeat('x', 2000000000)", 'TOO_LARGE_STRING_SIZE'],
    [
      'SELECT sum(cityHash64(sipHash128(number), SHA512(toString(number)))) FROM numbers(400000000)',
      'TIMEOUT_EXCEEDED',
    ],
  ])('the read-only user may not run a statement: %s', async (sql, code) => {
    expect(await ask(server.readerUrl, sql)).toBe(code);
  });

  test('statements that are too long or too deeply nested are refused before they run', async () => {
    expect(await ask(server.readerUrl, `SELECT ${'('.repeat(600)}1${')'.repeat(600)}`)).toBe(
      'TOO_DEEP_RECURSION',
    );
    expect(await ask(server.readerUrl, `SELECT '${'x'.repeat(1_100_000)}'`)).toBe('SYNTAX_ERROR');
  });

  test('the read-only user sees only its own part of the system tables', async () => {
    const grants = await ask(server.readerUrl, 'SHOW GRANTS');
    expect(grants).toMatch(/^GRANT SELECT ON candlehouse\*\.\* TO \w+$/);
    expect(
      await ask(server.readerUrl, "SELECT count() FROM system.tables WHERE database = 'candlehouse'"),
    ).toBe('1');
    expect(await ask(server.readerUrl, 'SELECT DISTINCT database FROM system.tables')).not.toContain('other');
    expect(await ask(server.readerUrl, 'SHOW DATABASES')).not.toMatch(/INFORMATION|default/i);
  });

  test('the read-only user can bind parameters with the official client and compressed answers', async () => {
    const client = createClient({ url: server.readerUrl, compression: { response: true } });
    try {
      const result = await client.query({
        query: 'SELECT a, {b:UInt8} AS b, {c:String} AS c FROM t',
        query_params: { b: 1, c: "it's" },
        format: 'JSONEachRow',
        clickhouse_settings: { max_threads: 2, output_format_json_quote_64bit_integers: 1 },
      });
      expect(await result.json()).toEqual([{ a: '7', b: 1, c: "it's" }]);
      expect((await client.ping({ select: true })).success).toBe(true);
    } finally {
      await client.close();
    }
  });

  test('neither database user can use files, or databases without the prefix candlehouse', async () => {
    expect(await ask(server.writerUrl, 'CREATE DATABASE other')).toBe('ACCESS_DENIED');
    expect(await ask(server.writerUrl, 'CREATE DATABASE candlehouse_second')).toBe('');
    expect(await ask(server.writerUrl, "CREATE TABLE f (a String) ENGINE = File('TSV', 'x')")).toBe(
      'ACCESS_DENIED',
    );
    expect(await ask(server.writerUrl, "SELECT * FROM file('/etc/passwd', 'LineAsString')")).toBe(
      'ACCESS_DENIED',
    );
  });

  test("wrong passwords and the engine's built-in user are refused", async () => {
    const wrong = new URL(server.writerUrl);
    wrong.password = 'wrong';
    expect(await ask(wrong.toString(), 'SELECT 1')).toBe('AUTHENTICATION_FAILED');
    wrong.username = 'default';
    expect(await ask(wrong.toString(), 'SELECT 1')).toBe('REQUIRED_PASSWORD');
    wrong.password = '';
    expect(await ask(wrong.toString(), 'SELECT 1')).toBe('USER_SESSION_LIMIT_EXCEEDED');
  });

  test('the engine inherits no environment and writes its passwords to no file', async () => {
    const environment = await ask(server.readerUrl, "SELECT file('/proc/self/environ')");
    expect(environment).not.toContain('do-not-inherit');
    expect(existsSync(join(dataDir, 'clickhouse', 'engine.xml'))).toBe(false);
    expect(statSync(join(dataDir, 'clickhouse')).mode & 0o077).toBe(0);
  });

  test('the SQL function file() cannot read files outside of the engine, or the log warns that the engine has no sandbox', async () => {
    const secret = join(makeFolder(), 'secret');
    writeFileSync(secret, 'private');
    const answers = [
      await ask(server.readerUrl, `SELECT file('${secret}')`),
      await ask(server.writerUrl, `SELECT file('${secret}')`),
    ];
    const warned = lines.some((line) => line.includes('without a sandbox'));
    expect(answers).toEqual(warned ? ['private', 'private'] : ['CANNOT_OPEN_FILE', 'CANNOT_OPEN_FILE']);
    if (warned) return;
    expect(await ask(server.readerUrl, `SELECT file('/proc/${process.pid}/environ')`)).toBe(
      'CANNOT_OPEN_FILE',
    );
  });

  test('a second start on the same data folder is refused, and the error names the folder and the process', async () => {
    const second = startEmbeddedServer({ dataDir, log: silent });
    await expect(second).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(`${join(dataDir, 'clickhouse')} is in use by process ${process.pid}`),
    });
    expect(await ask(server.writerUrl, 'SELECT 1')).toBe('1');
  });
});
