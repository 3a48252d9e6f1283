/**
 * Keeps one engine running: starts it, detects when it ends or hangs, and restarts it on the same port. The
 * pause before each restart grows. After too many restarts it gives up. server.ts chooses the folder,
 * passwords and first port.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../../domain/time/steadyTime';
import { TIME_LIMITS } from '../../domain/time/timeLimits';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { launchEngine, type EngineLaunch, type EngineProcess } from './engineChild';
import type { EngineUser } from './engineConfig';
import { askEngine, isAnswering } from './engineProbe';

/**
 * State of the engine. `up`: it answers. `restarting`: it died, hangs, or `restart()` was called. `failed`: it was
 * restarted too often. `stopped`: `stop()` was called.
 */
export interface EngineStatus {
  readonly state: 'up' | 'restarting' | 'failed' | 'stopped';
  /** Why the engine is not up; empty while it is up. */
  readonly reason: string;
  /** Number of restarts since the first start. */
  readonly restarts: number;
}

/** How to start the engine, and how to identify it. */
export interface EngineRecipe {
  readonly launch: EngineLaunch;
  /**
   * Text of the configuration file. The file contains passwords, so it exists only while the engine starts.
   */
  readonly configText: string;
  readonly writer: EngineUser;
  readonly nonce: string;
  /** Called with the pid at each start, before the engine answers. */
  readonly onLaunched: (pid: number) => void;
}

const PROBE_PAUSE_MS = 10;
const PROBE_TIMEOUT_MS = 2_000;
const END_GRACE_MS = 5_000;

/** Limits of restarts, and of the checks that detect a hanging engine. */
export interface RestartLimits {
  readonly restartsMax: number;
  readonly restartWindowMs: number;
  /** Pause in ms before the second restart. It doubles for each further restart. */
  readonly pauseMs: number;
  /** Pause in ms between two checks of a running engine, and the timeout of each check. */
  readonly checkMs: number;
  /** The engine counts as hanging if this many checks in a row get no answer. */
  readonly unansweredMax: number;
}

export const RESTART_LIMITS: RestartLimits = {
  restartsMax: 8,
  restartWindowMs: 600_000,
  pauseMs: 200,
  checkMs: 10_000,
  unansweredMax: 6,
};

const PAUSE_MAX_MS = 10_000;

/**
 * Starts the engine once. Throws `unavailable` with the engine's last output, and then leaves no process
 * behind.
 */
export async function startEngine(recipe: EngineRecipe, signal: AbortSignal): Promise<EngineProcess> {
  const { configFile } = recipe.launch;
  rmSync(configFile, { force: true });
  writeFileSync(configFile, recipe.configText, { mode: 0o600 });
  try {
    const engine = launchEngine(recipe.launch);
    recipe.onLaunched(engine.pid);
    await waitUntilUp(engine, recipe, signal);
    return engine;
  } finally {
    rmSync(configFile, { force: true });
  }
}

async function waitUntilUp(engine: EngineProcess, recipe: EngineRecipe, signal: AbortSignal): Promise<void> {
  const limitMs = TIME_LIMITS.engineStartMs;
  const deadline = steadyNow() + limitMs;
  while (!(await isOurs(engine, recipe))) {
    if (engine.hasEnded()) {
      throw new AppError('unavailable', `the embedded ClickHouse did not start: ${await engine.whenEnded}`);
    }
    if (signal.aborted || steadyNow() > deadline) {
      await engine.end(0);
      const reason = signal.aborted ? 'stopped while starting' : `no answer within ${limitMs} ms`;
      throw new AppError('unavailable', `the embedded ClickHouse did not start: ${reason}`);
    }
    await delay(PROBE_PAUSE_MS);
  }
}

/**
 * Returns whether the answering server is our engine. Another program may use the port. Only an engine that
 * read our configuration file knows the password and the nonce (a random text).
 */
async function isOurs(engine: EngineProcess, recipe: EngineRecipe): Promise<boolean> {
  const port = engine.httpPort();
  if (port === null) return false;
  try {
    const sql = "SELECT getMacro('candlehouse_nonce')";
    return (await askEngine(port, recipe.writer, sql, PROBE_TIMEOUT_MS)) === recipe.nonce;
  } catch {
    return false;
  }
}

