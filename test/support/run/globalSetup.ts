/**
 * Creates the run's temporary folder and starts one embedded engine for all test files. globalTeardown.ts ends the
 * engine.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { RESTART_LIMITS } from '../../../src/clickhouse/engine/engineSupervisor';
import { startEmbeddedServer, type EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { createLog } from '../../../src/log';
import './longTimeBudgets';
import { abandonRunFolder, createRunFolder, ENGINE_FOLDER } from './runFolder';

/** This timeout is so long that a busy machine cannot make a statement of a test fail. */
const READER_SECONDS_MAX = 600;
/** A busy machine may leave checks of the engine without an answer, so they never restart the engine. */
const ENGINE_LIMITS = { ...RESTART_LIMITS, unansweredMax: Number.POSITIVE_INFINITY };

declare global {
  var testEngine: { readonly server: EmbeddedServer; readonly folder: string } | undefined;
}

const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export default async function globalSetup(): Promise<void> {
  const folder = createRunFolder();
  // From Node 22 on, npm leaves compiled code in the folder for temporary files.
  process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';
  for (const [signal, code] of Object.entries(SIGNAL_CODES))
    process.once(signal, () => {
      abandonRunFolder(folder);
      process.exit(code);
    });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const dataDir = join(folder, ENGINE_FOLDER);
  const limits = { readerSecondsMax: READER_SECONDS_MAX, restartLimits: ENGINE_LIMITS };
  const options = { dataDir, log: createLog('warn'), ...limits };
  const server = await startEmbeddedServer(options).catch((error: unknown) => {
    remove();
    throw error;
  });
  globalThis.testEngine = { server, folder };
  // Jest skips globalTeardown.ts when it stops at a first failure, so the end of this process also cleans up.
  process.once('exit', () => {
    const pid = server.pid();
    if (pid > 0) process.kill(pid, 'SIGKILL');
    remove();
  });
  process.env['CANDLEHOUSE_TEST_WRITER_URL'] = server.writerUrl;
  process.env['CANDLEHOUSE_TEST_READER_URL'] = server.readerUrl;
}
