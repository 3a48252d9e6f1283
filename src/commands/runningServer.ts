/** Finds the embedded server that another running program has started, so that a command can use it. */
import { engineFolderOf, knock } from '../clickhouse/engine/engineDoor';
import { listDevFolders } from '../dev/node/devFolder';
import type { Logger } from '../log';

interface RunningServer {
  readonly writerUrl: string;
  /** Process id of the program that runs the server. */
  readonly pid: number;
  readonly engineFolder: string;
}

/** Finds the server of DATA_DIR, or else of a development chain in DATA_DIR. Null if no program runs one. */
export async function findRunningServer(dataDir: string, log: Logger): Promise<RunningServer | null> {
  for (const folder of [dataDir, ...listDevFolders(dataDir)]) {
    const engineFolder = engineFolderOf(folder);
    const runningServer = await knock(engineFolder);
    if (runningServer === null) continue;
    if (folder !== dataDir) log.info({ folder }, 'using the data of the running development chain');
    return { ...runningServer, engineFolder };
  }
  return null;
}
