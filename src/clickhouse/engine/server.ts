/**
 * The embedded ClickHouse: prepares folder, passwords and configuration, starts the engine, and returns the
 * URLs of its two users. Connecting, restarting and creating tables are in database.ts, engineSupervisor.ts
 * and schema/migrate.ts.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../../domain/time/steadyTime';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { findEngineLibraries, type EngineProcess } from './engineChild';
import { writeEngineConfig, type EngineCluster, type EngineConfig, type EngineUser } from './engineConfig';
import { engineFolderOf, openDoor } from './engineDoor';
import { takeEngineLock } from './engineLock';
import { askEngine } from './engineProbe';
import {
  EngineSupervisor,
  RESTART_LIMITS,
  startEngine,
  type EngineRecipe,
  type EngineStatus,
  type RestartLimits,
} from './engineSupervisor';

export interface EmbeddedServerOptions {
  /** The data folder. The engine stores everything in its subfolder `clickhouse`. Created if missing. */
  readonly dataDir: string;
  readonly log: Logger;
  /**
   * Name of the database, created if missing. Both users can also use databases whose names start with this
   * name. Default `candlehouse`.
   */
  readonly database?: string;
  /** Time in ms to wait for the engine of a killed process to end. Default 30 s. */
  readonly predecessorWaitMs?: number;
  /** Limits of restarts; by default 8 restarts in 10 minutes. */
  readonly restartLimits?: RestartLimits;
  /** Free disk space to keep, in bytes. Default 512 MiB, or a twentieth of a small disk. */
  readonly keepFreeBytes?: number;
  /** Time limit of a reader's statement, in seconds. Default 10; tests use more on busy machines. */
  readonly readerSecondsMax?: number;
  /** Makes the engine a node of a cluster. */
  readonly cluster?: EngineCluster;
}

export interface EmbeddedServer {
  /** `http://user:password@127.0.0.1:port/database`. Both URLs stay valid when the engine restarts. */
  readonly writerUrl: string;
  /** URL of a user who has only SELECT on the database, within limits. */
  readonly readerUrl: string;
  /** Pid of the engine, or 0 while it is not running. */
  pid(): number;
  status(): EngineStatus;
  /** Calls `listener` at each change of the status. Returns a function that stops the calls. */
  onStatus(listener: (status: EngineStatus) => void): () => void;
  /** Restarts the engine. Some faults can only be removed in this way (ClickHouse #118350). */
  restart(reason: string): Promise<void>;
  /** Ends the engine, or kills it after 5 s. A second call does nothing. */
  stop(): Promise<void>;
}

const PREDECESSOR_WAIT_MS = 30_000;
const RETRY_PAUSE_MS = 250;
const SERVER_MEMORY_MAX = 8 * 2 ** 30;
const KEEP_FREE_MAX = 512 * 2 ** 20;
/** The folder for backups is inside the engine's folder, because the engine cannot access other files. */
const BACKUP_FOLDER = 'backups';

/**
 * Starts the engine in `dataDir` and waits until it answers. Throws `bad_config` if the platform has no
 * engine or another process uses the folder. Throws `unavailable` if the engine does not start.
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const database = options.database ?? 'candlehouse';
  if (!/^[a-z][a-z0-9_]*$/.test(database))
    throw new AppError(
      'bad_config',
      `database name: got "${database}"; allowed: a-z, 0-9 and _, first a letter`,
    );
  const libraries = findEngineLibraries();
  const folder = resolve(engineFolderOf(options.dataDir));
  prepareFolder(folder);
  const waitMs = options.predecessorWaitMs ?? PREDECESSOR_WAIT_MS;
  const lock = await takeEngineLock(join(folder, 'lock.json'), folder, waitMs);
  const keepFreeBytes = options.keepFreeBytes ?? defaultKeepFree(folder);
  const config = makeConfig(database, folder, keepFreeBytes, options);
  const nativePort = options.cluster === undefined ? {} : { tcpPort: options.cluster.tcpPort };
  const recipe = {
    launch: {
      libraries,
      folder,
      dataPath: join(folder, 'data'),
      configFile: config.file,
      httpPort: 0,
      ...nativePort,
    },
    configText: writeEngineConfig(config),
    writer: config.writer,
    nonce: config.nonce,
    onLaunched: lock.setEngine,
  };
  try {
    const supervisor = await startSupervised(recipe, waitMs, database, options);
    const closeDoor = await openDoor(folder, urlOf(supervisor, config, config.writer));
    return embeddedServer(supervisor, config, () => {
      closeDoor();
      lock.release();
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Creates the folder and writes a test file. An unusable folder then causes one clear message instead of many
 * messages from the engine.
 */
