/**
 * Which verdict follows from the answers of a node to simulated sales. test/full/workers/saleTrial.test.ts asks a real
 * node about real contracts.
 */
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { RpcCall } from '../../../src/node/rpc/rpcTransport';
import type { Hex } from '../../../src/domain/hex';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { doSalesFail, typicalTradeOf } from '../../../src/workers/saleTrial';

const { signal } = new AbortController();
const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [TOKEN, PAIR, ROUTER] = [address('a'), address('b'), address('c')];
const HOLDERS = [address('1'), address('2'), address('3')];
const BLOCK: Hex = `0x${'1'.repeat(64)}`;
const word = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
/** Slot 3 of Solidity has the mapping of balances, and slot 4 the mapping of allowances. Each slot has two layouts. */
const [BALANCES, ALLOWANCES] = [word(1_000_003 + 2 * 3), word(1_000_003 + 2 * 4)];

interface Asked {
  readonly from: string | undefined;
  readonly kind: 'probe' | 'balance' | 'allowance' | 'transfer' | 'transferFrom';
  readonly to: string;
  readonly hasOverride: boolean;
}

function toAsked({ params }: RpcCall): Asked {
  const [{ from, data }, , override] = params as [{ from?: string; data: string }, unknown, unknown];
  const kinds = {
    '0x70a08231': 'balance',
    '0xdd62ed3e': 'allowance',
    '0xa9059cbb': 'transfer',
    '0x23b872dd': 'transferFrom',
  } as const;
  const kind = Object.entries(kinds).find(([selector]) => data.startsWith(selector))?.[1] ?? 'probe';
  const to = `0x${kind === 'transferFrom' ? data.slice(98, 138) : data.slice(34, 74)}`;
  return { from, kind, to, hasOverride: override !== undefined };
}

/** A node on which a transfer works, unless `fails` returns an error for it. */
function nodeWith(fails: (asked: Asked) => RpcError | null, overrides = true) {
  const calls: RpcCall[] = [];
  const rpc: EthCalls = {
    async batchOutcomes(batch, parse) {
      calls.push(...batch);
      return batch.map((call, index) => {
        const asked = toAsked(call);
        const error = fails(asked);
        if (error !== null) return { error };
        if (asked.kind === 'probe') return { value: parse(overrides ? word(1) : '0x', index) };
        const marked = overrides && asked.hasOverride;
        if (asked.kind === 'balance') return { value: parse(marked ? BALANCES : word(5_000), index) };
        if (asked.kind === 'allowance') return { value: parse(marked ? ALLOWANCES : word(0), index) };
        return { value: parse(word(1), index) };
      });
    },
  };
  return { rpc, calls };
}

const revert = new RpcError('revert', 'reverted');
const other = new RpcError('other', 'the node failed');
const isSale = ({ to, kind }: Asked): boolean => to === PAIR && kind.startsWith('transfer');
const sale = { pair: PAIR, router: ROUTER, holders: HOLDERS, amount: 1_000n, blockHash: BLOCK };
const judge = (fails: (asked: Asked) => RpcError | null, overrides = true): Promise<boolean | null> =>
  doSalesFail(nodeWith(fails, overrides).rpc, TOKEN, sale, signal);

test.each<[string, (asked: Asked) => boolean, boolean | null]>([
  ['all transfers work', () => false, false],
  ['all sales revert', isSale, true],
  ['all sales of the router revert', (asked) => isSale(asked) && asked.from === ROUTER, true],
  ['all transfers revert, buys too', ({ kind }) => kind.startsWith('transfer'), null],
])('if %s, the verdict is fixed', async (_, isBad, expected) => {
  expect(await judge((asked) => (isBad(asked) ? revert : null))).toBe(expected);
});

