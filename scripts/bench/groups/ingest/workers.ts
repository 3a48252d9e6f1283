/**
 * Compares a writer that reads staged blocks with a straight backfill, both proven in full: speed, and processor time of
 * writer, worker and engine. All blocks are staged before, so the ratio is what a machine with idle cores for the workers
 * reaches at most. Then compares `backfill --workers 2` on this machine, where all processes share the cores.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { createBlockSource, type BlockSource } from '../../../../src/node/blocks/blockSource';
import { systemClock } from '../../../../src/node/rpc/clock';
import { createEndpointPool } from '../../../../src/node/rpc/endpointPool';
import { findPackageRoot } from '../../../../src/clickhouse/client/packageRoot';
import { pieceOf, StagedBlocks } from '../../../../src/ingest/staged/stagedBlocks';
import { StagedSource } from '../../../../src/ingest/staged/stagedSource';
import { StageWorker } from '../../../../src/ingest/staged/stageWorker';
import { askRows } from '../../../../test/support/engine/askRows';
import { createDatabase, databaseUrl, log, say, writeDescription, type Bench } from '../../bench';
import { processorSeconds, startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';
import { ingest } from './backfill';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';

/** Number of logs of each backfill. */
const LOGS = Number(process.env['BENCH_WORKERS_LOGS'] ?? 200_000);
const LOGS_PER_BLOCK = 100;
const ROUNDS = Number(process.env['BENCH_WORKERS_ROUNDS'] ?? 5);
const NAME = 'candlehouse_workers_bench';
const PROOF = { mode: 'full', trusted: null } as const;

/** Times in µs per log. */
interface TimePerLog {
  readonly elapsed: number;
  /** Processor time of this process, and of the engine. */
  readonly program: number;
  readonly engine: number;
}

interface Rounds {
  readonly straight: TimePerLog[];
  readonly worker: TimePerLog[];
  readonly writer: TimePerLog[];
}

export async function benchWorkers(bench: Bench): Promise<void> {
  say('backfilling staged blocks …');
  const blocks = Math.round(LOGS / LOGS_PER_BLOCK);
  const to = blocks - UNFINAL_BLOCKS;
  const options = { blocks, logsPerBlock: LOGS_PER_BLOCK, pairs: 500, onlyV2: true, provable: true };
  const node = await startBenchChild('stubServer', options);
  const rounds: Rounds = { straight: [], worker: [], writer: [] };
  const programRates = { straight: [] as number[], workers: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await runStraight(bench, node.url, to, rounds);
    await runStaged(bench, node.url, to, rounds);
    programRates.straight.push(await timeProgram(bench, node.url, to, []));
    programRates.workers.push(await timeProgram(bench, node.url, to, ['--workers', '2']));
  }
  await node.close();
  const medianOf = (times: readonly TimePerLog[], key: keyof TimePerLog): number =>
    percentile(
      times.map((time) => time[key]),
      50,
    );
  const { straight, worker, writer } = rounds;
  const programText = `writer ${medianOf(writer, 'program').toFixed(1)}, worker ${medianOf(worker, 'program').toFixed(1)}, straight ${medianOf(straight, 'program').toFixed(1)}`;
  const engineText = `engine ${medianOf(writer, 'engine').toFixed(1)} + ${medianOf(worker, 'engine').toFixed(1)} for staging, straight ${medianOf(straight, 'engine').toFixed(1)}`;
  bench.figures.push(
    compare(
      `writer of staged blocks (processor us per log: ${programText}; ${engineText})`,
      1e6 / medianOf(writer, 'elapsed'),
      1e6 / medianOf(straight, 'elapsed'),
    ),
    compare(
      'program with --workers 2 on this machine, start included',
      percentile(programRates.workers, 50),
      percentile(programRates.straight, 50),
    ),
  );
}

async function runStraight({ server }: Bench, rpcUrl: string, to: number, rounds: Rounds): Promise<void> {
  const database = await createDatabase(server.writerUrl, NAME);
  const run = async (): Promise<unknown> => ingest(rpcUrl, database, to, log, undefined, { proof: PROOF });
  rounds.straight.push(await measurePerLog(server.pid(), to, run));
  await database.command('drop', `DROP DATABASE ${NAME}`);
  await database.close();
}

