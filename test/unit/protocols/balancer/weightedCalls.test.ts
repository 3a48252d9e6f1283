import { AbiCoder, Interface } from 'ethers';
import fc from 'fast-check';

import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { DOUBTS } from '../../../../src/domain/pools/doubts';
import {
  booksCalls,
  decodePoolTokens,
  decodeSwapFee,
  decodeWeights,
  isAmplification,
  poolFactCalls,
  poolTokensCall,
  readBooks,
  readPoolFacts,
} from '../../../../src/protocols/balancerV2/weightedCalls';
import { areWeights, ONE } from '../../../../src/protocols/balancerV2/weightedPool';
import { anyAddress, anyPoolId } from './balancerReference';
import { runsOf } from '../../../support/run/runs';

const ABI = new Interface([
  'function getNormalizedWeights() view returns (uint256[])',
  'function getSwapFeePercentage() view returns (uint256)',
  'function getAmplificationParameter() view returns (uint256 value, bool isUpdating, uint256 precision)',
  'function getGradualWeightUpdateParams() view returns (uint256 startTime, uint256 endTime, uint256[] endWeights)',
  'function getPoolTokens(bytes32 poolId) view returns (address[] tokens, uint256[] balances, uint256 lastChangeBlock)',
  'function getPoolTokenInfo(bytes32 poolId, address token) view returns (uint256 cash, uint256 managed, uint256 lastChangeBlock, address assetManager)',
]);
const POOL: Hex = `0x${'5a'.repeat(20)}`;
const OTHER: Hex = `0x${'6b'.repeat(20)}`;
const RUNS = runsOf(2_000);

function answer(method: string, values: readonly unknown[]): Hex {
  return ABI.encodeFunctionResult(method, values) as Hex;
}

/** The answer as ethers reads it; null if encoding the values does not give the same bytes. */
function reference(method: string, data: Hex): unknown[] | null {
  const types = ABI.getFunction(method)!.outputs.map(({ type }) => type);
  try {
    const values = AbiCoder.defaultAbiCoder().decode(types, data).toArray(true) as unknown[];
    return AbiCoder.defaultAbiCoder().encode(types, values) === data ? values : null;
  } catch {
    return null;
  }
}

/** The answer, unchanged or with words cut off, added or changed. */
function spoilt(good: fc.Arbitrary<Hex>): fc.Arbitrary<Hex> {
  const change = fc.constantFrom('none', 'cut', 'word on', 'word off', 'word', 'digit');
  const value = fc.oneof(fc.nat({ max: 300 }).map(BigInt), fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }));
  return fc.tuple(good, change, fc.nat(), value).map(([data, how, where, word]): Hex => {
    const digits = word.toString(16).padStart(64, '0');
    const start = 2 + 64 * (where % ((data.length - 2) / 64));
    switch (how) {
      case 'cut':
        return data.slice(0, 2 + (where % (data.length - 2))) as Hex;
      case 'word on':
        return `${data}${digits}`;
      case 'word off':
        return data.slice(0, -64) as Hex;
      case 'word':
        return `${data.slice(0, start)}${digits}${data.slice(start + 64)}` as Hex;
      case 'digit':
        return `${data.slice(0, start)}${digits.slice(-1)}${data.slice(start + 1)}` as Hex;
      default:
        return data;
    }
  });
}

const weights = fc
  .array(fc.bigInt({ min: ONE / 100n, max: ONE }), { minLength: 2, maxLength: 9 })
  .map((parts) => {
    const sum = parts.reduce((total, part) => total + part, 0n);
    return parts.map((part) => (part * ONE) / sum);
  });