test('a token that lets one of three holders sell is a trap, and one that lets two sell is none', async () => {
  // The holders sell through the router, so the call names the holder in its data.
  const refusing = (bad: readonly Hex[]) =>
    nodeWith((asked) => (isSale(asked) && bad.some((one) => asked.from === one) ? revert : null));
  const plain = { ...sale, router: null };
  expect(await doSalesFail(refusing(HOLDERS.slice(0, 2)).rpc, TOKEN, plain, signal)).toBe(true);
  expect(await doSalesFail(refusing(HOLDERS.slice(0, 1)).rpc, TOKEN, plain, signal)).toBe(false);
});

test('a new address that can buy and transfer, but not sell, is a trap; one that cannot transfer at all says nothing', async () => {
  const isHolder = ({ from }: Asked): boolean => HOLDERS.some((holder) => holder === from) || from === PAIR;
  const plain = { ...sale, router: null };
  const traps = nodeWith((asked) => (isSale(asked) && !isHolder(asked) ? revert : null));
  expect(await doSalesFail(traps.rpc, TOKEN, plain, signal)).toBe(true);
  const odd = nodeWith((asked) => (asked.kind === 'transfer' && !isHolder(asked) ? revert : null));
  expect(await doSalesFail(odd.rpc, TOKEN, plain, signal)).toBe(false);
});

test('without overrides, a router without an allowance and a new address are not tried', async () => {
  const { rpc, calls } = nodeWith((asked) => (isSale(asked) && asked.from === ROUTER ? revert : null), false);
  expect(await doSalesFail(rpc, TOKEN, sale, signal)).toBe(false);
  expect(calls.map(toAsked).filter(({ kind }) => kind === 'transferFrom')).toEqual([]);
});

test('if the node answers no simulated transfer, it stays unknown whether sales fail', async () => {
  expect(await judge(({ kind }) => (kind.startsWith('transfer') ? other : null))).toBeNull();
  const failing: EthCalls = { batchOutcomes: () => Promise.reject(other) };
  expect(await doSalesFail(failing, TOKEN, sale, signal)).toBeNull();
  const away: EthCalls = { batchOutcomes: () => Promise.reject(new RpcError('network', 'no connection')) };
  await expect(doSalesFail(away, TOKEN, sale, signal)).rejects.toThrow('no connection');
});

test('a trial sends at most 30 calls, and each holder sells the typical amount or all it has', async () => {
  const { rpc, calls } = nodeWith(() => null);
  const many = Array.from({ length: 10 }, (_, index): Hex => `0x${'d'.repeat(39)}${index}`);
  await doSalesFail(rpc, TOKEN, { ...sale, holders: many }, signal);
  expect(calls.length).toBeLessThanOrEqual(30);
  const amounts = (amount: bigint) => {
    const node = nodeWith(() => null);
    return doSalesFail(node.rpc, TOKEN, { ...sale, amount }, signal).then(() =>
      node.calls
        .filter((call) => isSale(toAsked(call)) && HOLDERS.some((one) => one === toAsked(call).from))
        .map(({ params }) => Number(`0x${(params as [{ data: string }])[0].data.slice(-64)}`)),
    );
  };
  expect(await amounts(1_000n)).toEqual([1_000, 1_000, 1_000]);
  expect(await amounts(9_000n)).toEqual([5_000, 5_000, 5_000]);
});

test('the typical trade is the median buy, and the router sends most swaps but is neither a trader nor the pool', () => {
  const swap = (sender: Hex, amount: bigint, maker: Hex | null = address('1')) => ({
    pair: PAIR,
    maker,
    sender,
    amount,
  });
  const zero = address('0');
  const swaps = [
    swap(ROUTER, -5n),
    swap(ROUTER, -900n, null),
    swap(address('e'), -7n),
    ...[1n, 2n, 3n].flatMap((amount) => [swap(address('1'), amount), swap(PAIR, amount), swap(zero, amount)]),
  ];
  expect(typicalTradeOf(swaps)).toEqual({ amount: 7n, router: ROUTER });
  expect(typicalTradeOf([swap(zero, 5n)])).toEqual({ amount: 0n, router: null });
});
