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
  /** Process ids of running database servers. No server may outlive the test. */
  enginesLeft(): readonly number[];
}

/**
 * A supervisor stops restarting a server that ends 8 times in 10 minutes, so each program gets at most this many
 * server kills.
 */
const ENGINE_KILLS_MAX = 6;

/**
 * If the database server is away during the start of a program, the program ends. If it ends this often in a row
 * without a kill, it has a defect.
 */
const ENDS_MAX = 4;

/** Counts how often programs ended by themselves since the last kill. */
class EndCounter {
  private ends = 0;

  reset(): void {
    this.ends = 0;
  }

  /** Throws with the program's output if the program ended too often. */
  note(lastOutput: string): void {
    this.ends += 1;
    if (this.ends >= ENDS_MAX)
      throw new Error(`the program ended ${this.ends} times in a row without a kill: ${lastOutput}`);
  }
}

/** One process (`all`) with API and ingester, and the database server that it starts. */
export function allInOne(settings: Settings, dataDir: string): Deployment {
  let program: Program | null = null;
  let lastOutput = '';
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
      lastOutput = program?.output() ?? lastOutput;
      await program?.end('SIGKILL');
      program = null;
    },
    url: () => url,
    output: () => program?.output() ?? lastOutput,
    async stop(): Promise<void> {
      noteEngine();
      lastOutput = program?.output() ?? lastOutput;
      await program?.end('SIGTERM');
      program = null;
    },
    enginesLeft: () => [...engines].filter((pid) => isEngine(pid, dataDir)),
  };
}

/** `serve` and `ingest` as separate processes, over a database server that neither owns. */
export function separate(settings: Settings, dataDir: string): Deployment {
  return new SeparateProcesses(settings, dataDir);
}

class SeparateProcesses implements Deployment {
  readonly name = 'serve + ingest';
  private server: EmbeddedServer | null = null;
  private api: Program | null = null;
  private ingester: Spawned | null = null;
  private lastOutput = '';
  private lastUrl = '';
  private readonly ends = new EndCounter();
  /**
   * Number of restarts of the database server when `ends` was last reset. Each new restart resets `ends`, because a
   * program that ends while the server is away has no defect.
   */
  private restartsAtReset = 0;
  private readonly engines = new Set<number>();
  private readonly log = createLog('silent', false);

  constructor(
    private readonly settings: Settings,
    private readonly dataDir: string,
  ) {}

  async start(): Promise<void> {
    this.server ??= await startEmbeddedServer({
      dataDir: this.dataDir,
      log: this.log,
      restartLimits: { ...RESTART_LIMITS, restartsMax: 10_000, pauseMs: 0 },
    });
    this.engines.add(this.server.pid());
    const { writerUrl, readerUrl } = this.server;
    const settings = { ...this.settings, CLICKHOUSE_URL: writerUrl, CLICKHOUSE_READ_URL: readerUrl };
    // The ingester and the API end if the database server is away during their start. The test starts them
    // again, as a service manager would.
    if (this.ingester?.hasEnded() === true) {
      this.noteEnd(this.ingester.lastWords());
      await this.endIngester();
    }
    if (this.api?.hasEnded() === true) {
      this.noteEnd(this.api.lastWords());
      this.api = null;
    }
    this.ingester ??= spawnProgram('ingest', settings, { mayEnd: true });
    if (this.api !== null) return;
    this.api = await this.startApi(settings);
    this.lastUrl = this.api.url;
  }

  /** Repeats the start until it succeeds or ended too often. */
  private async startApi(settings: Settings): Promise<Program> {
    for (;;) {
      try {
        return await startProgram('serve', settings, { mayEnd: true });
      } catch (error) {
        this.noteEnd(errorText(error));
        await delay(100);
      }
    }
  }

  /** Counts the end of a program if the database server runs and has not restarted since the last reset. */
  private noteEnd(lastOutput: string): void {
    const status = this.server?.status();
    if (status?.state === 'up' && status.restarts === this.restartsAtReset) return this.ends.note(lastOutput);
    this.restartsAtReset = status?.restarts ?? 0;
    this.ends.reset();
  }

  private async endIngester(): Promise<void> {
    this.lastOutput = this.ingester?.output() ?? this.lastOutput;
    await this.ingester?.end('SIGKILL');
    this.ingester = null;
  }

  async kill(target: KillTarget): Promise<void> {
    const engine = this.server?.pid() ?? 0;
    this.ends.reset();
    if (target === 'ingester') await this.endIngester();
    if ((target === 'engine' || target === 'both') && engine > 0 && isEngine(engine, this.dataDir)) {
      this.engines.add(engine);
      process.kill(engine, 'SIGKILL');
    }
    if (target === 'both') await this.endIngester();
    if (target !== 'api') return;
    await this.api?.end('SIGKILL');
    this.api = null;
  }

  url(): string {
    return this.lastUrl;
  }

  output(): string {
    return `${this.lastOutput}\n${this.ingester?.output() ?? ''}\n${this.api?.output() ?? ''}`;
  }

  async stop(): Promise<void> {
    this.lastOutput = this.ingester?.output() ?? this.lastOutput;
    await this.ingester?.end('SIGTERM');
    await this.api?.end('SIGTERM');
    if (this.server !== null) this.engines.add(this.server.pid());
    await this.server?.stop();
    this.ingester = null;
    this.api = null;
    this.server = null;
  }

  enginesLeft(): readonly number[] {
    return [...this.engines].filter((pid) => isEngine(pid, this.dataDir));
  }
}
