/** Measures what each further chain of CHAINS costs an instance without requests: memory and processor time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { databaseUrl, memoryFigure, say, type Bench } from '../bench';
import { processorSeconds, residentBytes } from '../children/childProcess';
import type { Figure } from '../figure';
import { serveApi, type ServedApi } from '../loaders/servedApi';
import { startStubChain, type StubChain } from '../../../test/support/stub/stubChain';
import { stubDescription } from '../../../test/support/stub/stubDescription';

const CHAIN_IDS = [369, 8_453, 42_161];
/** Head of each node when the program starts, so that every chain has stored blocks before the measured ones. */
const FIRST_HEAD = 200;
const BLOCK_EVERY_MS = 10_000;
/** Blocks before the measured ones: for a minute after a request, the API builds its tables for each block. */
const WARM_BLOCKS = 8;
/** Number of blocks that are measured. */
const BLOCKS = Number(process.env['BENCH_CHAINS_BLOCKS'] ?? 9);
/** Time in ms without blocks that is measured. */
const RESTING_MS = 60_000;
/** Allowed growth with each further chain: share of one core, and memory. */
const SHARE_MAX = 0.02;
const MEMORY_MAX_MB = 150;

/** Memory in MB, and shares of one core, of program and engine. */
interface Cost {
  readonly memoryMb: readonly [program: number, engine: number];
  readonly following: readonly [program: number, engine: number];
  readonly resting: readonly [program: number, engine: number];
}

export async function benchChains({ server, folder, figures }: Bench): Promise<void> {
  const costs: Cost[] = [];
  for (let count = 1; count <= CHAIN_IDS.length; count += 1) {
    say(`measuring an instance with ${count} chains …`);
    const cost = await measure(CHAIN_IDS.slice(0, count), server, folder);
    say(JSON.stringify({ chains: count, ...cost }));
    costs.push(cost);
  }
  const [costOfOneChain, costOfAllChains] = [costs[0], costs.at(-1)];
  if (costOfOneChain === undefined || costOfAllChains === undefined) return;
  /** Growth of a part of the cost with each further chain. */
  const growth = (partOf: (cost: Cost) => readonly [number, number]): number =>
    (sumOf(partOf(costOfAllChains)) - sumOf(partOf(costOfOneChain))) / (CHAIN_IDS.length - 1);
  figures.push(
    memoryFigure(
      'memory of program and engine per further chain',
      growth((cost) => cost.memoryMb),
      MEMORY_MAX_MB,
    ),
    shareFigure(
      'without blocks',
      growth((cost) => cost.resting),
    ),
    shareFigure(
      'with a block of 24 logs every 10 s',
      growth((cost) => cost.following),
    ),
  );
}

const sumOf = ([program, engine]: readonly [number, number]): number => program + engine;

function shareFigure(when: string, share: number): Figure {
  return {
    name: `processor time of program and engine per further chain, ${when}`,
    value: share * 100,
    unit: '% of one core',
    limitName: 'target',
    limit: SHARE_MAX * 100,
    ratio: share / SHARE_MAX,
    target: `<= ${SHARE_MAX * 100} %`,
    ok: share <= SHARE_MAX,
  };
}

async function measure(chainIds: readonly number[], server: Bench['server'], folder: string): Promise<Cost> {
  const nodes = await Promise.all(
    chainIds.map((chainId) =>
      startStubChain({
        blocks: FIRST_HEAD + WARM_BLOCKS + BLOCKS,
        logsPerBlock: 24,
        pairs: 200,
        seed: chainId,
        chainId,
      }),
    ),
  );
  for (const node of nodes) node.setHead(FIRST_HEAD);
  const settings: Record<string, string> = {
    CHAINS: chainIds.join(','),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, `candlehouse_chains${chainIds.length}`),
  };
  for (const [index, chainId] of chainIds.entries()) {
    const file = join(folder, `${chainId}.json`);
    writeFileSync(file, JSON.stringify({ ...stubDescription(), chainId, name: `Chain ${chainId}` }));
    settings[`CHAIN_CONFIG_${chainId}`] = file;
    settings[`RPC_URL_${chainId}`] = nodes[index]?.wsUrl ?? '';
  }
  const api = await serveApi('all', settings);
  try {
    await follow(nodes, FIRST_HEAD, WARM_BLOCKS);
    const following = await measureShares(api, server, () => follow(nodes, FIRST_HEAD + WARM_BLOCKS, BLOCKS));
    const resting = await measureShares(api, server, () => delay(RESTING_MS));
    const [program, engine] = pidsOf(api, server).map((pid) => residentBytes(pid) / 2 ** 20);
    return { memoryMb: [program ?? 0, engine ?? 0], following, resting };
  } finally {
    await api.stop();
    for (const node of nodes) await node.close();
  }
}

async function follow(nodes: readonly StubChain[], from: number, blocks: number): Promise<void> {
  for (let number = from + 1; number <= from + blocks; number += 1) {
    for (const node of nodes) node.setHead(number);
    await delay(BLOCK_EVERY_MS);
  }
}

const pidsOf = (api: ServedApi, server: Bench['server']): readonly number[] => [api.pid, server.pid()];

/** Shares of one core that the processes use while `run` runs. */
async function measureShares(
  api: ServedApi,
  server: Bench['server'],
  run: () => Promise<unknown>,
): Promise<[program: number, engine: number]> {
  const secondsBefore = pidsOf(api, server).map(processorSeconds);
  const startedAt = performance.now();
  await run();
  const seconds = (performance.now() - startedAt) / 1_000;
  const [program, engine] = pidsOf(api, server).map(
    (pid, index) => (processorSeconds(pid) - (secondsBefore[index] ?? 0)) / seconds,
  );
  return [program ?? 0, engine ?? 0];
}
