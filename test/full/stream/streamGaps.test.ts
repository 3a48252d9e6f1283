/**
 * Tests more events than a replay, a change or a client queue can hold: slow clients get gaps, other clients
 * do not.
 */
import { pairOf, swaps, type ChainWriter } from '../../integration/stream/chainWriter';
import type { SseClient } from '../../integration/stream/sseClient';
import {
  createStreamWorld,
  untilSeen,
  type StreamWorld,
  type Tail,
} from '../../integration/stream/streamServer';

let world: StreamWorld;
let chain: ChainWriter;
let api: Tail;

beforeEach(async () => {
  world = await createStreamWorld();
  chain = world.chain;
  api = await world.begin();
});

afterEach(() => world.drop());

const join = (query?: string, lastId?: string): Promise<SseClient> => world.join(api, query, lastId);

test('a client that missed 10,001 events gets a gap for the oldest event and then the newest 10,000', async () => {
  const first = chain.make(swaps(4_000));
  const second = chain.make(swaps(4_000), first);
  await chain.promote(100);
  await chain.backfill([first, second]);
  await chain.mine(swaps(2_001));
  await untilSeen(api.tail, chain);
  const client = await join('?last_event_id=100-5');
  await client.until(() => client.messages.length >= 10_001);
  expect(client.messages[0]).toMatchObject({ event: 'gap', data: { from_id: '101-0', to_id: '101-0' } });
  expect(client.messages[0]?.id).toBe(`101-0-${first.hash.slice(2, 10)}`);
  expect(client.lines()[1]).toBe('swap 101-1');
  expect(new Set(client.lines()).size).toBe(10_001);
  const exact = await join(`?last_event_id=101-0`);
  await exact.until(() => exact.messages.length >= 10_000);
  expect(exact.lines()[0]).toBe('swap 101-1');
  const other = await join(`?last_event_id=100-5&pair=${pairOf(2)}`);
  await chain.mine(swaps(1, 2));
  expect(await other.atLeast(1)).toEqual(['swap 104-0']);
});

test('connected clients get a gap for a jump of more than 10,000 events, and the stream continues', async () => {
  const client = await join();
  const first = chain.make(swaps(6_000));
  const second = chain.make(swaps(6_000), first);
  await chain.promote(100);
  await chain.backfill([first, second]);
  await client.atLeast(1);
  await chain.mine(swaps(1));
  expect(await client.atLeast(2)).toEqual(['gap 102-1048575', 'swap 103-0']);
  expect(client.messages[0]?.data).toEqual({ from_id: '101-0', to_id: '102-1048575' });
});

test('a client that reads gets all events of a block of 5,000 events without a gap', async () => {
  const client = await join();
  await chain.mine(swaps(5_000));
  await client.until(() => client.messages.length >= 5_000);
  expect(client.messages.every((message) => message.event === 'swap')).toBe(true);
  expect(new Set(client.lines()).size).toBe(5_000);
});

test('a client that stops reading gets a gap when it continues, and other clients miss no events', async () => {
  const slow = await join();
  const fast = await join();
  slow.pause();
  let sent = 0;
  // The kernel buffers some megabytes before the server notices a slow client.
  for (let i = 0; i < 10; i += 1) {
    await chain.mine(swaps(2_500));
    sent += 2_500;
    await fast.until(() => fast.messages.length >= sent);
  }
  expect(new Set(fast.lines()).size).toBe(25_000);
  slow.resume();
  await slow.until(() => slow.messages.some((message) => message.event === 'gap'));
  const gaps = slow.messages.filter((message) => message.event === 'gap');
  const last = gaps.at(-1)!;
  await chain.mine(swaps(1));
  await slow.until(() => slow.lines().at(-1) === `swap ${chain.tip.number}-0`);
  expect(last.id.startsWith(String(last.data['to_id']))).toBe(true);
  const covered = countCovered(slow, 2_500);
  expect(covered).toBe(25_001);
});

/** Events that were sent plus events inside gaps. Each block from 101 on has `perBlock` events. */
function countCovered(client: SseClient, perBlock: number): number {
  const position = (id: unknown): number => {
    const [block = 0, logIndex = 0] = String(id).split('-').map(Number);
    return (block - 101) * perBlock + logIndex;
  };
  return client.messages.reduce((sum, message) => {
    if (message.event !== 'gap') return sum + 1;
    return sum + position(message.data['to_id']) - position(message.data['from_id']) + 1;
  }, 0);
}
