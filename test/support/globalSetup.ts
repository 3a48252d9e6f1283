/** Before the first test file: one embedded engine in a temporary folder, for all files. Its end is globalTeardown.ts. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/server';
import { createLog } from '../../src/log';

declare global {
  var testEngine: { readonly server: EmbeddedServer; readonly folder: string } | undefined;
}

const FOLDER_PREFIX = 'candlehouse-test-';

/** Folders of dead runs younger than this stay, in case someone looks into them. */
const LEFTOVER_AGE_MS = 600_000;

export default async function globalSetup(): Promise<void> {
  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const server = await startEmbeddedServer({ dataDir: folder, log: createLog('warn') }).catch(
    (error: unknown) => {
      remove();
      throw error;
    },
  );
  globalThis.testEngine = { server, folder };
  // Jest leaves without the teardown when it bails out.
  process.once('exit', () => {
    const pid = server.pid();
    if (pid > 0) process.kill(pid, 'SIGKILL');
    remove();
  });
  process.env['CANDLEHOUSE_TEST_WRITER_URL'] = server.writerUrl;
  process.env['CANDLEHOUSE_TEST_READER_URL'] = server.readerUrl;
}

/** Removes what killed runs left behind; their engines have ended with them. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LEFTOVER_AGE_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not ours to signal is alive too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
