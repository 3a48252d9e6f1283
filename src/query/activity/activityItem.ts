/** Converts a stored event to the item of /activity and the stream. Pure. */
import { z } from 'zod';

import { formatRatio, formatUnits, plainNumber } from '../../domain/amounts';
import { blockOfOrd, eventId, logIndexOfOrd } from '../../domain/ord';
import { ZERO_ADDRESS } from '../../domain/hex';
import { formatPrice, scalePrice } from '../../domain/prices';
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

const V3 = 3;
const WEIGHTED = 4;
const STABLE = 5;

const commonShape = z.object({
  ord: z.string(),
  timestamp: z.int(),
  pair: z.string(),
  dex: z.string(),
  /** A row that a newer version of the program stored may have a pool type that is unknown here. */
  pool_type: z.int(),
  token0: z.string(),
  token1: z.string(),
  base_is_token0: z.boolean(),
  tx_hash: z.string(),
  maker: z.string().nullable(),
});
type CommonRow = z.infer<typeof commonShape>;

/** Row of the query activity/list_swaps. Amounts and reserves are raw. */
export interface SwapActivityRow extends CommonRow {
  readonly event: 'swap';
  readonly sender: string;
  readonly recipient: string;
  readonly amount0: string;
  readonly amount1: string;
  readonly reserve0: string;
  readonly reserve1: string;
  readonly sqrt_price_x96: string;
  readonly liquidity: string;
  readonly tick: number;
  /** Price in raw token1 per raw token0; 0 if the swap has no price. */
  readonly raw_price: number;
  readonly price_usd: number;
  readonly quote_price_usd: number;
  readonly amount_usd: number;
  /** Fee of the swap in USD. Null if the pool's fee is above 10 %. */
  readonly fee_usd: number | null;
  readonly tracked: boolean;
}

/** Row of the query activity/list_liquidity_events. */
export const liquidityActivityRowShape = commonShape.extend({
  event: z.enum(['mint', 'burn']),
  owner: z.string(),
  amount0: z.string(),
  amount1: z.string(),
  liquidity: z.string().nullable(),
  tick_lower: z.int().nullable(),
  tick_upper: z.int().nullable(),
  /** USD value of token0's amount, a decimal with 12 places. */
  amount0_usd: z.string().nullable(),
  amount1_usd: z.string().nullable(),
  /** Which tokens had a trusted price: 1 if token0 had one, plus 2 if token1 had one. */
  trust: z.int(),
  /**
   * USD value of the moved amounts of tokens other than token0 and token1, by trusted prices. Null if none of them
   * has a trusted price.
   */
  others_usd: z.string().nullable(),
});
type LiquidityActivityRow = z.infer<typeof liquidityActivityRowShape>;

/** Row of the query activity/list_syncs. */
export interface SyncActivityRow extends CommonRow {
  readonly event: 'sync';
  readonly reserve0: string;
  readonly reserve1: string;
}

export type ActivityRow = SwapActivityRow | LiquidityActivityRow | SyncActivityRow;

/** Decimals of both tokens. Null if unknown: the token's amounts are then raw units, and the pair has no
 * price. */
interface Scale {
  readonly decimals0: number | null;
  readonly decimals1: number | null;
}

/** The item of an event. A row that cannot be read gives a marked item with only its position. `finalNumber`
 * is the last final block. */
export function toActivityItem(row: ActivityRow, tokens: TokenMap, finalNumber: number): ActivityEntry {
  try {
    return toReadItem(row, tokens, finalNumber);
  } catch {
    return toUndecodableItem(row, finalNumber);
  }
}

function toUndecodableItem(row: ActivityRow, finalNumber: number): UndecodableItem {
  const ord = Number(row.ord);
  const block = blockOfOrd(ord);
  return {
    id: eventId(ord),
    event_type: 'undecodable',
    stored_as: row.event,
    block_number: block,
    log_index: logIndexOfOrd(ord),
    finalized: block <= finalNumber,
  };
}

/** Builds the item of an event from its row. Throws for an invalid value in the row. */
function toReadItem(row: ActivityRow, tokens: TokenMap, finalNumber: number): ActivityItem {
  const scale = {
    decimals0: tokens.get(row.token0)?.decimals ?? null,
    decimals1: tokens.get(row.token1)?.decimals ?? null,
  };
  const common = commonOf(row, tokens, finalNumber);
  if (row.event === 'swap') return toSwapItem(row, common, scale);
  if (row.event === 'sync') return toSyncItem(row, common, scale);
  return toLiquidityItem(row, common, scale);
}

type Common = Omit<SyncItem, 'event_type' | 'reserve0' | 'reserve1' | 'price' | 'amount_usd'>;

