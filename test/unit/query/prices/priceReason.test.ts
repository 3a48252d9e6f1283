/** The reason of a missing price, by the legs of a token. */
import { priceReason, type ReasonLeg } from '../../../../src/query/prices/priceReason';

const TOKEN = { address: `0x${'1'.repeat(40)}`, symbol: 'REM', decimals: 18 };
/** A constant product pool with this amount of a token of 2 USD on the other side. */
const legOf = (amount: number, changes: Partial<ReasonLeg> = {}): ReasonLeg => ({
  state: { price: 1, liquidity: amount, reserve0: amount, reserve1: amount },
  isToken0: true,
  otherPrice: { usd: 2, hops: 1 },
  isFollowed: true,
  isQuiet: false,
  ...changes,
});

test.each<[string, readonly ReasonLeg[], string, RegExp, number | null]>([
  ['no pool', [], 'no_route', /no pool with liquidity and a change within 30 days connects REM/, null],
  [
    'no priced neighbour',
    [legOf(1e6, { otherPrice: { usd: null, hops: 0 }, isFollowed: false })],
    'no_route',
    /no pool/,
    null,
  ],
  ['dormant pools', [legOf(1e6, { isQuiet: true })], 'no_route', /within 30 days/, null],
  [
    'the best live pool',
    [legOf(3), legOf(24), legOf(1e6, { isQuiet: true })],
    'low_liquidity',
    /\$48\.00/,
    48,
  ],
  ['just below the limit', [legOf(24.9999)], 'low_liquidity', /\$49\.99 .* \$50 needed/, 49.9998],
  [
    'a neighbour of 4 hops',
    [legOf(1e6, { otherPrice: { usd: 2, hops: 4 } })],
    'no_route',
    /more than 4 hops/,
    null,
  ],
  [
    'a pool in doubt',
    [legOf(1e6, { isFollowed: false }), legOf(1e6, { isQuiet: true })],
    'price_not_followed',
    /REM/,
    null,
  ],
  ['enough liquidity', [legOf(25)], 'no_route', /next epoch or trade/, null],
])('the reason of a token with %s', (_, legs, code, text, have) => {
  const reason = priceReason(TOKEN, legs);
  expect([reason.code, reason.need_usd]).toEqual([code, have === null ? null : 50]);
  expect(reason.text).toMatch(text);
  if (have === null) expect(reason.have_usd).toBeNull();
  else expect(reason.have_usd).toBeCloseTo(have, 9);
  expect(priceReason({ ...TOKEN, decimals: null }, legs).code).toBe('unknown_decimals');
});
