/**
 * Ends the shared engine and removes the run's folder after the last test file. Fails when a test left files or
 * processes there.
 */
import type {} from './globalSetup';
import { clearRunFolder } from './runFolder';

export default async function globalTeardown(): Promise<void> {
  const engine = globalThis.testEngine;
  if (engine === undefined) return;
  await engine.server.stop();
  const leftovers = await clearRunFolder(engine.folder);
  if (leftovers.length > 0) throw new Error(leftovers.join('\n'));
}
