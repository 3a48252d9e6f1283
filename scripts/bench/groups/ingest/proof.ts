/**
 * Measures the cost of the proof of blocks: compares the speed of a backfill, and the time from a block to a stream
 * client, with PROOF=full and PROOF=bloom. Both variants alternate.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { BlockProver } from '../../../../src/node/proof/blockProof';
import { isRecord } from '../../../../src/node/rpc/rpcTransport';
import { createDatabase, databaseUrl, log, say, writeDescription, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';
import { askRows } from '../../../../test/support/engine/askRows';
import { startStubChain, UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';
import { serveApi } from '../../loaders/servedApi';
import { ingest } from './backfill';
import { timeBlocks } from '../latency';

const MODES = ['bloom', 'full'] as const;
type Mode = (typeof MODES)[number];

/** Number of logs of each backfill. */
const LOGS = Number(process.env['BENCH_PROOF_LOGS'] ?? 100_000);
/** Each round runs both modes, one after the other. Many short rounds, because the speed of a shared machine changes. */
const ROUNDS = 11;
/** Number of blocks at the head in each of HEAD_ROUNDS rounds. With shorter intervals, blocks would wait for each other. */
const HEADS = 60;
const HEAD_ROUNDS = 2;
const HEAD_EVERY_MS = 700;
/** Blocks before the measured ones: the first blocks after a start wait for the rest of the backfill. */
const FIRST_HEAD = 100;
const WARM_HEADS = 10;
/** How often each block is proven, to measure the work of the proof. */
const WORK_ROUNDS = 20;
/** Allowed growth of the time from a block to the client. */
const GROWTH_MAX_MS = 10;
const HEAD_OPTIONS = { logsPerBlock: 500, pairs: 200, transactionsMin: 200, provable: true };

export async function benchProof(bench: Bench): Promise<void> {
  // The first figure, while the database server has nothing to merge.
  bench.figures.push(await timeProofWork());
  for (const logsPerBlock of [20, 100]) bench.figures.push(await timeBackfills(bench, logsPerBlock));
  bench.figures.push(await timeHeads(bench));
}

/** The mode that runs first changes from round to round. */
function orderOf(round: number): readonly Mode[] {
  return round % 2 === 0 ? MODES : [...MODES].reverse();
}

async function timeBackfills({ server }: Bench, logsPerBlock: number): Promise<Figure> {
  say(`proving a backfill with ${logsPerBlock} logs a block …`);
  const blocks = Math.round(LOGS / logsPerBlock);
  const options = { blocks, logsPerBlock, pairs: 500, onlyV2: true, provable: true };
  const node = await startBenchChild('stubServer', options);
  const rates: Record<Mode, number[]> = { bloom: [], full: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const mode of orderOf(round)) {
      const name = `candlehouse_proof_${logsPerBlock}_${mode}_${round}`;
      const database = await createDatabase(server.writerUrl, name);
      const proof = { mode, trusted: null };
      const seconds = await ingest(node.url, database, blocks - UNFINAL_BLOCKS, log, undefined, { proof });
      const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
      rates[mode].push(Number(row?.logs ?? 0) / seconds);
      await database.command('drop', `DROP DATABASE ${name}`);
      await database.close();
    }
  await node.close();
  const ratios = rates.full.map((rate, round) => rate / (rates.bloom[round] ?? NaN));
  const ratio = percentile(ratios, 50);
  return {
    name: `backfill with proven blocks, ${logsPerBlock} logs a block; the ratio is the median of ${ROUNDS} rounds`,
    value: percentile(rates.full, 50),
    unit: 'logs/s',
    limitName: 'the same with PROOF=bloom',
    limit: percentile(rates.bloom, 50),
    ratio,
    target: '>= 0.8x',
    ok: ratio >= 0.8,
  };
}

/**
 * Times from the block to the client. On a shared machine, the p99 of two rounds of one mode differ by more than the
 * limit of 10 ms, so the figure compares medians. `timeProofWork` measures the p99 at its source.
 */
