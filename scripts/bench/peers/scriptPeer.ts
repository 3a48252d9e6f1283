/** Runs the script of sixty lines in its own process, writing to the embedded database server. */
import type { Database } from '../../../src/clickhouse/client/database';
import { startPeer } from './peerProcess';
import { projectOf, type PeerRun, type PeerTask } from './peerRun';
import { askRows } from '../../../test/support/engine/askRows';

/** `database` is empty and at `clickhouseUrl`. The run ends with the process, right after its last insert. */
export async function runScript(task: PeerTask, clickhouseUrl: string, database: Database): Promise<PeerRun> {
  const argument = JSON.stringify({ ...task, clickhouseUrl });
  await startPeer(process.execPath, [projectOf('script.mjs'), argument], {}).untilDone();
  const endedAt = Date.now();
  const [row] = await askRows<{ swaps: string; syncs: string }>(
    database,
    'SELECT (SELECT count() FROM swaps) AS swaps, (SELECT count() FROM syncs) AS syncs',
  );
  const rows = { swaps: Number(row?.swaps), syncs: Number(row?.syncs) };
  return { name: 'script of 60 lines with two bar views on the same ClickHouse', rows, endedAt };
}
