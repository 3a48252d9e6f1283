/**
 * Runs API and ingester together in the test's process, with their log. A test can cut the connection to the database.
 */
import { readFileSync } from 'node:fs';

import pino from 'pino';

import { stubDescription } from '../stub/stubDescription';
import { readyShape, type ReadyAnswer } from '../../../src/wire/ready';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { runAll } from '../../../src/commands/runAll';
import { loadConfig } from '../../../src/config';
import { SESSION_LIMITS } from '../../../src/ingest/session/sessionLimits';
import { Cable } from '../engine/cable';
import { CLUSTER_NAME } from '../engine/embeddedCluster';
import { createTestDatabase } from '../engine/engine';
import { eventually } from '../eventually';

interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface RunningProgram {
  readonly url: string;
  readonly log: readonly LogLine[];
  ready(): Promise<ReadyAnswer>;
  /** Waits until /readyz names the problem. Resolves to its message. */
  untilProblem(code: string): Promise<string>;
  /** Waits until /readyz names the problem. Resolves to all problems with this code. */
  listProblems(code: string): Promise<ReadyAnswer['problems']>;
  /** Waits until /readyz names none of the codes (no code at all by default). */
  untilCalm(codes?: readonly string[]): Promise<void>;
  untilBlock(number: number, hash?: string): Promise<void>;
  /** Waits until all blocks up to `finalBlock` are promoted. Promotion runs beside the follower. */
  untilPromoted(finalBlock: number): Promise<void>;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** A database that several programs use in turn. */
export interface ProgramHome {
  readonly database: Database;
  /** Direct address of the database. The program uses another one, through `cable`, which a test can cut. */
  readonly writerUrl: string;
  readonly cable: Cable;
  /** `ingest` is true by default. If false, the program only serves stored data. */
  start(
    rpcUrls: readonly string[],
    settings?: Readonly<Record<string, string>>,
    ingest?: boolean,
  ): Promise<RunningProgram>;
  drop(): Promise<void>;
}

export async function createProgramHome(): Promise<ProgramHome> {
  const testDatabase = await createTestDatabase();
  const cable = new Cable(Number(new URL(testDatabase.writerUrl).port));
  await cable.join();
  const throughCable = (url: string): string => {
    const cableUrl = new URL(url);
    cableUrl.port = String(cable.port);
    return cableUrl.toString();
  };
  const running: RunningProgram[] = [];
  const database = openDatabase({ url: testDatabase.writerUrl });
  return {
    database,
    writerUrl: testDatabase.writerUrl,
    cable,
    async start(rpcUrls, settings = {}, ingest = true): Promise<RunningProgram> {
      const allSettings = {
        PORT: '0',
        SHED_LOOP_DELAY_MS: '0',
        COMPILER_NICENESS: '0',
        RPC_URL: rpcUrls.join(','),
        CHAIN_CONFIG: 'chain.json',
        START_BLOCK: '0',
        RATE_LIMIT_PER_MINUTE: '0',
        CLICKHOUSE_URL: throughCable(testDatabase.writerUrl),
        CLICKHOUSE_READ_URL: throughCable(testDatabase.readerUrl),
        // This variable is set only under jest.cluster.config.js, where the test database is on a cluster.
        ...(process.env['CANDLEHOUSE_TEST_CLUSTER'] === undefined
          ? {}
          : { CLICKHOUSE_CLUSTER: CLUSTER_NAME }),
        ...settings,
      };
      const program = await startProgram(allSettings, ingest);
      running.push(program);
      return program;
    },
    async drop(): Promise<void> {
      await Promise.all(running.map((program) => program.stop()));
      await cable.cut();
      await database.close();
      await testDatabase.drop();
    },
  };
}

async function startProgram(
  settings: Readonly<Record<string, string>>,
  ingest: boolean,
): Promise<RunningProgram> {
  const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
  const config = loadConfig(settings, (path) =>
    path === 'chain.json' ? description : readFileSync(path, 'utf8'),
  );
  const logLines: LogLine[] = [];
  const log = pino(
    { level: 'info', base: null },
    { write: (line: string) => logLines.push(JSON.parse(line) as LogLine) },
  );
  const controller = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    const onReady = (api: { readonly url: string } | null): void => resolve(api?.url ?? '');
    running = runAll(config, log, controller.signal, { api: true, ingest, onReady });
    running.catch(reject);
  });
  const ready = async (): Promise<ReadyAnswer> =>
    readyShape.parse(await (await fetch(`${url}/readyz`)).json());
  const untilReadyAnswer = (holds: (answer: ReadyAnswer) => boolean): Promise<ReadyAnswer> =>
    eventually(ready, holds);
  const listProblems = async (code: string): Promise<ReadyAnswer['problems']> => {
    const { problems } = await untilReadyAnswer((answer) =>
      answer.problems.some((problem) => problem.code === code),
    );
    return problems.filter((problem) => problem.code === code);
  };
  return {
    url,
    log: logLines,
    ready,
    listProblems,
    untilProblem: async (code) => (await listProblems(code))[0]!.message,
    async untilCalm(codes): Promise<void> {
      const isAwaited = (code: string): boolean => codes === undefined || codes.includes(code);
      await untilReadyAnswer(({ problems }) => !problems.some(({ code }) => isAwaited(code)));
    },
    async untilBlock(number, hash): Promise<void> {
      await untilReadyAnswer(({ checks: { head } }) =>
        hash === undefined ? Number(head.block_number) >= number : head.block_hash === hash,
      );
    },
    async untilPromoted(finalBlock): Promise<void> {
      const readStored = async (): Promise<number> => {
        const metricsText = await (await fetch(`${url}/metrics`)).text();
        return Number(/^candlehouse_final_stored_block\{chain="\d+"\} (\d+)$/m.exec(metricsText)?.[1]);
      };
      await eventually(
        readStored,
        (storedFinal) => storedFinal > finalBlock - SESSION_LIMITS.promoteMinBlocks,
      );
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    async stop(): Promise<void> {
      controller.abort();
      await running;
    },
  };
}
