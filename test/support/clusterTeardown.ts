/** After the last test file of jest.cluster.config.js. */
import type {} from './clusterSetup';

export default async function clusterTeardown(): Promise<void> {
  await globalThis.testCluster?.stop();
}
