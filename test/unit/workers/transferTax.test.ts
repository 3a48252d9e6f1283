/** Tests how the tax of a token follows from the transfers around its swaps, in the forms that taxed tokens emit. */
import type { Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { measureTax, type MeasuredSwap, type TaxedMove } from '../../../src/workers/transferTax';

const who = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [PAIR, USER, SINK, OTHER] = [who('1'), who('2'), who('3'), who('4')];

/** One transaction: transfers at logs 0, 1, …, then the Swap log at log 9. Each has a block of its own. */
function tx(block: number, amount: bigint, moves: readonly [from: Hex, to: Hex, amount: bigint][]) {
  const ord = (log: number): number => toOrd(block, log);
  const swap: MeasuredSwap = { ord: ord(9), txIndex: 0, pair: PAIR, recipient: USER, amount };
  const made = moves.map(([sender, recipient, value], log): TaxedMove => {
    return { ord: ord(log), txIndex: 0, sender, recipient, amount: value };
  });
  return { swap, moves: made };
}

function measure(...txs: readonly ReturnType<typeof tx>[]) {
  return measureTax(
    txs.map(({ swap }) => swap),
    txs.flatMap(({ moves }) => moves),
  );
}

test('the tax of a buy is measured if the token sends it to another address', () => {
  const buy = tx(1, -1_000n, [
    [PAIR, USER, 950n],
    [PAIR, SINK, 50n],
  ]);
  expect(measure(buy).buy).toEqual({ swaps: 1, tax: expect.closeTo(0.05, 9) });
});

test('the tax of a sale is measured if the token sends it to another address, before or after the transfer to the pool', () => {
  const first = tx(1, 900n, [
    [USER, SINK, 100n],
    [USER, PAIR, 900n],
  ]);
  const last = tx(2, 900n, [
    [USER, PAIR, 900n],
    [USER, SINK, 100n],
  ]);
  expect(measure(first, last).sell).toEqual({ swaps: 2, tax: expect.closeTo(0.1, 9) });
});

test('the tax of a sale is measured if the pool gets less than the Transfer log shows', () => {
  expect(measure(tx(1, 970n, [[USER, PAIR, 1_000n]])).sell.tax).toBeCloseTo(0.03, 9);
});

test('an honest token has no tax, even if some sellers send tokens elsewhere in the same transaction', () => {
  const plain = [1, 2, 3, 4].map((block) => tx(block, 500n, [[USER, PAIR, 500n]]));
  const busy = tx(5, 500n, [
    [USER, OTHER, 700n],
    [USER, PAIR, 500n],
  ]);
  expect(measure(...plain, busy).sell).toEqual({ swaps: 5, tax: 0 });
});

test('swaps without transfers of the token in their transaction do not count', () => {
  expect(measure(tx(1, -500n, []), tx(2, 500n, []))).toEqual({
    buy: { swaps: 0, tax: 0 },
    sell: { swaps: 0, tax: 0 },
  });
});

test('two swaps of one pool in one transaction use their own transfers', () => {
  const ord = (log: number): number => toOrd(7, log);
  const swap = { txIndex: 3, pair: PAIR, recipient: USER };
  const move = { txIndex: 3, sender: PAIR, recipient: USER };
  const swaps = [
    { ...swap, ord: ord(2), amount: -100n },
    { ...swap, ord: ord(5), amount: -100n },
  ];
  const moves = [
    { ...move, ord: ord(1), amount: 90n },
    { ...move, ord: ord(4), amount: 90n },
    // Another transaction of the same block.
    { ...move, ord: ord(0), txIndex: 2, amount: 10n },
  ];
  expect(measureTax(swaps, moves).buy).toEqual({ swaps: 2, tax: expect.closeTo(0.1, 9) });
});
