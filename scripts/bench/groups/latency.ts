/**
 * Measures the time from a new block at the node to its event at a stream client, against the insert of the block's
 * rows alone.
 */
import { request } from 'node:http';

import type { Database } from '../../../src/clickhouse/client/database';
import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import type { StubChain } from '../../../test/support/stub/stubChain';

const BLOCK_EVERY_MS = 250;
/** Wait until the stream is open, and at the end for the last events. */
const SETTLE_MS = 1_500;
const INSERTS = 40;
/** Allowed time in ms beyond the time of the insert, by percentile. */
const ALLOWED_MS = [
  [50, 50],
  [99, 150],
] as const;

export async function benchLatency(
  api: ServedApi,
  chain: StubChain,
  range: { readonly from: number; readonly to: number },
  database: Database,
): Promise<Figure[]> {
  const latencies = await timeBlocks(api, chain, range);
  const inserts = await timeInserts(database);
  // A figure of fewer than 98 % of the blocks would leave out the slowest ones.
  const areEventsComplete = latencies.length >= (range.to - range.from) * 0.98;
  return ALLOWED_MS.map(([percent, limitMs]) => {
    const value = percentile(latencies, percent);
    const limit = percentile(inserts, percent);
    return {
      name: `time from a new block to the stream client, p${percent} of ${latencies.length} blocks`,
      value,
      unit: 'ms',
      limitName: 'insert of one block of 24 rows',
      limit,
      ratio: value / limit,
      target: `<= limit + ${limitMs} ms`,
      ok: value <= limit + limitMs && areEventsComplete,
    };
  });
}

/** Reveals a block every `everyMs` ms. Returns the time in ms until the first event of each block. */
export async function timeBlocks(
  api: ServedApi,
  chain: StubChain,
  range: { readonly from: number; readonly to: number },
  everyMs = BLOCK_EVERY_MS,
): Promise<number[]> {
  const shownAt = new Map<number, number>();
  const latencies: number[] = [];
  const stream = openStream(`${api.url}/api/v1/activity/stream?event_type=swap`, (block) => {
    const blockShownAt = shownAt.get(block);
    if (blockShownAt === undefined) return;
    shownAt.delete(block);
    latencies.push(performance.now() - blockShownAt);
  });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  for (let number = range.from; number <= range.to; number += 1) {
    shownAt.set(number, performance.now());
    chain.setHead(number);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  stream.close();
  return latencies;
}

async function timeInserts(database: Database): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < INSERTS; index += 1) {
    const startedAt = performance.now();
    await database.command(
      'bench insert',
      `INSERT INTO logs_head SELECT 1, 1, number, 1, unhex(repeat('01', 20)), 0, unhex(repeat('00', 32)), unhex(repeat('00', 32)),
         unhex(repeat('00', 32)), unhex(repeat('00', 32)), '', unhex(repeat('00', 32)), 0 FROM numbers(24)`,
    );
    times.push(performance.now() - startedAt);
  }
  return times;
}

function openStream(url: string, onEvent: (block: number) => void): { close(): void } {
  const call = request(url, (response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (let lineEnd = text.indexOf('\n'); lineEnd !== -1; lineEnd = text.indexOf('\n')) {
        const block = /^id: ?(\d+)-/.exec(text.slice(0, lineEnd))?.[1];
        text = text.slice(lineEnd + 1);
        if (block !== undefined) onEvent(Number(block));
      }
    });
    response.on('error', () => undefined);
  });
  call.on('error', () => undefined);
  call.end();
  return { close: () => call.destroy() };
}
