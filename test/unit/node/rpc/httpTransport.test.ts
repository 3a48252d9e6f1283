import { getEventListeners } from 'node:events';
import { gzipSync } from 'node:zlib';

import { systemClock } from '../../../../src/node/rpc/clock';
import { createTransport } from '../../../../src/node/rpc/createTransport';
import { RpcError } from '../../../../src/node/rpc/rpcError';
import {
  parseEndpointUrl,
  type RpcTransport,
  type TransportOptions,
} from '../../../../src/node/rpc/rpcTransport';
import { closeAll, closeLater, ENDLESS_MS, startNode } from '../setup';

afterEach(closeAll);

const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [] };
const CHAIN_ID = { method: 'eth_chainId', params: [] };
const NOW = 1_780_000_000_000;

function transportTo(url: string, options: Partial<TransportOptions> = {}): RpcTransport {
  const defaults = { clock: systemClock(), timeoutMs: ENDLESS_MS, bodyBytesMax: 1 << 20, connectionsMax: 4 };
  const transport = createTransport(url, 0, { ...defaults, ...options });
  closeLater(() => transport.close());
  return transport;
}

async function failureOf(work: Promise<unknown>): Promise<RpcError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RpcError)) throw new Error(`expected an RpcError, got ${String(error)}`);
  return error;
}

test('the answers of a batch are returned in the order of its calls', async () => {
  const node = await startNode();
  node.onHttp = (_request, response, body) => {
    response.end(JSON.stringify((node.answerBody(body) as unknown[]).reverse()));
    return true;
  };
  const answers = await transportTo(node.httpUrl).send([BLOCK_NUMBER, CHAIN_ID]);
  expect(answers).toEqual([{ result: '0x0' }, { result: '0x171' }]);
});

test('a response missing from a batch is an error of that call only', async () => {
  const node = await startNode();
  node.onHttp = (_request, response, body) => {
    response.end(JSON.stringify((node.answerBody(body) as unknown[]).slice(1)));
    return true;
  };
  const [first, second] = await transportTo(node.httpUrl).send([BLOCK_NUMBER, CHAIN_ID]);
  expect(first).toMatchObject({ error: { kind: 'bad_answer' } });
  expect(second).toEqual({ result: '0x171' });
});

test('two answers of a batch with the same id are refused, because one of them belongs to another call', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    const answers = [0, 0, 2].map((id, at) => ({ jsonrpc: '2.0', id, result: at }));
    response.end(JSON.stringify(answers));
    return true;
  };
  const answers = await transportTo(node.httpUrl).send([CHAIN_ID, CHAIN_ID, CHAIN_ID]);
  const refused = { error: { kind: 'bad_answer' } };
  expect(answers).toMatchObject([refused, refused, { result: 2 }]);
});

test('an answer with the id of another request is refused', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.end('{"jsonrpc":"2.0","id":77,"result":"0x1"}');
    return true;
  };
  expect((await failureOf(transportTo(node.httpUrl).send([CHAIN_ID]))).kind).toBe('bad_answer');
});

test.each([[[BLOCK_NUMBER]], [[BLOCK_NUMBER, CHAIN_ID]]])(
  'ids that come back as text are accepted',
  async (calls) => {
    const node = await startNode();
    node.onHttp = (_request, response, body) => {
      const answered = JSON.stringify(node.answerBody(body)).replace(/"id":(\d+)/g, '"id":"$1"');
      response.end(answered);
      return true;
    };
    const answers = await transportTo(node.httpUrl).send(calls);
    expect(answers).toEqual([{ result: '0x0' }, { result: '0x171' }].slice(0, calls.length));
  },
);

test('one error with HTTP 429 for a whole batch is rate_limited, whatever its text, and keeps Retry-After', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.writeHead(429, { 'retry-after': '7' });
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit exceeded"}}');
    return true;
  };
  const failure = await failureOf(transportTo(node.httpUrl).send([BLOCK_NUMBER, CHAIN_ID]));
  expect(failure).toMatchObject({ kind: 'rate_limited', httpStatus: 429, retryAfterMs: 7_000 });
});

test('each request sends a user agent, and the credentials of the URL in a header', async () => {
  const node = await startNode();
  const seen: (string | undefined)[] = [];
  node.onHttp = (request) => {
    seen.push(request.headers['user-agent'], request.headers.authorization);
    return false;
  };
  await transportTo(node.httpUrl.replace('://', '://me:secretword@')).send([CHAIN_ID]);
  expect(seen[0]).toContain('candlehouse');
  expect(seen[1]).toBe(`Basic ${Buffer.from('me:secretword').toString('base64')}`);
});

test('a body that arrives too slowly is cut at the timeout of the whole answer', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.write('{"jsonrpc":"2.0",');
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
    return true;
  };
  const error = await failureOf(transportTo(node.httpUrl, { timeoutMs: 200 }).send([CHAIN_ID]));
  expect(error.kind).toBe('timeout');
});

test('a body beyond the size limit is not read to its end', async () => {
  const node = await startNode();
  let written = 0;
  node.onHttp = (_request, response) => {
    const pour = (): void => {
      while (!response.destroyed && written < 1 << 26) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536, 0x20))) break;
      }
    };
    response.on('drain', pour);
    pour();
    return true;
  };
  const error = await failureOf(transportTo(node.httpUrl, { bodyBytesMax: 100_000 }).send([CHAIN_ID]));
  expect(error.kind).toBe('too_large');
  expect(written).toBeLessThan(1 << 25);
});

