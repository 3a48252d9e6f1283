/**
 * The group `profile`: the processor time of the main thread in a backfill, by part of the ingester. The parts come from
 * a profile of V8, whose samples are of real time, so they are scaled to the processor time of the thread.
 */
import { Session, type Profiler } from 'node:inspector';

import { createDatabase, log, say, type Bench } from '../../bench';
import { mainThreadSeconds, startBenchChild } from '../../children/childProcess';
import type { Figure } from '../../figure';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';
import { askRows } from '../../../../test/support/engine/askRows';
import { ingest } from './backfill';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 1_600);
const LOGS_PER_BLOCK = Number(process.env['BENCH_LOGS_PER_BLOCK'] ?? 200);
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 2_000);
/** On a real chain, most tokens are in one or two pairs. */
const TOKENS = Number(process.env['BENCH_TOKENS'] ?? 200);
/** Part of the blocks that are stored once before, so that the profiled code is compiled. */
const WARM_PART = 0.4;
const SAMPLE_MICROSECONDS = 200;

type Pattern = readonly [part: string, of: RegExp];

/** Parts by a function anywhere on the stack. */
const CALLERS: readonly Pattern[] = [
  ['garbage collection', /\(garbage collector\)/],
  ['prices: routes of an epoch', /openEpoch/],
  ['prices: routes of new tokens', /routeRecent/],
];
/** Parts by the file of the innermost function that has one. */
const FILES: readonly Pattern[] = [
  ['reading JSON', /node\/rpc\/(slicedJson|stringCache|objectShape)/],
  ['fields and checks', /node\/(blocks\/(parseBlock|fetchByReceipts|checkBlocks|blockChecker)|proof)/],
  ['bloom', /node\/blocks\/bloom/],
  ['transfers', /decodeTransfers/],
  ['events of pools', /ingest\/(decode\/decode|pools)|src\/protocols/],
  ['prices: hops', /src\/pricing/],
  ['prices: rows', /ingest\/(price|rows\/blockRows)/],
  ['row writers', /clickhouse\/rows|ingest\/rows/],
  ['HTTP of the node', /undici|node\/rpc/],
  ['HTTP of ClickHouse', /clickhouse\/client/],
  ['session and tokens', /src\/(ingest|node)/],
];
const OTHER = 'other';
const IDLE = '(idle)';

export async function benchProfile({ server, figures }: Bench): Promise<void> {
  say('profiling a backfill …');
  const chain = { blocks: BLOCKS, logsPerBlock: LOGS_PER_BLOCK, pairs: PAIRS, firstTokens: TOKENS };
  const node = await startBenchChild('stubServer', chain);
  const warm = await createDatabase(server.writerUrl, 'candlehouse_profile_warm');
  await ingest(node.url, warm, Math.round(WARM_PART * BLOCKS), log);
  const database = await createDatabase(server.writerUrl, 'candlehouse_profile');
  const secondsBefore = mainThreadSeconds();
  const profile = await profileOf(() => ingest(node.url, database, BLOCKS - UNFINAL_BLOCKS, log));
  const seconds = mainThreadSeconds() - secondsBefore;
  const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
  figures.push(...toFigures(sumParts(profile), (1e6 * seconds) / Number(row?.logs)));
  for (const used of [warm, database]) await used.close();
  await node.close();
}

async function profileOf(work: () => Promise<unknown>): Promise<Profiler.Profile> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
  session.post('Profiler.start');
  await work();
  return new Promise((resolve, reject) => {
    session.post('Profiler.stop', (error, { profile }) =>
      error === null ? resolve(profile) : reject(error),
    );
  });
}

/** Sampled microseconds by part, without those of an idle thread. */
function sumParts({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const partById = new Map<number, string>();
  for (const { id } of nodes) {
    const stack: string[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at)) {
      const frame = nodeById.get(at)?.callFrame;
      stack.push(`${frame?.functionName ?? ''} ${frame?.url ?? ''}`);
    }
    const caller = CALLERS.find(([, of]) => stack.some((text) => of.test(text)));
    partById.set(id, caller?.[0] ?? partOfFiles(stack));
  }
  const sums = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    if (nodeById.get(id)?.callFrame.functionName === IDLE) continue;
    const part = partById.get(id) ?? OTHER;
    sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return sums;
}

function partOfFiles(stack: readonly string[]): string {
  for (const text of stack) {
    const file = FILES.find(([, of]) => of.test(text));
    if (file !== undefined) return file[0];
  }
  return OTHER;
}

/** `limit`: processor time of the thread per log, in microseconds. */
function toFigures(sums: ReadonlyMap<string, number>, limit: number): Figure[] {
  const total = [...sums.values()].reduce((sum, time) => sum + time, 0);
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .map(([part, time]) => ({
      name: `processor time of the main thread per backfilled log: ${part}`,
      value: (limit * time) / total,
      unit: 'us',
      limitName: 'all parts',
      limit,
      ratio: time / total,
      target: 'printed',
      ok: true,
    }));
}
