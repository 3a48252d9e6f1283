import { AppError } from '../../../../src/errors';
import { isHexData, type Hex } from '../../../../src/domain/hex';
import { askContracts, askSince, type EthCalls } from '../../../../src/node/calls/askContracts';
import { readTokens } from '../../../../src/ingest/pools/tokenMetadata';
import { createLog } from '../../../../src/log';
import type { FakeNode } from '../../../support/node/fakeNode';
import { closeAll, poolOf, silentLog, skippingClock, startNode } from '../setup';

afterEach(closeAll);

const hexData = (result: unknown): Hex => {
  if (isHexData(result)) return result;
  throw new AppError('node_failed', 'no hex data');
};

/** The node answers the call with this name as told, and every other call with 0x01. */
function answerWith(node: FakeNode, name: string, result: unknown): void {
  node.onCall = ({ method, params }) =>
    method === 'eth_call' ? { result: params[0] === name ? result : '0x01' } : undefined;
}

const WEIRD = { code: -32000, message: 'weird' };

/** The node refuses certain calls for an unknown reason, and answers all other state calls with 0x01. */
function refuseCall(
  node: FakeNode,
  isRefused: (call: { readonly params: readonly unknown[] }) => boolean,
): void {
  node.onCall = (asked) => {
    if (!/^eth_(?:call|getCode)$/.test(asked.method)) return undefined;
    return isRefused(asked) ? { error: WEIRD } : { result: '0x01' };
  };
}

const call = (name: string) => ({ method: 'eth_call', params: [name] });
const calls = [call('good'), call('odd'), call('other')];

describe('a malformed answer to one call', () => {
  test.each<[unknown]>([['0x123'], ['0xzz'], ['abc'], [''], [5], [true], [{}], [[]]])(
    'the answer %j of every endpoint fails only its own call',
    async (odd) => {
      const nodes = [await startNode(), await startNode()];
      for (const node of nodes) answerWith(node, 'odd', odd);
      const pool = poolOf(
        nodes.map(({ httpUrl }) => httpUrl),
        { clock: skippingClock() },
      );
      expect(await pool.batchOutcomes(calls, hexData)).toMatchObject([
        { value: '0x01' },
        { error: { kind: 'bad_answer', malformed: true } },
        { value: '0x01' },
      ]);
    },
  );

  test('fails only its own call on the only endpoint', async () => {
    const node = await startNode();
    answerWith(node, 'odd', '0x123');
    const outcomes = await poolOf([node.httpUrl], { clock: skippingClock() }).batchOutcomes(calls, hexData);
    expect(outcomes).toMatchObject([{ value: '0x01' }, { error: { malformed: true } }, { value: '0x01' }]);
  });

  test('is replaced by the good answer of another endpoint, also if that one gives another malformed answer', async () => {
    const [first, second] = [await startNode(), await startNode()];
    answerWith(first, 'odd', '0x123');
    answerWith(second, 'other', 7);
    const pool = poolOf([first.httpUrl, second.httpUrl], { clock: skippingClock() });
    const good = { value: '0x01' };
    expect(await pool.batchOutcomes(calls, hexData)).toEqual([good, good, good]);
  });

  test('counts while all other endpoints are dead, and does not count once the endpoint is dead too', async () => {
    const [dead, odd] = [await startNode(), await startNode()];
    answerWith(odd, 'odd', '0x123');
    const pool = poolOf([dead.httpUrl, odd.httpUrl], { clock: skippingClock() });
    await dead.stop();
    expect(await pool.batchOutcomes(calls, hexData)).toMatchObject([{}, { error: { malformed: true } }, {}]);
    let asked = 0;
    odd.onHttp = (_request, response) => {
      asked += 1;
      if (asked === 1) return false;
      response.writeHead(502).end();
      return true;
    };
    await expect(pool.batchOutcomes(calls, hexData)).rejects.toMatchObject({ kind: 'network' });
  });

  test('includes an unrecognised error of every endpoint, while the other calls have values', async () => {
    const nodes = [await startNode(), await startNode()];
    for (const node of nodes) refuseCall(node, ({ params }) => params[0] === 'odd');
    const urls = nodes.map(({ httpUrl }) => httpUrl);
    const pool = poolOf(urls, { clock: skippingClock() });
    expect(await pool.batchOutcomes(calls, hexData)).toMatchObject([{}, { error: { malformed: true } }, {}]);
  });

  test.each([1, 2])(
    'includes an unrecognised error of a lone call from each of %i endpoints, and names the endpoints',
    async (count) => {
      const nodes = await Promise.all(Array.from({ length: count }, () => startNode()));
      for (const node of nodes) refuseCall(node, ({ params }) => params[0] === 'odd');
      const pool = poolOf(
        nodes.map(({ httpUrl }) => httpUrl),
        { clock: skippingClock() },
      );
      for (const method of ['eth_call', 'eth_getCode'])
        expect(await pool.batchOutcomes([{ ...call('odd'), method }], hexData)).toMatchObject([
          { error: { malformed: true } },
        ]);
      expect(pool.health().endpoints).toMatchObject(
        nodes.map(() => ({ fault: 'wrong', lastError: expect.stringContaining('weird') as unknown })),
      );
    },
  );

  test.each<[string, (node: FakeNode) => void]>([
    ['while the node refuses every eth_call', (node) => refuseCall(node, () => true)],
    [
      'that comes with HTTP 503',
      (node) => {
        refuseCall(node, () => false);
        node.onHttp = (_request, response, body) => {
          if (!body.includes('odd')) return false;
          response.writeHead(503).end(JSON.stringify({ error: WEIRD }));
          return true;
        };
      },
    ],
  ])('does not include an unrecognised error of a lone call %s', async (_when, prepare) => {
    const node = await startNode();
    prepare(node);
    const pool = poolOf([node.httpUrl], { clock: skippingClock() });
    await expect(pool.batchOutcomes([call('odd')], hexData)).rejects.toMatchObject({ retryable: true });
  });

  test.each<[unknown]>([[null], [undefined]])(
    'does not include a missing answer (%p), which fails the batch',
    async (none) => {
      const node = await startNode();
      answerWith(node, 'odd', none);
      const pool = poolOf([node.httpUrl], { clock: skippingClock() });
      await expect(pool.batchOutcomes(calls, hexData)).rejects.toMatchObject({
        kind: 'bad_answer',
        malformed: false,
        retryable: true,
      });
    },
  );

  test('is logged once for each endpoint and method, with the name of the endpoint', async () => {
    const lines: string[] = [];
    const log = createLog('warn', false, { write: (line: string) => void lines.push(line) });
    const nodes = [await startNode(), await startNode()];
    for (const node of nodes) {
      node.onCall = ({ method }) => (method === 'eth_chainId' ? undefined : { result: '0x123' });
    }
    const pool = poolOf(
      nodes.map(({ httpUrl }) => httpUrl),
      { clock: skippingClock(), log },
    );
    const code = { method: 'eth_getCode', params: [] };
    for (let round = 0; round < 3; round += 1) await pool.batchOutcomes([...calls, code], hexData);
    const told = lines
      .map((line) => JSON.parse(line) as { msg: string; endpoint: string; method: string })
      .filter(({ msg }) => msg.includes('malformed'));
    expect(told.map(({ endpoint, method }) => `${endpoint.slice(0, 2)} ${method}`).sort()).toEqual([
      '#0 eth_call',
      '#0 eth_getCode',
      '#1 eth_call',
      '#1 eth_getCode',
    ]);
  });
});