test.each([
  ['text', 'upstream sent too big header'],
  ['HTML', '<html><body>Just a moment…</body></html>'],
  ['half an answer', '{"jsonrpc":"2.0","id":0,"resu'],
  ['a bare number', '17'],
  ['nothing', ''],
  ['neither result nor error', '{"jsonrpc":"2.0","id":0}'],
])('an answer with %s instead of JSON-RPC is an error of kind bad_answer', async (_name, text) => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.end(text);
    return true;
  };
  const sent = transportTo(node.httpUrl).send([CHAIN_ID]);
  const failed = await sent.then(
    ([answer]) => (answer !== undefined && 'error' in answer ? answer.error : null),
    (reason: unknown) => reason,
  );
  expect(failed).toMatchObject({ kind: 'bad_answer', retryable: true });
});

test('a redirect is not followed', async () => {
  const [node, other] = [await startNode(), await startNode()];
  node.onHttp = (_request, response) => {
    response.writeHead(302, { location: other.httpUrl }).end();
    return true;
  };
  const error = await failureOf(transportTo(node.httpUrl).send([CHAIN_ID]));
  expect(error).toMatchObject({ kind: 'refused', httpStatus: 302 });
  expect(other.calls).toHaveLength(0);
});

test.each([
  [429, 'rate_limited'],
  [403, 'refused'],
  [413, 'too_large'],
  [502, 'network'],
  [504, 'timeout'],
])('an answer with HTTP %i and no JSON-RPC error is an error of kind %s', async (status, kind) => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.writeHead(status, { 'retry-after': '2' }).end('no');
    return true;
  };
  const error = await failureOf(transportTo(node.httpUrl).send([CHAIN_ID]));
  expect(error).toMatchObject({ kind, httpStatus: status, retryAfterMs: 2_000 });
});

test('a JSON-RPC error with HTTP 429 is rate_limited and keeps its Retry-After', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    const date = new Date(NOW + 30_000).toUTCString();
    response.writeHead(429, { 'retry-after': date });
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}');
    return true;
  };
  const transport = transportTo(node.httpUrl, { clock: { ...systemClock(), now: () => NOW } });
  const [answer] = await transport.send([CHAIN_ID]);
  const error = answer !== undefined && 'error' in answer ? answer.error : null;
  const facts = { kind: 'rate_limited', rpcCode: -32000, httpStatus: 429, retryAfterMs: 30_000 };
  expect(error).toMatchObject(facts);
});

test('an error contains only the host of the URL, even if the node repeats the key of the URL', async () => {
  const node = await startNode();
  const key = 'abcdef0123456789';
  node.onHttp = (_request, response) => {
    response.end(`{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"key ${key} is over its plan"}}`);
    return true;
  };
  const transport = transportTo(`${node.httpUrl}/v3/${key}?token=hunter2hunter2`);
  const [answer] = await transport.send([CHAIN_ID]);
  const text = answer !== undefined && 'error' in answer ? answer.error.message : '';
  expect(text).toContain(`#0 127.0.0.1:${node.port}`);
  expect(text).not.toContain(key);
  await node.stop();
  const error = await failureOf(transport.send([CHAIN_ID]));
  expect(error.kind).toBe('network');
  expect(error.message).not.toMatch(/abcdef|hunter2/);
});

test('an unusable URL is a bad_config error that names only the index of the endpoint', () => {
  const secret = 'ftp://host/averysecretkey';
  expect(() => transportTo(secret)).toThrow(
    /^RPC endpoint #0 is not an http\(s\):\/\/, ws\(s\):\/\/ or ipc:\/\/\/path URL$/,
  );
});

test('an aborted call rejects with the reason of the abort', async () => {
  const node = await startNode();
  const stop = new AbortController();
  const reason = new Error('shutting down');
  node.onHttp = () => {
    stop.abort(reason);
    return true;
  };
  const call = transportTo(node.httpUrl).send([CHAIN_ID], stop.signal);
  await expect(call).rejects.toBe(reason);
});

test('closing the transport rejects open and later calls', async () => {
  const node = await startNode();
  const transport = transportTo(node.httpUrl);
  const asked = new Promise<void>((resolve) => {
    node.onHttp = () => {
      resolve();
      return true;
    };
  });
  const call = failureOf(transport.send([CHAIN_ID]));
  await asked;
  await transport.close();
  expect((await call).kind).toBe('network');
  expect((await failureOf(transport.send([CHAIN_ID]))).kind).toBe('network');
});

test('a compressed answer is an error of kind bad_answer', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync('{"jsonrpc":"2.0","id":0,"result":"0x1"}'));
    return true;
  };
  expect((await failureOf(transportTo(node.httpUrl).send([CHAIN_ID]))).kind).toBe('bad_answer');
});

test('many simultaneous calls with one abort signal work, and their listeners are removed', async () => {
  const node = await startNode();
  const stop = new AbortController();
  const transport = transportTo(node.httpUrl);
  const calls = Promise.all(Array.from({ length: 60 }, () => transport.send([CHAIN_ID], stop.signal)));
  expect(getEventListeners(stop.signal, 'abort').length).toBeGreaterThan(10);
  expect(await calls).toHaveLength(60);
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
});

test('the secrets of a URL are removed from a text that repeats the URL or the credentials', () => {
  const { scrub, authorization } = parseEndpointUrl(
    'https://me:secretword@host/v1/pathkey12?key=querykey34',
    0,
  );
  const said = scrub(`no: ${authorization} me:secretword@host/v1/pathkey12?key=querykey34`);
  for (const secret of ['secretword', 'pathkey12', 'querykey34', authorization!.slice('Basic '.length)])
    expect(said).not.toContain(secret);
});
