import fc from 'fast-check';

import { UINT256_MAX } from '../../../src/domain/amounts';
import type { Hex } from '../../../src/domain/hex';
import { cryptoLiquidity } from '../../../src/protocols/curveCrypto/cryptoDepth';
import { CRYPTO_TOPICS, decodeCryptoEvent } from '../../../src/protocols/curveCrypto/cryptoEvents';
import { findBalance, findD } from '../../../src/protocols/curveCrypto/cryptoMath';
import {
  cryptoCurveAt,
  cryptoPrice,
  getCryptoDy,
  toCryptoXp,
  type CryptoPool,
} from '../../../src/protocols/curveCrypto/cryptoPool';
import { applyCryptoEvent } from '../../../src/protocols/curveCrypto/cryptoState';
import { curveCrypto } from '../../../src/protocols/curveCrypto/curveCrypto';
import { runsOf } from '../../support/run/runs';

const E18 = 10n ** 18n;
const rampOf = (amp: bigint, gamma: bigint): CryptoPool['ramp'] => ({
  from: { amp, gamma },
  to: { amp, gamma },
  fromTime: 0n,
  toTime: 0n,
});

/** curve/tricrypto-ng/pool_simulator_test.go of KyberNetwork/kyberswap-dex-lib: crvUSD, tBTC and wstETH on Ethereum. */
const TRI: CryptoPool = {
  hasNewFee: false,
  ramp: rampOf(540_000n, 80_500_000_000_000n),
  midFee: 1_000_000n,
  outFee: 140_000_000n,
  feeGamma: 400_000_000_000_000n,
  supply: 6209561906175920711602n,
  d: 11990883592127090140834712n,
  precisions: [1n, 1n, 1n],
  legacy: null,
  priceScale: [66313464177401058702341n, 3988288337309167729564n],
  balances: [3848079508071253519125552n, 60997386412794855327n, 1028200997183081004168n],
};
/** pool_simulator_f5f5_test.go: USDT, WBTC and WETH during a ramp; the answers are those of get_dy on Ethereum. */
const TRI_RAMP: CryptoPool = {
  ...TRI,
  ramp: rampOf(756_886n, 175_700_099_522_697n),
  d: 13533423182336480804388507n,
  precisions: [10n ** 12n, 10n ** 10n, 1n],
  priceScale: [75855801314196021500642n, 2084347396023404453046n],
  balances: [4332903906625n, 6010377250n, 2228069361366269473640n],
};
/** curve/twocrypto-ng/pool_simulator_test.go: ETH+ and WETH on Arbitrum. */
const TWO: CryptoPool = {
  ...TRI,
  ramp: rampOf(20_000_000n, 20_000_000_000_000_000n),
  midFee: 500_000n,
  outFee: 8_000_000n,
  feeGamma: 30_000_000_000_000_000n,
  supply: 1006167834136870835627n,
  d: 1996236386986675947911n,
  precisions: [1n, 1n],
  priceScale: [983313638977093334n],
  balances: [968569777414549410834n, 1045106588251996643768n],
};
/** crvUSD and EURS, which has two decimals. */
const EURS: CryptoPool = {
  ...TWO,
  ramp: rampOf(1_880_000n, 199_000_000_000_000_000n),
  midFee: 4_000_000n,
  outFee: 30_000_000n,
  feeGamma: 12_300_000_000_000_000n,
  d: 8383386641969295080730n,
  precisions: [1n, 10n ** 16n],
  priceScale: [1083716143157454024n],
  balances: [4048585006552861060153n, 399999n],
};

/** crvUSD and cbBTC on Ethereum: a pool of the same factory with the curve of StableSwap. */
const OTHER_CURVE: CryptoPool = {
  ...TWO,
  ramp: rampOf(90_000n, 1_000_000_000_000_000n),
  d: 20716304579622468215639043n,
  precisions: [1n, 10n ** 10n],
  priceScale: [122572905692708966850883n],
  balances: [10634289033358214903742053n, 8225920812n],
};

