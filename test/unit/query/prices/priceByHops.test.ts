import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { isTrusted } from '../../../../src/pricing/confidence';
import {
  changeOfPrice,
  makeTokenPrices,
  priceByHops,
  type Hop,
} from '../../../../src/query/prices/priceByHops';
import { toTokenPrices, type HopRow, type PastHopRow } from '../../../../src/query/prices/tokenPrices';

const hop = (nextToken: string, price: number, confidence = 1, cap = Infinity): Hop => ({
  nextToken,
  price,
  confidence,
  cap,
});
const book = (hops: Record<string, Hop>): Map<string, Hop> => new Map(Object.entries(hops));
const USD = hop(ZERO_ADDRESS, 1.0025, 0.99);

test('a price is the product of its hops to the anchor, and its confidence is the product of the confidences of the hops', () => {
  const hops = book({ usd: USD, a: hop('usd', 2, 0.9), b: hop('a', 3, 0.8), c: hop('b', 5, 0.75) });
  expect(priceByHops(hops, 'c')).toEqual({
    usd: 5 * (3 * (2 * 1.0025)),
    confidence: 0.75 * 0.8 * 0.9,
    isAnchor: false,
    hops: 3,
    capUsd: Infinity,
  });
});

test('an anchor has its configured price, and the confidence of derived prices is at most 0.989', () => {
  const hops = book({ usd: USD, a: hop('usd', 2, 1) });
  expect(priceByHops(hops, 'usd')).toEqual({
    usd: 1.0025,
    confidence: 0.99,
    isAnchor: true,
    hops: 0,
    capUsd: Infinity,
  });
  expect(priceByHops(hops, 'a').confidence).toBe(0.989);
});

test('a token has no price if its route leads through a token without a price', () => {
  const none = { usd: null, confidence: 0, isAnchor: false, hops: 0, capUsd: 0 };
  const hops = book({
    usd: USD,
    lost: hop(ZERO_ADDRESS, 0, 0),
    a: hop('lost', 2),
    b: hop('gone', 2),
    c: hop('usd', 0),
  });
  for (const token of ['lost', 'a', 'b', 'c', 'unknown']) expect(priceByHops(hops, token)).toEqual(none);
});

test('a price follows at most four hops, and never runs in a loop', () => {
  const hops = book({
    usd: USD,
    a: hop('usd', 2),
    b: hop('a', 2),
    c: hop('b', 2),
    d: hop('c', 2),
    e: hop('d', 2),
    x: hop('y', 2),
    y: hop('x', 2),
    z: hop('z', 2),
  });
  expect(priceByHops(hops, 'd').usd).toBe(16 * 1.0025);
  for (const token of ['e', 'x', 'y', 'z']) expect(priceByHops(hops, token).usd).toBeNull();
});

test('a product of hops outside the range of floats is no price', () => {
  const hops = book({
    usd: USD,
    a: hop('usd', 1e-200),
    b: hop('a', 1e-200),
    c: hop('usd', 1e200),
    d: hop('c', 1e200),
  });
  expect([priceByHops(hops, 'b').usd, priceByHops(hops, 'd').usd]).toEqual([null, null]);
});

test('the cap of a price is the least USD that a hop on its path can pay out, and an anchor has none', () => {
  const hops = book({
    usd: USD,
    a: hop('usd', 2, 0.9, 1_000),
    b: hop('a', 3, 0.8, 400),
    c: hop('b', 5, 0.7, 900),
  });
  const caps = ['usd', 'a', 'b', 'c'].map((token) => priceByHops(hops, token).capUsd);
  expect(caps).toEqual([Infinity, 1_002.5, 400 * 2.005, 400 * 2.005]);
});

