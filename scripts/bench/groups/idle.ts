/** Measures an instance that follows a chain, by default with a block every ten seconds, and idle API processes. */
import { setTimeout as delay } from 'node:timers/promises';

import { createDatabase, databaseUrl, memoryFigure, say, writeDescription, type Bench } from '../bench';
import { processorSeconds, residentBytes } from '../children/childProcess';
import type { Figure } from '../figure';
import { serveApi } from '../loaders/servedApi';
import { sumStatements, watchStatements } from '../../../test/support/server/statements';
import { startStubChain } from '../../../test/support/stub/stubChain';

const FIRST_HEAD = 200;
const BLOCK_EVERY_MS = Number(process.env['BENCH_IDLE_BLOCK_MS'] ?? 10_000);
const BLOCKS = Number(process.env['BENCH_IDLE_BLOCKS'] ?? 18);
/**
 * Number of blocks before the measurement begins. This benchmark starts with a request, and
 * for a minute after a request, the API builds its tables for each block.
 */
const WARM_BLOCKS = Math.max(3, Math.ceil(70_000 / BLOCK_EVERY_MS));
/** Allowed share of one core, for the engine and the program together. */
const SHARE_MAX = 0.03;
/** Time in ms over which the processor time is measured while API processes poll. */
const POLLING_MS = 20_000;
/** Wait after a process starts or ends, so that its start is not measured. */
const SETTLE_MS = 5_000;

/** Processor time that ClickHouse spends on each API process that serves no requests, while no block arrives. */
async function benchPolling({ server, folder }: Pick<Bench, 'server' | 'folder'>): Promise<Figure> {
  const cpuShare = async (): Promise<number> => {
    const secondsBefore = processorSeconds(server.pid());
    await delay(POLLING_MS);
    return ((processorSeconds(server.pid()) - secondsBefore) / POLLING_MS) * 1_000;
  };
  const settings = {
    CHAIN_CONFIG: writeDescription(folder),
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_idle'),
  };
  const apis = [await serveApi('serve', settings), await serveApi('serve', settings)];
  await delay(SETTLE_MS);
  const polledShare = await cpuShare();
  for (const api of apis) await api.stop();
  await delay(SETTLE_MS);
  const idleShare = await cpuShare();
  const shareOfOneApi = (polledShare - idleShare) / apis.length;
  return {
    name: 'processor time of ClickHouse per API process without requests',
    value: shareOfOneApi * 100,
    unit: '% of one core',
    limitName: 'ClickHouse without an API process',
    limit: idleShare * 100,
    ratio: shareOfOneApi / idleShare,
    target: 'printed',
    ok: true,
  };
}

export async function benchIdle({ server, folder, figures }: Bench): Promise<void> {
  say(`measuring an idle instance for ${((BLOCKS + WARM_BLOCKS) * BLOCK_EVERY_MS) / 1_000} s …`);
  const chain = await startStubChain({
    blocks: FIRST_HEAD + WARM_BLOCKS + BLOCKS,
    logsPerBlock: 24,
    pairs: 200,
  });
  chain.setHead(FIRST_HEAD);
  const database = await createDatabase(server.writerUrl, 'candlehouse_idle');
  const api = await serveApi('all', {
    RPC_URL: chain.wsUrl,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_idle'),
  });
  const addHeads = async (from: number, blocks: number): Promise<void> => {
    for (let number = from + 1; number <= from + blocks; number += 1) {
      chain.setHead(number);
      await delay(BLOCK_EVERY_MS);
    }
  };
  await addHeads(FIRST_HEAD, WARM_BLOCKS);
  const pidByPart = { program: api.pid, engine: server.pid() };
  const secondsBefore = Object.values(pidByPart).map(processorSeconds);
  const startedAt = performance.now();
  const sentStatements = await watchStatements(api.url, () => addHeads(FIRST_HEAD + WARM_BLOCKS, BLOCKS));
  const seconds = (performance.now() - startedAt) / 1_000;
  const usedSeconds = Object.values(pidByPart).map(
    (pid, index) => processorSeconds(pid) - (secondsBefore[index] ?? 0),
  );
  for (const [index, name] of Object.keys(pidByPart).entries())
    say(`${name}: ${(((usedSeconds[index] ?? 0) / seconds) * 100).toFixed(1)} % of one core`);
  const statementsText = sentStatements.map(([name, count]) => `${count} ${name}`).join(', ');
  say(
    `${((sumStatements(sentStatements) / seconds) * 60).toFixed(0)} statements a minute besides inserts: ${statementsText}`,
  );
  const share = usedSeconds.reduce((sum, secondsOfPart) => sum + secondsOfPart, 0) / seconds;
  figures.push({
    name: `processor time of engine and program, with a block of 24 logs every ${BLOCK_EVERY_MS / 1_000} s`,
    value: share * 100,
    unit: '% of one core',
    limitName: 'target',
    limit: SHARE_MAX * 100,
    ratio: share / SHARE_MAX,
    target: `<= ${SHARE_MAX * 100} %`,
    ok: share <= SHARE_MAX,
  });
  figures.push(
    memoryFigure('memory of API and ingester that follow the chain', residentBytes(api.pid) / 2 ** 20, 300),
  );
  await api.stop();
  figures.push(await benchPolling({ server, folder }));
  await database.close();
  await chain.close();
}