/** tricrypto2, and CRV and cvxCRV of the factory of 2021: pkg/source/curve/{tricrypto,two}/pool_simulator_test.go. */
const TRI_2021: CryptoPool = {
  ...TRI,
  ramp: rampOf(1_707_629n, 11_809_167_828_997n),
  midFee: 3_000_000n,
  outFee: 30_000_000n,
  feeGamma: 500_000_000_000_000n,
  supply: 151463393077555004737648n,
  d: 162458225493710120387117207n,
  precisions: [10n ** 12n, 10n ** 10n, 1n],
  priceScale: [25182439404844022315525n, 1651754874918630176109n],
  balances: [54743954382801n, 212871488312n, 32759437840549558629494n],
  legacy: { share: `0x${'1'.repeat(40)}`, end: { supply: 0n, d: 0n, priceScale: [], balances: [] } },
};
const TWO_2021: CryptoPool = {
  ...TRI_2021,
  ramp: rampOf(200_000_000n, 100_000_000_000_000n),
  midFee: 10_000_000n,
  outFee: 90_000_000n,
  feeGamma: 5_000_000_000_000_000n,
  supply: 1894549993474267797965n,
  d: 4344269418800893049364n,
  precisions: [1n, 1n],
  priceScale: [1250033866036595049n],
  balances: [2575977394749099472751n, 1447320191806527553931n],
};

/** Largest part of a balance by which the closed formulas of the contracts round, and Newton's method before NG. */
const roundingOf = ({ legacy }: CryptoPool): bigint => 10n ** (legacy === null ? 16n : 14n);

test.each([
  [TRI, 0, 1, 50000000000000000n, 777940997580n],
  [TRI, 0, 1, 500000000000000001n, 7779409210946n],
  [TRI, 0, 1, 50000000000000000123n, 777932520003489n],
  [TRI, 0, 1, 5000000000000000012345n, 77709786016695971n],
  [TRI, 0, 2, 5000000000000000012n, 1308286035086453n],
  [TRI, 0, 2, 500000000000000001234n, 130813699671187605n],
  [TRI, 2, 1, 50000000000000000n, 2942298304726216n],
  [TRI, 2, 1, 50000000000000000123n, 2809513964503774599n],
  [TRI, 2, 1, 5000000000000000012345n, 49961193949748966896n],
  [TRI, 2, 0, 500000000000000000000n, 1247392878908745428005336n],
  [TRI, 2, 0, 5000000000000000000001n, 3151867100859420032898396n],
  [TRI, 2, 0, 50000000000000000000012n, null],
  [TRI_RAMP, 0, 1, 1000000000n, 1351698n],
  [TRI_RAMP, 0, 1, 100000000000n, 133055837n],
  [TRI_RAMP, 0, 2, 10000000000n, 4973357493860972412n],
  [TRI_RAMP, 1, 0, 100000000n, 71159485309n],
  [TRI_RAMP, 1, 2, 10000000n, 3642938363107693855n],
  [TRI_RAMP, 2, 0, 10000000000000000000n, 19530569920n],
  [TRI_RAMP, 2, 1, 1000000000000000000n, 2682639n],
  [TWO, 1, 0, 50000000000000000n, 49158730955589571n],
  [TWO, 1, 0, 5000000000000000012n, 4915798138812167060n],
  [TWO, 1, 0, 500000000000000001234n, 453553432480766034585n],
  [TWO, 1, 0, 5000000000000000012345n, 923692799321975179979n],
  [TWO, 0, 1, 1000000000000000000n, 1016967986681031868n],
  [EURS, 0, 1, 4732267796024191790852n, 327494n],
  [EURS, 1, 0, 1n, 10822405757804743n],
  [EURS, 1, 0, 279108n, 2680342795273391100498n],
  [EURS, 1, 0, 327494n, 2949081412746367458511n],
  [TRI_2021, 0, 2, 1n, 600295188n],
  [TRI_2021, 1, 2, 1n, 153286543005n],
  [TRI_2021, 1, 0, 1n, 255n],
  [TRI_2021, 0, 1, 1000n, 3n],
  [TWO_2021, 0, 1, 10n, 304n],
  [TWO_2021, 1, 0, 1000n, 172n],
])('the quote of a pool is the recorded answer of its contract (%#)', (pool, i, j, amount, out) => {
  const quote = getCryptoDy(pool, i, j, amount, 1_726_463_373);
  if (out === null || quote === null) return expect(quote).toBe(out);
  const miss = quote > out ? quote - out : out - quote;
  expect(miss).toBeLessThanOrEqual(pool.balances[j]! / roundingOf(pool) + 1n);
});

