/** Measures the processor time of an instance that follows a chain with a block every ten seconds. */
import { setTimeout as delay } from 'node:timers/promises';

import { createDatabase, databaseUrl, say, writeDescription, type Bench } from '../bench';
import { processorSeconds } from '../children/childProcess';
import { serveApi } from '../loaders/servedApi';
import { startStubChain } from '../../../test/support/stub/stubChain';

const FIRST = 200;
const BLOCK_EVERY_MS = 10_000;
const BLOCKS = Number(process.env['BENCH_IDLE_BLOCKS'] ?? 18);
/** Number of blocks before the measurement begins. */
const WARM_BLOCKS = 3;
/** Allowed share of one core, for the engine and the program together. */
const SHARE_MAX = 0.03;

export async function benchIdle({ server, folder, figures }: Bench): Promise<void> {
  say(`measuring an idle instance for ${((BLOCKS + WARM_BLOCKS) * BLOCK_EVERY_MS) / 1_000} s …`);
  const chain = await startStubChain({ blocks: FIRST + WARM_BLOCKS + BLOCKS, logsPerBlock: 24, pairs: 200 });
  chain.setHead(FIRST);
  const database = await createDatabase(server.writerUrl, 'candlehouse_idle', true);
  const api = await serveApi('all', {
    RPC_URL: chain.wsUrl,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_idle'),
  });
  const follow = async (from: number, blocks: number): Promise<void> => {
    for (let number = from + 1; number <= from + blocks; number += 1) {
      chain.setHead(number);
      await delay(BLOCK_EVERY_MS);
    }
  };
  await follow(FIRST, WARM_BLOCKS);
  const parts = { program: api.pid, engine: server.pid() };
  const before = Object.values(parts).map(processorSeconds);
  const started = performance.now();
  await follow(FIRST + WARM_BLOCKS, BLOCKS);
  const seconds = (performance.now() - started) / 1_000;
  const used = Object.values(parts).map((pid, index) => processorSeconds(pid) - (before[index] ?? 0));
  for (const [index, name] of Object.keys(parts).entries())
    say(`${name}: ${(((used[index] ?? 0) / seconds) * 100).toFixed(1)} % of one core`);
  const share = used.reduce((sum, part) => sum + part, 0) / seconds;
  figures.push({
    name: 'processor time of engine and program, with a block of 24 logs every 10 s',
    value: share * 100,
    unit: '% of one core',
    limitName: 'target',
    limit: SHARE_MAX * 100,
    ratio: share / SHARE_MAX,
    target: `<= ${SHARE_MAX * 100} %`,
    ok: share <= SHARE_MAX,
  });
  await api.stop();
  await database.close();
  await chain.close();
}
