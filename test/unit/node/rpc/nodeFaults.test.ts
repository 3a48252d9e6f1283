/** Tests how /readyz names the fault of a node that gives no usable answers. */
import type { ServerResponse } from 'node:http';

import { createHeadProbe } from '../../../../src/node/head/headProbe';
import type { Clock } from '../../../../src/node/rpc/clock';
import { parseBlockNumber } from '../../../../src/node/rpc/endpointPool';
import { listNodeFaults } from '../../../../src/node/rpc/faults/nodeFaults';
import { FakeChain } from '../../../support/node/fakeChain';
import type { FakeNode } from '../../../support/node/fakeNode';
import { closeAll, endlessClock, ENDLESS_MS, poolOf, silentLog, startNode } from '../setup';

afterEach(closeAll);

/** A clock on which pauses between attempts take no time, and time limits never pass. */
let now = 0;
const clock: Clock = {
  ...endlessClock,
  now: () => now,
  async sleep(ms, signal) {
    if (ms >= ENDLESS_MS) await endlessClock.sleep(ms, signal);
    now += ms;
  },
};

type Spoil = (response: ServerResponse, body: unknown, node: FakeNode) => void;

const json = (response: ServerResponse, status: number, answer: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
const error = (code: number, message: string) => ({ jsonrpc: '2.0', id: 0, error: { code, message } });
const html: Spoil = (response) => response.writeHead(200).end('<html>welcome</html>');

const CASES: readonly (readonly [answer: string, code: string, spoil: Spoil, text: RegExp])[] = [
  [
    'an answer with the id of another request',
    'node_wrong_answers',
    (response) => json(response, 200, { jsonrpc: '2.0', id: 77, result: '0x1' }),
    /its answers are wrong: #0: the answer belongs to another request/,
  ],
  ['an HTML page', 'node_wrong_answers', html, /the answer is not JSON/],
  [
    'half of a JSON object',
    'node_wrong_answers',
    (response) => response.writeHead(200).end('{"jsonrpc":"2.0","id":0,'),
    /the answer is not JSON/,
  ],
  [
    'a result that is no number of a block',
    'node_wrong_answers',
    (response) => json(response, 200, { jsonrpc: '2.0', id: 0, result: { chain: 369 } }),
    /its answers are wrong/,
  ],
  [
    'an internal error to each call',
    'node_errors',
    (response) => json(response, 200, error(-32_000, 'the database is closed')),
    /only with errors: #0: .*the database is closed/,
  ],
  ['HTTP 503', 'node_errors', (response) => response.writeHead(503).end(), /only with errors: #0: HTTP 503/],
  [
    'HTTP 401',
    'node_refuses',
    (response) => response.writeHead(401).end('who?'),
    /refuses access: #0: HTTP 401/,
  ],
  ['HTTP 403', 'node_refuses', (response) => response.writeHead(403).end(), /refuses access: #0: HTTP 403/],
  ['HTTP 429', 'node_limits', (response) => response.writeHead(429).end(), /rate limit: #0: HTTP 429/],
  ['a closed connection', 'node_away', (response) => response.destroy(), /^The chain node does not answer$/],
];

test.each(CASES)('a node whose answer is %s has the problem %s', async (_, code, spoil, text) => {
  const node = await startNode();
  node.onHttp = (_request, response, body) => {
    spoil(response, body, node);
    return true;
  };
  const rpc = poolOf([node.httpUrl], { clock });
  await expect(rpc.call('eth_blockNumber', [], parseBlockNumber)).rejects.toThrow();
  expect(listNodeFaults(rpc.health())).toMatchObject([{ code, message: expect.stringMatching(text) }]);
  const serving = createHeadProbe({ rpc, log: silentLog, clock: endlessClock });
  const { nodeAnswers, nodeFaults } = await serving.ask();
  expect(nodeAnswers).toBe(false);
  expect(nodeFaults).toMatchObject([{ code, message: expect.stringMatching(text) }]);
});

test('a node of another chain is neither silent nor wrong', async () => {
  const node = await startNode(new FakeChain(1), 5);
  const rpc = poolOf([node.httpUrl], { clock });
  await expect(rpc.call('eth_blockNumber', [], parseBlockNumber)).rejects.toThrow('serves chain 5, not 369');
  expect(rpc.health().endpoints.map(({ state }) => state)).toEqual(['wrong_chain']);
  expect(listNodeFaults(rpc.health())).toEqual([]);
  const { nodeFaults } = await createHeadProbe({ rpc, log: silentLog, clock: endlessClock }).ask();
  expect(nodeFaults).toMatchObject([{ code: 'node_wrong_chain' }]);
});

test('a node that answered wrongly once, then well, and is silent now is only away', async () => {
  const node = await startNode();
  const rpc = poolOf([node.httpUrl], { clock, roundsMax: 1 });
  const ask = () => rpc.call('eth_blockNumber', [], parseBlockNumber);
  node.onHttp = (_request, response) => (html(response, null, node), true);
  await expect(ask()).rejects.toThrow();
  node.onHttp = () => false;
  await ask();
  expect(listNodeFaults(rpc.health())).toMatchObject([{ code: 'node_away' }]);
});

test('of two endpoints, only the one that answers wrongly is named, by its number', async () => {
  const [silent, wrong] = [await startNode(), await startNode()];
  silent.onHttp = (_request, response) => (response.destroy(), true);
  wrong.onHttp = (_request, response) => (html(response, null, wrong), true);
  const rpc = poolOf([silent.httpUrl, wrong.httpUrl], { clock, roundsMax: 1 });
  await expect(rpc.call('eth_blockNumber', [], parseBlockNumber)).rejects.toThrow();
  expect(listNodeFaults(rpc.health())).toEqual([
    {
      code: 'node_wrong_answers',
      message: 'The chain node answers, but its answers are wrong: #1: the answer is not JSON',
      figures: { endpoint: 1 },
    },
  ]);
});
