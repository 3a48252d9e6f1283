/** Builds a data folder with millions of swaps in the past of a stub chain, for programs that continue from there. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { startEmbeddedServer } from '../../../src/clickhouse/engine/server';
import type { Logger } from '../../../src/log';
import { waitForMerges } from '../bench';
import { startStubChain, type StubChain } from '../../../test/support/stub/stubChain';
import { stubDescription } from '../../../test/support/stub/stubDescription';
import { lastLoadedBlock, loadSwaps, type SwapLoad } from './swapLoader';

const PAIRS = 2_000;
/**
 * Days of trading that are loaded. All swaps and pair creations are in blocks before the block from which the program
 * continues.
 */
const LOADED_DAYS = 0.25;

export interface LoadedFolder {
  readonly load: SwapLoad;
  readonly chain: StubChain;
  /** Settings of a program that continues after the loaded blocks. */
  readonly settings: Readonly<Record<string, string>> & { readonly DATA_DIR: string };
}

export async function loadFolder(
  folder: string,
  swaps: number,
  log: Logger,
  say: (text: string) => void,
): Promise<LoadedFolder> {
  const dataDir = join(folder, 'loaded');
  mkdirSync(dataDir, { recursive: true });
  const load = { swaps, pairs: PAIRS, from: 1_700_000_000, days: LOADED_DAYS };
  const lastBlock = lastLoadedBlock(load);
  const chain = await startStubChain({ blocks: lastBlock + 40, logsPerBlock: 16, pairs: 20 });
  const server = await startEmbeddedServer({ dataDir, log });
  const database = openDatabase({ url: server.writerUrl, requestTimeoutMs: 600_000 });
  await migrate(database, log);
  await loadSwaps(database, load, (done) => say(`loaded ${done} of ${swaps} swaps`));
  say('merging the table parts …');
  await database.command('optimize', 'OPTIMIZE TABLE bars FINAL');
  await waitForMerges(database);
  await becomePastOf(chain, database, lastBlock, swaps);
  await database.close();
  await server.stop();
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    DATA_DIR: dataDir,
  };
  return { load, chain, settings };
}

/** Makes the loaded swaps the past of the stub chain: its blocks, and a finished range with their row counts. */
async function becomePastOf(
  chain: StubChain,
  database: Database,
  lastBlock: number,
  swaps: number,
): Promise<void> {
  const blocks = chain.blocks.slice(1, lastBlock + 1);
  const rows = blocks.map(
    ({ number, hash, parentHash }) =>
      `(369, ${number}, unhex('${hash.slice(2)}'), unhex('${parentHash.slice(2)}'), ${chain.timeOf(number)}, NULL, 0, 0, [], [])`,
  );
  await database.command('load blocks', `INSERT INTO blocks VALUES ${rows.join(', ')}`);
  await database.command('forget the loader', 'TRUNCATE TABLE promotions');
  const sharedColumns = `unhex('${blocks.at(-1)?.hash.slice(2) ?? ''}'), ${chain.timeOf(lastBlock)}`;
  const counts = `map('blocks', ${blocks.length}, 'pools', ${PAIRS}, 'swaps', ${swaps}, 'events', ${swaps})`;
  const ranges = [
    "(369, 0, 'done', 'start', 1, 0, unhex(repeat('00', 32)), 0, map())",
    `(369, 1, 'done', 'backfill', 1, ${lastBlock}, ${sharedColumns}, ${counts})`,
  ];
  const columns = 'chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts';
  await database.command('load cursor', `INSERT INTO promotions (${columns}) VALUES ${ranges.join(', ')}`);
}
