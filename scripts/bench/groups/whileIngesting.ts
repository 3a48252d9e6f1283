/** Measures ticks while twenty blocks a second arrive, against the same queries while no block arrives. */
import { setTimeout as delay } from 'node:timers/promises';

import { startProgram } from '../../../test/support/server/program';
import { percentile, type Figure } from '../figure';
import type { LoadedFolder } from '../loaders/loadedFolder';
import { untilReady } from './recovery';
import { createAsks, pathOf } from './ticks';

const BLOCK_MS = 50;
/** The two measurements alternate, so that noise affects both alike. */
const ROUNDS = 8;
const ASKS_PER_ROUND = 60;
const WARM_UP = 60;
const TARGET_RATIO = 2;

export async function benchWhileIngesting({ load, chain, settings }: LoadedFolder): Promise<Figure[]> {
  const program = await startProgram('all', settings);
  try {
    await untilReady(program, chain);
    const asks = createAsks(load, WARM_UP + 2 * ROUNDS * ASKS_PER_ROUND);
    const askNext = async (times: number[]): Promise<void> => {
      const ask = asks.pop();
      if (ask === undefined) return;
      const startedAt = performance.now();
      const answer = await fetch(`${program.url}${pathOf(ask)}`);
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${answer.status} of ${pathOf(ask)}`);
      times.push(performance.now() - startedAt);
    };
    for (let index = 0; index < WARM_UP; index += 1) await askNext([]);
    const stillTimes: number[] = [];
    const busyTimes: number[] = [];
    const firstHead = chain.head;
    let busyMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let index = 0; index < ASKS_PER_ROUND; index += 1) await askNext(stillTimes);
      const beganAt = performance.now();
      const blocks = setInterval(() => chain.setHead(chain.head + 1), BLOCK_MS);
      for (let index = 0; index < ASKS_PER_ROUND; index += 1) await askNext(busyTimes);
      clearInterval(blocks);
      busyMs += performance.now() - beganAt;
      await untilReady(program, chain);
      await delay(200);
    }
    const value = percentile(busyTimes, 99);
    const limit = percentile(stillTimes, 99);
    const rate = ((chain.head - firstHead) / busyMs) * 1_000;
    const medianText = `p50 ${percentile(busyTimes, 50).toFixed(1)} ms, without blocks ${percentile(stillTimes, 50).toFixed(1)} ms`;
    return [
      {
        name: `ticks, ${load.swaps} swaps, while ${rate.toFixed(0)} blocks/s are ingested, p99 (${medianText})`,
        value,
        unit: 'ms',
        limitName: 'the same without new blocks',
        limit,
        ratio: value / limit,
        target: `<= ${TARGET_RATIO}x`,
        ok: value <= TARGET_RATIO * limit,
      },
    ];
  } finally {
    await program.end('SIGTERM');
  }
}
