/** Ends the cluster of embedded engines after the last test file (jest.cluster.config.js). */
import type {} from './clusterSetup';

export default async function clusterTeardown(): Promise<void> {
  await globalThis.testCluster?.stop();
}
