/**
 * The event stream of the built program while every process is killed and the chain is reorganised. Also clients that
 * never read.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { separate } from '../../../scripts/kills/deployment';
import { ChainLoad, KillRun } from '../../../scripts/kills/killRun';
import { QUEUE_BYTES_MAX } from '../../../src/stream/streamClient';
import { Random } from '../../support/random';
import { eventually, until } from '../../support/eventually';
import { EventFollower } from '../../support/server/eventFollower';
import { startProgram, waitForBlock, type Settings } from '../../support/server/program';
import { describeDifference, StubTruth } from '../../support/stub/stubTruth';

const SEED = Number(process.env['STREAM_SEED'] ?? 7);
const ROUNDS = 5;
const STALLED = 12;

let folder: string;
let chain: StubChain;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candlehouse-stream-'));
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
});

afterEach(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

function settingsOf(): Settings {
  return {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
  };
}

test('clients that reconnect with their last id end with the canonical events, despite reorgs and kills', async () => {
  const random = new Random(SEED);
  chain = await startStubChain({ blocks: 120, logsPerBlock: 16, pairs: 8, seed: SEED });
  const deployment = separate(settingsOf(), join(folder, 'data'));
  const run = new KillRun(chain, deployment, random);
  const load = new ChainLoad(chain, random, 420);
  const stream = (): string => `${deployment.url()}/api/v1/activity/stream`;
  // The first follower is mostly disconnected, the second mostly connected.
  const followers = [1_000, 3_000].map(
    (stayMs) => new EventFollower(stream, new Random(SEED + stayMs), '1-1048575', stayMs),
  );
  try {
    await run.recover(performance.now());
    for (const follower of followers) follower.begin();
    for (let round = 0; round < ROUNDS; round += 1) {
      load.begin();
      await delay(random.int(300, 2_000));
      await deployment.kill(random.pick(['engine', 'ingester', 'api', 'both'] as const));
      await run.recover(performance.now());
    }
    // Even if the program recovers quickly from every kill, each follower must reconnect often.
    await until(() => followers.every(({ connections }) => connections > ROUNDS));
    load.pause();
    await run.untilHead();
    const expected = run.truth.activity(2);
    for (const follower of followers) follower.stayConnected();
    for (const follower of followers) {
      await eventually(
        () => describeDifference(follower.net(), expected),
        (difference) => difference === null,
      );
      expect({ faults: follower.faults, seed: SEED }).toEqual({ faults: [], seed: SEED });
    }
    expect(followers[1]!.reorgs).toBeGreaterThan(0);
  } finally {
    load.pause();
    await Promise.all(followers.map((follower) => follower.stop()));
    await deployment.stop();
  }
});

/** A client that opens the stream and never reads. */
async function openStalled(url: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.pause();
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: stalled\r\n\r\n`);
  return socket;
}

async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:{chain="\\d+"})? (\\S+)$`, 'm').exec(text)?.[1]);
}

test('clients that never read use a bounded memory and do not affect other clients', async () => {
  // Each client would receive about 25 MB, several times the kernel's buffers.
  const blocks = 260;
  chain = await startStubChain({ blocks, logsPerBlock: 320, pairs: 8, seed: SEED });
  chain.setHead(100);
  const program = await startProgram('all', { ...settingsOf(), DATA_DIR: join(folder, 'data') });
  const sockets: Socket[] = [];
  const reader = new EventFollower(
    () => `${program.url}/api/v1/activity/stream`,
    new Random(SEED),
    '100-1048575',
    Infinity,
  );
  try {
    await waitForBlock(program.url, 100);
    reader.begin();
    for (let client = 0; client < STALLED; client += 1) {
      sockets.push(await openStalled(`${program.url}/api/v1/activity/stream`));
    }
    await until(async () => (await readMetric(program.url, 'candlehouse_sse_clients')) > STALLED);
    let most = 0;
    for (let head = 101; head <= blocks; head += 1) {
      chain.setHead(head);
      await waitForBlock(program.url, head);
      most = Math.max(most, await readMetric(program.url, 'candlehouse_sse_held_bytes'));
    }
    expect(await readMetric(program.url, 'candlehouse_sse_dropped_messages_total')).toBeGreaterThan(0);
    // The limit includes the queue of each client, and one message that waits in the client's socket.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(STALLED * QUEUE_BYTES_MAX * 1.1);
    const expected = new StubTruth(chain).activity(101);
    await eventually(
      () => describeDifference(reader.net(), expected),
      (difference) => difference === null,
    );
    expect(reader.faults).toEqual([]);
    expect(await program.end('SIGTERM')).toBe(0);
  } finally {
    await reader.stop();
    for (const socket of sockets) socket.destroy();
    await program.end('SIGKILL');
  }
});
