/** Runs Ponder as `ponder start` in production, with PGlite in its process or with a Postgres server. */
import { join } from 'node:path';

import { findFreePort } from '../../../test/support/server/freePorts';
import { startPeer } from './peerProcess';
import { inCopy, projectOf, versionOf, type PeerRows, type PeerRun, type PeerTask } from './peerRun';
import type { PostgresServer } from './postgresServer';

/** The run ends when Ponder reports it, after its last commit and before it creates triggers. */
export async function runPonder(
  task: PeerTask,
  installed: string,
  postgres: PostgresServer | null,
): Promise<PeerRun> {
  return inCopy(projectOf('ponder'), installed, async (folder) => {
    const port = await findFreePort();
    const program = join(folder, 'node_modules', 'ponder', 'dist', 'esm', 'bin', 'ponder.js');
    const args = ['start', '--schema', 'peer', '--hostname', '127.0.0.1', '--port', String(port)];
    const env = {
      ...process.env,
      PONDER_TELEMETRY_DISABLED: 'true',
      NODE_OPTIONS: '--max-old-space-size=6144',
      PEER_RPC: task.rpcUrl,
      PEER_FACTORY: task.factory,
      PEER_TO: String(task.to),
      PEER_POSTGRES: postgres?.url ?? '',
      PEER_FOLDER: join(folder, 'pglite'),
    };
    const ponder = startPeer(process.execPath, [program, ...args], { cwd: folder, env });
    try {
      await ponder.untilSaid('Completed backfill indexing');
      const endedAt = Date.now();
      const rows = (await (await fetch(`http://127.0.0.1:${port}/rows`)).json()) as PeerRows;
      return { name: nameOf(installed, postgres), rows, endedAt };
    } finally {
      await ponder.stop();
    }
  });
}

function nameOf(installed: string, postgres: PostgresServer | null): string {
  const database =
    postgres === null
      ? `PGlite ${versionOf(installed, '@electric-sql/pglite')}`
      : `Postgres ${postgres.version}`;
  return `Ponder ${versionOf(installed, 'ponder')}, ${database}`;
}
