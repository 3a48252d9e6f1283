/**
 * Runs one soak test: the built program with its embedded database server over a growing chain with reorgs.
 * Request loops keep the machine busy, and stream clients come and go. At the end, an independent
 * recomputation judges the results.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '../../test/support/eventually';
import { FastRandom, Random } from '../../test/support/random';
import { EventFollower } from '../../test/support/server/eventFollower';
import {
  enginePid,
  runProgram,
  startProgram,
  waitForBlock,
  type Program,
} from '../../test/support/server/program';
import { describeDifference, StubTruth } from '../../test/support/stub/stubTruth';
import { startStubChain, type StubChain } from '../../test/support/stub/stubChain';
import { stubDescription } from '../../test/support/stub/stubDescription';
import { ChainLoad } from '../kills/killRun';
import { judgeMemory, type MemoryReport, type MemorySample } from './memory';
import { Questions, type Question } from './questions';

interface SoakOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Number of parallel request loops. */
  readonly askers: number;
  readonly say: (text: string) => void;
}

export interface SoakReport {
  readonly requests: number;
  /** Times of all answers in milliseconds, ascending. */
  readonly times: readonly number[];
  /** Times of the answers in milliseconds, by path. */
  readonly asked: ReadonlyMap<string, readonly number[]>;
  /** Number of requests that were answered with 503, and were sent again. */
  readonly late: number;
  /** Paths of the OpenAPI document to request. */
  readonly paths: readonly string[];
  readonly events: number;
  readonly connections: number;
  readonly blocks: number;
  readonly reorgs: number;
  readonly memory: { readonly program: MemoryReport; readonly engine: MemoryReport };
  /** All faults found. */
  readonly faults: readonly string[];
}

const FIRST_HEAD = 300;
const LOGS_PER_BLOCK = 16;
const PAIRS = 12;
/** Time in ms between two steps of the chain: twenty times as fast as PulseChain. */
const STEP_MS = 500;
const SAMPLE_EVERY_MS = 500;
const TELL_EVERY_MS = 30_000;
/** Longest time in ms of one connection, for each stream client. */
const FOLLOWERS_MS = [400, 3_000, 15_000];
/** Most faults to collect, so that a repeated fault does not flood the report. */
const FAULTS_MAX = 20;
/** The path that answers 503 while the API is behind, which is no fault. */
const READY = '/readyz';

interface Traffic {
  readonly times: number[];
  readonly asked: Map<string, number[]>;
  readonly faults: Set<string>;
  /** Number of requests that were answered with 503, and were sent again. */
  late: number;
}

