import { systemClock } from '../../../../src/node/rpc/clock';
import { createAccountState } from '../../../../src/node/rpc/createAccountState';
import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { Outcome, RpcCall } from '../../../../src/node/rpc/rpcTransport';
import type { Hex } from '../../../../src/domain/hex';
import type { StateQuestion } from '../../../../src/domain/accountState';
import { createLog } from '../../../../src/log';

const HASH: Hex = `0x${'7'.repeat(64)}`;
const WHO: Hex = `0x${'1'.repeat(40)}`;
const log = createLog('silent', false);
const COIN: StateQuestion = { kind: 'coin', address: WHO };

type Answer = (call: RpcCall) => unknown;

/** A node with a clock that the test moves. `answer` may throw an RpcError for the whole batch. */
function openNode(answer: Answer, during: () => Promise<void> = () => Promise.resolve()) {
  let now = 1_000;
  const batches: (readonly RpcCall[])[] = [];
  const timers: { readonly at: number; readonly wake: () => void }[] = [];
  const clock = {
    ...systemClock(),
    now: () => now,
    sleep: (ms: number) =>
      new Promise<void>((resolve) => {
        timers.push({ at: now + ms, wake: resolve });
      }),
  };
  const rpc = {
    async batchOutcomes<T>(
      calls: readonly RpcCall[],
      parse: (result: unknown, index: number) => T,
      options: { readonly signal?: AbortSignal } = {},
    ): Promise<Outcome<T>[]> {
      batches.push(calls);
      await Promise.race([
        during(),
        new Promise((_, reject) => {
          options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
        }),
      ]);
      return calls.map((call, index) => {
        const result = answer(call);
        return result instanceof RpcError ? { error: result } : { value: parse(result, index) };
      });
    },
  };
  return {
    node: createAccountState({ rpc, log, clock }),
    batches,
    pass(ms: number): void {
      now += ms;
      for (const { at, wake } of timers) if (at <= now) wake();
    },
  };
}

const fail = (kind: ConstructorParameters<typeof RpcError>[0]) => (): never => {
  throw new RpcError(kind, kind);
};

test('questions about account state go to the node in one batch, as of the block with the given hash', async () => {
  const { node, batches } = openNode(({ method }) => (method === 'eth_call' ? '0xaa' : '0x5'));
  const call: StateQuestion = { kind: 'call', to: WHO, data: '0x01', from: WHO };
  expect(await node.ask(HASH, [COIN, call, { kind: 'call', to: WHO, data: '0x02' }])).toEqual([
    '0x5',
    '0xaa',
    '0xaa',
  ]);
  const at = { blockHash: HASH };
  expect(batches).toEqual([
    [
      { method: 'eth_getBalance', params: [WHO, at] },
      {
        method: 'eth_call',
        params: [{ to: WHO, data: '0x01', gas: '0x4c4b40', from: WHO }, at],
        answerBytesMax: 32_768,
      },
      {
        method: 'eth_call',
        params: [{ to: WHO, data: '0x02', gas: '0x4c4b40' }, at],
        answerBytesMax: 32_768,
      },
    ],
  ]);
});

test('a reverting call gets null, the other questions get answers, and an empty list of questions sends no request', async () => {
  const { node, batches } = openNode(({ method }) =>
    method === 'eth_call' ? new RpcError('revert', 'no') : '0x10',
  );
  expect(await node.ask(HASH, [{ kind: 'call', to: WHO, data: '0x' }, COIN])).toEqual([null, '0x10']);
  expect(await node.ask(HASH, [])).toEqual([]);
  expect(batches).toHaveLength(1);
});

test.each(['network', 'timeout', 'rate_limited', 'refused', 'bad_answer'] as const)(
  'after a failure of kind %s the node gets no questions for a while',
  async (kind) => {
    const { node, batches, pass } = openNode(fail(kind));
    expect(await node.ask(HASH, [COIN])).toBeNull();
    expect(await node.ask(HASH, [COIN])).toBeNull();
    expect(batches).toHaveLength(1);
    pass(3_000);
    await node.ask(HASH, [COIN]);
    expect(batches).toHaveLength(2);
  },
);

test('a question about a block that the node does not know yet is repeated soon', async () => {
  const { node, batches, pass } = openNode(fail('unknown_block'));
  await node.ask(HASH, [COIN]);
  pass(249);
  await node.ask(HASH, [COIN]);
  expect(batches).toHaveLength(1);
  pass(1);
  await node.ask(HASH, [COIN]);
  expect(batches).toHaveLength(2);
});

test('after an unknown block, questions about another block go to the node at once', async () => {
  const next: Hex = `0x${'8'.repeat(64)}`;
  const answer: Answer = ({ params }) => {
    if (JSON.stringify(params).includes(HASH)) return fail('unknown_block')();
    return '0x1';
  };
  const { node } = openNode(answer);
  expect(await node.ask(HASH, [COIN])).toBeNull();
  expect([node.lacks(HASH), node.lacks(next)]).toEqual([true, false]);
  expect(await node.ask(next, [COIN])).toEqual(['0x1']);
});

test('a slow node gives null after a short time', async () => {
  const { node, pass } = openNode(
    () => '0x1',
    () => new Promise(() => undefined),
  );
  const asked = node.ask(HASH, [COIN]);
  pass(1_500);
  expect(await asked).toBeNull();
});

test('at most eight requests run in parallel, and later requests work again', async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { node, batches } = openNode(
    () => '0x1',
    () => gate,
  );
  const asked = Array.from({ length: 12 }, () => node.ask(HASH, [COIN]));
  expect(batches).toHaveLength(8);
  release();
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer === null)).toHaveLength(4);
  expect(await node.ask(HASH, [COIN])).toEqual(['0x1']);
});