function prepareFolder(folder: string): void {
  const probe = join(folder, `writable.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (cause) {
    // The text of the system ends with the call and the path, which the message names itself.
    const reason = errorText(cause).replace(/,.*$/, '');
    const message = `the data folder ${folder} cannot be written (${reason}): make it writable, or set DATA_DIR to another folder`;
    throw new AppError('bad_config', message, { cause });
  }
}

function embeddedServer(
  supervisor: EngineSupervisor,
  config: EngineConfig,
  release: () => void,
): EmbeddedServer {
  let stopped: Promise<void> | null = null;
  return {
    writerUrl: urlOf(supervisor, config, config.writer),
    readerUrl: urlOf(supervisor, config, config.reader),
    pid: () => supervisor.pid(),
    status: () => supervisor.status(),
    onStatus: (listener) => supervisor.onStatus(listener),
    restart: (reason) => supervisor.restart(reason),
    stop: () => {
      stopped ??= supervisor.stop().finally(release);
      return stopped;
    },
  };
}

function urlOf(supervisor: EngineSupervisor, { database }: EngineConfig, user: EngineUser): string {
  return `http://${user.name}:${user.password}@127.0.0.1:${supervisor.httpPort()}/${database}`;
}

async function startSupervised(
  wanted: EngineRecipe,
  waitMs: number,
  database: string,
  options: EmbeddedServerOptions,
): Promise<EngineSupervisor> {
  const { log } = options;
  const startedAt = performance.now();
  const { engine, recipe } = await startFirst(wanted, waitMs);
  const supervisor = new EngineSupervisor(
    engine,
    recipe,
    options.log,
    options.restartLimits ?? RESTART_LIMITS,
  );
  try {
    const ask = (sql: string): Promise<string> =>
      askEngine(recipe.launch.httpPort, recipe.writer, sql, TIME_LIMITS.engineQueryMs);
    const version = await ask('SELECT version()');
    await ask(`CREATE DATABASE IF NOT EXISTS ${database}`);
    const ms = Math.round(performance.now() - startedAt);
    log.info({ version, port: recipe.launch.httpPort, pid: engine.pid, ms }, 'embedded ClickHouse is up');
    if (engine.said().includes('not confined')) {
      log.warn(
        { reason: engine.said().trim() },
        'the embedded ClickHouse runs without a sandbox and can read the files of this user',
      );
    }
    return supervisor;
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

/**
 * Starts the engine on a free port that the kernel chooses. Restarts keep the port. If another engine, which
 * the lock file does not name, still uses the data, tries again for `waitMs`.
 */
async function startFirst(
  wanted: EngineRecipe,
  waitMs: number,
): Promise<{ engine: EngineProcess; recipe: EngineRecipe }> {
  const deadline = steadyNow() + waitMs;
  const neverAborted = new AbortController().signal;
  for (;;) {
    try {
      const engine = await startEngine(wanted, neverAborted);
      const httpPort = engine.httpPort() ?? 0;
      return { engine, recipe: { ...wanted, launch: { ...wanted.launch, httpPort } } };
    } catch (error) {
      if (!errorText(error).includes('Another server instance')) throw error;
      if (steadyNow() > deadline) {
        const message = `the database in ${wanted.launch.folder} is in use by another ClickHouse process, which does not end: stop this process`;
        throw new AppError('unavailable', message, { cause: error });
      }
      await delay(RETRY_PAUSE_MS);
    }
  }
}

/**
 * Free disk space to keep, in bytes. The disk must never become full: this build of libchdb can acknowledge an insert
 * whose write failed, because WriteBufferFromFileDescriptor drops the error.
 */
function defaultKeepFree(folder: string): number {
  const { blocks, bsize } = statfsSync(folder);
  return Math.min(KEEP_FREE_MAX, Math.floor((blocks * bsize) / 20));
}

function makeConfig(
  database: string,
  folder: string,
  keepFreeBytes: number,
  { cluster, readerSecondsMax }: EmbeddedServerOptions,
): EngineConfig {
  const secret = (): string => randomBytes(24).toString('hex');
  return {
    nonce: secret(),
    writer: { name: 'candlehouse_writer', password: cluster?.passwords.writer ?? secret() },
    reader: { name: 'candlehouse_reader', password: cluster?.passwords.reader ?? secret() },
    ...(cluster === undefined ? {} : { cluster }),
    ...(readerSecondsMax === undefined ? {} : { readerSecondsMax }),
    database,
    file: join(folder, 'engine.xml'),
    logFile: join(folder, 'engine.log'),
    backupFolder: join(folder, BACKUP_FOLDER),
    serverMemoryMax: Math.min(SERVER_MEMORY_MAX, Math.floor(machineMemory() / 2)),
    keepFreeBytes,
  };
}

/** Memory available to this process in bytes: the container's limit if there is one. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