export async function runSoak({ seconds, seed, askers, say }: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-soak-'));
  const chain = await startStubChain({
    blocks: FIRST_HEAD,
    logsPerBlock: LOGS_PER_BLOCK,
    pairs: PAIRS,
    seed,
  });
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    DATA_DIR: join(folder, 'data'),
  };
  const program = await startProgram('all', settings);
  try {
    await waitForBlock(program.url, FIRST_HEAD);
    const report = await soak(program, chain, settings.DATA_DIR, { seconds, seed, askers, say });
    await program.end('SIGTERM');
    const { code, output } = await runProgram(['verify'], settings);
    const faults = code === 0 ? report.faults : [...report.faults, `verify: ${output.slice(-500)}`];
    return { ...report, faults };
  } finally {
    if (!program.hasEnded()) await program.end('SIGKILL');
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function soak(
  program: Program,
  chain: StubChain,
  dataDir: string,
  { seconds, seed, askers, say }: SoakOptions,
): Promise<SoakReport> {
  const random = new FastRandom(seed);
  const questions = await Questions.read(program.url, random);
  const traffic: Traffic = { times: [], asked: new Map(), faults: new Set(), late: 0 };
  const errors = watchLog(program);
  const load = new ChainLoad(chain, new Random(seed), Infinity);
  const streamUrl = `${program.url}/api/v1/activity/stream`;
  const firstBlock = chain.head;
  const followers = FOLLOWERS_MS.map(
    (stayMs) =>
      new EventFollower(() => streamUrl, new Random(seed + stayMs), `${firstBlock}-1048575`, stayMs),
  );
  for (const follower of followers) follower.begin();
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  const memory = sampleMemory(program, dataDir, startedAt, endsAt, (memoryText) =>
    say(`${memoryText}, ${traffic.times.length} answers, block ${chain.head}`),
  );
  const chainTimer = setInterval(() => load.step(), STEP_MS);
  const askerRuns = Array.from({ length: askers }, async () => {
    while (performance.now() < endsAt || !questions.areAllAsked)
      await ask(program.url, questions.next(chain.final), traffic);
  });
  await Promise.all(askerRuns);
  clearInterval(chainTimer);
  const samples = await memory;
  const faults = [...traffic.faults, ...errors];
  faults.push(...(await compare(program.url, chain, followers, firstBlock)));
  return {
    requests: traffic.times.length,
    times: traffic.times.sort((a, b) => a - b),
    asked: traffic.asked,
    late: traffic.late,
    paths: questions.names,
    events: followers.reduce((sum, follower) => sum + follower.net().length, 0),
    connections: followers.reduce((sum, { connections }) => sum + connections, 0),
    blocks: chain.head,
    reorgs: load.reorgs,
    memory: { program: judgeMemory(samples.program), engine: judgeMemory(samples.engine) },
    faults: faults.slice(0, FAULTS_MAX),
  };
}

/** A service on a machine that is too slow answers 503, and its clients ask again. */
async function ask(url: string, question: Question, traffic: Traffic): Promise<void> {
  const attempt = async (): Promise<string | null> => {
    const retryText = await askOnce(url, question, traffic);
    if (retryText !== null) traffic.late += 1;
    return retryText;
  };
  await eventually(attempt, (retryText) => retryText === null);
}

/** Returns null, or a description if the service answers that the client must ask again. */
async function askOnce(url: string, { name, path }: Question, traffic: Traffic): Promise<string | null> {
  const askedAt = performance.now();
  try {
    const answer = await fetch(`${url}${path}`);
    const text = await answer.text();
    const failureText = `${answer.status} of ${name}: ${path} ${text.slice(0, 200)}`;
    if (answer.status === 503 && name !== READY) return failureText;
    const ms = performance.now() - askedAt;
    traffic.times.push(ms);
    traffic.asked.set(name, [...(traffic.asked.get(name) ?? []), ms]);
    if (answer.status !== 200 && name !== READY) traffic.faults.add(failureText);
    else if (answer.headers.get('content-type')?.includes('json') === true) JSON.parse(text);
  } catch (error) {
    traffic.faults.add(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return null;
}

/** Collects log lines about errors. */
function watchLog(program: Program): string[] {
  const errors: string[] = [];
  let unfinishedLine = '';
  program.process.stdout?.on('data', (chunk: Buffer) => {
    const lines = (unfinishedLine + chunk.toString()).split('\n');
    unfinishedLine = lines.pop() ?? '';
    for (const line of lines)
      // Level 50 is an error, 60 a fatal error.
      if (/^\{"level":[56]0,/.test(line) && errors.length < FAULTS_MAX) errors.push(line);
  });
  return errors;
}

interface Samples {
  readonly program: MemorySample[];
  readonly engine: MemorySample[];
}

async function sampleMemory(
  program: Program,
  dataDir: string,
  startedAt: number,
  endsAt: number,
  say: (text: string) => void,
): Promise<Samples> {
  const samples: Samples = { program: [], engine: [] };
  let toldAt = startedAt;
  while (performance.now() < endsAt) {
    const now = performance.now();
    const seconds = (now - startedAt) / 1_000;
    samples.program.push({ seconds, bytes: residentBytes(program.process.pid ?? 0) });
    samples.engine.push({ seconds, bytes: residentBytes(enginePid(dataDir) ?? 0) });
    if (now - toldAt > TELL_EVERY_MS) {
      toldAt = now;
      const lastMib = (list: readonly MemorySample[]): number =>
        Math.round((list.at(-1)?.bytes ?? 0) / 2 ** 20);
      say(
        `${Math.round(seconds)} s: program ${lastMib(samples.program)} MiB, engine ${lastMib(samples.engine)} MiB`,
      );
    }
    await delay(SAMPLE_EVERY_MS);
  }
  return samples;
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? 0) * 1_024;
}

/** Compares bars, events and the followers' events with the chain's logs. The chain must not grow during the
 * comparison. */
async function compare(
  url: string,
  chain: StubChain,
  followers: readonly EventFollower[],
  firstBlock: number,
): Promise<string[]> {
  const truth = new StubTruth(chain);
  await untilHead(url, chain);
  const faults = await truth.findWrongBars(url);
  const activity = await truth.findWrongActivity(url);
  if (activity !== null) faults.push(activity);
  const expected = truth.activity(firstBlock + 1);
  for (const follower of followers) follower.stayConnected();
  for (const [index, follower] of followers.entries()) {
    // Compares only events above block `firstBlock`, after which the followers began. If a reorg replaces older blocks,
    // a follower receives only a part of their events.
    const net = (): string[] => follower.net().filter((event) => Number(event.split('-')[0]) > firstBlock);
    await eventually(
      () => describeDifference(net(), expected),
      (difference) => difference === null,
      (difference) => `follower ${index}: ${difference}`,
    );
    await follower.stop();
    faults.push(...follower.faults.map((fault) => `follower ${index}: ${fault}`));
  }
  return faults;
}

async function untilHead(url: string, chain: StubChain): Promise<void> {
  const headHash = chain.blocks[chain.head]?.hash;
  const readHeadHash = async (): Promise<string | null> => {
    const answer = await fetch(`${url}/readyz`);
    await answer.arrayBuffer();
    return answer.headers.get('x-indexed-block-hash');
  };
  await eventually(readHeadHash, (hash) => hash === headHash);
}
