/** A data folder without write access stops the start with one message that names the folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { runProgram } from '../../support/server/program';

let folder: string;
let chain: StubChain;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-folder-'));
  chain = await startStubChain({ blocks: 2, logsPerBlock: 4, pairs: 2 });
});

afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Places that even root cannot write to. */
const UNWRITABLE: readonly (readonly [string, () => string])[] = [
  [
    'the data folder is a file',
    () => {
      writeFileSync(join(folder, 'file'), '');
      return join(folder, 'file');
    },
  ],
  [
    'a file has the name of the engine folder',
    () => {
      mkdirSync(join(folder, 'taken'));
      writeFileSync(join(folder, 'taken', 'clickhouse'), '');
      return join(folder, 'taken');
    },
  ],
  ['the file system of the data folder is read-only', () => '/sys/candlehouse'],
];

test.each(UNWRITABLE)('the program exits with one line about the data folder when %s', async (_why, make) => {
  const dataDir = make();
  const { code, output } = await runProgram(['all'], { RPC_URL: chain.url, DATA_DIR: dataDir });
  expect(code).toBe(1);
  const said = output.split('\n').filter((line) => line.startsWith('candlehouse: '));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`the data folder ${join(dataDir, 'clickhouse')} cannot be written (`);
  expect(said[0]).toContain('DATA_DIR');
});
