/**
 * Runs several ingesters against one database server, under load with reorgs. In `fightOverDatabase`, new writers start
 * while older ones live, and processes are stopped and continued at random moments. In `killWriters`, a standby takes
 * over after each kill of the writer. Compares every bar and event of the API with the oracle.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startEmbeddedServer, type EmbeddedServer } from '../../src/clickhouse/engine/server';
import { createLog } from '../../src/log';
import { eventually } from '../../test/support/eventually';
import type { Random } from '../../test/support/random';
import {
  runProgram,
  spawnProgram,
  startProgram,
  waitForBlock,
  type Program,
  type Settings,
  type Spawned,
} from '../../test/support/server/program';
import { startStubChain, type StubChain } from '../../test/support/stub/stubChain';
import { stubDescription } from '../../test/support/stub/stubDescription';
import { StubTruth } from '../../test/support/stub/stubTruth';
import { ChainLoad } from './killRun';

const FIRST_HEAD = 100;
/** Time between two blocks in ms. A new process needs about two seconds until it writes. */
const STEP_MS = 250;
/**
 * A standby must write within this time in ms after the writer has died, and a few times the start of the first writer
 * on this machine.
 */
const TAKEOVER_MAX_MS = 30_000;
const STARTS_PER_TAKEOVER_MAX = 5;
/** A fight goes on until this number of writers were replaced, even if the chain has reached its last block. */
const REPLACED_MIN = 3;

export interface WritersReport {
  readonly mismatches: string[];
  /** Number of writers that a newer one has replaced, or that were killed. */
  replaced: number;
  /** Number of times that a process was stopped and continued. */
  stops: number;
  blocks: number;
  reorgs: number;
  /** Seconds from each kill to the first block of the standby. */
  readonly seconds: number[];
}

/** A database server, an API and a growing chain, for any number of ingesters. */
class WritersWorld {
  readonly report: WritersReport = {
    mismatches: [],
    replaced: 0,
    stops: 0,
    blocks: 0,
    reorgs: 0,
    seconds: [],
  };
  readonly load: ChainLoad;
  private readonly running = new Set<Spawned>();

  private constructor(
    readonly chain: StubChain,
    readonly random: Random,
    private readonly server: EmbeddedServer,
    private readonly api: Program,
    private readonly settings: Settings,
    private readonly folder: string,
    blocks: number,
  ) {
    this.load = new ChainLoad(chain, random, blocks, STEP_MS);
  }

  static async open(random: Random, seed: number, blocks: number): Promise<WritersWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'candlehouse-writers-'));
    const chain = await startStubChain({ blocks: FIRST_HEAD, logsPerBlock: 16, pairs: 6, seed });
    writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
    const server = await startEmbeddedServer({
      dataDir: join(folder, 'data'),
      log: createLog('silent', false),
    });
    const settings = {
      RPC_URL: chain.url,
      CHAIN_CONFIG: join(folder, 'chain.json'),
      START_BLOCK: '0',
      RATE_LIMIT_PER_MINUTE: '0',
      CLICKHOUSE_URL: server.writerUrl,
      CLICKHOUSE_READ_URL: server.readerUrl,
    };
    await runProgram(['migrate'], settings);
    const api = await startProgram('serve', settings);
    return new WritersWorld(chain, random, server, api, settings, folder, blocks);
  }

  start(command: string): Spawned {
    const writer = spawnProgram(command, this.settings, { mayEnd: true });
    this.running.add(writer);
    return writer;
  }

  /** Stops a process for a random time. */
  async pause(writer: Spawned, pauseMaxMs: number): Promise<void> {
    if (writer.hasEnded()) return;
    this.report.stops += 1;
    writer.process.kill('SIGSTOP');
    await delay(this.random.int(1, pauseMaxMs));
    writer.process.kill('SIGCONT');
  }

  async untilBlock(block: number): Promise<void> {
    await waitForBlock(this.api.url, block);
  }

  /** Waits until the API shows the chain's head, which must not move. */
  private async untilHead(): Promise<void> {
    const { chain, api } = this;
    const readHeadHash = async (): Promise<string | null> =>
      (await fetch(`${api.url}/readyz`)).headers.get('x-indexed-block-hash');
    await eventually(readHeadHash, (hash) => hash === chain.blocks[chain.head]?.hash);
  }

  async untilEnd(writer: Spawned): Promise<void> {
    await eventually(writer.hasEnded, (hasEnded) => hasEnded, writer.lastWords);
    const { mismatches } = this.report;
    if (writer.process.exitCode !== 1)
      mismatches.push(`an older writer has another exit code than 1: ${writer.lastWords()}`);
    if (!/newer writer/.test(writer.output())) mismatches.push(`no reason is given: ${writer.lastWords()}`);
    await this.end(writer);
  }

  async end(writer: Spawned, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await writer.end(signal);
    this.running.delete(writer);
  }

  /** Waits for the chain's head, and compares all answers with the oracle. */
  async compare(): Promise<void> {
    this.load.pause();
    const { chain, report, api } = this;
    await this.untilHead();
    const truth = new StubTruth(chain);
    const activity = await truth.findWrongActivity(api.url, 0);
    const mismatches = [...(await truth.findWrongBars(api.url)), ...(activity === null ? [] : [activity])];
    report.mismatches.push(...mismatches.slice(0, 5));
    report.blocks = chain.head;
    report.reorgs = this.load.reorgs;
  }

  /** Stops every process, and checks the stored rows with `verify`. */
  async close(): Promise<void> {
    this.load.pause();
    try {
      for (const writer of this.running) {
        writer.process.kill('SIGCONT');
        await writer.end('SIGTERM');
      }
      const { code, output } = await runProgram(['verify'], this.settings);
      if (code !== 0) this.report.mismatches.push(`verify: ${output.slice(-500)}`);
    } finally {
      await this.api.end('SIGTERM');
      await this.server.stop();
      await this.chain.close();
      rmSync(this.folder, { recursive: true, force: true });
    }
  }
}