const TOKEN: Hex = `0x${'7'.repeat(40)}`;
const BLOCK = { number: 0, hash: `0x${'1'.repeat(64)}` as const, reversible: true };
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** Makes a call of the token at a final block whose state may be missing. */
const askToken = (pool: EthCalls) =>
  askSince(BLOCK, false, (block) => askContracts(pool, [[{ to: TOKEN, data: '0x01' }]], block));

/** The node has no Multicall3, and gives the name of every token as told. */
function nameTokens(node: FakeNode, name: unknown): void {
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_call') return undefined;
    const [{ data }] = params as [{ data: string }];
    if (data === '0x313ce567') return { result: word(6) };
    if (data === '0x95d89b41') return { result: `0x${Buffer.from('ODD').toString('hex').padEnd(64, '0')}` };
    return { result: data === '0x06fdde03' ? name : '0x' };
  };
}

describe('facts of contracts behind malformed answers', () => {
  test.each<[unknown, boolean]>([
    ['0x123', true],
    ['0xzz', false],
    [12, true],
    [{ name: 'x' }, false],
  ])(
    'a token whose name every endpoint answers with %j gets no name (reversible %p)',
    async (odd, reversible) => {
      const nodes = [await startNode(), await startNode()];
      for (const node of nodes) nameTokens(node, odd);
      const pool = poolOf(
        nodes.map(({ httpUrl }) => httpUrl),
        { clock: skippingClock() },
      );
      expect(await readTokens(pool, [TOKEN], { ...BLOCK, reversible })).toEqual([
        { address: TOKEN, symbol: 'ODD', name: null, decimals: 6, version: 0 },
      ]);
    },
  );

  test('a call to a final block is repeated with all rounds before its malformed answer counts', async () => {
    const node = await startNode();
    let answers = 0;
    node.onCall = ({ method }) =>
      method === 'eth_call' ? { result: (answers += 1) > 4 ? '0x01' : '0x123' } : undefined;
    const pool = poolOf([node.httpUrl], { clock: skippingClock(), log: silentLog });
    expect(await askToken(pool)).toEqual([{ answers: ['0x01'], isUnsure: false }]);
    node.onCall = ({ method }) => (method === 'eth_call' ? { result: '0x123' } : undefined);
    expect(await askToken(pool)).toEqual([{ answers: [null], isUnsure: true }]);
  });

  test('a malformed head of the node makes the calls fail, because the node may be behind', async () => {
    const node = await startNode();
    node.onCall = ({ method, params }) => {
      if (method === 'eth_blockNumber') return { result: 'x' };
      if (method !== 'eth_call') return undefined;
      return params[1] === 'latest'
        ? { result: '0x01' }
        : { error: { code: -32602, message: 'invalid argument' } };
    };
    const pool = poolOf([node.httpUrl], { clock: skippingClock() });
    await expect(askToken(pool)).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});
