/** Runs Subsquid's processor with RPC only and its Postgres store. */
import { startPeer } from './peerProcess';
import { inCopy, projectOf, versionOf, type PeerRows, type PeerRun, type PeerTask } from './peerRun';
import type { PostgresServer } from './postgresServer';

/** The run ends with the process, right after its last commit. */
export async function runSubsquid(
  task: PeerTask,
  installed: string,
  postgres: PostgresServer,
): Promise<PeerRun> {
  return inCopy(projectOf('subsquid'), installed, async (folder) => {
    const env = {
      ...process.env,
      DB_URL: postgres.url,
      PEER_RPC: task.rpcUrl,
      PEER_FACTORY: task.factory,
      PEER_TO: String(task.to),
    };
    const node = (...args: string[]): Promise<string> =>
      startPeer(process.execPath, args, { cwd: folder, env }).untilDone();
    await node('lib/tables.js', 'create');
    await node('lib/processor.js');
    const endedAt = Date.now();
    const rows = JSON.parse(await node('lib/tables.js', 'count')) as PeerRows;
    const processor = versionOf(installed, '@subsquid/evm-processor');
    const store = versionOf(installed, '@subsquid/typeorm-store');
    const name = `Subsquid evm-processor ${processor}, typeorm-store ${store}, Postgres ${postgres.version}`;
    return { name, rows, endedAt };
  });
}
