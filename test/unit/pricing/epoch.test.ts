/** Compares the record of a leg after an epoch with sums done by hand. */
import {
  closeEpoch,
  decay,
  heldPart,
  meanLiquidity,
  meanPrice,
  unswappedAt,
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
const moves = (...blocks: readonly LegMove[]) => ({
  leg,
  older: false,
  blocks,
  traded: 0,
  unswapped: 0,
  makers: [],
  bornBlock: 1,
});
const BEFORE: LegRecord = {
  leg,
  state: at(1000),
  depthLiquidity: 1000,
  depthWeight: 0.5,
  meanLog: 0,
  traded: 0,
  at: 630,
  movedAt: 500,
  unswapped: 0,
  makers: [],
  bornBlock: 1,
};

/**
 * The weight that the mean gives to the seconds with an age between `from` and `to`, by the kernel exp(−age / 1800).
 */
const kernel = (from: number, to: number): number => Math.exp(-from / 1800) - Math.exp(-to / 1800);

test('liquidity of the last three blocks of an epoch adds to the mean by its part of 30 minutes', () => {
  // The liquidity is 10^9 for the last 30 seconds of the epoch, which ends at second 950. The earlier record ends at
  // second 630 with weight 0.5.
  const record = closeEpoch(BEFORE, moves(move(92, at(1e9))), SPAN);
  const life = 0.5 * Math.exp(-320 / 1800) + kernel(0, 320);
  expect(record.depthLiquidity).toBeCloseTo(1000 + ((1e9 - 1000) * kernel(0, 30)) / life, 3);
  expect(record.depthWeight).toBeCloseTo(life, 14);
  expect(record.state.liquidity).toBe(1e9);
});

test('liquidity within one block adds to the mean only for the seconds until the next block', () => {
  const record = closeEpoch(BEFORE, moves(move(70, at(1e9)), move(71, at(1000))), SPAN);
  const life = 0.5 * Math.exp(-320 / 1800) + kernel(0, 320);
  expect(record.depthLiquidity).toBeCloseTo(1000 + ((1e9 - 1000) * kernel(240, 250)) / life, 3);
});

test('the depth of a pool younger than 30 minutes is the mean over its whole life', () => {
  // The liquidity was 8000 for 100 seconds, and 10 for 10 seconds.
  const record = closeEpoch(undefined, moves(move(84, at(8000)), move(94, at(10))), SPAN);
  const mean = (8000 * kernel(10, 110) + 10 * kernel(0, 10)) / kernel(0, 110);
  expect(record.depthLiquidity).toBeCloseTo(mean, 8);
  expect(closeEpoch(undefined, moves(move(95, at(500))), SPAN)).toMatchObject({
    depthLiquidity: 500,
    depthWeight: 0,
  });
});

test('a pool older than the first stored block is assumed to have the liquidity of its first event from the start', () => {
  const record = closeEpoch(undefined, { ...moves(move(95, at(700))), older: true }, SPAN);
  expect(record).toMatchObject({ depthLiquidity: 700, depthWeight: 1 });
});

test('after the epoch, the mean liquidity moves on towards the newest liquidity', () => {
  const record = closeEpoch(
    undefined,
    { ...moves(move(64, at(1000)), move(95, at(4000))), older: true },
    SPAN,
  );
  expect(meanLiquidity(record, 950)).toBeCloseTo(1000, 9);
  expect(meanLiquidity(record, 950 + 1800)).toBeCloseTo(4000 - 3000 / Math.E, 9);
});

test('the held part of a price (the move without a swap) is between 0 and the distance from the mean, and decays within 30 minutes by a factor e', () => {
  expect(heldPart(0.5, Math.exp(0.2), 0)).toBeCloseTo(0.2, 14);
  expect(heldPart(0.1, Math.exp(0.2), 0)).toBeCloseTo(0.1, 14);
  expect(heldPart(0.5, Math.exp(-0.2), 0)).toBe(0);
  expect(heldPart(-0.5, Math.exp(-0.2), 0)).toBeCloseTo(-0.2, 14);
  const record = closeEpoch(BEFORE, { ...moves(move(95, at(1000, 2))), unswapped: 0.3 }, SPAN);
  expect(record.unswapped).toBe(0.3);
  expect(unswappedAt(record, 950 + 1800)).toBeCloseTo(0.3 / Math.E, 14);
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
  expect(record).toMatchObject({ state: at(3, 9), at: 950, movedAt: 900 });
  expect(() => closeEpoch(BEFORE, moves(), SPAN)).toThrow('at least one move');
});
