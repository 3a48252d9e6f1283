/** Secrets in settings (keys in node URLs, passwords of databases) must not appear in log lines and answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { stubDescription } from '../../support/stub/stubDescription';
import { until } from '../../support/eventually';
import { runProgram, spawnProgram, type Spawned } from '../../support/server/program';
import { listen, type Listening } from '../../support/server/listen';

const SECRETS = {
  user: 'uSeRsEcReT7',
  password: 'pAsSwOrDsEcReT8',
  pathKey: 'pAtHkEysEcReT9',
  queryKey: 'qUeRyKeYsEcReT5',
} as const;
/** The password as it appears in an HTTP header. */
const BASICS = [SECRETS.user, 'writer', 'reader'].map((user) =>
  Buffer.from(`${user}:${SECRETS.password}`).toString('base64'),
);
const HIDDEN = [...Object.values(SECRETS), ...BASICS];

let folder: string;
let node: Listening;
let nodeUrl: string;
let asked = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-secrets-'));
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  // A node that repeats the request in its errors, in every way that nodes fail.
  const server = createServer((request, response) => {
    asked += 1;
    const said = `no such key: ${request.url ?? ''} for ${request.headers.authorization ?? 'nobody'}`;
    const rpcError = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: said } };
    const [status, body] = [
      [401, said],
      [404, said],
      [500, JSON.stringify({ error: said })],
      [200, JSON.stringify(rpcError)],
      [200, `<html>${said}</html>`],
    ][asked % 5] as [number, string];
    response.writeHead(status, { Location: `http://127.0.0.1:1${request.url ?? ''}` });
    response.end(body);
  });
  node = await listen(server);
  nodeUrl = `http://${SECRETS.user}:${SECRETS.password}@127.0.0.1:${node.port}/v1/${SECRETS.pathKey}?key=${SECRETS.queryKey}`;
});

afterAll(async () => {
  await node?.close();
  rmSync(folder, { recursive: true, force: true });
});

function expectNoSecret(what: string, text: string): void {
  for (const secret of HIDDEN) expect([what, secret, text.includes(secret)]).toEqual([what, secret, false]);
}

/** Waits until the program has printed a matching line, or has ended. */
async function untilSaid(program: Spawned, wanted: RegExp): Promise<void> {
  await until(() => wanted.test(program.output()) || program.hasEnded());
}

const common = (): Record<string, string> => ({
  CHAIN_CONFIG: join(folder, 'chain.json'),
  LOG_LEVEL: 'trace',
});

test('the log contains no node keys, even if nodes fail in every way and repeat the keys in their errors', async () => {
  const webSocket = nodeUrl.replace('http://', 'ws://');
  const program = spawnProgram('all', {
    ...common(),
    DATA_DIR: join(folder, 'all'),
    RPC_URL: `${nodeUrl},${webSocket},http://127.0.0.1:1/${SECRETS.pathKey}`,
  });
  await until(() => asked >= 8 || program.hasEnded());
  await untilSaid(program, /ingesting failed/);
  await program.end('SIGTERM');
  expect(program.output().length).toBeGreaterThan(200);
  expectNoSecret('log', program.output());
});

test.each(['serve', 'all'])(
  'no log line of %s contains the password of a database that is down',
  async (command) => {
    const { code, output } = await runProgram([command], {
      ...common(),
      CLICKHOUSE_URL: `http://writer:${SECRETS.password}@127.0.0.1:1/candlehouse`,
      CLICKHOUSE_READ_URL: `http://reader:${SECRETS.password}@127.0.0.1:1/candlehouse`,
      RPC_URL: nodeUrl,
    });
    expect(code).toBe(1);
    expect(output).toContain('API listening');
    expectNoSecret(command, output);
  },
);

test('no log line contains a password that the database refuses', async () => {
  const engine = new URL(process.env['CANDLEHOUSE_TEST_WRITER_URL']!);
  const url = `http://writer:${SECRETS.password}@${engine.host}/candlehouse_none`;
  for (const args of [['migrate'], ['verify'], ['backfill', '--from', '1', '--to', '2']]) {
    const { code, output } = await runProgram(args, { ...common(), CLICKHOUSE_URL: url, RPC_URL: nodeUrl });
    expect([args, code]).not.toEqual([args, 0]);
    expectNoSecret(args.join(' '), output);
  }
});

test.each([
  ['CLICKHOUSE_URL', `ftp://${SECRETS.user}:${SECRETS.password}@host/db`],
  ['CLICKHOUSE_URL', `http//${SECRETS.user}:${SECRETS.password}@host`],
  ['RPC_URL', `ipc://${SECRETS.user}:${SECRETS.password}@x/${SECRETS.pathKey}`],
  ['RPC_URL', `https://x/${SECRETS.pathKey},nonsense?key=${SECRETS.queryKey}`],
])('the error for a wrong %s shows none of its secrets', async (name, value) => {
  const { code, output } = await runProgram(['serve'], { ...common(), [name]: value });
  expect(code).toBe(1);
  expect(output).toContain(name);
  expectNoSecret(name, output);
});
