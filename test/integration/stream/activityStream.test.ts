/**
 * Tests the event stream over real HTTP and a real ClickHouse: live events, replay, reorgs, filters, invalid
 * input, and the end of the stream.
 */
import { get } from 'node:http';
import { setImmediate } from 'node:timers/promises';

import { addressOf, type ChainWriter, pairOf, swaps, token0Of, TOKEN1, type MadeEvent } from './chainWriter';
import type { SseClient } from './sseClient';
import {
  connect,
  createStreamWorld,
  untilSeen as untilTold,
  type StreamWorld,
  type Tail,
} from './streamServer';

let world: StreamWorld;
let chain: ChainWriter;
let api: Tail;

beforeAll(async () => {
  world = await createStreamWorld();
});

afterAll(() => world.drop());

beforeEach(async () => {
  chain = world.chain;
  api = await world.begin();
});

afterEach(() => world.clear());

/** Without a reader, the loop of a process looks only once a second. The demand of a reader makes it look at once. */
async function untilSeen({ tail }: Tail): Promise<void> {
  await tail.demand();
  await untilTold(tail, chain);
}

const join = (query?: string, lastId?: string): Promise<SseClient> => world.join(api, query, lastId);

function event(kind: MadeEvent['kind'], logIndex: number, pool = 1, maker = 7): MadeEvent {
  return { kind, logIndex, pool, maker };
}

test('a new block reaches a client as messages in order, in the documented format', async () => {
  const client = await join();
  expect(client.status).toBe(200);
  expect(client.headers['content-type']).toMatch(/^text\/event-stream/);
  expect(client.headers['cache-control']).toBe('no-cache, no-transform');
  expect(client.headers['x-accel-buffering']).toBe('no');
  await client.until(() => client.retry === '3000');
  const block = await chain.mine([event('sync', 0), event('swap', 1), event('mint', 2), event('burn', 5)]);
  expect(await client.atLeast(4)).toEqual(['sync 101-0', 'swap 101-1', 'mint 101-2', 'burn 101-5']);
  const [, swap] = client.messages;
  expect(swap?.id).toBe(`101-1-${block.hash.slice(2, 10)}`);
  expect(swap?.data).toMatchObject({
    id: '101-1',
    event_type: 'swap',
    block_number: 101,
    log_index: 1,
    pair_address: pairOf(1),
    maker: addressOf(7),
    finalized: false,
  });
});

test('a stream without an id begins with the next event, not with earlier ones', async () => {
  await chain.mine(swaps(3));
  await untilSeen(api);
  const client = await join();
  await chain.mine(swaps(1));
  expect(await client.atLeast(1)).toEqual(['swap 102-0']);
});

test('a client with an id gets all later events, from final and head rows, then live events', async () => {
  for (let i = 0; i < 4; i += 1) await chain.mine(swaps(2));
  await chain.promote(102);
  await untilSeen(api);
  const hash8 = chain.cursor.hash.slice(2, 10);
  for (const id of ['101-0', `102-0-${hash8}`, `102-0-${hash8.toUpperCase()}`]) {
    const client = await join(`?last_event_id=${id}`);
    await client.atLeast(5);
    await client.until(() => client.lines().at(-1) === 'swap 104-1');
  }
  const client = await join('?last_event_id=1-1', `102-1-${hash8}`);
  await client.atLeast(4);
  await chain.mine(swaps(1));
  expect(await client.atLeast(5)).toEqual([
    'swap 103-0',
    'swap 103-1',
    'swap 104-0',
    'swap 104-1',
    'swap 105-0',
  ]);
  expect(client.messages.map((message) => message.data['finalized'])).toEqual(Array(5).fill(false));
});

test('an id from before the start block replays all events', async () => {
  await chain.mine(swaps(2));
  await chain.promote(101);
  await untilSeen(api);
  const client = await join('?last_event_id=3-0-deadbeef');
  expect(await client.atLeast(2)).toEqual(['swap 101-0', 'swap 101-1']);
  expect(client.messages[0]?.data['finalized']).toBe(true);
});

