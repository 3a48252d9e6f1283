/** Benchmark groups that follow a head: stream, reorg, fanout. */
import { spawnProgram } from '../../../test/support/server/program';
import { createDatabase, databaseUrl, say, writeDescription, type Bench } from '../bench';
import { benchFanOut } from './fanOut';
import { benchLatency } from './latency';
import { benchReorg } from './reorg';
import { serveApi } from '../loaders/servedApi';
import { startStubChain } from '../../../test/support/stub/stubChain';

const LOGS_PER_BLOCK = 200;
const REORG_LOGS = 50;
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 10_000);

export async function benchStream({ server, folder, figures }: Bench): Promise<void> {
  say('measuring the stream …');
  const lastBlock = 320;
  const chain = await startStubChain({ blocks: lastBlock, logsPerBlock: LOGS_PER_BLOCK, pairs: 200 });
  const firstHead = 200;
  chain.setHead(firstHead);
  const database = await createDatabase(server.writerUrl, 'candlehouse_stream');
  const api = await serveApi('all', {
    RPC_URL: chain.wsUrl,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_stream'),
  });
  figures.push(...(await benchLatency(api, chain, { from: firstHead + 1, to: lastBlock }, database)));
  await api.stop();
  await database.close();
  await chain.close();
}

export async function benchReorgs({ server, folder, figures }: Bench): Promise<void> {
  say('reorg …');
  const chain = await startStubChain({ blocks: 400, logsPerBlock: REORG_LOGS, pairs: 100 });
  const database = await createDatabase(server.writerUrl, 'candlehouse_reorg');
  const api = await serveApi('all', {
    RPC_URL: chain.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_reorg'),
  });
  figures.push(...(await benchReorg(api, chain, REORG_LOGS)));
  await api.stop();
  await database.close();
  await chain.close();
}

/** Only the API runs in the process, so the ingester's work is not counted. */
export async function benchStreamClients({ server, folder, figures }: Bench): Promise<void> {
  say('measuring stream clients …');
  const chain = await startStubChain({ blocks: 600, logsPerBlock: 2, pairs: 20 });
  chain.setHead(100);
  const database = await createDatabase(server.writerUrl, 'candlehouse_clients');
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_clients'),
  };
  const ingester = spawnProgram('ingest', settings);
  const api = await serveApi('serve', settings);
  figures.push(...(await benchFanOut(api, chain, CLIENTS)));
  await api.stop();
  await ingester.end('SIGTERM');
  await database.close();
  await chain.close();
}
