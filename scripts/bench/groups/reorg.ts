/**
 * Measures a reorg of 64 blocks: from the node's notification until the API answers as of the new head, against the
 * time for fetching these blocks alone.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { percentile, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import type { StubBranch, StubChain } from '../../../test/support/stub/stubChain';

const DEPTH_BLOCKS = 64;
const ROUNDS = 20;
/**
 * Pause in ms in which the tables of the previous head are built. A real chain does not have two reorgs
 * within a tenth of a block time.
 */
const GAP_MS = 1_000;
const SHOWN_MAX_MS = 20_000;
/** The API polls rarely, because constant polling would take processor time from the measured work. */
const POLL_MS = 5;

/** Reorganizes the chain repeatedly, to new branches and back to old ones. */
export async function benchReorg(api: ServedApi, chain: StubChain, logsPerBlock: number): Promise<Figure[]> {
  await untilShown(api, '/activity?limit=1', headOf(chain));
  const { data } = JSON.parse(await api.get('/api/v1/pairs?limit=1')) as { data: { address: string }[] };
  const asks = [
    ['bars of a pair', `/pairs/${data[0]?.address}/ticks?timeframe=1m&limit=300`],
    ['newest events', '/activity?limit=1'],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, path] of asks)
    figures.push(await measure(api, chain, path, `${name}, ${logsPerBlock} logs a block`));
  return figures;
}

async function measure(api: ServedApi, chain: StubChain, path: string, name: string): Promise<Figure> {
  const times: number[] = [];
  const fetchTimesMs: number[] = [];
  let leftBranch: StubBranch | null = null;
  for (let round = 0; round < ROUNDS; round += 1) {
    // Creates the branch in advance: building its blocks is not measured.
    const blocksBefore = chain.blocks.slice(chain.head - DEPTH_BLOCKS + 1, chain.head + 1);
    // Each fourth round returns to the branch that the round before left.
    if (round % 4 !== 3 || leftBranch === null || !chain.restore(leftBranch))
      chain.reorg(DEPTH_BLOCKS, DEPTH_BLOCKS);
    leftBranch = blocksBefore;
    const hash = headOf(chain);
    const shownAt = await untilShown(api, path, hash);
    times.push(shownAt - (chain.toldAt(hash) ?? NaN));
    fetchTimesMs.push(await timeFetch(chain));
    await delay(GAP_MS);
  }
  const value = percentile(times, 50);
  const limit = percentile(fetchTimesMs, 50);
  const [p90, largest] = [percentile(times, 90), Math.max(...times)].map(Math.round);
  return {
    name: `time from a reorg of ${DEPTH_BLOCKS} blocks to correct ${name}, p50 of ${times.length} (p90 ${p90}, maximum ${largest} ms)`,
    value,
    unit: 'ms',
    limitName: 'fetching these blocks alone',
    limit,
    ratio: value / limit,
    target: '<= 200 ms',
    ok: value <= 200,
  };
}

function headOf(chain: StubChain): string {
  return chain.blocks[chain.head]?.hash ?? '';
}

/**
 * Resolves to the time of the first answer as of this block, ms of performance.now(). Polls an endpoint that costs the
 * API nothing to detect the block.
 */
async function untilShown(api: ServedApi, path: string, hash: string): Promise<number> {
  const endsAt = performance.now() + SHOWN_MAX_MS;
  while (performance.now() < endsAt) {
    if ((await readHeadHash(`${api.url}/readyz`)) !== hash) await delay(POLL_MS);
    else if ((await readHeadHash(`${api.url}/api/v1${path}`)) === hash) return performance.now();
  }
  throw new Error(`the API did not reach block ${hash} within ${SHOWN_MAX_MS} ms`);
}

/** Hash of the newest block that the answer includes. */
async function readHeadHash(url: string): Promise<string | null> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.headers.get('x-indexed-block-hash');
}

/** Time to receive and parse headers and receipts of the branch in one batch. */
async function timeFetch(chain: StubChain): Promise<number> {
  const numbers = Array.from(
    { length: DEPTH_BLOCKS },
    (_, index) => `0x${(chain.head - index).toString(16)}`,
  );
  const calls = numbers.flatMap((number) => [
    { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: [number, false] },
    { jsonrpc: '2.0', id: 2, method: 'eth_getBlockReceipts', params: [number] },
  ]);
  const startedAt = performance.now();
  const answer = await fetch(chain.url, { method: 'POST', body: JSON.stringify(calls) });
  await answer.json();
  return performance.now() - startedAt;
}