/** Stages all blocks as one worker, then stores them as the writer. */
async function runStaged({ server }: Bench, rpcUrl: string, to: number, rounds: Rounds): Promise<void> {
  const database = await createDatabase(server.writerUrl, NAME);
  const staged = new StagedBlocks(databaseUrl(server.writerUrl, NAME));
  await staged.create();
  const pool = createEndpointPool({ urls: [rpcUrl], chainId: 369, log });
  const deps = {
    staged,
    tip: { reaches: () => Promise.resolve(true) },
    range: { from: 0, to },
    log,
    clock: systemClock(),
  };
  const source = createBlockSource({ pool, log, proof: PROOF });
  const readFinalTo = async (): Promise<number | null> => {
    const pieces = await staged.list(0, pieceOf(to));
    return pieces.filter(({ bytes }) => bytes > 0).length > pieceOf(to) ? to : null;
  };
  const { signal } = new AbortController();
  rounds.worker.push(
    await measurePerLog(server.pid(), to, () =>
      new StageWorker({ ...deps, source, readFinalTo }).run(signal),
    ),
  );
  const wrapSource = (node: BlockSource): BlockSource =>
    new StagedSource({
      ...deps,
      node,
      proof: 'full',
      readFinalTo: () => Promise.resolve(null),
      hasWorkers: () => false,
      signal,
    });
  const run = (): Promise<unknown> =>
    ingest(rpcUrl, database, to, log, undefined, { proof: PROOF, wrapSource });
  rounds.writer.push(await measurePerLog(server.pid(), to, run));
  await staged.drop();
  await database.command('drop', `DROP DATABASE ${NAME}`);
  await Promise.all([staged.close(), database.close(), pool.close()]);
}

async function measurePerLog(
  enginePid: number,
  to: number,
  run: () => Promise<unknown>,
): Promise<TimePerLog> {
  const logs = to * LOGS_PER_BLOCK;
  const startTimes = [
    performance.now() / 1_000,
    processorSeconds(process.pid),
    processorSeconds(enginePid),
  ] as const;
  await run();
  const endTimes = [
    performance.now() / 1_000,
    processorSeconds(process.pid),
    processorSeconds(enginePid),
  ] as const;
  const perLog = (processIndex: 0 | 1 | 2): number =>
    ((endTimes[processIndex] - startTimes[processIndex]) * 1e6) / logs;
  return { elapsed: perLog(0), program: perLog(1), engine: perLog(2) };
}

/** Logs per second of the program. */
async function timeProgram(
  { server, folder }: Bench,
  rpcUrl: string,
  to: number,
  options: readonly string[],
): Promise<number> {
  const database = await createDatabase(server.writerUrl, NAME);
  const startedAt = performance.now();
  const program = join(findPackageRoot(), 'dist', 'main.js');
  const child = spawn(
    process.execPath,
    [program, 'backfill', '--from', '1', '--to', String(to), ...options],
    {
      env: {
        PATH: process.env['PATH'],
        ENV_FILE: '/dev/null',
        LOG_LEVEL: 'warn',
        RPC_URL: rpcUrl,
        CHAIN_CONFIG: writeDescription(folder),
        CLICKHOUSE_URL: databaseUrl(server.writerUrl, NAME),
      },
      stdio: ['ignore', 'inherit', 'ignore'],
    },
  );
  await once(child, 'exit');
  const seconds = (performance.now() - startedAt) / 1_000;
  const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
  await database.command('drop', `DROP DATABASE ${NAME}`);
  await database.close();
  return Number(row?.logs ?? 0) / seconds;
}

function compare(name: string, value: number, limit: number): Figure {
  const ratio = value / limit;
  return {
    name,
    value,
    unit: 'logs/s',
    limitName: 'a straight backfill',
    limit,
    ratio,
    target: 'none',
    ok: true,
  };
}
