/**
 * Side and price of a trade as seen from one token. An API item is about the base token of the trade, so a trade of its
 * quote token has the other side and another price. Pure.
 */
import type { ActivityItem, SwapItem } from '../../wire/activity';
import type { TokenRef } from '../../wire/primitives';

export interface TradeFrame {
  /** Address of the token that is bought or sold. */
  readonly token: string;
  /** Address of the token that prices are in; null for USD. */
  readonly currency: string | null;
}

/** The role of a token in a trade. In a pool of three or more tokens, a trade may be of two other tokens. */
function roleOf({ base_token, token0, token1 }: ActivityItem, token: string): 'base' | 'quote' | null {
  if (base_token.address === token) return 'base';
  return token0.address === token || token1.address === token ? 'quote' : null;
}

/** The side of a swap; `swap` if the token of the frame does not take part. */
export function sideOf(item: SwapItem, { token }: TradeFrame): 'buy' | 'sell' | 'swap' {
  const role = roleOf(item, token);
  if (role === null) return 'swap';
  if (role === 'base') return item.side;
  return item.side === 'buy' ? 'sell' : 'buy';
}

/** The marginal price after a swap; null for events without a price of the frame's token. */
export function priceOf(item: ActivityItem, { token, currency }: TradeFrame): string | number | null {
  const role = roleOf(item, token);
  if (item.event_type !== 'swap' || role === null) return null;
  if (currency === null) return role === 'base' ? item.price_usd : item.quote_price_usd;
  const price = Number(item.price ?? 0);
  if (!(price > 0) || roleOf(item, currency) === null) return null;
  return role === 'base' ? price : 1 / price;
}

interface MovedAmount {
  readonly token: TokenRef;
  /** Amount without its sign, whole tokens. */
  readonly amount: string;
}

/** The amounts moved, the token of the frame first; null for events without amounts. */
export function amountsOf(
  item: ActivityItem,
  { token }: TradeFrame,
): readonly [MovedAmount, MovedAmount] | null {
  if (!('amount0' in item)) return null;
  const amount0 = { token: item.token0, amount: item.amount0.replace('-', '') };
  const amount1 = { token: item.token1, amount: item.amount1.replace('-', '') };
  return item.token1.address === token ? [amount1, amount0] : [amount0, amount1];
}

/** The tokens of a trade, the base token first. */
export function tokensOf({ base_token, token0, token1 }: ActivityItem): readonly [TokenRef, TokenRef] {
  return [base_token, base_token.address === token0.address ? token1 : token0];
}
