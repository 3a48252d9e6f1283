/**
 * The buffers of Balancer V3: real logs, the rate that an exchange proves, and what the vault is asked.
 * test/full/protocols/balancerV3.test.ts compares the rest with the published contracts.
 */
import { AbiCoder, EventFragment } from 'ethers';
import fc from 'fast-check';

import type { Hex } from '../../../../src/domain/hex';
import { balancerV3 } from '../../../../src/protocols/balancerV3/balancerV3';
import { BUFFER_TOPICS, decodeBufferEvent } from '../../../../src/protocols/balancerV3/bufferEvents';
import { emptyManyTokenState } from '../../../../src/protocols/manyTokenPool';
import type { ManyTokenState } from '../../../../src/protocols/manyTokenProtocol';
import { runsOf } from '../../../support/run/runs';
import GOLDEN_LOGS from '../../../golden/logs/balancerV3Buffers.json';
import { asJson, wordsOf } from '../golden';
import { toLog } from '../reference';
import { oneDigitOff, otherLayout } from '../spoiltLogs';

const [WRAP, UNWRAP, ADDED] = GOLDEN_LOGS.map(({ event }) => `event ${event}`) as [string, string, string];
const VAULT: Hex = `0x${'ba'.repeat(20)}`;
const ASSET: Hex = `0x${'0a'.repeat(20)}`;
const WRAPPER: Hex = `0x${'12'.repeat(20)}`;
/** Each hex digit of the wrapper, subtracted from f. */
const BUFFER: Hex = `0x${'ed'.repeat(20)}`;
const E18 = 10n ** 18n;
const coder = AbiCoder.defaultAbiCoder();

test.each(GOLDEN_LOGS)(
  'the golden log "$name" is decoded to its recorded values',
  ({ event, log, decoded }) => {
    expect(asJson(decodeBufferEvent(toLog(log)))).toEqual(decoded);
    expect(log.topics[0]).toBe(EventFragment.from(event).topicHash);
    expect(BUFFER_TOPICS.has(log.topics[0] as Hex)).toBe(true);
  },
);

test('a spoilt log of a buffer is refused unless ethers reads and writes the same data', () => {
  const logs = fc.constantFrom(...GOLDEN_LOGS.map(({ log }) => log));
  fc.assert(
    fc.property(fc.oneof(oneDigitOff(logs), otherLayout(logs)), (words) => {
      if (decodeBufferEvent(toLog(words)) === null) return;
      const types = ['uint128', 'uint128', 'bytes32'];
      expect(coder.encode(types, coder.decode(types, words.data).toArray(true))).toBe(words.data);
    }),
    { numRuns: runsOf(2_000) },
  );
});

const packed = (underlying: bigint, wrapped: bigint): string =>
  `0x${((wrapped << 128n) | underlying).toString(16).padStart(64, '0')}`;
const logOf = (event: string, first: bigint, second: bigint, balances: readonly [bigint, bigint]) => ({
  ...toLog(wordsOf(event, [WRAPPER, first, second, packed(...balances)])),
  address: VAULT,
});
const created = balancerV3.readCreation(logOf(ADDED, 100n * E18, 50n * E18, [100n * E18, 50n * E18]))!;
const assetAnswer = coder.encode(['address'], [ASSET]) as Hex;
const buffer = balancerV3.withFacts(created.state, [assetAnswer])!.state;

function afterLog(state: ManyTokenState, event: string, first: bigint, second: bigint): ManyTokenState {
  const step = balancerV3.readLog(state, logOf(event, first, second, [7n * E18, 9n * E18]), [], 0);
  if (typeof step === 'string') throw new Error(step);
  return step.after;
}

const rateOf = (state: ManyTokenState): number | null => balancerV3.spotPrice(state, 1, 0, 0);

test('the vault names the asset of a buffer, whose address is that of its wrapper with all bits flipped', () => {
  expect(balancerV3.poolOfId(created.state.poolId)).toBe(BUFFER);
  expect(balancerV3.idOfPool(BUFFER)).toBe(balancerV3.idOfLog(logOf(WRAP, 9n, 9n, [9n, 9n])));
  expect(buffer.tokens).toEqual([ASSET, WRAPPER]);
  const [call, ...others] = balancerV3.factCalls(VAULT, created.state);
  expect(others).toEqual([]);
  expect([call!.to, call!.data.endsWith(WRAPPER.slice(2))]).toEqual([VAULT, true]);
  const none = coder.encode(['address'], [`0x${'0'.repeat(40)}`]) as Hex;
  for (const answer of [null, none, `0x${'ff'.repeat(32)}` as Hex])
    expect(balancerV3.withFacts(created.state, [answer])).toBeNull();
});

