/**
 * Measures starts over a folder with millions of swaps. After a clean stop, measures the time until the first bar.
 * After a `kill -9` with a half-written range, measures the time until the program is ready at the node's head.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { z } from 'zod';

import { startEmbeddedServer } from '../../../src/clickhouse/engine/server';
import type { Logger } from '../../../src/log';
import { startProgram, type Program } from '../../../test/support/server/program';
import { median, type Figure } from '../figure';
import type { LoadedFolder } from '../loaders/loadedFolder';
import type { StubChain } from '../../../test/support/stub/stubChain';
import { loadedPair } from '../loaders/swapLoader';

const ROUNDS = 5;
const READY_MAX_MS = 120_000;

export async function benchRecovery(
  loaded: LoadedFolder,
  log: Logger,
  say: (text: string) => void,
): Promise<Figure[]> {
  const { chain, settings, load } = loaded;
  const cleanStarts: StartTimes[] = [];
  const secondsAfterKill: number[] = [];
  const engineSeconds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    say(`start ${round + 1} of ${ROUNDS} …`);
    engineSeconds.push(await timeEngine(settings.DATA_DIR, log));
    cleanStarts.push(await timeStart(loaded));
    // Prepares a start after a kill: the chain grows by 200 blocks, most of them become final, and the program is
    // killed while it stores the blocks.
    const program = await startProgram('all', settings);
    await untilReady(program, chain);
    chain.setHead(chain.head + 200);
    await delay(300 + 100 * round);
    await program.end('SIGKILL');
    secondsAfterKill.push((await timeStart(loaded)).readySeconds);
  }
  const barSeconds = cleanStarts.map((start) => start.barSeconds);
  const makeFigure = (
    name: string,
    value: number,
    limitName: string,
    limit: number,
    target: number,
  ): Figure => ({
    name: `${name}, ${load.swaps} swaps`,
    value,
    unit: 's',
    limitName,
    limit,
    ratio: value / limit,
    target: `<= ${target} s`,
    ok: value <= target,
  });
  return [
    makeFigure(
      `time from start to first bar, median of ${ROUNDS} (maximum ${Math.max(...barSeconds).toFixed(1)} s)`,
      median(barSeconds),
      'start of the engine alone',
      median(engineSeconds),
      3,
    ),
    makeFigure(
      `time from start after kill -9 to ready, maximum of ${ROUNDS} (median ${median(secondsAfterKill).toFixed(1)} s)`,
      Math.max(...secondsAfterKill),
      'start after a clean stop',
      median(cleanStarts.map(({ readySeconds }) => readySeconds)),
      10,
    ),
  ];
}

interface StartTimes {
  /** Seconds until the program was ready at the node's head. */
  readonly readySeconds: number;
  /** Seconds until the program answered with a bar. */
  readonly barSeconds: number;
}

/** Starts the program, measures the start, and stops the program. */
async function timeStart({ settings, chain }: LoadedFolder): Promise<StartTimes> {
  const startedAt = performance.now();
  const secondsSinceStart = (): number => (performance.now() - startedAt) / 1000;
  const program = await startProgram('all', settings);
  const path = `/api/v1/pairs/0x${loadedPair(0)}/ticks?timeframe=1h&currency=quote&limit=1`;
  while (!(await hasBar(`${program.url}${path}`))) await delay(20);
  const barSeconds = secondsSinceStart();
  await untilReady(program, chain);
  const readySeconds = secondsSinceStart();
  await program.end('SIGTERM');
  return { readySeconds, barSeconds };
}

async function hasBar(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => null);
  const body: unknown = await answer?.json();
  const { data } = z.object({ data: z.array(z.unknown()).default([]) }).parse(body ?? {});
  return data.length > 0;
}

/** Seconds for the start of the database server alone. */
async function timeEngine(dataDir: string, log: Logger): Promise<number> {
  const startedAt = performance.now();
  const server = await startEmbeddedServer({ dataDir, log });
  const seconds = (performance.now() - startedAt) / 1000;
  await server.stop();
  return seconds;
}

export async function untilReady({ url, output }: Program, chain: StubChain): Promise<void> {
  const endsAt = performance.now() + READY_MAX_MS;
  while (performance.now() < endsAt) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200 && Number(answer.headers.get('x-indexed-block')) === chain.head) return;
    await delay(20);
  }
  throw new Error(`not ready within ${READY_MAX_MS} ms:\n${output().slice(-3_000)}`);
}
