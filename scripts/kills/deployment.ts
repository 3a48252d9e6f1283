/** The built program in two deployments (one process, or separate processes), with the parts that a test can kill. */
import { setTimeout as delay } from 'node:timers/promises';

import { RESTART_LIMITS } from '../../src/clickhouse/engine/engineSupervisor';
import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/engine/server';
import { errorText } from '../../src/errors';
import { createLog } from '../../src/log';
import {
  enginePid,
  isEngine,
  spawnProgram,
  startProgram,
  type Program,
  type Settings,
  type Spawned,
} from '../../test/support/server/program';

export type KillTarget = 'engine' | 'ingester' | 'both' | 'api';

export interface Deployment {
  readonly name: string;
  /** Starts every part that is not running. */
  start(): Promise<void>;
  /** Kills with SIGKILL. Killed parts stay down until `start`, except a database server with a supervisor. */
  kill(target: KillTarget): Promise<void>;
  /** The current or last URL of the API. */
  url(): string;
  /** The last output of the processes. */
  output(): string;
  stop(): Promise<void>;
  /** Running database servers; none may outlive the test. */
  enginesLeft(): readonly number[];
}

/**
 * A supervisor stops restarting a server that ends 8 times in 10 minutes, so each program gets at most this many
 * server kills.
 */
const ENGINE_KILLS_MAX = 6;

/**
 * A program ends if the database server is away during its start. This many ends in a row without a kill show a
 * defect.
 */
const ENDS_MAX = 4;

/** Counts how often programs ended by themselves since the last kill. */
class EndCounter {
  private ends = 0;

  reset(): void {
    this.ends = 0;
  }

  /** Throws with the program's output if it ended too often. */
  note(words: string): void {
    this.ends += 1;
    if (this.ends >= ENDS_MAX) throw new Error(`ended by itself ${this.ends} times in a row: ${words}`);
  }
}

/** One process (`all`) with API and ingester, and the database server that it starts. */
export function allInOne(settings: Settings, dataDir: string): Deployment {
  let program: Program | null = null;
  let last = '';
  let url = '';
  let engineKills = 0;
  const ends = new EndCounter();
  const engines = new Set<number>();
  const noteEngine = (): number | null => {
    const pid = enginePid(dataDir);
    if (pid !== null) engines.add(pid);
    return pid;
  };
  return {
    name: 'all',
    async start(): Promise<void> {
      if (program !== null && !program.hasEnded()) return;
      if (program !== null) ends.note(program.lastWords());
      engineKills = 0;
      program = await startProgram('all', { ...settings, DATA_DIR: dataDir }, { mayEnd: true });
      url = program.url;
    },
    async kill(target): Promise<void> {
      const engine = noteEngine();
      ends.reset();
      if ((target === 'engine' || target === 'both') && engine !== null && isEngine(engine, dataDir)) {
        engineKills += 1;
        process.kill(engine, 'SIGKILL');
      }
      if (target === 'engine' && engineKills <= ENGINE_KILLS_MAX) return;
      last = program?.output() ?? last;
      await program?.end('SIGKILL');
      program = null;
    },
    url: () => url,
    output: () => program?.output() ?? last,
    async stop(): Promise<void> {
      noteEngine();
      last = program?.output() ?? last;
      await program?.end('SIGTERM');
      program = null;
    },
    enginesLeft: () => [...engines].filter((pid) => isEngine(pid, dataDir)),
  };
}

/** `serve` and `ingest` as separate processes, over a database server that neither owns. */
export function separate(settings: Settings, dataDir: string): Deployment {
  let server: EmbeddedServer | null = null;
  let api: Program | null = null;
  let ingester: Spawned | null = null;
  let last = '';
  let url = '';
  const ends = new EndCounter();
  /** Restarts of the database server when `ends` was last reset. While it is away, programs end immediately. */
  let restarts = 0;
  const engines = new Set<number>();
  const log = createLog('silent', false);
  const endIngester = async (): Promise<void> => {
    last = ingester?.output() ?? last;
    await ingester?.end('SIGKILL');
    ingester = null;
  };
  return {
    name: 'serve + ingest',
    async start(): Promise<void> {
      const noteEnd = (words: string): void => {
        const status = server?.status();
        if (status?.state === 'up' && status.restarts === restarts) return ends.note(words);
        restarts = status?.restarts ?? 0;
        ends.reset();
      };
      server ??= await startEmbeddedServer({
        dataDir,
        log,
        restartLimits: { ...RESTART_LIMITS, restartsMax: 10_000, pauseMs: 0 },
      });
      engines.add(server.pid());
      const all = { ...settings, CLICKHOUSE_URL: server.writerUrl, CLICKHOUSE_READ_URL: server.readerUrl };
      // Both end if the database server is away during their start; a service manager would start them again.
      if (ingester?.hasEnded() === true) {
        noteEnd(ingester.lastWords());
        await endIngester();
      }
      if (api?.hasEnded() === true) {
        noteEnd(api.lastWords());
        api = null;
      }
      ingester ??= spawnProgram('ingest', all, { mayEnd: true });
      if (api !== null) return;
      while (api === null) {
        try {
          api = await startProgram('serve', all, { mayEnd: true });
        } catch (error) {
          noteEnd(errorText(error));
          await delay(100);
        }
      }
      url = api.url;
    },
    async kill(target): Promise<void> {
      const engine = server?.pid() ?? 0;
      ends.reset();
      if (target === 'ingester') await endIngester();
      if ((target === 'engine' || target === 'both') && engine > 0 && isEngine(engine, dataDir)) {
        engines.add(engine);
        process.kill(engine, 'SIGKILL');
      }
      if (target === 'both') await endIngester();
      if (target !== 'api') return;
      await api?.end('SIGKILL');
      api = null;
    },
    url: () => url,
    output: () => `${last}\n${ingester?.output() ?? ''}\n${api?.output() ?? ''}`,
    async stop(): Promise<void> {
      last = ingester?.output() ?? last;
      await ingester?.end('SIGTERM');
      await api?.end('SIGTERM');
      if (server !== null) engines.add(server.pid());
      await server?.stop();
      ingester = null;
      api = null;
      server = null;
    },
    enginesLeft: () => [...engines].filter((pid) => isEngine(pid, dataDir)),
  };
}
