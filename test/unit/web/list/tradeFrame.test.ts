/** Side, price and amounts of trades as seen from the tokens of a pair, for the trade list of the page. */
import { amountsOf, priceOf, sideOf, tokensOf } from '../../../../src/web/list/tradeFrame';
import type { SwapItem } from '../../../../src/wire/activity';

const token = (digit: string, symbol: string): SwapItem['token0'] => ({
  address: `0x${digit.repeat(40)}`,
  symbol,
  decimals: 18,
});
const DAI = token('1', 'DAI');
const WPLS = token('2', 'WPLS');
const HEX = token('3', 'HEX');

/** Someone buys 400 WPLS for 20 DAI: the price after the swap is 0.05 DAI per WPLS. */
const BUY: SwapItem = {
  id: '7-0',
  event_type: 'swap',
  block_number: 7,
  timestamp: 1_700_000_000,
  tx_hash: `0x${'a'.repeat(64)}`,
  log_index: 0,
  pair_address: `0x${'b'.repeat(40)}`,
  dex_name: 'dex',
  pool_type: 2,
  token0: DAI,
  token1: WPLS,
  base_token: WPLS,
  maker: null,
  amount_usd: 20,
  finalized: true,
  side: 'buy',
  token_in: DAI.address,
  token_out: WPLS.address,
  amount_in: '20',
  amount_out: '400',
  amount0: '20',
  amount1: '-400',
  price: '0.05',
  price_usd: '0.04',
  quote_price_usd: '0.8',
  execution_price: '0.05',
  fee_usd: null,
  sender: null,
  recipient: null,
};

test('a buy of the base token is a sell of the quote token, at the other price', () => {
  const seen = ([own, other]: [SwapItem['token0'], SwapItem['token0'] | null]): unknown[] => {
    const frame = { token: own.address, currency: other?.address ?? null };
    const amounts = amountsOf(BUY, frame)?.map(({ amount, token }) => `${amount} ${token.symbol}`);
    return [sideOf(BUY, frame), Number(priceOf(BUY, frame)), ...(amounts ?? [])];
  };
  expect(seen([WPLS, null])).toEqual(['buy', 0.04, '400 WPLS', '20 DAI']);
  expect(seen([WPLS, DAI])).toEqual(['buy', 0.05, '400 WPLS', '20 DAI']);
  expect(seen([DAI, null])).toEqual(['sell', 0.8, '20 DAI', '400 WPLS']);
  expect(seen([DAI, WPLS])).toEqual(['sell', 20, '20 DAI', '400 WPLS']);
  expect(tokensOf(BUY)).toEqual([WPLS, DAI]);
});

test('a trade of two other tokens of a pool has no side and no price', () => {
  const frame = { token: HEX.address, currency: null };
  expect([sideOf(BUY, frame), priceOf(BUY, frame)]).toEqual(['swap', null]);
  expect(priceOf(BUY, { token: WPLS.address, currency: HEX.address })).toBeNull();
});

test('a trade without a price has no price in any frame', () => {
  const unpriced: SwapItem = { ...BUY, price: null, price_usd: null, quote_price_usd: null };
  for (const [own, other] of [
    [WPLS, DAI],
    [DAI, WPLS],
  ] as const)
    for (const currency of [null, other.address])
      expect(priceOf(unpriced, { token: own.address, currency })).toBeNull();
});