test('a price is trusted from a confidence of 0.5', () => {
  const price = { usd: 1, isAnchor: false };
  expect([0.5, 0.989, 0.499].map((confidence) => isTrusted({ ...price, confidence }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isTrusted({ usd: null, confidence: 0.9, isAnchor: false })).toBe(false);
});

test('the wrapped native token is worth one native coin even without a price, but other tokens need a price', () => {
  const past = { m5: book({}), h1: book({}), h6: book({}), h24: book({}) };
  const priced = makeTokenPrices(book({ usd: USD, '0xw': hop('usd', 0.5) }), past, '0xw');
  expect([priced.nativeOf('0xw'), priced.nativeOf('usd'), priced.nativeUsd]).toEqual([1, 2, 0.50125]);
  const unpriced = makeTokenPrices(book({ usd: USD }), past, '0xw');
  expect([unpriced.nativeOf('0xw'), unpriced.nativeOf('usd'), unpriced.nativeUsd]).toEqual([1, null, null]);
});

describe('prices follow from stored rows', () => {
  const anchor = `0x${'11'.repeat(20)}` as const;
  const sources = { anchors: [{ address: anchor, symbol: 'USD', priceUsd: 1.01 }], wrappedNative: null };
  const row = (token: Hex, next_token: Hex, hop_price: number): HopRow => ({
    token,
    next_token,
    hop_price,
    hop_confidence: 0.9,
    hop_cap: 0,
  });

  test('an anchor without a row has its configured price, and an anchor with a row has the price of the row', () => {
    expect(toTokenPrices([], [], sources).now(anchor).usd).toBe(1.01);
    expect(toTokenPrices([row(anchor, ZERO_ADDRESS, 0)], [], sources).now(anchor).usd).toBeNull();
  });

  const pastRow = (changes: Partial<PastHopRow>): PastHopRow => ({
    token: '0xa',
    next_m5: null,
    next_h1: null,
    next_h6: null,
    next_h24: anchor,
    price_m5: 0,
    price_h1: 0,
    price_h6: 0,
    price_h24: 3,
    confidence_m5: 0,
    confidence_h1: 0,
    confidence_h6: 0,
    confidence_h24: 0,
    ...changes,
  });

  test('a stored cap of 0 is no limit', () => {
    const rows = [{ ...row('0xa', anchor, 2), hop_cap: 500 }, row('0xb', anchor, 2)];
    const prices = toTokenPrices(rows, [], sources);
    expect(['0xa', '0xb', anchor].map((token) => prices.now(token).capUsd)).toEqual([
      505,
      Infinity,
      Infinity,
    ]);
  });

  test('a past price uses the earlier hop of each token whose hop has changed since, and today’s hop of other tokens', () => {
    const past = pastRow({
      next_m5: null,
      next_h1: '0xb',
      next_h6: anchor,
      next_h24: ZERO_ADDRESS,
      price_h1: 7,
      price_h6: 3,
      price_h24: 0,
    });
    const prices = toTokenPrices([row('0xa', '0xb', 5), row('0xb', anchor, 2)], [past], sources);
    const windows = ['m5', 'h1', 'h6', 'h24'] as const;
    expect(prices.now('0xa').usd).toBe(5 * (2 * 1.01));
    expect(windows.map((window) => prices.before('0xa', window).usd)).toEqual([
      5 * (2 * 1.01),
      7 * (2 * 1.01),
      3 * 1.01,
      null,
    ]);
  });

  test('the change of a price is null when the earlier price had a lower confidence level', () => {
    const changeFrom = (confidence: number, now: number): number | null => {
      const hops = [{ ...row('0xa', anchor, 6), hop_confidence: now }];
      const prices = toTokenPrices(hops, [pastRow({ confidence_h24: confidence })], sources);
      return changeOfPrice(prices.now('0xa'), prices.before('0xa', 'h24'));
    };
    expect(changeFrom(0.9, 0.9)).toBeCloseTo(100, 9);
    expect(changeFrom(0.95, 0.3)).toBeCloseTo(100, 9);
    expect(changeFrom(0.5, 0.89)).toBeCloseTo(100, 9);
    expect([changeFrom(0.89, 0.9), changeFrom(0.49, 0.5), changeFrom(0.01, 0.9)]).toEqual([null, null, null]);
  });

  test('an untrusted price of 1e9 USD before an honest launch at 1 USD gives no change of −100 %', () => {
    const launch = pastRow({ price_h24: 1e9, confidence_h24: 0.01 });
    const prices = toTokenPrices([row('0xa', anchor, 1)], [launch], sources);
    expect(prices.before('0xa', 'h24').usd).toBe(1.01e9);
    expect(changeOfPrice(prices.now('0xa'), prices.before('0xa', 'h24'))).toBeNull();
  });
});
