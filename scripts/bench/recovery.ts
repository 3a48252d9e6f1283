/**
 * After a `kill -9` with millions of swaps stored and a range half written: from the start of the program until it calls
 * itself ready at the node's head; beside the same start after a clean end.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { startEmbeddedServer } from '../../src/clickhouse/server';
import type { Logger } from '../../src/log';
import { startProgram, type Program } from '../../test/support/program';
import { median, type Figure } from './figure';
import { startStubChain, type StubChain } from './stubChain';
import { stubDescription } from './stubDescription';
import { lastLoadedBlock, loadSwaps } from './swapLoader';

const PAIRS = 2_000;
/** All swaps, and the creation of each pair in a block of its own, are loaded below the block from which the program goes on. */
const LOADED_DAYS = 0.25;
const ROUNDS = 5;
const READY_MAX_MS = 120_000;

export async function benchRecovery(
  folder: string,
  swaps: number,
  log: Logger,
  say: (text: string) => void,
): Promise<Figure[]> {
  const dataDir = join(folder, 'recovery');
  mkdirSync(dataDir, { recursive: true });
  const load = { swaps, pairs: PAIRS, from: 1_700_000_000, days: LOADED_DAYS };
  const loaded = lastLoadedBlock(load);
  const chain = await startStubChain({ blocks: loaded + 40, logsPerBlock: 16, pairs: 20 });
  const server = await startEmbeddedServer({ dataDir, log });
  const database = openDatabase({ url: server.writerUrl, requestTimeoutMs: 600_000 });
  await migrate(database, log);
  await loadSwaps(database, load, (done) => say(`loaded ${done} of ${swaps} swaps`));
  await becomePastOf(chain, database, loaded, swaps);
  await database.close();
  await server.stop();
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    DATA_DIR: dataDir,
  };
  const clean: number[] = [];
  const killed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    say(`start ${round + 1} of ${ROUNDS} …`);
    clean.push(await timeStart(settings, chain, 'SIGTERM'));
    // The next start follows a kill in the middle of storing blocks: the chain goes on by 200, and most become final.
    const program = await startProgram('all', settings);
    await untilReady(program, chain);
    chain.setHead(chain.head + 200);
    await delay(300 + 100 * round);
    await program.end('SIGKILL');
    killed.push(await timeStart(settings, chain, 'SIGTERM'));
  }
  await chain.close();
  const value = Math.max(...killed);
  const limit = median(clean);
  return [
    {
      name: `start after kill -9 with ${swaps} swaps → ready, most of ${ROUNDS} (median ${median(killed).toFixed(1)} s)`,
      value,
      unit: 's',
      limitName: 'start after a clean end',
      limit,
      ratio: value / limit,
      target: '<= 10 s',
      ok: value <= 10,
    },
  ];
}

/** Makes the loaded swaps the past of the stub chain: its blocks, and a finished range that counts them. */
async function becomePastOf(
  chain: StubChain,
  database: Database,
  loaded: number,
  swaps: number,
): Promise<void> {
  const blocks = chain.blocks.slice(1, loaded + 1);
  const rows = blocks.map(
    ({ number, hash, parentHash }) =>
      `(369, ${number}, unhex('${hash.slice(2)}'), unhex('${parentHash.slice(2)}'), ${chain.timeOf(number)}, NULL, 0, 0, [])`,
  );
  await database.command('load blocks', `INSERT INTO blocks VALUES ${rows.join(', ')}`);
  await database.command('forget the loader', 'TRUNCATE TABLE promotions');
  const common = `unhex('${blocks.at(-1)?.hash.slice(2) ?? ''}'), ${chain.timeOf(loaded)}`;
  const counts = `map('blocks', ${blocks.length}, 'pools', ${PAIRS}, 'swaps', ${swaps})`;
  await database.command(
    'load cursor',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     VALUES (369, 0, 'done', 'start', 1, 0, unhex(repeat('00', 32)), 0, map()),
            (369, 1, 'done', 'backfill', 1, ${loaded}, ${common}, ${counts})`,
  );
}

/** Starts the program, resolves to the seconds until it is ready, and ends it again. */
async function timeStart(
  settings: Readonly<Record<string, string>>,
  chain: StubChain,
  end: 'SIGTERM' | 'SIGKILL',
): Promise<number> {
  const started = performance.now();
  const program = await startProgram('all', settings);
  await untilReady(program, chain);
  const seconds = (performance.now() - started) / 1000;
  await program.end(end);
  return seconds;
}

async function untilReady({ url, output }: Program, chain: StubChain): Promise<void> {
  const end = performance.now() + READY_MAX_MS;
  while (performance.now() < end) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200 && Number(answer.headers.get('x-indexed-block')) === chain.head) return;
    await delay(20);
  }
  throw new Error(`not ready within ${READY_MAX_MS} ms:\n${output().slice(-3_000)}`);
}
