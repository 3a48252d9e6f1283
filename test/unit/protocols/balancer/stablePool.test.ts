/**
 * Stable pools of Balancer V2: prices against the limit of the pool's own quote, amplifications that move, and claims of
 * contracts. test/unit/ingest/vaultContracts.test.ts compares the quote with a swap of the real contract.
 */
import { AbiCoder } from 'ethers';

import type { ChainLog } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { balancerV2 } from '../../../../src/protocols/balancerV2/balancerV2';
import {
  lacksAmp,
  lacksTerms,
  withAmp,
  withScales,
  withTerms,
} from '../../../../src/protocols/balancerV2/stablePool';
import { DOUBTS } from '../../../../src/domain/pools/doubts';
import { emptyManyTokenState } from '../../../../src/protocols/manyTokenPool';
import type { ManyTokenState } from '../../../../src/protocols/manyTokenProtocol';
import { Random } from '../../../support/random';
import { BALANCER } from './balancerReference';
import { encode, toLog } from '../reference';

const ONE = 10n ** 18n;
const POOLS = 500;
const NOW = 1_700_000_000;
const POOL: Hex = `0x${'5a'.repeat(20)}`;
const POOL_ID: Hex = `${POOL}${'0'.repeat(24)}`;
const coder = AbiCoder.defaultAbiCoder();
const tokenOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const answerOf = (type: string, value: unknown): Hex => coder.encode([type], [value]) as Hex;
const ampAnswer = (...values: unknown[]): Hex => coder.encode(['uint256', 'bool', 'uint256'], values) as Hex;

interface Plan {
  readonly amp: number;
  readonly decimals: readonly number[];
  /** Amounts of the tokens in units of 1e-18. */
  readonly amounts: readonly bigint[];
}

function poolOf({ amp, decimals, amounts }: Plan): ManyTokenState {
  const balances = amounts.map((amount, index) => amount / 10n ** BigInt(18 - decimals[index]!));
  const tokens = decimals.map((_each, index) => tokenOf(index));
  const scales = answerOf(
    'uint256[]',
    decimals.map((each) => ONE * 10n ** BigInt(18 - each)),
  );
  const scaled = withScales({ ...emptyManyTokenState(POOL_ID), tokens, balances }, [scales, null]);
  return withAmp(scaled, ampAnswer(amp * 1_000, false, 1_000));
}

/** The limit of out / in for small amounts, by Richardson's extrapolation of three quotes. */
function limitOf(state: ManyTokenState, i: number, j: number): number {
  const size = state.balances[i]! / 1_000_000n;
  const [p1, p2, p4] = [1n, 2n, 4n].map((part) => {
    const paid = size / part;
    return Number(balancerV2.quote(state, i, j, paid, NOW)) / Number(paid);
  });
  const [first, second] = [2 * p2! - p1!, 2 * p4! - p2!];
  return (4 * second - first) / 3;
}

test('the price of a stable pool is the limit of its quote, for 500 random pools', () => {
  const random = new Random(5);
  let worst = 0;
  for (let count = 0; count < POOLS; count += 1) {
    const size = random.int(2, 5);
    const decimals = Array.from({ length: size }, (_, index) =>
      random.pick(index === 1 ? [6, 8, 18] : [0, 6, 8, 18]),
    );
    const amounts = decimals.map(() => BigInt(random.int(1_000, 100_000)) * 10n ** 28n);
    const state = poolOf({ amp: random.pick([1, 10, 200, 5_000]), decimals, amounts });
    const price = balancerV2.spotPrice(state, 0, 1, NOW)!;
    worst = Math.max(worst, Math.abs(limitOf(state, 0, 1) / price - 1));
    expect(Math.abs(balancerV2.spotPrice(state, 1, 0, NOW)! * price - 1)).toBeLessThan(1e-14);
  }
  expect(worst).toBeLessThan(1e-9);
});

const PLAN: Plan = { amp: 50, decimals: [6, 18, 8], amounts: [3n, 1n, 2n].map((each) => each * 10n ** 24n) };
const logOf = (event: string, ...values: unknown[]): ChainLog => ({
  ...toLog(encode(BALANCER, event, values)),
  address: POOL,
});

test('a moving amplification is interpolated as the contract does, and each change is stored', () => {
  const state = poolOf(PLAN);
  const started = balancerV2.readLog(
    state,
    logOf('AmpUpdateStarted', 50_000, 100_000, NOW, NOW + 1_000),
    [],
    NOW,
  );
  expect(started).toMatchObject({ kind: 'fee', isStored: true });
  if (typeof started === 'string') throw new Error(started);
  const moving = started.after;
  const priceAt = (passed: number) => balancerV2.spotPrice(moving, 0, 1, NOW + passed);
  const priceOf = (amp: number) => balancerV2.spotPrice(poolOf({ ...PLAN, amp }), 0, 1, NOW);
  expect([0, 500, 1_000, 9_999].map(priceAt)).toEqual([50, 75, 100, 100].map(priceOf));
  const stopped = balancerV2.readLog(moving, logOf('AmpUpdateStopped', 60_000), [], NOW + 200);
  expect(stopped).toMatchObject({ after: poolOf({ ...PLAN, amp: 60 }), isStored: true });
});

