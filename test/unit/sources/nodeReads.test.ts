/** Tests reads that the API passes on to a node. The answer may be hostile, because the node may belong to
 * someone else. */
import { createServer } from 'node:http';

import { createEndpointPool, type EndpointPool } from '../../../src/chain/rpc/endpointPool';
import { createLog } from '../../../src/log';
import { createNodeReads } from '../../../src/sources/nodeReads';
import { listen, type Listening } from '../../support/server/listen';

const log = createLog('silent', false);
interface Call {
  readonly id: number;
  readonly method: string;
}

/** The text of every result, as the node sent it. */
let result = '';
let node: Listening;
let pool: EndpointPool;

beforeAll(async () => {
  const server = createServer((request, response) => {
    let asked = '';
    request.on('data', (chunk: Buffer) => (asked += chunk.toString()));
    request.on('end', () => {
      const calls = JSON.parse(asked) as Call | Call[];
      const answer = ({ id, method }: Call): string =>
        `{"jsonrpc":"2.0","id":${id},"result":${method === 'eth_chainId' ? '"0x171"' : result}}`;
      response.setHeader('content-type', 'application/json');
      response.end(Array.isArray(calls) ? `[${calls.map(answer).join(',')}]` : answer(calls));
    });
  });
  node = await listen(server);
  pool = createEndpointPool({ urls: [node.url], chainId: 369, log });
});

afterAll(async () => {
  await pool?.close();
  await node?.close();
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('the API passes on an answer that is nested as deeply as a block', async () => {
  result = '{"transactions":[{"accessList":[{"storageKeys":["0x1"]}]}]}';
  expect(await createNodeReads(pool).call('eth_getBlockByNumber', ['0x1', true])).toEqual({
    result: JSON.parse(result) as unknown,
  });
});

test.each([33, 5_000, 130_000, 1_000_000])(
  'an answer with %i nested lists is an error of kind bad_answer',
  async (levels) => {
    result = nested(levels);
    await expect(createNodeReads(pool).call('eth_getBlockByNumber', ['0x1', true])).rejects.toMatchObject({
      kind: 'bad_answer',
    });
  },
);
