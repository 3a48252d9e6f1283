/** Tests the hub, which sends chain changes to stream clients, with sockets that the test controls. */
import { toOrd } from '../../../src/domain/ord';
import {
  createHub,
  type ChainChange,
  type Hub,
  type HubOptions,
  type LiveEvent,
} from '../../../src/stream/hub';
import type { StreamClient, StreamSink } from '../../../src/stream/streamClient';
import { eventMessage } from '../../../src/stream/streamMessage';
import { ALL_ACTIVITY, type ActivityEvent, type ActivityFilter } from '../../../src/query/activity/activity';
import type { SyncItem } from '../../../src/wire/activity';

const HASH = `0x${'ab'.repeat(32)}` as const;
const NOTHING: ChainChange = { reorg: null, gap: null, events: [] };
const hubs: Hub[] = [];

afterEach(() => {
  for (const hub of hubs.splice(0)) hub.close();
  jest.useRealTimers();
});

function createTestHub(options: HubOptions = {}): Hub {
  const hub = createHub(options);
  hubs.push(hub);
  return hub;
}

class Socket implements StreamSink {
  text = '';
  ended = false;
  gone = false;
  constructor(public open = true) {}
  isGone(): boolean {
    return this.gone;
  }
  write(bytes: Buffer): boolean {
    this.text += bytes.toString();
    return this.open;
  }
  end(): void {
    this.ended = true;
  }
  ids(): string[] {
    return [...this.text.matchAll(/^id: (\d+-\d+)/gm)].map((match) => match[1] ?? '');
  }
}

function join(
  hub: Hub,
  socket: Socket,
  filter: ActivityFilter = ALL_ACTIVITY,
  address = '10.0.0.1',
): StreamClient {
  const client = hub.subscribe(filter, socket, address);
  client.release();
  return client;
}

function sync(block: number, logIndex: number, pool = 'a'): ActivityEvent {
  const token = (digit: string) => ({ address: `0x${digit.repeat(40)}`, symbol: null, decimals: null });
  const item: SyncItem = {
    id: `${block}-${logIndex}`,
    event_type: 'sync',
    block_number: block,
    timestamp: 1,
    tx_hash: HASH,
    log_index: logIndex,
    pair_address: `0x${pool.repeat(40)}`,
    dex_name: 'pulsex_v2',
    pool_type: 2,
    token0: token('1'),
    token1: token('2'),
    base_token: token('1'),
    maker: null,
    amount_usd: null,
    finalized: false,
    reserve0: '1',
    reserve1: '2',
    price: null,
  };
  return { ord: toOrd(block, logIndex), item };
}

function live(event: ActivityEvent): LiveEvent {
  return { ...event, message: eventMessage(event, HASH) };
}

test('each stream client gets only the events of its filter', async () => {
  const hub = createTestHub();
  const [all, one] = [new Socket(), new Socket()];
  join(hub, all);
  join(hub, one, { ...ALL_ACTIVITY, pair: `0x${'b'.repeat(40)}` });
  await hub.publish({ ...NOTHING, events: [live(sync(5, 0)), live(sync(5, 1, 'b')), live(sync(6, 0))] });
  expect(all.ids()).toEqual(['5-0', '5-1', '6-0']);
  expect(one.ids()).toEqual(['5-1']);
});

test('a problem that begins or ends is sent to every client at once, and then with each heartbeat', () => {
  jest.useFakeTimers();
  const hub = createTestHub({ heartbeatMs: 20 });
  const socket = new Socket();
  join(hub, socket);
  hub.tellProblems([{ code: 'node_stalled', message: 'The node\nhas shown no block after 7' }]);
  const comment = ': node_stalled: The node has shown no block after 7\n\n';
  expect(socket.text).toBe(comment);
  jest.advanceTimersByTime(40);
  expect(socket.text).toBe(comment.repeat(3));
  hub.tellProblems([]);
  expect(socket.text).toBe(`${comment.repeat(3)}: still here\n\n`);
});

