/**
 * Fills the database's disk while the program ingests, and frees space later. The engine treats the free
 * space of the real file system as reserved, except for a margin. A file larger than the margin therefore
 * fills the disk for the engine. The test needs no mount and no root.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import {
  startStubChain,
  STUB_V2_FACTORY,
  STUB_V3_FACTORY,
  type StubChain,
} from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { readyShape, type ReadyAnswer } from '../../../src/wire/ready';
import { runAll } from '../../../src/commands/runAll';
import { loadConfig } from '../../../src/config';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import { oracleSwaps, type OracleSwap } from '../../support/oracle/oracle';
import { ask, cleanUp, makeFolder, silent, start } from '../../support/engine/embedded';
import { eventually } from '../../support/eventually';
import { waitForBlock } from '../../support/server/program';
import { findWrongBars } from '../../support/oracle/wrongBars';

const MIB = 2 ** 20;
/** Other programs use the file system too. The ballast file compensates for up to this many bytes. */
const BALLAST = 512 * MIB;
/** Distance in bytes between the free space and the engine's limit, on either side. */
const MARGIN = 96 * MIB;
const REGULATE_MS = 100;
const CHUNK = Buffer.alloc(4 * MIB);
const BLOCKS = 300;
const FIRST_HEAD = 120;
const NO_HASH: Hex = `0x${'0'.repeat(64)}`;

let chain: StubChain;
let disk: Disk;
let url: string;
let writerUrl: string;
let running: Promise<void>;
const stop = new AbortController();

/**
 * A file on the engine's file system that grows and shrinks, so that the engine always finds space or never
 * finds space, whatever other programs write.
 */
class Disk {
  /** Free bytes that the engine treats as reserved. */
  readonly keepFreeBytes: number;
  private full = false;
  private readonly file: number;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly folder: string) {
    this.file = openSync(join(folder, 'ballast'), 'a');
    for (let size = 0; size < BALLAST; size += CHUNK.length) writeSync(this.file, CHUNK);
    this.keepFreeBytes = this.free() - MARGIN;
    this.timer = setInterval(() => this.regulate(), REGULATE_MS);
  }

  fill(): void {
    this.full = true;
    this.regulate();
  }

  makeRoom(): void {
    this.full = false;
    this.regulate();
  }

  close(): void {
    clearInterval(this.timer);
    closeSync(this.file);
  }

  private regulate(): void {
    while (this.full && this.free() > this.keepFreeBytes - MARGIN) writeSync(this.file, CHUNK);
    const lacking = this.keepFreeBytes + MARGIN - this.free();
    if (!this.full && lacking > 0) ftruncateSync(this.file, Math.max(0, fstatSync(this.file).size - lacking));
  }

  /** Bytes that any user may still write. */
  private free(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }
}

beforeAll(async () => {
  chain = await startStubChain({ blocks: BLOCKS, logsPerBlock: 30, pairs: 8 });
  chain.setHead(FIRST_HEAD);
  const folder = makeFolder();
  disk = new Disk(folder);
  const server = await start(folder, { keepFreeBytes: disk.keepFreeBytes });
  writerUrl = server.writerUrl;
  const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
  const settings = {
    PORT: '0',
    SHED_LOOP_DELAY_MS: '0',
    RPC_URL: chain.url,
    CHAIN_CONFIG: 'chain.json',
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    CLICKHOUSE_URL: server.writerUrl,
    CLICKHOUSE_READ_URL: server.readerUrl,
  };
  const config = loadConfig(settings, (path) =>
    path === 'chain.json' ? description : readFileSync(path, 'utf8'),
  );
  url = await new Promise<string>((resolve, reject) => {
    const onReady = (api: { readonly url: string } | null): void => resolve(api?.url ?? '');
    running = runAll(config, silent, stop.signal, { api: true, ingest: true, onReady });
    running.catch(reject);
  });
});

afterAll(async () => {
  stop.abort();
  await running;
  await chain?.close();
  disk?.close();
  await cleanUp();
});

