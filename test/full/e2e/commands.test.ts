/**
 * The command line: errors that stop a start, each with one clear message and exit code 1, and the hints for a
 * newcomer.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { eventually } from '../../support/eventually';
import { readyShape } from '../../../src/wire/ready';
import { CLUSTER_NAME } from '../../support/engine/embeddedCluster';
import { createTestDatabase } from '../../support/engine/engine';
import {
  enginePid,
  runProgram,
  runToSuccess,
  startProgram,
  waitForBlock,
} from '../../support/server/program';

let chain: StubChain;
let folder: string;

beforeAll(async () => {
  chain = await startStubChain({ blocks: 90, logsPerBlock: 20, pairs: 5 });
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-commands-'));
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
});

afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a node of another chain stops the start, and the error names both chain ids', async () => {
  const { code, output } = await runProgram(['all'], {
    RPC_URL: chain.url,
    CHAIN_ID: '943',
    DATA_DIR: join(folder, 'other'),
  });
  expect(output).toMatch(/candlehouse: .*943/);
  expect(output).toMatch(/369/);
  expect(code).toBe(1);
});

test('a node of another chain for the second chain stops the start of both chains', async () => {
  const { code, output } = await runProgram(['all'], {
    RPC_URL: chain.url,
    RPC_URL_943: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    DATA_DIR: join(folder, 'twice'),
  });
  expect(output).toMatch(/^candlehouse: every RPC endpoint serves another chain: .* not 943/m);
  expect(code).toBe(1);
});

test('a wrong chain description stops the start, and the error names each wrong field', async () => {
  const file = join(folder, 'broken.json');
  writeFileSync(
    file,
    JSON.stringify({ chainId: 369, anchors: [{ address: '0x12', symbol: 'X', priceUsd: 1 }], dexes: 7 }),
  );
  const { code, output } = await runProgram(['all'], { RPC_URL: chain.url, CHAIN_CONFIG: file });
  expect(output).toMatch(/anchors\.0\.address/);
  expect(output).toMatch(/dexes/);
  expect(code).toBe(1);
});

test('ingest without RPC_URL names the missing setting', async () => {
  const { code, output } = await runProgram(['ingest'], { DATA_DIR: join(folder, 'none') });
  expect(output).toMatch(/^candlehouse: RPC_URL is not set/m);
  expect(code).toBe(1);
});

test('unknown options and commands are errors, and every command has help', async () => {
  expect((await runProgram(['verify', '--form', '1'], {})).code).not.toBe(0);
  expect((await runProgram(['frobnicate'], {})).code).not.toBe(0);
  const twice = await runProgram(['backfill', '--from', '1', '--from', '2', '--to', '3'], {});
  expect(twice).toEqual({ code: 1, output: expect.stringContaining('given twice: 1 and "2"') });
  for (const command of [
    'serve',
    'ingest',
    'all',
    'migrate',
    'backfill',
    'verify',
    'import-sources',
    'import-tokens',
    'dev',
    'backup',
    'restore',
    'prune',
    'reindex',
  ]) {
    const { code, output } = await runProgram([command, '--help'], {});
    expect(output).toMatch(new RegExp(`Usage: candlehouse ${command}`));
    expect(code).toBe(0);
  }
});

test('backfill stores the requested blocks and ends, and a later start continues from there', async () => {
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    FINALITY_DEPTH: '5',
    DATA_DIR: join(folder, 'data'),
  };
  const filled = await runToSuccess(['backfill', '--from', '1', '--to', '60'], settings);
  expect(filled).toMatch(/"finalTo":60/);
  const program = await startProgram('all', settings);
  try {
    await waitForBlock(program.url, 90);
    // The commands run beside the program, on its engine.
    mkdirSync(join(folder, 'sourcify', 'contracts', 'full_match', '369'), { recursive: true });
    const imported = await runToSuccess(['import-sources', join(folder, 'sourcify')], settings);
    expect(imported).toMatch(/0 contracts found, 0 verifications stored/);
    await runToSuccess(['migrate'], settings);
    await waitForBlock(program.url, 90);
  } finally {
    expect(await program.end('SIGTERM')).toBe(0);
  }
});

test('backfill and verify refuse impossible ranges, and print the blocks that they processed', async () => {
  // Uses the shared engine, because starting one for each command is slow.
  const database = await createTestDatabase();
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    FINALITY_DEPTH: '5',
    CLICKHOUSE_URL: database.writerUrl,
    ...(process.env['CANDLEHOUSE_TEST_CLUSTER'] === undefined ? {} : { CLICKHOUSE_CLUSTER: CLUSTER_NAME }),
  };
  const run = (command: string, from: number, to: number) =>
    runProgram([command, '--from', String(from), '--to', String(to)], settings);
  const ends = async (running: ReturnType<typeof run>, code: number, output: RegExp): Promise<void> => {
    expect(await running).toEqual({ code, output: expect.stringMatching(output) });
  };
  await ends(run('backfill', 20, 40), 0, /"finalTo":40/);
  await ends(run('backfill', 10, 35), 1, /^candlehouse: --from 10: the first block of this database is 20/m);
  await ends(run('backfill', 50, 60), 0, /Blocks 41-49 are ingested first/);
  await ends(run('backfill', 20, 60), 0, /blocks 20-60 are already stored/);
  await ends(run('verify', 5, 1), 1, /^candlehouse: --from 5 is after --to 1/m);
  await ends(
    run('verify', 70, 80),
    1,
    /^candlehouse: none of the requested blocks is stored: final blocks 20-60 are stored/m,
  );
  await ends(
    run('verify', 1, 30),
    0,
    /^Of the requested blocks, only 20-30 can be verified\.\n.*of final blocks 20-30\.$/ms,
  );
  await database.drop();
});

test('/readyz answers 503 with the reason while the embedded engine restarts', async () => {
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    DATA_DIR: join(folder, 'killed'),
    CLICKHOUSE_URL: '',
    CLICKHOUSE_READ_URL: '',
    CLICKHOUSE_CLUSTER: '',
  };
  const program = await startProgram('all', settings);
  try {
    await waitForBlock(program.url, 90);
    process.kill(enginePid(settings.DATA_DIR)!, 'SIGKILL');
    const read = async () => {
      const response = await fetch(`${program.url}/readyz`);
      const { checks, problems } = readyShape.parse(await response.json());
      return { status: response.status, isFine: checks.database.ok, codes: problems.map(({ code }) => code) };
    };
    const seen = await eventually(read, ({ codes }) => codes.includes('engine_restarting'));
    expect(seen.codes).toContain('database_away');
    expect([seen.status, seen.isFine]).toEqual([503, false]);
  } finally {
    expect(await program.end('SIGTERM')).toBe(0);
  }
});
