/** The built program over a real node with a test world, for end-to-end tests that trade and compare. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { WorldToken } from '../../../src/dev/world/world';
import type { WorldPlan } from '../../../src/dev/world/worldPlan';
import { deployTestWorld, startTestAnvil, type TestAnvil, type TestWorld } from '../node/anvil';
import { startProgram, type Program, type Settings } from './program';

export interface WorldProgram {
  readonly anvil: TestAnvil;
  readonly world: TestWorld;
  /** Ingests the whole history. */
  readonly program: Program;
  /** Settings of `program`, for commands beside it. */
  readonly settings: Settings;
  /**
   * Starts another program over the same node, without the blocks before `startBlock`. Its data folder depends only on
   * `startBlock`.
   */
  start(startBlock: number, settings?: Settings): Promise<Program>;
  /** The `data` of an answer below `/api/v1`. Throws for an error. */
  get<T>(path: string, from?: Program): Promise<T>;
  /** Ends the node and `program`, but no other program. */
  close(): Promise<void>;
}

export async function startWorldProgram(plan?: WorldPlan): Promise<WorldProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-world-'));
  const anvil = await startTestAnvil();
  const world = await deployTestWorld(anvil, plan);
  const description = join(folder, 'chain.json');
  writeFileSync(description, JSON.stringify(world.chainDescription));
  const settingsFrom = (startBlock: number): Settings => ({
    RPC_URL: anvil.wsUrl,
    CHAIN_CONFIG: description,
    START_BLOCK: String(startBlock),
    FINALITY_DEPTH: '10',
    DATA_DIR: join(folder, `data-${startBlock}`),
    RATE_LIMIT_PER_MINUTE: '0',
  });
  const start = (startBlock: number, settings: Settings = {}): Promise<Program> =>
    startProgram('all', { ...settingsFrom(startBlock), ...settings });
  const program = await start(0);
  return {
    anvil,
    world,
    program,
    settings: settingsFrom(0),
    start,
    async get<T>(path: string, from = program): Promise<T> {
      const answer = await fetch(`${from.url}/api/v1${path}`);
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return ((await answer.json()) as { data: T }).data;
    },
    async close() {
      await program.end('SIGTERM');
      await anvil.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Raw units of the token that are worth `usd` at its true price. */
export function rawWorth({ priceUsd, decimals }: WorldToken, usd: number): bigint {
  return (BigInt(Math.round((usd / priceUsd) * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n;
}