interface WritersPlan {
  readonly random: Random;
  readonly seed: number;
  /** Number of blocks of the chain. */
  readonly blocks: number;
  say(text: string): void;
}

/** Lets writers replace each other until the chain has all its blocks and enough of them were stopped and replaced. */
export async function fightOverDatabase({ random, seed, blocks, say }: WritersPlan): Promise<WritersReport> {
  const world = await WritersWorld.open(random, seed, blocks);
  const { report, chain, load } = world;
  try {
    let writer = world.start('ingest');
    // Waits until the first writer has claimed the database and stores blocks. A writer that is stopped before its
    // claim would claim later, and so replace a writer that started after it.
    await world.untilBlock(FIRST_HEAD);
    load.begin();
    while (chain.head < blocks || report.replaced < REPLACED_MIN || report.stops === 0) {
      await delay(random.int(1, 1_500));
      if (random.chance(0.3)) await world.pause(writer, 2_000);
      const olderWriter = writer;
      const isStopped = random.chance(0.7);
      if (isStopped) olderWriter.process.kill('SIGSTOP');
      writer = world.start('ingest');
      const newWriter = writer;
      await delay(random.int(1, 3_000));
      if (random.chance(0.4)) await world.pause(newWriter, 800);
      if (isStopped) olderWriter.process.kill('SIGCONT');
      report.stops += isStopped ? 1 : 0;
      await world.untilEnd(olderWriter);
      report.replaced += 1;
      say(`block ${chain.head}: ${report.replaced} writers replaced, ${report.stops} stops`);
    }
    await world.compare();
  } finally {
    await world.close();
  }
  return report;
}

/** Kills the writer again and again. A standby takes over each time. */
export async function killWriters(kills: number, plan: WritersPlan): Promise<WritersReport> {
  const { random, seed, blocks, say } = plan;
  const world = await WritersWorld.open(random, seed, blocks);
  const { report, chain, load } = world;
  try {
    const startedAt = performance.now();
    let writer = world.start('ingest --standby');
    await world.untilBlock(FIRST_HEAD);
    const takeoverMaxMs = TAKEOVER_MAX_MS + STARTS_PER_TAKEOVER_MAX * (performance.now() - startedAt);
    let standby = world.start('ingest --standby');
    load.begin();
    while (report.replaced < kills) {
      await delay(random.int(1, 3_000));
      const killedAt = performance.now();
      await world.end(writer);
      load.pause();
      chain.setHead(chain.head + 1);
      await world.untilBlock(chain.head);
      const seconds = (performance.now() - killedAt) / 1_000;
      load.begin();
      report.seconds.push(seconds);
      report.replaced += 1;
      if (seconds * 1_000 > takeoverMaxMs)
        report.mismatches.push(`the standby took ${seconds} s: ${standby.lastWords()}`);
      writer = standby;
      standby = world.start('ingest --standby');
      say(`kill ${report.replaced} at block ${chain.head}: the standby wrote after ${seconds.toFixed(1)} s`);
    }
    await world.compare();
  } finally {
    await world.close();
  }
  return report;
}