test('a stable pool has no price with an unknown rate, an unknown amplification or an impossible scaling factor', () => {
  const state = { ...poolOf(PLAN), params: [] };
  const scales = answerOf('uint256[]', [10n ** 30n, ONE, 10n ** 28n]);
  const providers = (...values: Hex[]) => answerOf('address[]', values);
  const zero: Hex = `0x${'00'.repeat(20)}`;
  expect(withScales(state, [scales, providers(zero, zero, zero)]).params).toHaveLength(7);
  expect(withScales(state, [scales, providers(zero, POOL, zero), null, null, null]).params).toEqual([]);
  expect(withScales(state, [scales, providers(zero, POOL)]).params).toEqual([]);
  const decimals = PLAN.decimals.map((each) => answerOf('uint256', each));
  const rated = withScales(state, [scales, providers(zero, POOL, zero), ...decimals]);
  const amp = ampAnswer(50_000, false, 1_000);
  for (const rates of [[], [null, null, '0x', answerOf('uint256', 0)] as const]) {
    const unknown = withTerms(rated, [amp, ...rates]);
    expect([lacksAmp(unknown), lacksTerms(unknown)]).toEqual([false, true]);
    expect(balancerV2.spotPrice(unknown, 0, 1, NOW)).toBeNull();
  }
  expect(withScales(state, [null, null]).params).toEqual([]);
  expect(withScales(state, [answerOf('uint256[]', [ONE, ONE]), null]).params).toEqual([]);
  expect(withScales(state, [answerOf('uint256[]', [ONE, ONE - 1n, ONE]), null]).params).toEqual([]);
  const unknown = withScales(state, [scales, null]);
  for (const answer of [null, ampAnswer(50_000, true, 1_000), ampAnswer(50, false, 1)])
    expect(lacksAmp(withAmp(unknown, answer))).toBe(true);
  for (const odds of [0, 50_001]) {
    const odd = withAmp(unknown, ampAnswer(odds * 1_000, false, 1_000));
    expect(balancerV2.spotPrice(odd, 0, 1, NOW)).toBeNull();
    expect(balancerV2.legState({ ...odd, weights: [], timestamp: NOW }, 0, 1, [6, 18]).price).toBe(0);
  }
});

test('a rate counts from its event or from the answer of the pool, and prices as a larger scaling factor', () => {
  const rate = (11n * ONE) / 10n;
  const rated = { ...poolOf(PLAN), params: [...poolOf(PLAN).params, ONE, ONE, ONE] };
  const expected = balancerV2.spotPrice(
    { ...poolOf(PLAN), params: poolOf(PLAN).params.with(5, (ONE * 11n) / 10n) },
    0,
    1,
    NOW,
  );
  const events = [
    logOf('TokenRateCacheUpdated(uint256,uint256)', 1, rate),
    logOf('TokenRateCacheUpdated(address,uint256)', tokenOf(1), rate),
    logOf('PriceRateCacheUpdated', tokenOf(1), rate),
  ];
  for (const event of events) {
    const step = balancerV2.readLog(rated, event, [], NOW);
    if (typeof step === 'string') throw new Error(step);
    expect(step).toMatchObject({ kind: 'fee', isStored: true, swap: null });
    expect(balancerV2.spotPrice(step.after, 0, 1, NOW)).toBe(expected);
    expect(balancerV2.readLog(step.after, event, [], NOW)).toMatchObject({ isStored: false });
  }
  const unknown = { ...rated, params: rated.params.with(8, 0n) };
  for (const answers of [
    [rate, null],
    [null, rate],
  ]) {
    const ofToken = answers.map((each) => (each === null ? null : answerOf('uint256', each)));
    const asked = withTerms(unknown, [null, null, null, ...ofToken, null, null]);
    expect(balancerV2.spotPrice(asked, 0, 1, NOW)).toBe(expected);
    const filled = balancerV2.fillState(unknown, asked);
    expect(filled.params).toEqual(asked.params);
  }
  // A swap at an older rate shows that an event is missing.
  const [old, before] = [{ ...rated, swapFee: 4n * 10n ** 14n }, 10n ** 9n];
  const out = balancerV2.quote(old, 0, 1, before, NOW)!;
  const swapOf = (amountOut: bigint) =>
    balancerV2.readLog(old, logOf('Swap', POOL_ID, tokenOf(0), tokenOf(1), before, amountOut), [], NOW);
  expect(swapOf(out)).toMatchObject({ after: { doubts: 0 } });
  expect(swapOf((out * 10_001n) / 10_000n)).toMatchObject({ after: { doubts: DOUBTS.weights } });
});

test('a swap that the formula does not explain puts a stable pool in doubt, and a swap of one unit does not', () => {
  const state = { ...poolOf(PLAN), swapFee: 4n * 10n ** 14n };
  const paid = 10n ** 9n;
  const out = balancerV2.quote(state, 0, 1, paid, NOW)!;
  const doubtsOf = (amountIn: bigint, amountOut: bigint): number => {
    const log = logOf('Swap', POOL_ID, tokenOf(0), tokenOf(1), amountIn, amountOut);
    const step = balancerV2.readLog(state, log, [], NOW);
    if (typeof step === 'string') throw new Error(step);
    return step.after.doubts;
  };
  expect(doubtsOf(paid, out)).toBe(0);
  expect(doubtsOf(paid, (out * 1_005n) / 1_000n)).toBe(0);
  expect(doubtsOf(paid, (out * 102n) / 100n)).toBe(DOUBTS.weights);
  expect(doubtsOf(paid, (out * 98n) / 100n)).toBe(DOUBTS.weights);
  // Amounts in are rounded up to whole units of a token with 6 decimals.
  expect(doubtsOf(2n, 1n)).toBe(0);
});