test('a problem with a new text, age or figure is sent with the next heartbeat, not at once', () => {
  jest.useFakeTimers();
  const hub = createTestHub({ heartbeatMs: 20 });
  const socket = new Socket();
  join(hub, socket);
  const tell = (message: string, age_seconds: number) =>
    hub.tellProblems([{ code: 'ingest_failing', message, age_seconds, figures: { block: age_seconds } }]);
  tell('no answer', 1);
  for (let age = 2; age < 9; age += 1) tell('no answer', age);
  tell('the disk is full', 9);
  expect(socket.text).toBe(': ingest_failing: no answer\n\n');
  jest.advanceTimersByTime(20);
  expect(socket.text).toBe(': ingest_failing: no answer\n\n: ingest_failing: the disk is full\n\n');
});

test('a reorg message lists the removed ids that match the filter of the client, or null if the ids are unknown', async () => {
  const hub = createTestHub();
  const [all, one] = [new Socket(), new Socket()];
  join(hub, all);
  join(hub, one, { ...ALL_ACTIVITY, pair: `0x${'b'.repeat(40)}` });
  const fork = { number: 4, hash8: 'abababab' };
  await hub.publish({ ...NOTHING, reorg: { fork, toBlock: 5, removed: [sync(5, 0), sync(5, 1, 'b')] } });
  await hub.publish({ ...NOTHING, reorg: { fork, toBlock: 5, removed: null } });
  expect(all.text).toContain('{"from_block":5,"to_block":5,"removed_ids":["5-0","5-1"]}');
  expect(one.text).toContain('{"from_block":5,"to_block":5,"removed_ids":["5-1"]}');
  expect(one.text).toContain('id: 4-1048575-abababab\n');
  expect(one.text).toContain('"removed_ids":null');
});

test("a client that joins while a change is sent gets none of the change's events", async () => {
  const hub = createTestHub();
  join(hub, new Socket());
  const events = Array.from({ length: 1_000 }, (_, i) => live(sync(5, i)));
  const sending = hub.publish({ ...NOTHING, events });
  const late = new Socket();
  join(hub, late);
  await sending;
  expect(late.text).toBe('');
});

test('a client that does not read loses its own queue and does not delay other clients', async () => {
  let dropped = 0;
  // Each look at the clock takes 100 ms, so the hub soon stops waiting for the stalled client.
  let nowMs = 0;
  const now = (): number => (nowMs += 100);
  const hub = createTestHub({ now, observeDrops: (messages) => (dropped += messages) });
  const [stalled, reading] = [new Socket(false), new Socket()];
  const client = join(hub, stalled);
  join(hub, reading);
  const events = Array.from({ length: 10_000 }, (_, i) => live(sync(5, i)));
  await hub.publish({ ...NOTHING, events });
  expect(reading.ids()).toHaveLength(10_000);
  expect(stalled.ids()).toEqual(['5-0']);
  expect(client.queued).toBe(0);
  expect(dropped).toBe(9_999);
  stalled.open = true;
  client.drain();
  expect(stalled.text).toContain('event: gap\ndata: {"from_id":"5-1","to_id":"5-9999"}');
});

test('streams per address are limited except for loopback, and a closed stream frees its place', () => {
  const hub = createTestHub({ clientsPerAddressMax: 2 });
  const first = join(hub, new Socket());
  join(hub, new Socket());
  expect(() => join(hub, new Socket())).toThrow('At most 2 streams per address');
  join(hub, new Socket(), ALL_ACTIVITY, '10.0.0.2');
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    for (let i = 0; i < 3; i += 1) join(hub, new Socket(), ALL_ACTIVITY, address);
  }
  hub.remove(first);
  hub.remove(first);
  join(hub, new Socket());
  expect(() => join(hub, new Socket())).toThrow('At most 2 streams per address');
});

test('the hub removes a client whose socket closed silently', () => {
  jest.useFakeTimers();
  const hub = createTestHub({ sweepMs: 5 });
  const [gone, there] = [new Socket(), new Socket()];
  join(hub, gone);
  join(hub, there);
  gone.gone = true;
  jest.advanceTimersByTime(5);
  expect(hub.clientCount()).toBe(1);
  expect(gone.ended).toBe(true);
  expect(there.ended).toBe(false);
});

test('a closed hub ends all streams and accepts no new ones', () => {
  const hub = createTestHub();
  const socket = new Socket();
  join(hub, socket);
  hub.close();
  expect(socket.ended).toBe(true);
  expect(hub.clientCount()).toBe(0);
  expect(() => join(hub, new Socket())).toThrow('shutting down');
});