describe('calls to a Balancer pool ask for its properties', () => {
  it('the properties of a Balancer pool come from the pool, and its balances from the vault', () => {
    const functions = ABI.fragments.slice(0, 4).map((fragment) => fragment.format());
    expect(poolFactCalls(POOL)).toEqual(
      functions.map((name) => ({ to: POOL, data: ABI.encodeFunctionData(name) })),
    );
    const property = fc.property(anyPoolId, (poolId) => {
      const data = ABI.encodeFunctionData('getPoolTokens', [poolId]);
      expect(poolTokensCall(POOL, poolId as Hex)).toEqual({ to: POOL, data });
      const infos = [POOL, OTHER].map((token) => ({
        to: POOL,
        data: ABI.encodeFunctionData('getPoolTokenInfo', [poolId, token]),
      }));
      expect(booksCalls(POOL, poolId as Hex, [POOL, OTHER])).toEqual([{ to: POOL, data }, ...infos]);
    });
    fc.assert(property, { numRuns: 50 });
  });
});

describe('random answers of a Balancer pool are decoded as by ethers', () => {
  test('an answer of getNormalizedWeights is decoded to the weights as by ethers, or refused', () => {
    const good = weights.map((each) => answer('getNormalizedWeights', [each]));
    let read = 0;
    const property = fc.property(spoilt(good), fc.nat({ max: 9 }), (data, count) => {
      const values = reference('getNormalizedWeights', data)?.[0] as bigint[] | undefined;
      const whole = values !== undefined && areWeights(values, values.length) ? values : null;
      if (whole !== null) read += 1;
      expect(decodeWeights(data, values?.length ?? count)).toEqual(whole);
      if (values?.length !== count) expect(decodeWeights(data, count)).toBeNull();
    });
    fc.assert(property, { numRuns: RUNS });
    expect(read).toBeGreaterThan(RUNS / 20);
  });

  test('an answer of getSwapFeePercentage is decoded to the fee as by ethers, or refused', () => {
    const fee = fc.oneof(fc.bigInt({ min: 0n, max: ONE + 1n }), fc.constantFrom(0n, ONE, ONE + 1n));
    const property = fc.property(
      spoilt(fee.map((each) => answer('getSwapFeePercentage', [each]))),
      (data) => {
        const value = (reference('getSwapFeePercentage', data)?.[0] ?? null) as bigint | null;
        expect(decodeSwapFee(data)).toBe(value !== null && value <= ONE ? value : null);
      },
    );
    fc.assert(property, { numRuns: RUNS });
  });

  test('an answer of getAmplificationParameter is decoded to the amplification as by ethers, or refused', () => {
    const good = fc
      .tuple(fc.nat(), fc.boolean(), fc.nat())
      .map((each) => answer('getAmplificationParameter', each));
    const property = fc.property(spoilt(good), (data) => {
      const values = reference('getAmplificationParameter', data);
      const [value, , precision] = (values ?? []) as [bigint, boolean, bigint];
      expect(isAmplification(data)).toBe(values !== null && value > 0n && precision > 0n);
    });
    fc.assert(property, { numRuns: RUNS });
  });

  test('getPoolTokens gives the tokens', () => {
    const balance = fc.bigInt({ min: 0n, max: (1n << 112n) - 1n });
    const books = fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })).chain(([count, odd]) => {
      const other = odd === 0 ? count + 1 : count;
      return fc.tuple(
        fc.array(anyAddress, { minLength: count, maxLength: count }),
        fc.array(balance, { minLength: other, maxLength: other }),
        fc.nat(),
      );
    });
    const good = books.map((each) => answer('getPoolTokens', each));
    let read = 0;
    const property = fc.property(spoilt(good), (data) => {
      const values = reference('getPoolTokens', data);
      const [tokens, balances] = (values ?? [[], []]) as [string[], bigint[]];
      const even = values !== null && tokens.length === balances.length;
      if (even) read += 1;
      const lower = tokens.map((token) => token.toLowerCase());
      expect(decodePoolTokens(data)).toEqual(even ? lower : null);
    });
    fc.assert(property, { numRuns: RUNS });
    expect(read).toBeGreaterThan(RUNS / 20);
  });

  describe('the balances of a pool come from the answers of the vault', () => {
    const tokens = answer('getPoolTokens', [[POOL, OTHER], [70n, 90n], 5n]);
    const info = (cash: bigint, managed: bigint, manager: Hex = ZERO_ADDRESS): Hex =>
      answer('getPoolTokenInfo', [cash, managed, 5n, manager]);

    it('the balances of a Balancer pool are the cash of each token, never the managed balance', () => {
      const books = readBooks([tokens, info(70n, 0n), info(40n, 50n)], [POOL, OTHER]);
      expect(books).toEqual({ tokens: [POOL, OTHER], balances: [70n, 40n], doubts: DOUBTS.managed });
    });

    it('a Balancer pool with an asset manager is in doubt, even if the manager manages nothing yet', () => {
      const doubtsWith = (manager: Hex): number | undefined =>
        readBooks([tokens, info(70n, 0n), info(90n, 0n, manager)], [POOL, OTHER])?.doubts;
      expect([ZERO_ADDRESS, OTHER].map(doubtsWith)).toEqual([0, DOUBTS.managed]);
    });

    it('the balances of a Balancer pool are unknown if an answer is missing or has another shape', () => {
      const short = info(90n, 0n).slice(0, -64) as Hex;
      for (const last of [null, '0x' as Hex, short, `${info(90n, 0n)}${'0'.repeat(64)}` as Hex])
        expect(readBooks([tokens, info(70n, 0n), last], [POOL, OTHER])).toBeNull();
      expect(readBooks([null, info(70n, 0n), info(90n, 0n)], [POOL, OTHER])).toBeNull();
    });

    it('the balance of a token that is not registered yet is 0', () => {
      const none = answer('getPoolTokens', [[], [], 0n]);
      expect(readBooks([none, null, null], [POOL, OTHER])).toEqual({
        tokens: [POOL, OTHER],
        balances: [0n, 0n],
        doubts: 0,
      });
    });
  });

  test('the decoders never throw', () => {
    const text = fc.oneof(fc.string({ maxLength: 200 }), fc.stringMatching(/^0x[0-9a-fA-Fxz-]{0,400}$/));
    const property = fc.property(fc.array(text, { maxLength: 5 }), fc.nat({ max: 60 }), (texts, count) => {
      readPoolFacts(texts as Hex[], count);
      for (const each of texts) decodePoolTokens(each as Hex);
    });
    fc.assert(property, { numRuns: RUNS });
    for (const read of [decodePoolTokens, decodeSwapFee]) expect(read(null)).toBeNull();
    expect(isAmplification(null)).toBe(false);
  });
});

