/** The program as it is deployed, in two ways, with what can be killed of it. Every part is the built program itself. */
import { setTimeout as delay } from 'node:timers/promises';

import { RESTART_LIMITS } from '../../src/clickhouse/engineSupervisor';
import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/server';
import { createLog } from '../../src/log';
import {
  enginePid,
  isAlive,
  spawnProgram,
  startProgram,
  type Program,
  type Settings,
  type Spawned,
} from '../../test/support/program';

export type KillTarget = 'engine' | 'ingester' | 'both' | 'api';

export interface Deployment {
  readonly name: string;
  /** Starts whatever is not running. */
  start(): Promise<void>;
  /** Kills with SIGKILL; what was killed stays down until `start` (but for an engine with a supervisor). */
  kill(target: KillTarget): Promise<void>;
  /** Where the API listens, or listened. */
  url(): string;
  /** What the processes printed last. */
  output(): string;
  stop(): Promise<void>;
  /** Engines that were ever started; none of them may outlive the end. */
  engines(): ReadonlySet<number>;
}

/** A supervisor gives an engine up that ends 8 times in 10 minutes: no more kills of engines than this per program. */
const ENGINE_KILLS_MAX = 6;

function hasEnded(spawned: Spawned | null): boolean {
  return spawned !== null && (spawned.process.exitCode !== null || spawned.process.signalCode !== null);
}

/** One process with API and ingester, and the engine that it starts: `all`. */
export function allInOne(settings: Settings, dataDir: string): Deployment {
  let program: Program | null = null;
  let last = '';
  let url = '';
  let engineKills = 0;
  const engines = new Set<number>();
  const noteEngine = (): number | null => {
    const pid = enginePid(dataDir);
    if (pid !== null) engines.add(pid);
    return pid;
  };
  return {
    name: 'all',
    async start(): Promise<void> {
      if (program !== null && !hasEnded(program)) return;
      engineKills = 0;
      program = await startProgram('all', { ...settings, DATA_DIR: dataDir });
      url = program.url;
    },
    async kill(target): Promise<void> {
      const engine = noteEngine();
      if ((target === 'engine' || target === 'both') && engine !== null && isAlive(engine)) {
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
    engines: () => engines,
  };
}

/** `serve` and `ingest` as processes of their own over an engine that neither of them owns. */
export function separate(settings: Settings, dataDir: string): Deployment {
  let server: EmbeddedServer | null = null;
  let api: Program | null = null;
  let ingester: Spawned | null = null;
  let last = '';
  let url = '';
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
      server ??= await startEmbeddedServer({
        dataDir,
        log,
        restartLimits: { ...RESTART_LIMITS, restartsMax: 10_000, pauseMs: 0 },
      });
      engines.add(server.pid());
      const all = { ...settings, CLICKHOUSE_URL: server.writerUrl, CLICKHOUSE_READ_URL: server.readerUrl };
      // Both end where the engine is away while they start, and are started again, as a service would be.
      if (hasEnded(ingester)) await endIngester();
      if (hasEnded(api)) api = null;
      ingester ??= spawnProgram('ingest', all);
      if (api !== null) return;
      while (api === null) {
        try {
          api = await startProgram('serve', all);
        } catch {
          await delay(100);
        }
      }
      url = api.url;
    },
    async kill(target): Promise<void> {
      const engine = server?.pid() ?? 0;
      if (target === 'ingester') await endIngester();
      if ((target === 'engine' || target === 'both') && engine > 0 && isAlive(engine)) {
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
    engines: () => engines,
  };
}
