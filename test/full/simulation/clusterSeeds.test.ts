/**
 * Runs seeds with forks, failing nodes and crashes on two engines that form the two shards of a cluster. Expects the
 * same bytes as in the model of the store, and the same answers as on one engine.
 */
import { askRows } from '../../support/engine/askRows';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../support/engine/embeddedCluster';
import { checkOnEngine } from '../../simulation/compare/checkOnEngine';
import { createEngineBackend, type EngineBackend } from '../../simulation/engineBackend';

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_CLUSTER_SEEDS'] ?? 1);

let cluster: EmbeddedCluster;
let backend: EngineBackend;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  backend = await createEngineBackend(cluster);
});
afterAll(async () => {
  // The test need not drop the database, because the cluster's folder contains it and is removed later.
  await backend?.drop().catch(() => undefined);
  await cluster?.stop();
});

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
  'seed %i gives the same rows on two shards and on the model of the store, and the rows are correct for the chain',
  async (seed) => {
    expect((await checkOnEngine(backend, seed)).wrong).toEqual([]);
    const parts = await Promise.all(
      backend.steady.cluster!.nodes.map(({ database }) =>
        askRows<{ rows: string }>(
          database,
          `SELECT sum(rows) AS rows FROM system.parts
           WHERE database = currentDatabase() AND active AND table != 'schema_migrations'`,
        ),
      ),
    );
    // The comparison tests two shards only if both shards have rows.
    for (const [part] of parts) expect(Number(part!.rows)).toBeGreaterThan(10);
  },
);