describe('the type of a pool follows from the answers of its contract', () => {
  const halves = [ONE / 2n, ONE / 2n];
  const weighted = answer('getNormalizedWeights', [halves]);
  const fee = answer('getSwapFeePercentage', [10n ** 16n]);
  const amplification = answer('getAmplificationParameter', [200_000n, false, 1000n]);
  const gradual = answer('getGradualWeightUpdateParams', [1n, 2n, halves]);

  it('a Balancer pool is weighted if it returns one weight per token', () => {
    const facts = { poolType: 4, weights: halves, swapFee: 10n ** 16n };
    expect(readPoolFacts([weighted, fee, null, null], 2)).toEqual(facts);
    expect(readPoolFacts([weighted, fee, null, '0x'], 2)).toEqual(facts);
    expect(readPoolFacts([weighted, fee, null, null], 3)).toBeNull();
    expect(readPoolFacts([weighted, null, null, null], 2)).toEqual({ ...facts, swapFee: null });
  });

  it('a Balancer pool is weighted, but without weights, if the weights change over time', () => {
    expect(readPoolFacts([weighted, fee, null, gradual], 2)).toEqual({
      poolType: 4,
      weights: null,
      swapFee: 10n ** 16n,
    });
  });

  it('a Balancer pool is stable if it returns an amplification, and of no type if it returns neither', () => {
    const facts = { poolType: 5, weights: null, swapFee: 10n ** 16n };
    expect(readPoolFacts([null, fee, amplification, null], 2)).toEqual(facts);
    expect(readPoolFacts(['0x', fee, amplification, '0x'], 2)).toEqual(facts);
    expect(readPoolFacts([null, fee, null, null], 2)).toBeNull();
    expect(readPoolFacts([], 2)).toBeNull();
  });
});