test('filters apply to live events, the replay and removed ids', async () => {
  const events = [
    event('swap', 0, 1, 7),
    event('swap', 1, 2, 8),
    event('sync', 2, 2, 8),
    event('mint', 3, 1, 8),
    event('burn', 4, 2, 7),
  ];
  await chain.mine(events);
  await untilSeen(api);
  const expectations: [string, number[]][] = [
    ['event_type=swap', [0, 1]],
    ['event_type=sync,burn', [2, 4]],
    [`pair=${pairOf(2)}`, [1, 2, 4]],
    [`token=${token0Of(1)}`, [0, 3]],
    [`token=${TOKEN1}&event_type=mint`, [3]],
    [`maker=${addressOf(8)}`, [1, 2, 3]],
    [`maker=${addressOf(8)}&pair=${pairOf(1)}`, [3]],
    [`maker=${addressOf(99)}`, []],
  ];
  const joined = await Promise.all(
    expectations.map(([filter]) => join(`?${filter}&last_event_id=100-1048575`)),
  );
  await chain.mine(events);
  // A reorg message only covers blocks that the server has seen, so the test waits for the block first.
  await untilSeen(api);
  await chain.reorg(101, [[event('swap', 9, 1, 8)]]);
  for (const [i, [, logIndexes]] of expectations.entries()) {
    const client = joined[i]!;
    await client.until(() => client.lines().some((line) => line.startsWith('reorg')));
    const ids = (block: number): string[] => logIndexes.map((logIndex) => `${block}-${logIndex}`);
    const lines = client.lines().filter((line) => !line.endsWith('102-9'));
    const reorgAt = lines.findIndex((line) => line.startsWith('reorg'));
    expect(lines.slice(0, reorgAt).map((line) => line.split(' ')[1])).toEqual([...ids(101), ...ids(102)]);
    const reorg = client.messages.find((message) => message.event === 'reorg');
    expect(reorg?.data).toEqual({ from_block: 102, to_block: 102, removed_ids: ids(102) });
  }
});

test('a stream sends a reorg each time when the chain changes from A to B and back to A, before the replacing events', async () => {
  const client = await join();
  await chain.mine(swaps(1));
  await client.atLeast(1);
  const base = chain.head.slice(0, 2);
  const a = chain.make(swaps(2));
  await chain.flip([...base, a]);
  await client.atLeast(3);
  await chain.reorg(101, [swaps(1), swaps(1)]);
  await client.atLeast(6);
  await chain.flip([...base, a]);
  expect(await client.atLeast(9)).toEqual([
    'swap 101-0',
    'swap 102-0',
    'swap 102-1',
    'reorg 101-1048575',
    'swap 102-0',
    'swap 103-0',
    'reorg 101-1048575',
    'swap 102-0',
    'swap 102-1',
  ]);
  const [first, second] = client.messages.filter((message) => message.event === 'reorg');
  expect(first?.data).toEqual({ from_block: 102, to_block: 102, removed_ids: ['102-0', '102-1'] });
  expect(second?.data).toEqual({ from_block: 102, to_block: 103, removed_ids: ['102-0', '103-0'] });
  expect(first?.id).toBe(`101-1048575-${base[1]!.hash.slice(2, 10)}`);
});

test('a chain that only gets shorter is a reorg for the stream', async () => {
  const client = await join();
  await chain.mine(swaps(1));
  await client.atLeast(1);
  await chain.flip(chain.head.slice(0, 1));
  expect(await client.atLeast(2)).toEqual(['swap 101-0', 'reorg 100-1048575']);
  await chain.mine(swaps(1));
  await client.atLeast(3);
});

test('a client whose branch was replaced while it was away gets a reorg with the removed ids since the fork', async () => {
  await chain.mine(swaps(1));
  const orphan1 = await chain.mine(swaps(2));
  const orphan2 = await chain.mine(swaps(3));
  await untilSeen(api);
  await chain.reorg(101, [swaps(1), swaps(1), swaps(1)]);
  await untilSeen(api);
  const client = await join('', `103-1-${orphan2.hash.slice(2, 10)}`);
  expect(await client.atLeast(4)).toEqual(['reorg 101-1048575', 'swap 102-0', 'swap 103-0', 'swap 104-0']);
  expect(client.messages[0]?.data).toEqual({
    from_block: 102,
    to_block: 103,
    removed_ids: ['102-0', '102-1', '103-0', '103-1'],
  });
  const other = await join('', `102-1048575-${orphan1.hash.slice(2, 10)}`);
  await other.atLeast(4);
  expect(other.messages[0]?.data).toEqual({
    from_block: 102,
    to_block: 102,
    removed_ids: ['102-0', '102-1'],
  });
});

test('a stream finds the fork even after the new branch became final', async () => {
  await chain.mine(swaps(1));
  const orphan = await chain.mine(swaps(1));
  const client = await join('', `101-0-${chain.head[1]!.hash.slice(2, 10)}`);
  await client.atLeast(1);
  client.close();
  await chain.reorg(101, [swaps(2), swaps(1)]);
  await chain.promote(103);
  await chain.mine(swaps(1));
  await untilSeen(api);
  const back = await join('', `102-0-${orphan.hash.slice(2, 10)}`);
  expect(await back.atLeast(5)).toEqual([
    'reorg 101-1048575',
    'swap 102-0',
    'swap 102-1',
    'swap 103-0',
    'swap 104-0',
  ]);
  expect(back.messages[0]?.data['removed_ids']).toEqual(['102-0']);
});