function commonOf(row: ActivityRow, tokens: TokenMap, finalNumber: number): Common {
  const ord = Number(row.ord);
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
function withCommon<More extends object>(common: Common, more: More): Common & More {
  return Object.assign({}, common, more);
}

function toSwapItem(row: SwapActivityRow, common: Common, scale: Scale): SwapItem {
  const amount0 = BigInt(row.amount0);
  const amount1 = BigInt(row.amount1);
  const base = row.base_is_token0
    ? { address: row.token0, amount: amount0, decimals: scale.decimals0 }
    : { address: row.token1, amount: amount1, decimals: scale.decimals1 };
  const quote = row.base_is_token0
    ? { address: row.token1, amount: amount1, decimals: scale.decimals1 }
    : { address: row.token0, amount: amount0, decimals: scale.decimals0 };
  const buy = base.amount < 0n;
  const isVault = row.pool_type === WEIGHTED || row.pool_type === STABLE;
  const [into, out] = buy ? [quote, base] : [base, quote];
  return withCommon<Omit<SwapItem, keyof Common>>(common, {
    event_type: 'swap',
    amount_usd: row.tracked ? row.amount_usd : null,
    side: buy ? 'buy' : 'sell',
    token_in: into.address,
    token_out: out.address,
    // A flash swap may pay both tokens in, or pay neither token out. The amount of the other side is then 0.
    amount_in: formatUnits(positive(into.amount), into.decimals ?? 0),
    amount_out: formatUnits(positive(-out.amount), out.decimals ?? 0),
    amount0: formatUnits(amount0, scale.decimals0 ?? 0),
    amount1: formatUnits(amount1, scale.decimals1 ?? 0),
    price: stateDecimalPrice(row, scale),
    price_usd: usdOrNull(row.price_usd),
    quote_price_usd: usdOrNull(row.quote_price_usd),
    execution_price: executionPrice(base, quote),
    fee_usd: row.tracked ? row.fee_usd : null,
    // A vault's event names neither the sender nor the recipient.
    sender: isVault ? null : row.sender,
    recipient: isVault ? null : row.recipient,
    ...(row.pool_type === V3
      ? { sqrt_price_x96: row.sqrt_price_x96, tick: row.tick, liquidity_raw: row.liquidity }
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

function stateDecimalPrice(row: SwapActivityRow, scale: Scale): string | null {
  if (row.pool_type === WEIGHTED || row.pool_type === STABLE) {
    // Weights or an invariant set the price of a weighted or stable pool, so the ratio of its reserves is not a
    // price.
    const price = scalePrice(row.raw_price, scale.decimals0, scale.decimals1, row.base_is_token0);
    return price > 0 ? plainNumber(price) : null;
  }
  const sqrtPriceX96 = BigInt(row.sqrt_price_x96);
  if (row.pool_type === V3 && sqrtPriceX96 === 0n) return null;
  const state = { reserve0: BigInt(row.reserve0), reserve1: BigInt(row.reserve1), sqrtPriceX96 };
  return formatPrice(state, scale.decimals0, scale.decimals1, row.base_is_token0);
}

function toSyncItem(row: SyncActivityRow, common: Common, scale: Scale): SyncItem {
  const state = { reserve0: BigInt(row.reserve0), reserve1: BigInt(row.reserve1), sqrtPriceX96: 0n };
  return withCommon<Omit<SyncItem, keyof Common>>(common, {
    event_type: 'sync',
    amount_usd: null,
    reserve0: formatUnits(state.reserve0, scale.decimals0 ?? 0),
    reserve1: formatUnits(state.reserve1, scale.decimals1 ?? 0),
    price: formatPrice(state, scale.decimals0, scale.decimals1, row.base_is_token0),
  });
}

/** Whether the event is a swap of a vault pool's own share, which names no provider. */
function isShareMove({ owner, pool_type }: LiquidityActivityRow): boolean {
  return owner === ZERO_ADDRESS && pool_type > V3;
}

function toLiquidityItem(row: LiquidityActivityRow, common: Common, scale: Scale): MintItem | BurnItem {
  return withCommon<Omit<MintItem | BurnItem, keyof Common>>(common, {
    event_type: row.event,
    amount_usd: trustedUsd(row),
    owner: isShareMove(row) ? null : row.owner,
    amount0: formatUnits(BigInt(row.amount0), scale.decimals0 ?? 0),
    amount1: formatUnits(BigInt(row.amount1), scale.decimals1 ?? 0),
    amount0_usd: nearest(row.amount0_usd),
    amount1_usd: nearest(row.amount1_usd),
    liquidity_raw: row.liquidity,
    ...(row.pool_type === V3 ? { tick_lower: row.tick_lower, tick_upper: row.tick_upper } : {}),
  });
}

/**
 * USD value of all moved tokens with a trusted price; null without a trusted price. A swap of a vault pool's own share
 * moves one token, so the trusted price of another token says nothing about its value.
 */
function trustedUsd(row: LiquidityActivityRow): number | null {
  const { trust, amount0, amount1, amount0_usd, amount1_usd, others_usd } = row;
  const isOther = (amount: string): boolean => isShareMove(row) && amount === '0';
  const side0 = (trust & 1) === 0 || isOther(amount0) ? null : amount0_usd;
  const side1 = (trust & 2) === 0 || isOther(amount1) ? null : amount1_usd;
  const trusted = [side0, side1, others_usd].map(nearest).filter((value) => value !== null);
  return trusted.length === 0 ? null : trusted.reduce((sum, value) => sum + value);
}

/** The float nearest to a decimal, so that stored rows and fresh rows give the same number. */
function nearest(decimal: string | null): number | null {
  return decimal === null ? null : Number(decimal);
}
