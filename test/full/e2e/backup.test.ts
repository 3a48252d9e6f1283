/** Runs the commands for stored data as a user does: beside the running program, and on a data folder without
 * a running program. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import {
  runProgram,
  runToSuccess,
  startProgram,
  waitForBlock,
  type Settings,
} from '../../support/server/program';

let chain: StubChain;
let folder: string;

beforeAll(async () => {
  chain = await startStubChain({ blocks: 200, logsPerBlock: 12, pairs: 5 });
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-backup-'));
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
});

afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (name: string): Settings => ({
  RPC_URL: chain.url,
  CHAIN_CONFIG: join(folder, 'chain.json'),
  START_BLOCK: '0',
  DATA_DIR: join(folder, name),
  LOG_LEVEL: 'warn',
});

test('a backup of a running program is restored into another folder, and refused beside a program or over data', async () => {
  chain.setHead(200);
  const program = await startProgram('all', { ...settings('one'), LOG_LEVEL: 'info' });
  await waitForBlock(program.url, 200);
  const backup = await runToSuccess(['backup', 'nightly'], settings('one'));
  expect(backup).toMatch(/^chain 369: final blocks 1-\d+\n.* written to .*one\/backups\/nightly$/m);
  // Commands reach the engine through the socket `door.sock`, which only the program's user may open. No output
  // contains the writer's credentials.
  expect(statSync(join(folder, 'one', 'clickhouse', 'door.sock')).mode & 0o777).toBe(0o600);
  expect(backup).not.toMatch(/candlehouse_writer/);
  const again = await runProgram(['backup', 'nightly'], settings('one'));
  expect(again).toEqual({
    code: 1,
    output: expect.stringMatching(/^candlehouse: .*nightly already exists/m),
  });
  const checked = await runProgram(['reindex', '--from', '20', '--to', '60', '--check'], settings('one'));
  expect(checked).toEqual({ code: 0, output: expect.stringContaining('equal the rows from the node') });
  const refused = await runProgram(['restore', 'nightly', '--replace'], settings('one'));
  expect(refused).toEqual({ code: 1, output: expect.stringMatching(/stop this process before the restore/) });
  expect(await program.end('SIGTERM')).toBe(0);
  expect(existsSync(join(folder, 'one', 'clickhouse', 'door.sock'))).toBe(false);

  const from = join(folder, 'one', 'backups', 'nightly');
  const restored = await runProgram(['restore', from], settings('two'));
  expect(restored).toEqual({ code: 0, output: expect.stringMatching(/restored chain 369: final blocks 1-/) });
  const full = await runProgram(['restore', from], settings('two'));
  expect(full).toEqual({ code: 1, output: expect.stringMatching(/not empty .*--replace/) });
  await runToSuccess(['verify'], settings('two'));
});

test('prune without --yes drops nothing, and the error for a too recent bound names the newest possible bound', async () => {
  const planned = await runProgram(['prune', '--before', '1'], settings('two'));
  expect(planned).toEqual({ code: 0, output: expect.stringMatching(/would drop 0 rows of logs[^]*--yes/) });
  const young = await runProgram(
    ['prune', '--before', '200', '--what', 'swaps,logs', '--yes'],
    settings('two'),
  );
  expect(young).toEqual({
    code: 1,
    output: expect.stringMatching(/--before: got block 200; allowed for logs: a block up to 1\b/),
  });
});

test('wrong bounds, tables, ranges and destinations are errors that show no secret', async () => {
  for (const wrong of [
    ['prune', '--before', 'yesterday'],
    ['prune', '--before', '5', '--what', 'bars'],
    ['reindex', '--from', '9', '--to', '3'],
    ['backup', "S3('https://bucket', 'key', 'secretKey')"],
  ]) {
    const { code, output } = await runProgram(wrong, settings('three'));
    expect([wrong, code]).toEqual([wrong, 1]);
    expect(output).not.toContain('secretKey');
  }
});
