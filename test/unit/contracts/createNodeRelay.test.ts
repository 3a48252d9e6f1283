/** Tests reads that the API passes on to a node. The answer may be hostile, because the node may belong to
 * someone else. */
import { createServer, type Server } from 'node:http';

import { createEndpointPool, type EndpointPool } from '../../../src/node/rpc/endpointPool';
import { createLog } from '../../../src/log';
import { createNodeRelay } from '../../../src/contracts/createNodeRelay';
import { listen, type Listening } from '../../support/server/listen';

const log = createLog('silent', false);
interface Call {
  readonly id: number;
  readonly method: string;
}

/** The text of every result, as the node sent it. */
let result = '';
/** The text of the error that the second node sends instead of a result. */
let refusal = '';
let node: Listening;
let behind: Listening;
let pool: EndpointPool;

/** A node that gives each call this answer. */
function createNode(answerOf: () => string): Server {
  return createServer((request, response) => {
    let asked = '';
    request.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    request.on('end', () => {
      const calls = JSON.parse(asked) as Call | Call[];
      const answer = ({ id, method }: Call): string =>
        `{"jsonrpc":"2.0","id":${id},${method === 'eth_chainId' ? '"result":"0x171"' : answerOf()}}`;
      response.setHeader('content-type', 'application/json');
      response.end(Array.isArray(calls) ? `[${calls.map(answer).join(',')}]` : answer(calls));
    });
  });
}

beforeAll(async () => {
  node = await listen(createNode(() => `"result":${result}`));
  behind = await listen(createNode(() => `"error":${refusal}`));
  pool = createEndpointPool({ urls: [node.url], chainId: 369, log });
});

afterAll(async () => {
  await pool?.close();
  await node?.close();
  await behind?.close();
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('the API passes on an answer that is nested as deeply as a block', async () => {
  result = '{"transactions":[{"accessList":[{"storageKeys":["0x1"]}]}]}';
  expect(await createNodeRelay(pool).call('eth_getBlockByNumber', ['0x1', true])).toEqual({
    result: JSON.parse(result) as unknown,
  });
});

test.each([33, 5_000, 130_000, 1_000_000])(
  'an answer with %i nested lists is an error of kind bad_answer',
  async (levels) => {
    result = nested(levels);
    await expect(createNodeRelay(pool).call('eth_getBlockByNumber', ['0x1', true])).rejects.toMatchObject({
      kind: 'bad_answer',
    });
  },
);

test.each([
  [
    { code: -32000, message: 'header not found' },
    { code: -32001, message: 'block not found' },
  ],
  [
    { code: -32601, message: 'method not found' },
    { code: -32601, message: 'the method is not available' },
  ],
])('after the error %j of one node the next node gets the read', async (said, shown) => {
  [result, refusal] = ['"0x12"', JSON.stringify(said)];
  const read = async (urls: readonly string[]) => {
    const both = createEndpointPool({ urls, chainId: 369, log });
    try {
      return await createNodeRelay(both).call('eth_getCode', ['0x1', { blockHash: '0x2' }]);
    } finally {
      await both.close();
    }
  };
  expect(await read([behind.url, node.url])).toEqual({ result: '0x12' });
  expect(await read([behind.url])).toEqual({ error: shown });
});