async function timeHeads(bench: Bench): Promise<Figure> {
  say('proving blocks at the head …');
  const times: Record<Mode, number[]> = { bloom: [], full: [] };
  for (let round = 0; round < HEAD_ROUNDS; round += 1)
    for (const mode of orderOf(round)) times[mode].push(...(await timeHeadsOf(bench, mode, round)));
  const percentileOf = (mode: Mode, percent: number): number => percentile(times[mode], percent);
  const [value, limit] = [percentileOf('full', 50), percentileOf('bloom', 50)];
  const p99Text = `p99 ${percentileOf('full', 99).toFixed(0)} ms, with PROOF=bloom ${percentileOf('bloom', 99).toFixed(0)} ms`;
  return {
    name: `time from a new block of 200 transactions and 500 logs to the stream client, proven, p50 of ${times.full.length} (${p99Text})`,
    value,
    unit: 'ms',
    limitName: 'the same with PROOF=bloom',
    limit,
    ratio: value / limit,
    target: `<= limit + ${GROWTH_MAX_MS} ms`,
    ok: value <= limit + GROWTH_MAX_MS,
  };
}

async function timeHeadsOf({ server, folder }: Bench, mode: Mode, round: number): Promise<number[]> {
  const firstMeasured = FIRST_HEAD + WARM_HEADS;
  const chain = await startStubChain({ ...HEAD_OPTIONS, blocks: firstMeasured + HEADS });
  chain.setHead(FIRST_HEAD);
  const name = `candlehouse_proof_head_${mode}_${round}`;
  const database = await createDatabase(server.writerUrl, name);
  const api = await serveApi('all', {
    RPC_URL: chain.wsUrl,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    PROOF: mode,
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, name),
  });
  while ((await api.head()) !== String(FIRST_HEAD)) await delay(100);
  await timeBlocks(api, chain, { from: FIRST_HEAD + 1, to: firstMeasured }, HEAD_EVERY_MS);
  const times = await timeBlocks(
    api,
    chain,
    { from: firstMeasured + 1, to: firstMeasured + HEADS },
    HEAD_EVERY_MS,
  );
  await api.stop();
  await database.close();
  await chain.close();
  return times;
}

/**
 * The work that PROOF=full adds to a block before it is stored: parsing transactions with all fields instead of their
 * hashes, and the proof. Both block the thread that stores the block, so a client sees the block later by this time.
 */
async function timeProofWork(): Promise<Figure> {
  say('measuring the work of the proof …');
  const chain = await startStubChain({ ...HEAD_OPTIONS, blocks: FIRST_HEAD });
  const callNode = async (method: string, params: readonly unknown[]): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method, params });
    const answer = await fetch(chain.url, { method: 'POST', body });
    return answer.text();
  };
  const blocks: { readonly bodies: string; readonly hashes: string; readonly receipts: unknown }[] = [];
  for (let number = 1; number < FIRST_HEAD; number += 1) {
    const blockNumber = `0x${number.toString(16)}`;
    const bodies = await callNode('eth_getBlockByNumber', [blockNumber, true]);
    const hashes = await callNode('eth_getBlockByNumber', [blockNumber, false]);
    blocks.push({
      bodies,
      hashes,
      receipts: resultOf(await callNode('eth_getBlockReceipts', [blockNumber])),
    });
  }
  await chain.close();
  const prover = await BlockProver.create();
  const addedTimesMs: number[] = [];
  for (let round = 0; round < WORK_ROUNDS; round += 1)
    for (const { bodies, hashes, receipts } of blocks) {
      const startedAt = performance.now();
      resultOf(hashes);
      const provenFrom = performance.now();
      const header = resultOf(bodies);
      if (!isRecord(header) || !Array.isArray(receipts)) throw new Error('the node has no such block');
      const { fault } = prover.prove({ header, receipts });
      if (fault !== null) throw new Error(fault.text);
      // The first round does not count, because its code is not compiled yet.
      if (round > 0) addedTimesMs.push(performance.now() - provenFrom - (provenFrom - startedAt));
    }
  const value = percentile(addedTimesMs, 99);
  return {
    name: `time that the proof of a block of 200 transactions and 500 logs adds, p99 of ${addedTimesMs.length} (p50 ${percentile(addedTimesMs, 50).toFixed(1)} ms)`,
    value,
    unit: 'ms',
    limitName: 'growth of the time from block to client',
    limit: GROWTH_MAX_MS,
    ratio: value / GROWTH_MAX_MS,
    target: '<= limit',
    ok: value <= GROWTH_MAX_MS,
  };
}

function resultOf(text: string): unknown {
  const answer: unknown = JSON.parse(text);
  return isRecord(answer) ? answer['result'] : undefined;
}
