/** Commands find the data of a running development chain. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedServer } from '../../../src/clickhouse/engine/server';
import { attach } from '../../../src/commands/attach';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';

const log = createLog('silent', false);

test('a command uses the data of the running development chain of DATA_DIR if no other program runs there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'attach-'));
  const ended = join(folder, 'dev-00000000');
  const running = join(folder, 'dev-89abcdef');
  for (const path of [ended, running]) mkdirSync(path);
  const config = loadConfig({ DATA_DIR: folder }, () => '');
  const server = await startEmbeddedServer({ dataDir: running, log });
  try {
    const attached = await attach(config, log);
    expect(attached).toMatchObject({ owner: process.pid, engineFolder: join(running, 'clickhouse') });
    expect(await attached.exists('system')).toBe(true);
    await attached.close();
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
