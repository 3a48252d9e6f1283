/** Commands find the data of a running development chain. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDatabase } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { startEmbeddedServer } from '../../../src/clickhouse/engine/server';
import { attach } from '../../../src/commands/attach';
import { runImportTokens } from '../../../src/commands/data/importTokens';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';
import { listLogos } from '../../../src/query/risks/tokenTraits';

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
    expect(attached).toMatchObject({ ownerPid: process.pid, engineFolder: join(running, 'clickhouse') });
    expect(await attached.exists('system')).toBe(true);
    await attached.close();
    const token = `0x${'ab'.repeat(20)}`;
    const list = join(folder, 'list.json');
    const logoURI = 'https://example.com/logo.png';
    writeFileSync(
      list,
      JSON.stringify({ name: 'List', tokens: [{ chainId: 369, address: token, logoURI }] }),
    );
    const signal = new AbortController().signal;
    await runImportTokens(config, log, signal, list, { allowPrivate: false });
    const database = openDatabase({ url: server.writerUrl });
    const logos = await listLogos(createQueryRunner(database), 369);
    await database.close();
    expect([...logos]).toEqual([[token, logoURI]]);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