test.each([TRI, TRI_RAMP, TWO, EURS])(
  'D is the recorded D of the contract, within its rounding (%#)',
  (pool) => {
    const d = findD(pool.ramp.to, toCryptoXp(pool))!;
    expect(Math.abs(Number(d - pool.d))).toBeLessThan(1e-17 * Number(d));
  },
);

/** The price by bisection for D and a difference quotient of the invariant itself, with 400 bits. */
function slowPrice({ ramp, ...pool }: CryptoPool, i: number, j: number): number {
  const bits = 400n;
  const one = 1n << bits;
  const { amp, gamma } = ramp.to;
  const xp = toCryptoXp({ ...pool, ramp }).map((x) => x << bits);
  const n = BigInt(xp.length);
  // The invariant as in the whitepaper: K·Dⁿ⁻¹·Σx + Πx − K·Dⁿ − (D/n)ⁿ with K = A·K0·γ²/(γ + 1 − K0)², divided by K·Dⁿ⁻¹.
  const missOf = (xs: readonly bigint[], d: bigint): bigint => {
    const k0 = xs.reduce((part, x) => (part * n * x) / d, one);
    const g = (gamma * one) / E18 + one - k0;
    const k = (((((amp * k0) / 10n ** 4n) * gamma * gamma) / E18 ** 2n) * one * one) / (g * g);
    const center = (d * (k0 - one)) / k;
    return xs.reduce((total, x) => total + x, -d) + center;
  };
  let [low, high] = [0n, xp.reduce((total, x) => total + x, 1n)];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (missOf(xp, middle) > 0n) low = middle;
    else high = middle;
  }
  const slopeOf = (at: number): bigint => {
    const moved = (step: bigint): bigint[] => xp.map((x, index) => (index === at ? x + step : x));
    const step = xp[at]! >> 100n;
    return ((missOf(moved(step), low) - missOf(moved(-step), low)) << bits) / step;
  };
  const scaleOf = (k: number): bigint => pool.precisions[k]! * (k === 0 ? E18 : pool.priceScale[k - 1]!);
  const price = ((slopeOf(i) * scaleOf(i)) << bits) / (slopeOf(j) * scaleOf(j));
  return Number(price >> (bits - 200n)) / 2 ** 200;
}

/** Pools near and far from their balance. */
const pools = fc
  .record({
    count: fc.integer({ min: 2, max: 3 }),
    parts: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
    spread: fc.constantFrom(0.001, 0.1, 1),
    amp: fc.integer({ min: 300_000, max: 20_000_000 }),
    gamma: fc.integer({ min: 10, max: 150_000 }),
  })
  .map(({ count, parts, spread, amp, gamma }): CryptoPool => {
    const pool = {
      ...TRI,
      ramp: rampOf(BigInt(amp), BigInt(gamma) * 10n ** 12n),
      precisions: [10n ** 12n, 10n ** 10n, 1n].slice(0, count),
      priceScale: [60_000n * E18, 3_000n * E18].slice(0, count - 1),
      legacy: null,
      balances: [10n ** 12n, 1_666_666_666n, 333n * E18]
        .slice(0, count)
        .map((each, index) => (each * BigInt(Math.round(1e6 * 10 ** (spread * parts[index]!)))) / 10n ** 6n),
    };
    return { ...pool, d: findD(pool.ramp.to, toCryptoXp(pool))! };
  });

test('the price has a relative error below 1e-12', () => {
  fc.assert(
    fc.property(pools, (pool) => {
      const last = pool.balances.length - 1;
      const price = cryptoPrice(pool, 0, last, 0)!;
      expect(Math.abs(price / slowPrice(pool, 0, last) - 1)).toBeLessThan(1e-12);
    }),
    { numRuns: runsOf(60) },
  );
});

