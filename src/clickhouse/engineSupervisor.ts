/**
 * Keeps one engine running: starts it, notices when it ends, starts it again on the same port with growing pauses, and
 * gives up when that does not help. Which port, passwords and folder is server.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import { launchEngine, type EngineLaunch, type EngineProcess } from './engineChild';
import type { EngineUser } from './engineConfig';
import { askEngine } from './engineProbe';

/** `up`: answers. `restarting`: died, or was told to restart. `failed`: given up. `stopped`: by `stop()`. */
export interface EngineStatus {
  readonly state: 'up' | 'restarting' | 'failed' | 'stopped';
  /** Why it is not up; empty when it is. */
  readonly reason: string;
  /** Restarts since the start. */
  readonly restarts: number;
}

/** How to start the engine and how to know it. */
export interface EngineRecipe {
  readonly launch: EngineLaunch;
  readonly writer: EngineUser;
  readonly nonce: string;
  /** Told the process at each start, before it answers. */
  readonly launched: (pid: number) => void;
}

/** A start may load many parts after a crash. */
const START_TIMEOUT_MS = 60_000;
const PROBE_PAUSE_MS = 10;
const PROBE_TIMEOUT_MS = 2_000;
const END_GRACE_MS = 5_000;

/** More restarts than this within the window mean that restarting does not help. */
const RESTARTS_MAX = 8;
const RESTART_WINDOW_MS = 600_000;
const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 10_000;

/** Starts the engine once. Throws `unavailable` with the engine's last words; leaves no process behind then. */
export async function startEngine(recipe: EngineRecipe, signal: AbortSignal): Promise<EngineProcess> {
  const engine = launchEngine(recipe.launch);
  recipe.launched(engine.pid);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await isOurs(recipe))) {
    if (engine.hasEnded()) {
      throw new AppError('unavailable', `the embedded ClickHouse did not start: ${await engine.ended}`);
    }
    if (signal.aborted || Date.now() > deadline) {
      await engine.end(0);
      const why = signal.aborted ? 'stopped while starting' : `no answer within ${START_TIMEOUT_MS} ms`;
      throw new AppError('unavailable', `the embedded ClickHouse did not start: ${why}`);
    }
    await delay(PROBE_PAUSE_MS);
  }
  return engine;
}

/** Another program may hold the port: only the engine that read our configuration knows password and nonce. */
async function isOurs(recipe: EngineRecipe): Promise<boolean> {
  try {
    const sql = "SELECT getMacro('candlehouse_nonce')";
    return (await askEngine(recipe.launch.httpPort, recipe.writer, sql, PROBE_TIMEOUT_MS)) === recipe.nonce;
  } catch {
    return false;
  }
}

export class EngineSupervisor {
  private readonly listeners = new Set<(status: EngineStatus) => void>();
  private readonly stopSignal = new AbortController();
  /** When the last restarts began, within the window. */
  private recentRestarts: number[] = [];
  private reviving: Promise<void> | null = null;
  private stopping: Promise<void> | null = null;
  private current: EngineStatus = { state: 'up', reason: '', restarts: 0 };

  constructor(
    private engine: EngineProcess,
    private readonly recipe: EngineRecipe,
    private readonly log: Logger,
  ) {
    this.watch(engine);
  }

  pid(): number {
    return this.engine.hasEnded() ? 0 : this.engine.pid;
  }

  httpPort(): number {
    return this.recipe.launch.httpPort;
  }

  status(): EngineStatus {
    return this.current;
  }

  onStatus(listener: (status: EngineStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async restart(reason: string): Promise<void> {
    if (this.reviving === null && this.current.state === 'up') {
      this.log.warn({ reason }, 'restarting the embedded ClickHouse');
      this.setState('restarting', reason);
      await this.engine.end(END_GRACE_MS);
    }
    await this.reviving;
    if (this.current.state === 'up') return;
    throw new AppError(
      'unavailable',
      `the embedded ClickHouse is ${this.current.state}: ${this.current.reason}`,
    );
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopOnce();
    return this.stopping;
  }

  private async stopOnce(): Promise<void> {
    this.stopSignal.abort();
    await this.reviving;
    await this.engine.end(END_GRACE_MS);
    this.setState('stopped', 'stopped');
  }

  private watch(engine: EngineProcess): void {
    void engine.ended.then((why) => {
      if (this.stopSignal.signal.aborted) return;
      this.reviving = this.revive(why).finally(() => {
        this.reviving = null;
      });
    });
  }

  /** Never rejects: what goes wrong ends in the status. */
  private async revive(why: string): Promise<void> {
    let reason = why;
    while (!this.stopSignal.signal.aborted) {
      this.log.error({ reason }, 'the embedded ClickHouse ended; starting it again');
      this.setState('restarting', reason);
      const now = Date.now();
      this.recentRestarts = this.recentRestarts.filter((at) => at > now - RESTART_WINDOW_MS);
      const count = this.recentRestarts.length;
      if (count >= RESTARTS_MAX) return this.giveUp(reason);
      this.recentRestarts.push(now);
      try {
        if (count > 0) await this.pause(Math.min(BACKOFF_FIRST_MS * 2 ** (count - 1), BACKOFF_MAX_MS));
        this.engine = await startEngine(this.recipe, this.stopSignal.signal);
        this.current = { ...this.current, restarts: this.current.restarts + 1 };
        this.setState('up', '');
        this.log.info({ pid: this.engine.pid }, 'the embedded ClickHouse is up again');
        return this.watch(this.engine);
      } catch (error) {
        reason = errorText(error);
      }
    }
  }

  private giveUp(reason: string): void {
    const minutes = RESTART_WINDOW_MS / 60_000;
    this.setState(
      'failed',
      `gave up after ${RESTARTS_MAX} restarts within ${minutes} minutes; the last: ${reason}`,
    );
    this.log.fatal({ reason: this.current.reason }, 'the embedded ClickHouse keeps ending; giving up');
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopSignal.signal });
  }

  private setState(state: EngineStatus['state'], reason: string): void {
    if (state === this.current.state && reason === this.current.reason) return;
    this.current = { ...this.current, state, reason };
    for (const listener of this.listeners) listener(this.current);
  }
}
