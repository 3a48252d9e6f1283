/**
 * The end-to-end test of bars, states and the stream, with the program's database on two shards instead of its own
 * engine.
 */
import { openDatabase } from '../../../src/clickhouse/client/database';
import { askRows } from '../../support/engine/askRows';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../support/engine/embeddedCluster';

let cluster: EmbeddedCluster;

// Jest runs this hook before the hooks of the test imported below. The program of that test reads these variables
// (test/support/server/program.ts).
beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  process.env['CANDLEHOUSE_TEST_WRITER_URL'] = cluster.writerUrl;
  process.env['CANDLEHOUSE_TEST_READER_URL'] = cluster.readerUrl;
  process.env['CANDLEHOUSE_TEST_CLUSTER'] = 'started here';
});

afterAll(() => cluster?.stop());

jest.requireActual('./anvilBars.test');

test('both shards hold swaps and logs, so the compared bars come from both shards', async () => {
  for (const server of cluster.servers) {
    const database = openDatabase({ url: server.writerUrl });
    for (const table of ['swaps_head_local', 'logs_head_local']) {
      const [row] = await askRows<{ rows: string }>(
        database,
        'SELECT sum(total_rows) AS rows FROM system.tables WHERE name = {table:String}',
        { table },
      );
      expect([table, Number(row!.rows) > 0]).toEqual([table, true]);
    }
    await database.close();
  }
});