export class EngineSupervisor {
  private readonly listeners = new Set<(status: EngineStatus) => void>();
  private readonly stopSignal = new AbortController();
  /** Times of recent restarts, which are limited per time window. */
  private recentRestarts: number[] = [];
  private reviving: Promise<void> | null = null;
  private restarting: Promise<void> | null = null;
  /** The reason given to `restart`. Null if the engine ended by itself. */
  private askedReason: string | null = null;
  private stopping: Promise<void> | null = null;
  private currentStatus: EngineStatus = { state: 'up', reason: '', restarts: 0 };

  constructor(
    private engine: EngineProcess,
    private readonly recipe: EngineRecipe,
    private readonly log: Logger,
    private readonly limits: RestartLimits,
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
    return this.currentStatus;
  }

  onStatus(listener: (status: EngineStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  restart(reason: string): Promise<void> {
    this.restarting ??= this.restartOnce(reason).finally(() => {
      this.restarting = null;
    });
    return this.restarting;
  }

  private async restartOnce(reason: string): Promise<void> {
    if (this.currentStatus.state === 'up') {
      this.askedReason = reason;
      this.setState('restarting', reason);
      await this.engine.end(END_GRACE_MS);
    }
    await this.reviving;
    if (this.currentStatus.state === 'up') return;
    throw new AppError(
      'unavailable',
      `the embedded ClickHouse is ${this.currentStatus.state}: ${this.currentStatus.reason}`,
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
    void engine.whenEnded.then((endReason) => {
      if (this.stopSignal.signal.aborted) return;
      const reason = this.askedReason ?? endReason;
      this.askedReason = null;
      this.reviving = this.revive(reason).finally(() => {
        this.reviving = null;
      });
    });
    void this.checkUntilEnded(engine);
  }

  /**
   * Restarts the engine if it runs but does not answer. Ends when the engine's process ends. Counts failed
   * checks instead of time: a machine that was suspended then misses only one check. Never rejects: errors go
   * to the status.
   */
  private async checkUntilEnded(engine: EngineProcess): Promise<void> {
    const { checkMs, unansweredMax } = this.limits;
    const { signal } = this.stopSignal;
    for (let unansweredChecks = 0; unansweredChecks < unansweredMax;) {
      await delay(checkMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted || engine.hasEnded()) return;
      unansweredChecks = (await isAnswering(this.httpPort(), this.recipe.writer, checkMs))
        ? 0
        : unansweredChecks + 1;
      if (signal.aborted || engine.hasEnded()) return;
    }
    const reason = `ClickHouse did not answer ${unansweredMax} checks in a row, each within ${checkMs / 1000} s`;
    await this.restart(reason).catch(() => undefined);
  }

  /** Restarts the engine after it ended. Never rejects: errors go to the status. */
  private async revive(why: string): Promise<void> {
    let reason = why;
    while (!this.stopSignal.signal.aborted) {
      this.log.error({ reason }, 'the embedded ClickHouse ended; restarting it');
      this.setState('restarting', reason);
      const now = steadyNow();
      this.recentRestarts = this.recentRestarts.filter(
        (restartedAt) => restartedAt > now - this.limits.restartWindowMs,
      );
      const recentCount = this.recentRestarts.length;
      if (recentCount >= this.limits.restartsMax) return this.giveUp(reason);
      this.recentRestarts.push(now);
      try {
        if (recentCount > 0)
          await this.pause(Math.min(this.limits.pauseMs * 2 ** (recentCount - 1), PAUSE_MAX_MS));
        this.engine = await startEngine(this.recipe, this.stopSignal.signal);
        this.currentStatus = { ...this.currentStatus, restarts: this.currentStatus.restarts + 1 };
        this.setState('up', '');
        this.log.info({ pid: this.engine.pid }, 'the embedded ClickHouse is up again');
        return this.watch(this.engine);
      } catch (error) {
        reason = errorText(error);
      }
    }
  }

  private giveUp(reason: string): void {
    const { restartsMax, restartWindowMs: windowMs } = this.limits;
    this.setState(
      'failed',
      `gave up after ${restartsMax} restarts within ${windowMs / 1000} s; last reason: ${reason}`,
    );
    this.log.fatal(
      { reason: this.currentStatus.reason },
      'the embedded ClickHouse ended too often; not restarting it',
    );
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopSignal.signal });
  }

  private setState(state: EngineStatus['state'], reason: string): void {
    if (state === this.currentStatus.state && reason === this.currentStatus.reason) return;
    this.currentStatus = { ...this.currentStatus, state, reason };
    for (const listener of this.listeners) listener(this.currentStatus);
  }
}