test('the liquidity is at most the depth of the pool until its price moves by 2 %, in both directions', () => {
  fc.assert(
    fc.property(pools, (pool) => {
      const liquidity = cryptoLiquidity(pool, 0, 1, 0);
      const lefts = (
        [
          [0, 1],
          [1, 0],
        ] as const
      ).map(([into, out]) => {
        const price = cryptoPrice(pool, into, out, 0)!;
        const paid = BigInt(Math.floor(liquidity * Math.sqrt(price) * (1 - Math.sqrt(0.98))));
        const after = pool.balances.map((each, index) => (index === out ? each - paid : each));
        const scale = pool.precisions[into]! * (into === 0 ? E18 : pool.priceScale[0]!);
        const x = findBalance(pool.ramp.to, toCryptoXp(pool, after), into, pool.d)!;
        after[into] = (x * E18) / scale;
        return cryptoPrice({ ...pool, balances: after }, into, out, 0)! / price;
      });
      expect(Math.min(...lefts)).toBeGreaterThan(0.98 - 1e-5);
      expect(Math.min(...lefts)).toBeLessThan(0.98 + 1e-5);
    }),
    { numRuns: runsOf(60) },
  );
});

const UNUSABLE: readonly Partial<CryptoPool>[] = [
  { balances: [0n, 5n * E18] },
  { balances: [10n ** 9n, 10n ** 21n] },
  { ramp: rampOf(0n, 0n) },
  { ramp: { ...TWO.ramp, to: { amp: 0n, gamma: 1n }, toTime: 10n } },
];
test.each(UNUSABLE)('a pool whose contract cannot trade has no price (%#)', (changes) => {
  expect(cryptoPrice({ ...TWO, ...changes }, 0, 1, 10)).toBeNull();
  expect(getCryptoDy({ ...TWO, ...changes }, 0, 1, 10n ** 6n, 10)).toBeNull();
});

test('A and γ move linearly between the two times of a ramp, and D moves with them', () => {
  const [from, to] = [TWO.ramp.to, { amp: 10_000_000n, gamma: 30_000_000_000_000_001n }];
  const pool = { ...TWO, ramp: { from, to, fromTime: 100n, toTime: 104n } };
  const curves = [100, 101, 103, 104, 900].map((time) => cryptoCurveAt(pool, time));
  expect(curves).toEqual([
    from,
    { amp: 17_500_000n, gamma: 22_500_000_000_000_000n },
    { amp: 12_500_000n, gamma: 27_500_000_000_000_000n },
    to,
    to,
  ]);
  const during = { ...pool, d: findD(curves[1]!, toCryptoXp(pool))! };
  expect(during.d).not.toBe(pool.d);
  expect(cryptoPrice(pool, 0, 1, 101)).toBe(cryptoPrice(during, 0, 1, 101));
});

const OWNER: Hex = `0x${'4'.repeat(40)}`;
const SWAP = {
  kind: 'exchange',
  owner: OWNER,
  soldId: 1,
  boughtId: 0,
  priceScale: TWO.priceScale[0]!,
} as const;

test('an event that the state does not explain is told, and balances never fall below 0', () => {
  const sold = 5000000000000000012n;
  // The recorded output. Its fee follows from the formula of this pool, which is older than 2025.
  const swap = { ...SWAP, sold, bought: 4915798138812167060n, fee: 386750857466931n };
  for (const hasNewFee of [false, true])
    expect(applyCryptoEvent({ ...TWO, hasNewFee }, swap, 0)).toMatchObject({
      isExplained: true,
      feePips: 79,
      pool: { hasNewFee: false },
    });
  for (const wrong of [
    { ...swap, bought: swap.bought + 10n ** 12n },
    { ...swap, fee: 2n * swap.fee, bought: swap.bought - swap.fee },
    { ...swap, priceScale: 0n },
  ])
    expect(applyCryptoEvent(TWO, wrong, 0).isExplained).toBe(false);
  const { pool, isExplained } = applyCryptoEvent(TWO, { ...swap, bought: E18 ** 2n }, 0);
  expect([pool.balances[0], isExplained]).toEqual([0n, false]);
  expect(applyCryptoEvent(TWO, { kind: 'donate' }, 0).isExplained).toBe(false);
});

const words = (...values: readonly (bigint | string)[]): Hex =>
  `0x${values.map((value) => BigInt(value).toString(16).padStart(64, '0')).join('')}`;
