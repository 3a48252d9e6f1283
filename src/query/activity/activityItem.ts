/** Converts a stored event to the item of /activity and the stream. Pure. */
import { formatRatio, formatUnits, plainNumber, unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { blockOfOrd, eventId, logIndexOfOrd } from '../../domain/ord';
import { ZERO_ADDRESS } from '../../domain/hex';
import { formatPrice, scalePrice } from '../../domain/prices';
import { swapFeeUsd } from '../../domain/swapFee';
import { shapeOf } from '../../domain/pools/poolShape';
import type {
  ActivityEntry,
  ActivityItem,
  BurnItem,
  MintItem,
  SwapItem,
  SyncItem,
  UndecodableItem,
} from '../../wire/activity';
import { poolTypeShape } from '../../wire/primitives';
import { tokenRefOf, type TokenMap } from '../tokens/tokens';
import type { LiquidityColumns, StoredEvent, SwapColumns, SyncColumns } from './eventRows';

/** Decimals of both tokens. Null if unknown: the token's amounts are then raw units, and the pair has no
 * price. */
interface Scale {
  readonly decimals0: number | null;
  readonly decimals1: number | null;
}

/** The item of an event. A row that cannot be read gives a marked item with only its position. `finalNumber`
 * is the last final block. */
export function toActivityItem(stored: StoredEvent, tokens: TokenMap, finalNumber: number): ActivityEntry {
  try {
    return toReadItem(stored, tokens, finalNumber);
  } catch {
    return toUndecodableItem(stored, finalNumber);
  }
}

function toUndecodableItem({ event, row: { ord } }: StoredEvent, finalNumber: number): UndecodableItem {
  const block = blockOfOrd(ord);
  return {
    id: eventId(ord),
    event_type: 'undecodable',
    stored_as: event,
    block_number: block,
    log_index: logIndexOfOrd(ord),
    finalized: block <= finalNumber,
  };
}

/** Builds the item of an event from its row. Throws for an invalid value in the row. */
function toReadItem(stored: StoredEvent, tokens: TokenMap, finalNumber: number): ActivityItem {
  const { event, row } = stored;
  const scale = {
    decimals0: tokens.get(row.token0)?.decimals ?? null,
    decimals1: tokens.get(row.token1)?.decimals ?? null,
  };
  const common = commonOf(row, tokens, finalNumber);
  if (event === 'swap') return toSwapItem(row, common, scale);
  if (event === 'sync') return toSyncItem(row, common, scale);
  return toLiquidityItem(event, row, common, scale);
}

type Common = Omit<SyncItem, 'event_type' | 'reserve0' | 'reserve1' | 'price' | 'amount_usd'>;

function commonOf(row: StoredEvent['row'], tokens: TokenMap, finalNumber: number): Common {
  const { ord } = row;
  const block = blockOfOrd(ord);
  const token0 = tokenRefOf(tokens, row.token0);
  const token1 = tokenRefOf(tokens, row.token1);
  return {
    id: eventId(ord),
    block_number: block,
    timestamp: row.timestamp,
    tx_hash: row.tx_hash,
    log_index: logIndexOfOrd(ord),
    pair_address: row.pair,
    dex_name: row.dex,
    pool_type: poolTypeShape.parse(row.pool_type),
    token0,
    token1,
    base_token: row.base_is_token0 ? token0 : token1,
    maker: row.maker,
    finalized: block <= finalNumber,
  };
}

/** Returns an object with the fields of both objects, in this order. V8 is much slower for a spread that is
 * followed by fields. */
function withCommon<More extends object>(common: Common, kindFields: More): Common & More {
  return Object.assign({}, common, kindFields);
}

function toSwapItem(row: SwapColumns, common: Common, scale: Scale): SwapItem {
  const { amount0, amount1 } = row;
  const base = row.base_is_token0
    ? { address: row.token0, amount: amount0, decimals: scale.decimals0 }
    : { address: row.token1, amount: amount1, decimals: scale.decimals1 };
  const quote = row.base_is_token0
    ? { address: row.token1, amount: amount1, decimals: scale.decimals1 }
    : { address: row.token0, amount: amount0, decimals: scale.decimals0 };
  const isBuy = base.amount < 0n;
  // A vault's event names neither the sender nor the recipient. In other events, the sender is a caller.
  const isAnonymous = row.sender === ZERO_ADDRESS;
  const [tokenIn, tokenOut] = isBuy ? [quote, base] : [base, quote];
  return withCommon<Omit<SwapItem, keyof Common>>(common, {
    event_type: 'swap',
    amount_usd: row.tracked ? usdOf(row.amount_usd) : null,
    side: isBuy ? 'buy' : 'sell',
    token_in: tokenIn.address,
    token_out: tokenOut.address,
    // A flash swap may pay both tokens in, or pay neither token out. The amount of the other side is then 0.
    amount_in: formatUnits(positive(tokenIn.amount), tokenIn.decimals ?? 0),
    amount_out: formatUnits(positive(-tokenOut.amount), tokenOut.decimals ?? 0),
    amount0: formatUnits(amount0, scale.decimals0 ?? 0),
    amount1: formatUnits(amount1, scale.decimals1 ?? 0),
    price: stateDecimalPrice(row, scale),
    price_usd: usdOrNull(row.price_usd),
    quote_price_usd: usdOrNull(row.quote_price_usd),
    execution_price: isUnfollowed(row) ? null : executionPrice(base, quote),
    fee_usd: row.tracked ? usdOf(swapFeeUsd(row)) : null,
    sender: isAnonymous ? null : row.sender,
    recipient: isAnonymous ? null : row.recipient,
    ...(shapeOf(row.pool_type).hasTicks
      ? {
          sqrt_price_x96: String(row.sqrt_price_x96),
          tick: row.tick,
          liquidity_raw: String(row.liquidity),
        }
      : {}),
  });
}

/** A stored price of 0 means that the price is unknown. */
function usdOrNull(price: number): string | null {
  return price > 0 ? plainNumber(price) : null;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

interface Side {
  readonly amount: bigint;
  readonly decimals: number | null;
}

/** The execution price: |net quote| / |net base| in whole tokens; null if either is 0 or has unknown
 * decimals. */
function executionPrice(base: Side, quote: Side): string | null {
  if (base.amount === 0n || quote.amount === 0n) return null;
  if (base.decimals === null || quote.decimals === null) return null;
  const numerator = absolute(quote.amount) * 10n ** BigInt(base.decimals);
  return formatRatio(numerator, absolute(base.amount) * 10n ** BigInt(quote.decimals));
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function stateDecimalPrice(row: SwapColumns, scale: Scale): string | null {
  const shape = shapeOf(row.pool_type);
  if (shape.price === 'stored') {
    // Weights or an invariant set the price of a weighted or stable pool, so the ratio of its reserves is not a
    // price.
    const price = scalePrice(row.price, scale.decimals0, scale.decimals1, row.base_is_token0);
    return price > 0 ? plainNumber(price) : null;
  }
  const { reserve0, reserve1, sqrt_price_x96: sqrtPriceX96 } = row;
  if (isUnfollowed(row) || (shape.price === 'sqrt_price' && sqrtPriceX96 === 0n)) return null;
  const state = { reserve0, reserve1, sqrtPriceX96 };
  return formatPrice(state, scale.decimals0, scale.decimals1, row.base_is_token0);
}

/** Whether √price is known but no price: a hook decides what the trader pays. */
function isUnfollowed({ pool_type, price }: SwapColumns): boolean {
  return shapeOf(pool_type).price === 'sqrt_price' && price === 0;
}

function toSyncItem(row: SyncColumns, common: Common, scale: Scale): SyncItem {
  const state = { reserve0: row.reserve0, reserve1: row.reserve1, sqrtPriceX96: 0n };
  return withCommon<Omit<SyncItem, keyof Common>>(common, {
    event_type: 'sync',
    amount_usd: null,
    reserve0: formatUnits(state.reserve0, scale.decimals0 ?? 0),
    reserve1: formatUnits(state.reserve1, scale.decimals1 ?? 0),
    // The row has no stored price.
    price:
      shapeOf(row.pool_type).price === 'stored'
        ? null
        : formatPrice(state, scale.decimals0, scale.decimals1, row.base_is_token0),
  });
}

/** Whether the event is a swap of a vault pool's own share, which names neither a provider nor the shares. */
function isShareMove({ owner, liquidity, pool_type }: LiquidityColumns): boolean {
  return owner === ZERO_ADDRESS && liquidity === null && shapeOf(pool_type).price === 'stored';
}

function toLiquidityItem(
  event: 'mint' | 'burn',
  row: LiquidityColumns,
  common: Common,
  scale: Scale,
): MintItem | BurnItem {
  return withCommon<Omit<MintItem | BurnItem, keyof Common>>(common, {
    event_type: event,
    amount_usd: trustedUsd(row),
    owner: isShareMove(row) ? null : row.owner,
    amount0: formatUnits(row.amount0, scale.decimals0 ?? 0),
    amount1: formatUnits(row.amount1, scale.decimals1 ?? 0),
    amount0_usd: usdOf(row.amount0_usd),
    amount1_usd: usdOf(row.amount1_usd),
    liquidity_raw: row.liquidity === null ? null : String(row.liquidity),
    ...(shapeOf(row.pool_type).hasTicks ? { tick_lower: row.tick_lower, tick_upper: row.tick_upper } : {}),
  });
}

/**
 * USD value of all moved tokens with a trusted price; null without a trusted price. A swap of a vault pool's own share
 * moves one token, so the trusted price of another token says nothing about its value.
 */
function trustedUsd(row: LiquidityColumns): number | null {
  const { trust, amount0, amount1, amount0_usd, amount1_usd, others_usd } = row;
  const isUnmovedToken = (amount: bigint): boolean => isShareMove(row) && amount === 0n;
  const side0 = (trust & 1) === 0 || isUnmovedToken(amount0) ? null : amount0_usd;
  const side1 = (trust & 2) === 0 || isUnmovedToken(amount1) ? null : amount1_usd;
  const trusted = [side0, side1, others_usd].map(usdOf).filter((value) => value !== null);
  return trusted.length === 0 ? null : trusted.reduce((sum, value) => sum + value);
}

/** The float nearest to an amount in units of 10^-12 USD. */
function usdOf(amount: bigint | null): number | null {
  return amount === null ? null : unitsToNumber(amount, USD_DECIMALS);
}
