/**
 * Measures what a new head costs each API process: processor time of the API and of ClickHouse for the tables of the
 * lists, by the number of swaps a day. The new blocks are empty, so the figure is the cost of the unchanged market.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '../../../src/clickhouse/client/database';
import {
  createDatabase,
  databaseUrl,
  say,
  waitForMerges,
  writeLoadedDescription,
  type Bench,
} from '../bench';
import type { Figure } from '../figure';
import { serveApi, type ServedApi } from '../loaders/servedApi';
import { lastLoadedBlock, loadPrices, loadSwaps, type SwapLoad } from '../loaders/swapLoader';
import { measureProcessors } from '../processorFigures';

const PAIRS = Number(process.env['BENCH_HEADS_PAIRS'] ?? 10_000);
/** Numbers of swaps a day; each is measured in a database of its own. */
const SWAPS_PER_DAY = (process.env['BENCH_HEADS_SWAPS'] ?? '100000,1000000').split(',').map(Number);
const DAYS = 2;
const BLOCK_SECONDS = 10;
/** Heads before the measured ones. */
const WARM_HEADS = 3;
const HEADS = 8;
const POLL_MS = 20;
const HEAD_WAIT_MAX_MS = 30_000;
/** Lists that share all tables of a head. */
const PATHS = ['/pairs?limit=1', '/tokens?limit=1', '/dexes', '/overview'];

export async function benchHeads(bench: Bench): Promise<void> {
  const { server, folder, figures } = bench;
  for (const swapsPerDay of SWAPS_PER_DAY) {
    const load = { swaps: swapsPerDay * DAYS, pairs: PAIRS, from: 1_700_000_000, days: DAYS };
    const name = `candlehouse_heads_${swapsPerDay}`;
    const database = await createDatabase(server.writerUrl, name);
    await loadSwaps(database, load, (done) => say(`loaded ${done} of ${load.swaps} swaps`));
    await loadPrices(database, load);
    await waitForMerges(database, 10_000);
    const api = await serveApi('serve', {
      CLICKHOUSE_URL: databaseUrl(server.writerUrl, name),
      CLICKHOUSE_READ_URL: databaseUrl(server.readerUrl, name),
      CHAIN_CONFIG: writeLoadedDescription(folder),
    });
    figures.push(...(await measureHeads(api, database, load, server.pid())));
    await api.stop();
    await database.close();
  }
}

async function measureHeads(
  api: ServedApi,
  database: Database,
  load: SwapLoad,
  enginePid: number,
): Promise<Figure[]> {
  const firstHead = lastLoadedBlock(load);
  const addHeads = async (from: number, heads: number): Promise<void> => {
    for (let block = from + 1; block <= from + heads; block += 1) {
      await addHead(database, load, block);
      await untilHead(api, block);
      for (const path of PATHS) await api.get(`/api/v1${path}`);
    }
  };
  await addHeads(firstHead, WARM_HEADS);
  return measureProcessors(api, enginePid, {
    per: `head, ${load.swaps / load.days} swaps a day, ${load.pairs} pairs`,
    count: HEADS,
    unit: 'ms',
    limitName: 'time from the head to the last list',
    run: () => addHeads(firstHead + WARM_HEADS, HEADS),
  });
}

/** Makes one more block final. The block has no swaps. */
async function addHead(database: Database, { from }: SwapLoad, block: number): Promise<void> {
  await database.command(
    'add head',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     SELECT 369, {block:UInt32}, 'done', 'backfill', {block:UInt32}, {block:UInt32}, unhex(leftPad(lower(hex({block:UInt32})), 64, 'b')), {time:UInt32}, map()`,
    { block, time: from + block * BLOCK_SECONDS },
  );
}

async function untilHead(api: ServedApi, block: number): Promise<void> {
  for (const endsAt = Date.now() + HEAD_WAIT_MAX_MS; Date.now() < endsAt; await delay(POLL_MS))
    if (Number(await api.head()) === block) return;
  throw new Error(`the API did not reach block ${block}`);
}
