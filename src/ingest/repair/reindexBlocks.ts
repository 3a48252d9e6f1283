/** Reads final blocks from the node again and replaces the stored rows that differ, while the ingester is paused. */
import type { BlockSource } from '../../node/blocks/blockSource';
import type { EndpointPool } from '../../node/rpc/endpointPool';
import type { Database } from '../../clickhouse/client/database';
import type { ChainDescription } from '../../domain/chainDescription';
import type { Logger } from '../../log';
import { FoundPools } from '../pools/foundPools';
import { createDecodeContext, createReaderDeps } from '../session/runIngest';
import { newIngestStatus } from '../session/status';
import { createClickHouseStore } from '../store/clickhouseStore';
import { LogLedger } from '../store/logLedger';
import { inPause } from '../store/pause';
import { readFloors } from '../store/retention';
import { reindex } from './reindex';

interface ReindexBlocksDeps {
  readonly database: Database;
  readonly rpc: EndpointPool;
  readonly source: BlockSource;
  readonly chain: ChainDescription;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** If `replace` is false, the tables are only compared. See `reindex`. */
export async function reindexBlocks(
  { database, rpc, source, chain, log, signal }: ReindexBlocksDeps,
  range: { readonly from: number; readonly to: number; readonly replace: boolean },
): ReturnType<typeof reindex> {
  const { chainId } = chain;
  const store = createClickHouseStore(database, chainId, () => readFloors(database));
  const logs = new LogLedger(database);
  await logs.load();
  const keepsAllLogs = (block: number): boolean => logs.isWholeAt(block);
  const decode = createDecodeContext({ chain, status: newIngestStatus(), log, keepsAllLogs });
  const foundPools = new FoundPools(database, chainId);
  const deps = {
    ...createReaderDeps({ store, rpc, source, chain, log, foundPools }, decode),
    database,
    source,
    chainId,
    log,
    signal,
  };
  return inPause(database, () => reindex(deps, range));
}