async function readReady(): Promise<{ status: number; answer: ReadyAnswer }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, answer: readyShape.parse(await response.json()) };
}

/** Waits until /readyz names the failure. */
async function waitUntilFailing(): Promise<{ status: number; answer: ReadyAnswer }> {
  return eventually(readReady, ({ answer }) => answer.problems.some(({ code }) => code === 'ingest_failing'));
}

async function get(path: string): Promise<{ status: number; block: number; body: string }> {
  const response = await fetch(`${url}${path}`);
  const block = Number(response.headers.get('x-indexed-block'));
  return { status: response.status, block, body: await response.text() };
}

function swapsUpTo(head: number): OracleSwap[] {
  const blocks = chain.logBodies.slice(0, head + 1).map((body, number): ChainBlock => {
    const logs = JSON.parse(body.toString()) as (ChainLog & { logIndex: string })[];
    return {
      number,
      hash: NO_HASH,
      parentHash: NO_HASH,
      timestamp: chain.timeOf(number),
      baseFeePerGas: null,
      transactionCount: 0,
      transactions: [],
      logs: logs.map((log) => ({ ...log, logIndex: Number(log.logIndex) })),
    };
  });
  return oracleSwaps(blocks, new Set([STUB_V2_FACTORY, STUB_V3_FACTORY]));
}

/** The stub chain's tokens have no decimals, so raw and scaled amounts are equal. */
async function findDifferences(swaps: readonly OracleSwap[]): Promise<string[]> {
  const baseIsToken0 = new Map<string, boolean>();
  for (const pair of new Set(swaps.map((swap) => swap.pair))) {
    const answer = await get(`/api/v1/pairs/${pair}`);
    if (answer.status !== 200) throw new Error(`pair ${pair}: status ${answer.status}, ${answer.body}`);
    const { data } = JSON.parse(answer.body) as {
      data: { base_token: { address: string }; tokens: { address: string }[] };
    };
    baseIsToken0.set(pair, data.base_token.address === data.tokens[0]!.address);
  }
  return findWrongBars(url, swaps, (pair) => ({
    decimals0: 0,
    decimals1: 0,
    baseIsToken0: baseIsToken0.get(pair)!,
  }));
}

// A few new blocks go to the head tables; many new blocks go directly into the final tables.
test.each([
  ['while following the head', FIRST_HEAD, FIRST_HEAD + 8],
  ['during a backfill', FIRST_HEAD + 8, BLOCKS],
])(
  'a full disk %s stops only the writer, loses no data, is reported by /readyz, and the writer recovers by itself',
  async (_when, before, after) => {
    await waitForBlock(url, before);
    disk.fill();
    chain.setHead(after);
    const { status, answer } = await waitUntilFailing();
    expect(status).toBe(503);
    expect(answer.ready).toBe(false);
    expect(answer.checks.database.ok).toBe(true);
    expect(answer.problems).toContainEqual(
      expect.objectContaining({
        code: 'ingest_failing',
        message: expect.stringMatching(/^ClickHouse, .*: the disk is full: Cannot reserve /),
      }),
    );
    expect(await ask(writerUrl, "INSERT INTO promotions (chain_id, status) VALUES (1, 'done')")).toBe(
      'NOT_ENOUGH_SPACE',
    );

    const seen = await get('/api/v1/activity?limit=5');
    expect(seen.status).toBe(200);
    expect(seen.block).toBeGreaterThanOrEqual(before);
    expect(seen.block).toBeLessThan(after);
    expect(await findDifferences(swapsUpTo(seen.block))).toEqual([]);

    disk.makeRoom();
    await waitForBlock(url, after);
    const healed = await readReady();
    // The chain's timestamps are old, so /readyz reports node_behind.
    const codes = healed.answer.problems.map(({ code }) => code).filter((code) => code !== 'node_behind');
    expect({ status: healed.status, codes }).toEqual({ status: 200, codes: [] });
    expect(await findDifferences(swapsUpTo(after))).toEqual([]);
  },
);