test('a buffer that is older than the first block is known by its asset, and has no price before an exchange', () => {
  const id = balancerV3.idOfPool(BUFFER)!;
  const tokens = balancerV3.readTokens([null, assetAnswer])!;
  const older = balancerV3.withFacts({ ...emptyManyTokenState(id), tokens }, [assetAnswer])!.state;
  expect([older.tokens, older.balances]).toEqual([[ASSET, WRAPPER], []]);
  expect([balancerV3.lacksBooks(older), balancerV3.bookCalls(VAULT, older)]).toEqual([false, []]);
  const isFollowed = ({ params, doubts }: ManyTokenState) =>
    balancerV3.isFollowed({ weights: [], doubts, params });
  expect([rateOf(older), isFollowed(older)]).toEqual([null, false]);
  const wrapped = afterLog(older, WRAP, 2n * E18, E18);
  expect([isFollowed(wrapped), wrapped.balances]).toEqual([true, [7n * E18, 9n * E18]]);
  expect(balancerV3.restoreState({ ...wrapped, swapFee: 0n })).toEqual(wrapped);
});

test('more liquidity in a buffer creates no second one', () => {
  expect(balancerV3.readCreation(logOf(ADDED, 5n, 5n, [6n, 5n]))).toBeNull();
  expect(balancerV3.readCreation(logOf(ADDED, 5n, 5n, [5n, 6n]))).toBeNull();
});

test('a wrap is no swap, has the price of its amounts, and its depth is that of the balances', () => {
  const log = logOf(WRAP, 4n * E18, 2n * E18, [104n * E18, 26n * E18]);
  const step = balancerV3.readLog(buffer, log, [], 0);
  expect(step).toMatchObject({ kind: 'collect', isStored: true, swap: null, liquidity: null });
  expect(balancerV3.decodeSwap(log)).toBeNull();
  const { after } = step as { after: ManyTokenState };
  expect(rateOf(after)).toBeCloseTo(2, 14);
  const leg = balancerV3.legState({ ...after, weights: [], timestamp: 0 }, 0, 1, [18, 18]);
  expect(leg).toMatchObject({ reserve0: 104, reserve1: 26 });
  expect([leg.price, leg.liquidity]).toEqual([expect.closeTo(0.5, 14), expect.closeTo(52, 12)]);
});

test('liquidity of a buffer moves its balances, and not its rate', () => {
  const wrapped = afterLog(buffer, WRAP, 4n * E18, 2n * E18);
  const log = logOf(ADDED, 7n, 3n, [107n * E18, 53n * E18]);
  const step = balancerV3.readLog(wrapped, log, [], 0);
  const amounts = [
    { token: ASSET, amount: 7n },
    { token: WRAPPER, amount: 3n },
  ];
  expect(step).toMatchObject({ kind: 'mint', liquidity: { kind: 'mint', shares: null, amounts } });
  const { after } = step as { after: ManyTokenState };
  expect([rateOf(after), after.balances]).toEqual([rateOf(wrapped), [107n * E18, 53n * E18]]);
});

test('the rate stays within the rounding of each exchange while the rate of the wrapper grows', () => {
  // What a wrapper with `assets` for each 10^18 shares answers, rounded as OpenZeppelin's ERC-4626, and what the vault makes of it.
  const up = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
  const exchanges = [
    (assets: bigint, x: bigint) => [WRAP, x, ((x - 1n) * E18) / assets - 1n],
    (assets: bigint, x: bigint) => [WRAP, up((x + 1n) * assets, E18) + 1n, x],
    (assets: bigint, x: bigint) => [UNWRAP, x, ((x - 1n) * assets) / E18 - 1n],
    (assets: bigint, x: bigint) => [UNWRAP, up((x + 1n) * E18, assets) + 1n, x],
  ] as const;
  const amount = fc.tuple(fc.bigInt(100n, 999n), fc.integer({ min: 0, max: 22 }));
  const one = fc.tuple(fc.constantFrom(...exchanges), amount, fc.bigInt(0n, 10n ** 12n));
  fc.assert(
    fc.property(fc.bigInt(E18 / 3n, 3n * E18), fc.array(one, { maxLength: 12 }), (first, list) => {
      let [state, assets] = [buffer, first];
      for (const [exchange, [digits, power], growth] of list) {
        assets += growth;
        const [event, paid, got] = exchange(assets, digits * 10n ** BigInt(power)) as [
          string,
          bigint,
          bigint,
        ];
        if (got <= 2n) continue;
        state = afterLog(state, event, paid, got);
        const smaller = Number(paid < got ? paid : got);
        // Rounding of at most two units on either side, and of float64.
        const off = Math.abs(rateOf(state)! / (Number(assets) / 1e18) - 1);
        expect(off).toBeLessThan(9 / smaller + 1e-15);
      }
    }),
    { numRuns: runsOf(500) },
  );
});

test('an exchange of a few units moves the rate only as far as its rounding allows', () => {
  const wrapped = afterLog(buffer, WRAP, 3n * 10n ** 24n, 2n * 10n ** 24n);
  // 100 units for 65 fit every rate from 98/67 to 99/66.
  expect(rateOf(afterLog(wrapped, WRAP, 100n, 65n))).toBe(rateOf(wrapped));
  expect(rateOf(afterLog(wrapped, WRAP, 100n, 70n))).toBe(99 / 71);
  expect(rateOf(afterLog(wrapped, UNWRAP, 60n, 100n))).toBe(101 / 59);
  expect(rateOf(afterLog(wrapped, UNWRAP, 2n, 100n))).toBe(rateOf(wrapped));
});
