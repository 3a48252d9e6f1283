/** Tests the tail loop, which detects changes of the head, while the test cuts and restores its connection to
 * the database. */
import { Cable } from '../../support/engine/cable';
import { ChainWriter, swaps } from './chainWriter';
import { connect, createStreamWorld, untilSeen, type StreamWorld } from './streamServer';
import { until } from '../../support/eventually';

let world: StreamWorld;
let chain: ChainWriter;
let cable: Cable;

beforeEach(async () => {
  world = await createStreamWorld();
  chain = world.chain;
  await chain.start();
  await chain.mine(swaps(1));
  cable = new Cable(Number(new URL(world.readerUrl).port));
  await cable.join();
});

afterEach(async () => {
  await world.drop();
  await cable.cut();
});

test('events missed while the database was away reach clients afterwards, once and in order', async () => {
  const api = await world.serve({}, cable.port);
  await untilSeen(api.tail, chain);
  const client = await connect(api);
  await chain.mine(swaps(2));
  await client.atLeast(2);
  await cable.cut();
  await client.until(() => api.tail.facts().lastError !== null);
  const headBefore = api.tail.current();
  await chain.mine(swaps(1));
  await chain.reorg(100, [swaps(1), swaps(1), swaps(1)]);
  await chain.promote(102);
  await chain.mine(swaps(1));
  expect(api.tail.current()).toBe(headBefore);
  await cable.join();
  expect(await client.atLeast(7)).toEqual([
    'swap 101-0',
    'swap 101-1',
    'reorg 100-1048575',
    'swap 101-0',
    'swap 102-0',
    'swap 103-0',
    'swap 104-0',
  ]);
  expect(client.messages[2]?.data).toEqual({
    from_block: 101,
    to_block: 101,
    removed_ids: ['101-0', '101-1'],
  });
  expect(api.tail.facts().lastError).toBeNull();
  client.close();
});

test('a tail loop that starts before its database recovers when the database starts', async () => {
  await cable.cut();
  const api = await world.serve({}, cable.port);
  const refused = await connect(api);
  expect(refused.status).toBe(503);
  await refused.until(() => api.tail.facts().lastError !== null);
  expect(api.tail.facts().silenceMs).toBeNull();
  await cable.join();
  await untilSeen(api.tail, chain);
  expect(api.tail.current()?.number).toBe(100);
});

test('a tail loop that is woken sees a new block without waiting for the next poll', async () => {
  const { tail } = await world.serve({}, undefined, 600_000);
  await untilSeen(tail, chain);
  for (let round = 0; round < 3; round += 1) {
    const { number } = await chain.mine(swaps(1));
    const seen = tail.refreshed(300_000);
    tail.wake(null);
    await seen;
    expect(tail.current()?.number).toBe(number);
  }
});

test('a tail loop uses the head change in a message without a query, and its next read corrects a wrong change', async () => {
  const { tail } = await world.serve({}, undefined, 600_000);
  await untilSeen(tail, chain);
  const versions: (string | undefined)[] = [];
  for (const move of [() => chain.mine(swaps(1)), () => chain.reorg(99, [swaps(1), swaps(2)])]) {
    await move();
    const seen = tail.refreshed(300_000);
    const { silenceMs } = tail.facts();
    tail.wake(chain.told);
    await seen;
    expect(tail.current()?.hash).toBe(chain.tip.hash);
    // The loop did not query the database in this time.
    expect(tail.facts().silenceMs).toBeGreaterThanOrEqual(silenceMs!);
    versions.push(tail.current()?.version);
  }
  const wrong = chain.make(swaps(1));
  await chain.mine(swaps(1));
  const seen = tail.refreshed(300_000);
  tail.wake({ ...chain.told!, canonical: [wrong] });
  await seen;
  expect(tail.current()?.hash).toBe(wrong.hash);
  const read = tail.refreshed(300_000);
  tail.wake(null);
  await read;
  expect(tail.current()?.hash).toBe(chain.tip.hash);
  expect(new Set(versions).size).toBe(2);
});

test('a tail loop asks for no change while the writer of its process reports them, and asks again when the writer ends', async () => {
  let isTelling = true;
  const { tail, polls, pings } = await world.serve({}, undefined, 10, () => isTelling);
  await untilSeen(tail, chain);
  await chain.mine(swaps(1));
  tail.wake(chain.told);
  await untilSeen(tail, chain);
  const asked = pings();
  await until(() => pings() >= asked + 5);
  expect(polls()).toBe(0);
  expect(tail.facts().silenceMs).not.toBeNull();
  isTelling = false;
  await chain.mine(swaps(1));
  await untilSeen(tail, chain);
  expect(polls()).toBeGreaterThan(0);
});

test('when the database is replaced by an older one, streams end and their clients get a reorg of everything', async () => {
  await chain.promote(100);
  const api = await world.serve();
  await untilSeen(api.tail, chain);
  const client = await connect(api);
  const block = await chain.mine(swaps(1));
  await client.atLeast(1);
  for (const table of ['promotions', 'head_blocks', 'blocks', 'swaps', 'blocks_head', 'swaps_head']) {
    await world.database.command('empty a table', `TRUNCATE TABLE ${table}`);
  }
  await client.until(() => api.tail.current() === null);
  const anew = new ChainWriter(world.database, 50);
  await anew.start();
  await anew.mine(swaps(2));
  await untilSeen(api.tail, anew);
  await client.until(() => client.ended);
  const back = await connect(api, '', `101-0-${block.hash.slice(2, 10)}`);
  expect(await back.atLeast(3)).toEqual(['reorg 49-1048575', 'swap 50-0', 'swap 50-1']);
  expect(back.messages[0]?.data).toEqual({ from_block: 50, to_block: 101, removed_ids: null });
  back.close();
});

test('a tail loop without readers polls once a second, and its first reader gets the newest block', async () => {
  const api = await world.serve();
  await untilSeen(api.tail, chain);
  await until(() => api.polls() >= 3);
  expect(new Set(api.takePauses())).toEqual(new Set([1_000]));
  const { number } = await chain.mine(swaps(1));
  await api.tail.demand();
  expect(api.tail.current()?.number).toBe(number);
  const read = api.polls();
  // With a reader, the loop polls every 10 ms.
  await until(() => api.polls() - read >= 20);
  const stream = await connect(api);
  const streamed = await chain.mine(swaps(1));
  await stream.atLeast(1);
  expect(api.tail.current()?.number).toBe(streamed.number);
  stream.close();
});

test('a hanging database does not delay stopping the tail loop', async () => {
  const api = await world.serve({}, cable.port);
  await untilSeen(api.tail, chain);
  await api.tail.demand();
  cable.hang();
  // The loop polls every 10 ms. After 100 ms of silence, one poll must hang.
  await until(() => (api.tail.facts().silenceMs ?? 0) >= 100);
  await api.stop();
  expect(api.tail.facts().lastError).toBeNull();
});

test('stopping the tail loop ends its pause between two polls', async () => {
  await cable.cut();
  const api = await world.serve({}, cable.port, 600_000);
  await until(() => api.tail.facts().lastError !== null);
  await api.stop();
});