/** The state of a recorded pool of two tokens by the answers of its contract. The last trade was after any ramp. */
function ask(pool: CryptoPool): ReturnType<typeof curveCrypto.withBooks> {
  const empty = { balances: [], weights: null, swapFee: 0n, doubts: 0, params: [] };
  const state = { poolId: words(POOL), tokens: [COIN, NEXT], ...empty };
  const units = words(...pool.precisions);
  expect(curveCrypto.withFacts(state, [words(NEXT, COIN), units])).toBeNull();
  expect(curveCrypto.withFacts(state, [words(0n, 0n), units])).toBeNull();
  const known = curveCrypto.withFacts(state, [words(COIN, NEXT), units])!.state;
  expect(curveCrypto.lacksBooks(known)).toBe(true);
  const curve = words((pool.ramp.to.amp << 128n) | pool.ramp.to.gamma);
  const { midFee, outFee, feeGamma, supply, d, priceScale, balances } = pool;
  const rest = [0n, 0n, midFee, outFee, feeGamma, supply, d, ...priceScale, ...balances];
  const answers = [null, words(5n), null, curve, curve, ...rest.map((each) => words(each))];
  expect(answers).toHaveLength(curveCrypto.bookCalls(POOL, known).length);
  expect(curveCrypto.lacksBooks(curveCrypto.withBooks(known, [...answers.slice(1), null], false))).toBe(true);
  return curveCrypto.withBooks(known, answers, false);
}

test('no event stops the ingester', () => {
  const number = fc.oneof(
    fc.constantFrom(0n, 1n, E18, UINT256_MAX),
    fc.bigInt({ min: 0n, max: 10n ** 27n }),
    fc.bigInt({ min: 0n, max: UINT256_MAX }),
  );
  const topics = fc.constantFrom(...CRYPTO_TOPICS);
  const states = fc.tuple(fc.constantFrom(TRI, TWO, EURS), fc.array(number, { maxLength: 12 }));
  fc.assert(
    fc.property(
      states,
      topics,
      fc.array(number, { minLength: 7, maxLength: 7 }),
      (state, topic, [first, ...rest]) => {
        const [pool, [supply = E18, d = 0n, midFee = 0n, feeGamma = 0n, price = E18, ...balances]] = state;
        const priceScale = pool.priceScale.map((each) => (price % 3n === 0n ? price : each));
        const spoilt = { ...pool, supply, d, midFee, feeGamma, priceScale };
        const filled = { ...spoilt, balances: pool.balances.map((each, index) => balances[index] ?? each) };
        const values = [BigInt.asUintN(160, first!), ...rest];
        const logOf = (count: number) => ({ topics: [topic], data: words(...values.slice(0, count)) });
        const event = [2, 3, 4, 5, 6, 7]
          .map((count) => decodeCryptoEvent(logOf(count)))
          .find((each) => each !== null);
        if (event == null) return;
        const { pool: after } = applyCryptoEvent(filled, event, 5);
        for (const each of [after.supply, after.d, ...after.balances])
          expect(each >= 0n && each <= UINT256_MAX).toBe(true);
        cryptoPrice(after, 0, 1, 5);
        getCryptoDy(after, 1, 0, values[3]!, 5);
        expect(cryptoLiquidity(after, 0, 1, 5)).toBeGreaterThanOrEqual(0);
      },
    ),
    { numRuns: runsOf(500) },
  );
});

const [POOL, COIN, NEXT] = ['1', '2', '3'].map((digit): Hex => `0x${digit.repeat(40)}`) as [Hex, Hex, Hex];
test('a pool that the node was asked about has a price, unless its D is that of another curve', () => {
  const state = ask(TWO);
  expect(curveCrypto.lacksBooks(state)).toBe(false);
  expect(state.swapFee).toBe(TWO.midFee * 10n ** 8n);
  expect(curveCrypto.spotPrice(state, 0, 1, 0)).toBe(cryptoPrice(TWO, 0, 1, 0));
  expect(curveCrypto.quote(state, 1, 0, E18, 0)).toBe(getCryptoDy(TWO, 1, 0, E18, 0));
  // A withdrawal left a cent more than D says.
  expect(ask({ ...EURS, balances: [EURS.balances[0]!, 400_000n] }).doubts).toBe(0);
  const other = ask(OTHER_CURVE);
  expect([curveCrypto.lacksBooks(other), other.doubts]).toEqual([false, 8]);
  expect(curveCrypto.spotPrice(other, 0, 1, 0)).toBeNull();
  expect(curveCrypto.quote(other, 1, 0, E18, 0)).toBeNull();
});
