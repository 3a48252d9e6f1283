/** Bars of a token over all its pools. As long as no swap has a price in USD there are none. Pure. */
import type { Timeframe } from '../domain/timeframes';
import type { TokenRef } from '../wire/primitives';
import type { TokenCurrency, TokenTicksAnswer } from '../wire/tokens';
import type { HeadSnapshot } from './headSnapshot';

/** `token` in `currency`; `native`: the wrapped native token, null where none is configured. */
export function toEmptyTicks(
  token: TokenRef,
  native: TokenRef | null,
  currency: TokenCurrency,
  timeframe: Timeframe,
  head: HeadSnapshot,
): TokenTicksAnswer {
  return {
    data: [],
    meta: {
      timeframe,
      currency,
      base_token: token,
      quote_token: currency === 'usd' ? null : native,
      next_to: null,
      no_data: true,
      reason: 'no_usd_price',
      as_of_block: head.number,
      as_of_timestamp: head.timestamp,
    },
  };
}
