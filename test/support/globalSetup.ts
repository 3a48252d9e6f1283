/** Before the first test file: one embedded engine in a temporary folder, for all files. Its end is globalTeardown.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/server';
import { createLog } from '../../src/log';

declare global {
  var testEngine: { readonly server: EmbeddedServer; readonly folder: string } | undefined;
}

export default async function globalSetup(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-test-'));
  const server = await startEmbeddedServer({ dataDir: folder, log: createLog('warn') }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  globalThis.testEngine = { server, folder };
  process.env['CANDLEHOUSE_TEST_WRITER_URL'] = server.writerUrl;
  process.env['CANDLEHOUSE_TEST_READER_URL'] = server.readerUrl;
}
