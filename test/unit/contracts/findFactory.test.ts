/** Tests how the creator of a contract is found in the traces of a node, or without traces when the node
 * refuses. */
import { FakeNode, type CallFault } from '../../support/node/fakeNode';
import { FakeChain } from '../../support/node/fakeChain';
import { createEndpointPool, type EndpointPool } from '../../../src/node/rpc/endpointPool';
import { createLog } from '../../../src/log';
import { findFactory } from '../../../src/contracts/findFactory';
import type { Hex } from '../../../src/domain/hex';

const of = (digit: string): Hex => `0x${digit.repeat(40)}`;
const TX: Hex = `0x${'7'.repeat(64)}`;
const MADE = of('d');
const signal = new AbortController().signal;
const missing = { error: { code: -32601, message: 'the method does not exist/is not available' } };

let node: FakeNode;
let pool: EndpointPool;

beforeAll(async () => {
  node = await new FakeNode({ chain: new FakeChain(1) }).start();
  pool = createEndpointPool({ urls: [node.httpUrl], chainId: 369, log: createLog('silent', false) });
});

afterAll(async () => {
  await pool.close();
  await node.stop();
});

/** Sets the node's answers to trace methods. The node lacks all other trace methods. */
function answerWith(answers: Readonly<Record<string, CallFault>>): void {
  node.onCall = ({ method }) => (/trace/.test(method) ? (answers[method] ?? missing) : undefined);
}

const frame = (type: string, from: Hex, to: Hex, calls: object[] = [], error?: string) => ({
  type,
  from,
  to,
  calls,
  ...(error === undefined ? {} : { error }),
});

test.each(['CREATE', 'CREATE2'])(
  'the call tracer names the contract that executed %s, at any depth',
  async (type) => {
    const deep = frame('CALL', of('a'), of('b'), [
      frame('DELEGATECALL', of('b'), of('c'), [frame(type, of('b'), MADE)]),
    ]);
    answerWith({ debug_traceTransaction: { result: deep } });
    expect(await findFactory(pool, TX, MADE, signal)).toBe(of('b'));
    expect(await findFactory(pool, TX, of('e'), signal)).toBeNull();
  },
);

test('a failed call creates no contract, and neither do calls inside it', async () => {
  const failed = frame('CALL', of('b'), of('c'), [frame('CREATE', of('c'), MADE)], 'execution reverted');
  answerWith({ debug_traceTransaction: { result: frame('CALL', of('a'), of('b'), [failed]) } });
  expect(await findFactory(pool, TX, MADE, signal)).toBeNull();
});

test('without a call tracer the creator comes from trace_transaction', async () => {
  const call = { type: 'call', action: { from: of('a') }, result: { output: '0x' } };
  const create = {
    type: 'create',
    action: { from: of('c') },
    result: { address: MADE.toUpperCase().replace('X', 'x') },
  };
  answerWith({ trace_transaction: { result: [call, { ...create, result: null }, create] } });
  expect(await findFactory(pool, TX, MADE, signal)).toBe(of('c'));
});

test('a node without tracing gives no creator and stays in normal use', async () => {
  answerWith({});
  expect(await findFactory(pool, TX, MADE, signal)).toBeUndefined();
  answerWith({ debug_traceTransaction: { result: 7 }, trace_transaction: { result: null } });
  expect(await findFactory(pool, TX, MADE, signal)).toBeUndefined();
  node.onHttp = (_request, response, body) => {
    if (!body.includes('trace')) return false;
    response.statusCode = 403;
    response.end('no');
    return true;
  };
  expect(await findFactory(pool, TX, MADE, signal)).toBeUndefined();
  expect(pool.endpoints.map(({ record }) => [record.failures, record.coolUntil])).toEqual([[0, 0]]);
});
