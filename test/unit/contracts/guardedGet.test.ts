/** Tests that requests to a server that the operator names stay on one origin and reach no private address. */
import dns from 'node:dns';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

import { guardedGet, isPrivateAddress } from '../../../src/contracts/guardedGet';
import { createJsonFetch } from '../../../src/contracts/import/jsonFetch';
import { listen, type Listening } from '../../support/server/listen';

const { signal } = new AbortController();
const servers: Listening[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const server of servers.splice(0)) await server.close();
});

/** A server with a fixed answer. `asked` lists the requested paths. */
async function serve(
  answer: (path: string) => readonly [status: number, headers: Record<string, string>, body: string | Buffer],
): Promise<Listening & { readonly asked: string[] }> {
  const asked: string[] = [];
  const listening = await listen(
    createServer((request, response) => {
      asked.push(request.url ?? '');
      const [status, headers, body] = answer(request.url ?? '');
      response.writeHead(status, headers).end(body);
    }),
  );
  servers.push(listening);
  return { ...listening, asked };
}

test('a redirect to another origin is refused once, and the other server is not asked', async () => {
  const other = await serve(() => [200, {}, '{}']);
  const server = await serve(() => [302, { location: `${other.url}/list` }, '']);
  const fetch = createJsonFetch(server.url, { pauseMs: 1 });
  await expect(fetch.get('/list', signal)).rejects.toThrow(
    `${server.url} redirects to ${other.url}; allowed: redirects to the same origin`,
  );
  expect([server.asked, other.asked]).toEqual([['/list'], []]);
});

test('a redirect on the same origin is followed, and an endless chain of redirects is an error', async () => {
  const server = await serve((path) =>
    path === '/new' ? [200, {}, '{"a":1}'] : [301, { location: path === '/loop' ? '/loop' : '/new' }, ''],
  );
  const fetch = createJsonFetch(server.url, { pauseMs: 1 });
  expect(await fetch.get('/old', signal)).toMatchObject({ status: 200, body: { a: 1 } });
  await expect(fetch.get('/loop', signal, 1)).rejects.toThrow(/redirects more than 5 times/);
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.1.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'ff02::1',
])('the address %s is private', (address) => expect(isPrivateAddress(address)).toBe(true));

test.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '193.0.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
  'the address %s is public',
  (address) => expect(isPrivateAddress(address)).toBe(false),
);

/** Lets every name resolve to the addresses of the list, one per resolution. */
function resolveTo(...addresses: readonly string[]): jest.SpyInstance {
  let calls = 0;
  return jest.spyOn(dns, 'lookup').mockImplementation(((_: string, __: object, done: Function) => {
    const address = addresses[Math.min(calls++, addresses.length - 1)];
    done(null, [{ address, family: 4 }]);
  }) as never);
}

test('a name that resolves to a private address is refused unless the operator allows it', async () => {
  const server = await serve(() => [200, {}, '{"a":1}']);
  resolveTo('127.0.0.1');
  const named = `http://sources.example:${server.port}`;
  await expect(createJsonFetch(named, { pauseMs: 1 }).get('/list', signal)).rejects.toThrow(
    /sources\.example is a private address; allowed: public addresses, or any address with --allow-private/,
  );
  expect(server.asked).toEqual([]);
  const allowed = createJsonFetch(named, { pauseMs: 1, allowPrivate: true });
  expect(await allowed.get('/list', signal)).toMatchObject({ body: { a: 1 } });
});

test('the connection uses the address that was checked, so a second resolution cannot change the target', async () => {
  const server = await serve(() => [200, {}, '{"a":1}']);
  const lookup = resolveTo('127.0.0.1', '127.0.0.2');
  const options = { bytesMax: 100, allowPrivate: true, signal };
  await guardedGet(new URL(`http://sources.example:${server.port}/`), options);
  expect(lookup).toHaveBeenCalledTimes(1);
});

test('a loopback address in the URL is allowed, and a link-local address is refused', async () => {
  const server = await serve(() => [200, {}, '{"a":1}']);
  expect(await createJsonFetch(server.url).get('/', signal)).toMatchObject({ body: { a: 1 } });
  for (const host of ['169.254.169.254', '0xa9fea9fe', '[fe80::1]', '[::ffff:169.254.169.254]', '0.0.0.0'])
    await expect(createJsonFetch(`http://${host}`, { pauseMs: 1 }).get('/', signal)).rejects.toThrow(
      /is a private address/,
    );
});

test('a compressed answer is limited by its decompressed size', async () => {
  const body = gzipSync(Buffer.alloc(1_000_000));
  const server = await serve(() => [200, { 'content-encoding': 'gzip' }, body]);
  const get = (bytesMax: number) =>
    guardedGet(new URL(server.url), { bytesMax, allowPrivate: false, signal });
  expect((await get(1_000_000)).body.length).toBe(1_000_000);
  await expect(get(999_999)).rejects.toThrow(/larger than 999999 bytes/);
});
