import { createByteCache } from '../../../src/api/byteCache';
import { etagOf, findEtag } from '../../../src/api/etag';

test('simultaneous requests for one key compute the answer once, and the cache keeps it', async () => {
  const cache = createByteCache();
  let made = 0;
  const make = async (): Promise<unknown> => {
    made += 1;
    await Promise.resolve();
    return { made };
  };
  const [a, b] = await Promise.all([cache.get('k', make), cache.get('k', make)]);
  const c = await cache.get('k', make);
  expect([made, a.body.toString(), b, c]).toEqual([1, '{"made":1}', a, a]);
  await cache.get('other', make);
  expect(made).toBe(2);
});

test('after forgetAll() a later request does not get an answer whose computation began earlier', async () => {
  const cache = createByteCache();
  await cache.get('k', async () => 'old');
  let finish = (): void => undefined;
  const slow = cache.get('slow', () => new Promise((resolve) => (finish = () => resolve('old'))));
  cache.forgetAll();
  const anew = cache.get('slow', async () => 'new');
  finish();
  expect((await slow).body.toString()).toBe('"old"');
  expect((await anew).body.toString()).toBe('"new"');
  for (const key of ['k', 'slow']) {
    const again = await cache.get(key, async () => 'again');
    expect(again.body.toString()).toBe(key === 'k' ? '"again"' : '"new"');
  }
});

test('an error reaches all waiting callers and is not cached', async () => {
  const cache = createByteCache();
  const fail = (): Promise<unknown> => Promise.reject(new Error('away'));
  await expect(Promise.all([cache.get('k', fail), cache.get('k', fail)])).rejects.toThrow('away');
  expect((await cache.get('k', async () => 1)).body.toString()).toBe('1');
});

test('the cache evicts the oldest answers, and serves an answer larger than the cache without storing it', async () => {
  const cache = createByteCache({ bytesMax: 100 });
  let made = 0;
  const make = (size: number) => async () => {
    made += 1;
    return 'x'.repeat(size);
  };
  await cache.get('a', make(40));
  await cache.get('b', make(40));
  await cache.get('c', make(40));
  await cache.get('c', make(40));
  expect(made).toBe(3);
  await cache.get('a', make(40));
  expect(made).toBe(4);
  expect((await cache.get('big', make(500))).body).toHaveLength(502);
});

test('a large answer is cached from its second request on, with the same bytes and ETag', async () => {
  const cache = createByteCache();
  let made = 0;
  const make = async (): Promise<unknown> => {
    made += 1;
    return { names: Array.from({ length: 40_000 }, () => 'Gr\u00fc\u00dfe') };
  };
  const answers = [];
  for (let time = 0; time < 3; time += 1) answers.push(await cache.get('large', make));
  expect(made).toBe(2);
  const [first, second, third] = answers.map(({ body }) => Buffer.from(body));
  expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
  expect(answers[2]).toBe(answers[1]);
  expect(third).toHaveLength(first?.length ?? 0);
  expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
});

test('an ETag depends on the bytes, and If-None-Match lists match by weak comparison', () => {
  const etag = etagOf('body');
  expect(etag).toBe(etagOf(Buffer.from('body')));
  expect(etag).not.toBe(etagOf('body '));
  for (const condition of [etag, `W/${etag}`, `"a" , ${etag}`, ' * '])
    expect(findEtag(condition, etag)).not.toBeNull();
  for (const condition of ['', '"a"', etag.slice(1, -1)]) expect(findEtag(condition, etag)).toBeNull();
});

test('an answer can set how long the cache keeps it', async () => {
  let now = 1_000;
  const cache = createByteCache({ now: () => now });
  let made = 0;
  const ask = async (key: string, ms: number | null): Promise<string> => {
    const make = (): Promise<number> => Promise.resolve((made += 1));
    return (await cache.get(key, make, () => ms)).body.toString();
  };
  expect([await ask('brief', 2_000), await ask('long', null)]).toEqual(['1', '2']);
  now += 1_999;
  expect([await ask('brief', 2_000), await ask('long', null)]).toEqual(['1', '2']);
  now += 2;
  expect([await ask('brief', 2_000), await ask('long', null)]).toEqual(['3', '2']);
});
