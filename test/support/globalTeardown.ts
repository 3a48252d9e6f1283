/** After the last test file: ends the engine of globalSetup.ts and removes its folder. */
import { rmSync } from 'node:fs';

import type {} from './globalSetup';

export default async function globalTeardown(): Promise<void> {
  const engine = globalThis.testEngine;
  if (engine === undefined) return;
  await engine.server.stop();
  rmSync(engine.folder, { recursive: true, force: true });
}
