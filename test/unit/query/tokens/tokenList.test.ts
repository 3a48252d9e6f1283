import { listTokenEntries, TOKEN_SORTS, type TokenSearch } from '../../../../src/query/tokens/tokenList';
import { ORDERS } from '../../../../src/query/pairs/rankings';
import type { TokenEntry } from '../../../../src/query/tokens/tokenItem';
import type { TokenItem } from '../../../../src/wire/tokens';

const addressOf = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;

function entry(index: number, changes: Partial<TokenItem>): TokenEntry {
  const item: TokenItem = {
    address: addressOf(index),
    symbol: null,
    name: null,
    decimals: 18,
    logo_url: null,
    price_usd: null,
    price_reason: null,
    price_native: null,
    price_confidence: 'none',
    price_change_5m: null,
    price_change_1h: null,
    price_change_6h: null,
    price_change_24h: null,
    volume_24h_usd: 0,
    liquidity_usd: 0,
    tx_24h: 0,
    buys_24h: 0,
    sells_24h: 0,
    traders_24h: 0,
    pool_count: 1,
    total_supply: null,
    fdv_usd: null,
    market_cap_usd: null,
    holders: null,
    created_at: null,
    last_trade_at: null,
    flags: [],
    ...changes,
  };
  return {
    item,
    address: item.address,
    token: item,
    liquidityUsd: item.liquidity_usd,
    volume24hUsd: item.volume_24h_usd,
    price: { usd: item.price_usd === null ? null : Number(item.price_usd) },
    priceChange: (window: 'm5' | 'h1' | 'h6' | 'h24') =>
      ({
        m5: item.price_change_5m,
        h1: item.price_change_1h,
        h6: item.price_change_6h,
        h24: item.price_change_24h,
      })[window],
    marketCapUsd: item.market_cap_usd,
    fdvUsd: item.fdv_usd,
    swaps24h: item.tx_24h,
    holders: item.holders,
    createdAt: item.created_at,
  } as unknown as TokenEntry;
}

function indexes(entries: readonly TokenEntry[], search: Partial<TokenSearch>): number[] {
  return listTokenEntries(entries, { q: null, sort: null, order: 'desc', ...search }).map(({ address }) =>
    Number(address),
  );
}

describe('the token search finds and ranks tokens', () => {
  const entries = [
    entry(1, { symbol: 'xPLS', liquidity_usd: 50 }),
    entry(2, { symbol: 'PLSX', liquidity_usd: 10 }),
    entry(3, { symbol: 'PLSD', liquidity_usd: 900 }),
    entry(4, { symbol: 'pls', liquidity_usd: 0 }),
    entry(5, { symbol: 'AAA', name: 'The pls token', liquidity_usd: 10_000 }),
    entry(6, { symbol: 'PLS', liquidity_usd: 1 }),
    entry(7, { symbol: null, name: null, liquidity_usd: 10 }),
    entry(8, { symbol: 'PLSA', liquidity_usd: 10 }),
    entry(9, { symbol: 'PLSB', liquidity_usd: 0 }),
  ];

  test('the token search ranks exact symbols, then prefixes, then substrings, then names, each by liquidity', () => {
    for (const q of ['pls', 'PLS', 'pLs']) expect(indexes(entries, { q })).toEqual([6, 4, 3, 2, 8, 9, 1, 5]);
  });

  test('the token search follows the requested sort', () => {
    expect(indexes(entries, { q: 'pls', sort: 'liquidity_usd', order: 'asc' })).toEqual([
      4, 9, 6, 2, 8, 1, 3, 5,
    ]);
  });

  test('the token search matches a full address as that token only, not as part of a symbol', () => {
    const odd = entry(10, { symbol: addressOf(2) });
    expect(indexes([...entries, odd], { q: addressOf(2) })).toEqual([2]);
    expect(indexes([...entries, odd], { q: addressOf(2).slice(0, 20) })).toEqual([10]);
  });

  test('the token search treats wildcards, quotes, backslashes and regex characters as plain text', () => {
    const odd = ['100%', 'a_b', "o'k", 'q"', 'back\\slash', '.*', '(', '[x'].map((symbol, index) =>
      entry(index + 20, { symbol }),
    );
    const all = [...entries, ...odd];
    for (const { item } of odd) expect(indexes(all, { q: item.symbol })).toEqual([Number(item.address)]);
    for (const [q, index] of [
      ['%', 20],
      ['_', 21],
      ["'", 22],
      ['"', 23],
      ['\\', 24],
    ] as const)
      expect(indexes(all, { q })).toEqual([index]);
  });
});

const NEVER_NULL: readonly string[] = ['tx_24h', 'volume_24h_usd', 'liquidity_usd'];

test('every sort of tokens is a total order, with nulls last and ties by address in both orders', () => {
  const values = [null, 3, 1, 3, null, 2, 1];
  for (const sort of TOKEN_SORTS) {
    const entries = values.map((value, index) => {
      const key = sort === 'symbol' || sort === 'price_usd' ? (value?.toString() ?? null) : value;
      return entry(index + 1, { [sort]: NEVER_NULL.includes(sort) ? (value ?? 0) : key });
    });
    // Counts and sums are never null; a missing value is 0.
    const zeros = NEVER_NULL.includes(sort);
    for (const order of ORDERS) {
      const wanted = order === 'desc' ? [2, 4, 6, 3, 7, 1, 5] : [3, 7, 6, 2, 4, 1, 5];
      const withZeros = order === 'desc' ? wanted : [1, 5, 3, 7, 6, 2, 4];
      expect(indexes(entries, { sort, order })).toEqual(zeros ? withZeros : wanted);
    }
  }
});

test('token symbols sort by lower-case code units, and token prices by value', () => {
  const symbols = ['b', 'A', 'a', 'É', 'Z', '_', ''].map((symbol, index) => entry(index + 1, { symbol }));
  expect(indexes(symbols, { sort: 'symbol', order: 'asc' })).toEqual([7, 6, 2, 3, 1, 5, 4]);
  const prices = ['10', '9', '0.5', '100'].map((price_usd, index) => entry(index + 1, { price_usd }));
  expect(indexes(prices, { sort: 'price_usd' })).toEqual([4, 1, 2, 3]);
});

test('the default sort of the token list is by 24-hour volume', () => {
  const entries = [entry(1, {}), entry(2, { volume_24h_usd: 1 }), entry(3, { volume_24h_usd: 2 })];
  expect(indexes(entries, {})).toEqual([3, 2, 1]);
});
