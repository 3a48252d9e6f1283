/** A real node and a store, with the explorer over both, for tests of contract codes and creators. */
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import type { Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { ActiveContracts } from '../../../src/contracts/activeContracts';
import { ContractWorker, type ContractWorkerDeps } from '../../../src/contracts/contractWorker';
import { finalHead } from '../../support/worlds/finalHead';
import { startNodeChain, type NodeChain } from '../../support/node/nodeChain';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { UNCACHED } from '../../support/server/uncached';
import { explorerDeps, startExplorer, type ExplorerServer } from '../api/explorer/explorerServer';

export interface CodeWorld {
  readonly node: NodeChain;
  readonly db: SourcesDatabase;
  readonly api: ExplorerServer;
  /** State of the ingester, as the contract worker sees it: the newest indexed block and the last final block. */
  readonly status: { readonly phase: string; readonly blocks: number; indexed: number; finalTo: number };
  /** The snapshot that all answers of the API use. */
  head: HeadSnapshot;
  /** Time of the contract worker's clock, in ms. */
  now: number;
  newWorker(deps?: Partial<ContractWorkerDeps>): ContractWorker;
  recordOf(address: Hex): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openCodeWorld(): Promise<CodeWorld> {
  const node = await startNodeChain();
  const db = await openSourcesDatabase();
  const deps = explorerDeps(db, () => world.head, { verified: db.reader, cache: UNCACHED });
  const api = await startExplorer(deps, () => world.head);
  const world: CodeWorld = {
    node,
    db,
    api,
    status: { phase: 'follow', blocks: 0, indexed: 0, finalTo: 0 },
    head: finalHead(0),
    now: 1_000_000,
    newWorker: (more) =>
      new ContractWorker({
        database: db.writer,
        chainId: 369,
        verifiedDb: db.database,
        status: world.status,
        active: new ActiveContracts(),
        log: createLog('silent', false),
        rpc: node.pool,
        now: () => world.now,
        ...more,
      }),
    recordOf: async (address) =>
      (await api.ask(`/api/v1/contracts/${address}`)).json?.['data'] as Record<string, unknown>,
    async close() {
      await api.close();
      await db.close();
      await node.close();
    },
  };
  return world;
}
