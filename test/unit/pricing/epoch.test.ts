/** Compares the record of a leg after an epoch with sums done by hand. */
import {
  closeEpoch,
  decay,
  depthIn,
  meanPrice,
  type LegMove,
  type LegRecord,
} from '../../../src/pricing/epoch';
import type { LegState } from '../../../src/pricing/leg';
import { DAI, NATIVE, v2 } from '../../support/worlds/pools';

const { leg } = v2(1, NATIVE, 1, DAI, 1);
const at = (liquidity: number, price = 1): LegState => ({
  price,
  liquidity,
  reserve0: liquidity,
  reserve1: liquidity,
});
/** Epoch 2 has the blocks 64–95, ten seconds each. */
const SPAN = { firstBlock: 64, lastBlock: 95, lastTime: 950 };
const move = (block: number, state: LegState): LegMove => ({ block, time: block * 10, state });
const moves = (...blocks: readonly LegMove[]) => ({ leg, older: false, blocks, traded: 0 });
const BEFORE: LegRecord = {
  leg,
  state: at(1000),
  depthLiquidity: 1000,
  meanLog: 0,
  traded: 0,
  at: 630,
  movedAt: 500,
  epoch: 1,
};

test('liquidity that is present for one block of an epoch adds no depth', () => {
  const record = closeEpoch(BEFORE, moves(move(70, at(1e9)), move(71, at(1000))), SPAN);
  expect(record.depthLiquidity).toBe(1000);
  const late = closeEpoch(BEFORE, moves(move(95, at(1e9))), SPAN);
  expect([late.depthLiquidity, late.state.liquidity]).toEqual([1000, 1e9]);
  expect(depthIn(late, 3)).toBe(1000);
});

test('the depth of an epoch is the lower median of the liquidity at the ends of its 32 blocks', () => {
  // Liquidity is 1000 in 16 blocks (64–79) and 5000 in 16 blocks (80–95). In ascending order, the 16th of 32
  // values is 1000.
  expect(closeEpoch(BEFORE, moves(move(80, at(5000))), SPAN).depthLiquidity).toBe(1000);
  expect(closeEpoch(BEFORE, moves(move(79, at(5000))), SPAN).depthLiquidity).toBe(5000);
});

test('a pool from the second half of an epoch counts with its mean liquidity, at most its last liquidity', () => {
  // Liquidity is 500 in 12 of 32 blocks (84–95): the mean is 500 · 12 / 32.
  expect(closeEpoch(undefined, moves(move(84, at(500))), SPAN).depthLiquidity).toBe(187.5);
  // Liquidity is 8000 in 11 blocks and 10 in one block: the mean is far above the final liquidity.
  const drained = moves(move(84, at(8000)), move(95, at(10)));
  expect(closeEpoch(undefined, drained, SPAN).depthLiquidity).toBe(10);
  expect(closeEpoch(undefined, moves(move(90, at(8e9)), move(91, at(0))), SPAN).depthLiquidity).toBe(0);
  // Liquidity from the first half of the epoch was present for most of the epoch.
  expect(closeEpoch(undefined, moves(move(70, at(500))), SPAN).depthLiquidity).toBe(500);
});

test('a pool older than the first stored block counts with the liquidity of its first event from the start', () => {
  const record = closeEpoch(undefined, { ...moves(move(95, at(700))), older: true }, SPAN);
  expect(record.depthLiquidity).toBe(700);
});

test('after an epoch without events a leg counts with its last liquidity', () => {
  const record = closeEpoch(BEFORE, moves(move(95, at(4000))), SPAN);
  expect([depthIn(record, 3), depthIn(record, 4)]).toEqual([1000, 4000]);
});

test('the mean of ln(price) follows a jump with a time constant of 30 minutes', () => {
  const record = closeEpoch(BEFORE, moves(move(65, at(1000, 2))), SPAN);
  // The price is 1 until second 650, and 2 until second 950.
  const expected = Math.log(2) * (1 - Math.exp(-300 / 1800));
  expect(record.meanLog).toBeCloseTo(expected, 14);
  expect(meanPrice(record, 950)).toBeCloseTo(2 ** (1 - Math.exp(-300 / 1800)), 14);
  expect(meanPrice(record, 950 + 1800)).toBeCloseTo(2 ** (1 - Math.exp(-2100 / 1800)), 13);
});

test('the traded volume decays with the same time constant, and each epoch adds its volume', () => {
  const traded = { ...BEFORE, traded: 100 };
  const record = closeEpoch(traded, { ...moves(move(70, at(1000))), traded: 7 }, SPAN);
  expect(record.traded).toBeCloseTo(100 * Math.exp(-320 / 1800) + 7, 12);
  expect(decay(record, 950 + 1800)).toBeCloseTo(record.traded / Math.E, 12);
  expect(decay(undefined, 950)).toBe(0);
});

test('the record of an epoch has the time of the last event and the state at the end', () => {
  const record = closeEpoch(BEFORE, moves(move(66, at(2)), move(90, at(3, 9))), SPAN);
  expect(record).toMatchObject({ state: at(3, 9), at: 950, movedAt: 900, epoch: 2 });
  expect(() => closeEpoch(BEFORE, moves(), SPAN)).toThrow('at least one move');
});
