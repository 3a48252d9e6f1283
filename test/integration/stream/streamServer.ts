/** Starts a stream server as main.ts does, on a separate database, for tests over real HTTP. */

import { activityStream } from '../../../src/api/stream/activityStream';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createLog } from '../../../src/log';
import { createPoolNames } from '../../../src/query/pairs/poolNames';
import { createHub, type Hub, type HubOptions } from '../../../src/stream/hub';
import { createTailLoop, type TailLoop } from '../../../src/stream/tailLoop';
import { askRows } from '../../support/engine/askRows';
import { CHAIN_ID, ChainWriter } from './chainWriter';
import { SseClient } from './sseClient';
import { openTestStore } from '../../support/engine/testStore';
import { serveRoutes } from '../../support/server/serveRoutes';
import { until } from '../../support/eventually';

export interface Tail {
  readonly hub: Hub;
  readonly tail: TailLoop;
  readonly url: string;
  /** Number of polls of the tail loop that read the change mark. */
  polls(): number;
  /** Number of polls that only checked that the database answers. */
  pings(): number;
  /** Lengths of the pauses between polls since the last call, in ms. */
  takePauses(): number[];
  stop(): Promise<void>;
}

export interface StreamWorld {
  /** The database of the test. After `clear` it is a new object. */
  readonly chain: ChainWriter;
  readonly database: Database;
  readonly readerUrl: string;
  /**
   * Starts one API process. Several processes may share the chain. `port` is another port of the same database.
   * `isTelling` is whether the test reports every change.
   */
  serve(options?: HubOptions, port?: number, pollMs?: number, isTelling?: () => boolean): Promise<Tail>;
  /** Starts the chain, and one API process that has seen its first block. */
  begin(): Promise<Tail>;
  /** A client that is closed together with the API processes. */
  join(tail: Tail, query?: string, lastId?: string | null): Promise<SseClient>;
  /** Stops the API processes and empties the tables, which is faster than a new database for each test. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

const LOG = createLog('silent');

export async function createStreamWorld(): Promise<StreamWorld> {
  const store = await openTestStore();
  const database = store.db;
  const nodes = database.cluster?.nodes.map((node) => node.database) ?? [database];
  const filledByMigrations = new Set(await listFilled(nodes[0]!));
  const tails: Tail[] = [];
  const clients: SseClient[] = [];
  const stop = async (): Promise<void> => {
    for (const client of clients.splice(0)) client.close();
    for (const tail of tails.splice(0)) await tail.stop();
  };
  let chain = new ChainWriter(database);
  const world: StreamWorld = {
    get chain() {
      return chain;
    },
    database,
    readerUrl: store.readerUrl,
    async serve(options = {}, port, pollMs = 10, isTelling = () => false): Promise<Tail> {
      const url = new URL(store.readerUrl);
      if (port !== undefined) url.port = String(port);
      const tail = await serve(url.toString(), options, pollMs, isTelling);
      tails.push(tail);
      return tail;
    },
    async begin(): Promise<Tail> {
      await chain.start();
      await chain.mine();
      const tail = await world.serve();
      await untilSeen(tail.tail, chain);
      return tail;
    },
    async join(tail, query, lastId) {
      const client = await connect(tail, query, lastId);
      clients.push(client);
      return client;
    },
    async clear(): Promise<void> {
      await stop();
      for (const node of nodes)
        for (const table of await listFilled(node))
          if (!filledByMigrations.has(table)) await node.command('clear', `TRUNCATE TABLE ${table}`);
      chain = new ChainWriter(database);
    },
    async drop(): Promise<void> {
      await stop();
      await store.close();
    },
  };
  return world;
}

/** Tables of one server that have rows. */
async function listFilled(node: Database): Promise<string[]> {
  const rows = await askRows<{ name: string }>(
    node,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0",
  );
  return rows.map(({ name }) => name);
}

async function serve(
  readerUrl: string,
  options: HubOptions,
  pollMs: number,
  isTelling: () => boolean,
): Promise<Tail> {
  const reader = openDatabase({ url: readerUrl });
  let [polls, pings] = [0, 0];
  const pauses: number[] = [];
  const runner = createQueryRunner(reader, {
    observe: (name) => (polls += name === 'head/read_change_mark' ? 1 : 0),
  });
  const hub = createHub(options);
  const tail = createTailLoop({
    ...{ runner, chainId: CHAIN_ID, hub, log: LOG, pollMs, firstReaderMs: 600_000 },
    onPause: (ms) => pauses.push(ms),
    writer: {
      isTelling,
      async ping() {
        if (!(await reader.ping())) throw new Error('the database does not answer');
        pings += 1;
      },
    },
  });
  const stopping = new AbortController();
  const running = tail.run(stopping.signal);
  const route = activityStream({
    runner,
    chainId: CHAIN_ID,
    poolNames: createPoolNames(runner, []),
    tail,
    hub,
    log: LOG,
  });
  const served = await serveRoutes([route], {
    head: () => tail.current(),
    onReader: () => tail.demand(),
  });
  let stopped = false;
  return {
    hub,
    tail,
    url: `${served.url}/api/v1/activity/stream`,
    polls: () => polls,
    pings: () => pings,
    takePauses: () => pauses.splice(0),
    async stop(): Promise<void> {
      if (stopped) return;
      stopped = true;
      stopping.abort();
      await running;
      hub.close();
      // Connections are not cut, so that streams end with their last event.
      await new Promise((resolve) => served.server.close(resolve));
      await reader.close();
    },
  };
}

/** Waits until the process has seen the chain's newest block and last final block. */
export function untilSeen(tail: TailLoop, chain: ChainWriter): Promise<void> {
  return until(
    () => tail.streamHead()?.hash === chain.tip.hash && tail.streamHead()?.finalTo === chain.cursor.number,
  );
}

export function connect(tail: Tail, query = '', lastId: string | null = null): Promise<SseClient> {
  return new SseClient(`${tail.url}${query}`, lastId).connect();
}