test('a client with an unknown branch gets a reorg to the oldest possible fork, and all later events', async () => {
  await chain.mine(swaps(1));
  await chain.mine(swaps(1));
  await untilSeen(api);
  const client = await join('', '102-0-00c0ffee');
  expect(await client.atLeast(3)).toEqual(['reorg 99-1048575', 'swap 101-0', 'swap 102-0']);
  expect(client.messages[0]?.data).toEqual({ from_block: 100, to_block: 102, removed_ids: null });
});

test('a client that saw a newer block from another API process continues after this block', async () => {
  for (let i = 0; i < 2; i += 1) {
    const next = await chain.mine(swaps(2));
    const client = await join('', `${next.number}-0-${next.hash.slice(2, 10)}`);
    expect(await client.atLeast(1)).toEqual([`swap ${next.number}-1`]);
  }
});

test('a client whose id is above the head and has no hash gets a reorg of everything above the head', async () => {
  const client = await join('?last_event_id=200-3');
  expect(await client.atLeast(1)).toEqual(['reorg 100-1048575']);
  expect(client.messages[0]?.data).toEqual({ from_block: 101, to_block: 200, removed_ids: null });
  await chain.mine(swaps(1));
  await client.atLeast(2);
});

test('an invalid stream request is a 400 that names the parameter or the header', async () => {
  for (const [query, name, header] of [
    ['?last_event_id=abc', 'last_event_id'],
    ['?last_event_id=1-1048576', 'last_event_id'],
    ['?last_event_id=1-2-xyz', 'last_event_id'],
    ['?last_event_id=', 'last_event_id'],
    ['?last_event_id=1-1&last_event_id=1-2', 'last_event_id'],
    ['?event_type=swop', 'event_type'],
    ['?pair=0x12', 'pair'],
    ['?token=nope', 'token'],
    ['?maker=', 'maker'],
    ['', 'Last-Event-ID', 'nonsense'],
  ] as const) {
    const client = await join(query, header);
    await client.until(() => client.ended);
    expect([query, client.status, client.body]).toEqual([query, 400, expect.stringContaining(name)]);
    expect(JSON.parse(client.body)).toMatchObject({ success: false, code: 'bad_request' });
  }
});

test('a process limits the total number of streams', async () => {
  const bounded = await world.serve({ clientsMax: 2 });
  await untilSeen(bounded);
  const joined = [await connect(bounded), await connect(bounded)];
  const third = await connect(bounded);
  expect(third.status).toBe(503);
  joined[0]!.close();
  await third.until(() => bounded.hub.clientCount() === 1);
  const fourth = await connect(bounded);
  expect(fourth.status).toBe(200);
  for (const client of [...joined, fourth]) client.close();
});

test('a stream request is a 503 while no block is indexed', async () => {
  await world.clear();
  expect((await connect(await world.serve())).status).toBe(503);
});

test('a stream sends heartbeats while no events occur', async () => {
  const quick = await world.serve({ heartbeatMs: 30 });
  await untilSeen(quick);
  const client = await world.join(quick);
  await client.until(() => client.comments.length >= 3);
  expect(client.messages).toEqual([]);
});

/** Waits for turns of the event loop, which the server shares. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

test('clients that leave while they connect leave no streams behind', async () => {
  await chain.mine(swaps(500));
  for (let i = 0; i < 30; i += 1) {
    const request = get(`${api.url}?last_event_id=100-0`, { agent: false });
    request.on('error', () => undefined);
    request.on('response', (response) => response.on('error', () => undefined).resume());
    void turns(10 * i).then(() => request.destroy());
  }
  const client = await join();
  await turns(300);
  await chain.mine(swaps(1));
  await client.atLeast(1);
  await client.until(() => api.hub.clientCount() === 1);
});

test('shutting down ends every stream', async () => {
  const client = await join();
  const idle: SseClient = await join('?event_type=mint');
  await api.stop();
  await client.until(() => client.ended && idle.ended);
  expect(api.hub.clientCount()).toBe(0);
});

test('two API processes send their clients the same messages', async () => {
  const second = await world.serve();
  await untilSeen(second);
  const one = await join();
  const two = await world.join(second);
  await chain.mine(swaps(3));
  await one.atLeast(3);
  await two.atLeast(3);
  await chain.reorg(100, [swaps(1), swaps(2)]);
  await one.atLeast(7);
  await two.atLeast(7);
  expect(two.messages).toEqual(one.messages);
});
