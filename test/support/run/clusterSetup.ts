/** Starts two embedded engines as one cluster before the first test file (jest.cluster.config.js). */
import { findCluster } from '../../../src/clickhouse/client/cluster';
import { CLUSTER_NAME, startEmbeddedCluster, type EmbeddedCluster } from '../engine/embeddedCluster';

declare global {
  var testCluster: EmbeddedCluster | undefined;
}

export default async function clusterSetup(): Promise<void> {
  const cluster = await startEmbeddedCluster();
  globalThis.testCluster = cluster;
  // Jest skips clusterTeardown.ts when it stops at a first failure, so the end of this process also kills the servers.
  process.once('exit', () => {
    for (const server of cluster.servers) if (server.pid() > 0) process.kill(server.pid(), 'SIGKILL');
  });
  process.env['CANDLEHOUSE_TEST_WRITER_URL'] = cluster.writerUrl;
  process.env['CANDLEHOUSE_TEST_READER_URL'] = cluster.readerUrl;
  process.env['CANDLEHOUSE_TEST_CLUSTER'] = JSON.stringify(
    await findCluster(cluster.writerUrl, CLUSTER_NAME),
  );
}
