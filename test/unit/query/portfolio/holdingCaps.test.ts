import { ZERO_ADDRESS } from '../../../../src/domain/hex';
import type { PairEntry } from '../../../../src/query/pairs/pairItem';
import type { PairTable } from '../../../../src/query/pairs/pairTable';
import { createHoldingCaps } from '../../../../src/query/portfolio/holdingCaps';
import { toConcentratedPosition, toLpPosition } from '../../../../src/query/portfolio/portfolioPositions';
import { toNative, toToken } from '../../../../src/query/portfolio/portfolioTokens';
import { makeTokenPrices, type Hop } from '../../../../src/query/prices/priceByHops';

const [DAI, RICH, NATIVE] = ['0xda', '0x50', '0x09'] as const;
const HELD = 12_000;
const hop = (nextToken: string, price: number, confidence: number, cap: number): Hop => ({
  nextToken,
  price,
  confidence,
  cap,
});
const hops = new Map([
  [DAI, hop(ZERO_ADDRESS, 1, 0.99, Infinity)],
  [RICH, hop(DAI, 1, 0.55, HELD)],
  [NATIVE, hop(DAI, 0.5, 0.9, 1_000)],
]);
const prices = makeTokenPrices(hops, { m5: hops, h1: hops, h6: hops, h24: hops }, NATIVE);
const tokenOf = (address: string) => ({ address, symbol: address, name: null, decimals: 0 });
const pairs = {
  prices,
  tokens: new Map([DAI, RICH, NATIVE].map((address) => [address, tokenOf(address)])),
} as unknown as PairTable;
const count = createHoldingCaps;

/** A V2 pool with these reserves in whole tokens. */
function pool(other: string, ofRich: number, ofOther: number): PairEntry {
  const state = { reserve0: BigInt(ofRich), reserve1: BigInt(ofOther) };
  return {
    item: {
      address: '0xp',
      dex_name: 'x',
      pool_type: 2,
      tokens: [tokenOf(RICH), tokenOf(other)],
      apr_24h: null,
    },
    pool: {
      address: '0xp',
      protocol: 'uniswap_v2',
      pool_type: 2,
      hooks: null,
      all_tokens: [],
      all_weights: [],
    },
    facts: { balances: null, state, protocolShare: 0 },
  } as unknown as PairEntry;
}

test('a wallet with 1e12 self-issued tokens is worth at most the capital behind their price', () => {
  const { token } = toToken(RICH, 10n ** 12n, pairs, ['rebasing'], count());
  expect(token).toMatchObject({ price_usd: '1', value_usd: HELD, flags: ['rebasing', 'value_capped'] });
});

test('a holding below the cap keeps its value and has no flag', () => {
  expect(toToken(RICH, 11_999n, pairs, [], count()).token).toMatchObject({ value_usd: 11_999, flags: [] });
  expect(toToken(DAI, 10n ** 30n, pairs, [], count()).token).toMatchObject({ value_usd: 1e30, flags: [] });
  expect(toToken('0xff', 5n, pairs, [], count()).token).toMatchObject({ value_usd: null, flags: [] });
});

test('the native coin and its wrapped token share one cap', () => {
  const wallet = count();
  const wei = 3_000n * 10n ** 18n;
  const native = toNative(wei, { symbol: 'PLS', wrapped: NATIVE }, prices, wallet);
  expect([native.native.value_usd, native.capped]).toEqual([1_000, true]);
  expect(toToken(NATIVE, 3n, pairs, [], wallet).token.value_usd).toBe(0);
  const two = toNative(10n ** 18n, { symbol: 'PLS', wrapped: NATIVE }, prices, count());
  expect([two.native.value_usd, two.capped]).toEqual([0.5, false]);
});

test('all holdings of one token together are worth at most its cap', () => {
  const wallet = count();
  const lp = { balance: 50n, supply: 100n, lastReserves: null };
  const scam = pool('0xff', 10 ** 12, 10 ** 12);
  const values = [
    toToken(RICH, 9_000n, pairs, [], wallet).token.value_usd,
    ...[1, 2].map(() => toLpPosition(scam, lp, prices, wallet).position.tokens[0]!.value_usd),
  ];
  expect(values).toEqual([9_000, 3_000, 0]);
});

test('the value of an LP share of an honest pool includes both tokens, even if another holding of the wallet is capped', () => {
  const wallet = count();
  toToken(RICH, 10n ** 12n, pairs, [], wallet);
  const lp = { balance: 100n, supply: 100n, lastReserves: null };
  const { position } = toLpPosition(pool(DAI, 12_345, 12_345), lp, prices, wallet);
  expect(position).toMatchObject({ value_usd: 24_690, flags: [] });
});

test('unclaimed amounts of a V3 position are capped too', () => {
  const place = { pair: '0xp', tick_lower: 0, tick_upper: 1, liquidity: 0n, shares: 0n };
  const nft = { manager: '0xm' as const, position_id: '1', ...place };
  const owed = { amount0: 10n ** 12n, amount1: 0n };
  const { position } = toConcentratedPosition(pool('0xff', 0, 0), nft, prices, owed, count());
  expect(position.unclaimed).toMatchObject([{ value_usd: HELD }, { value_usd: null }]);
  expect(position.flags).toEqual(['value_capped']);
});
