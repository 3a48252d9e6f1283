/** Lists swaps, mints and burns of a range of blocks in the format of DEX Screener's adapter. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { formatRatio, formatUnits, plainNumber } from '../../domain/amounts';
import { blockOfOrd, lastOrdOfBlock, logIndexOfOrd } from '../../domain/ord';
import { formatPrice, scalePrice } from '../../domain/prices';
import { poolTypeShape } from '../../wire/primitives';
import type { ScreenerEvent } from '../../wire/dialects/dexscreener';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { PairTable } from '../pairs/pairTable';
import { legOfPool, type StoredPool } from '../pairs/pools';
import { tokenOf } from '../tokens/tokens';

const CONCENTRATED = 3;
const LEG_SPAN = 256;

const common = {
  ord: z.string(),
  timestamp: z.int(),
  pair: z.string(),
  token0: z.string(),
  token1: z.string(),
  tx_hash: z.string(),
  tx_index: z.int(),
  maker: z.string(),
  amount0: z.string(),
  amount1: z.string(),
} as const;

const swapRowShape = z.object({
  ...common,
  leg: z.int(),
  pool_type: poolTypeShape,
  reserve0: z.string(),
  reserve1: z.string(),
  sqrt_price_x96: z.string(),
  /** Price in raw token1 per raw token0; 0 if the swap has no price. */
  raw_price: z.number(),
});
type SwapRow = z.infer<typeof swapRowShape>;

const liquidityRowShape = z.object({
  ...common,
  kind: z.enum(['mint', 'burn']),
  reserve0: z.string().nullable(),
  reserve1: z.string().nullable(),
});
type LiquidityRow = z.infer<typeof liquidityRowShape>;

interface BlockRange {
  readonly from: number;
  readonly to: number;
}

interface ScreenerRange {
  readonly events: readonly ScreenerEvent[];
  /** The last block of the range whose events fit into the limit, if the range has more events. Null if all fit. */
  readonly fitsTo: number | null;
}

/**
 * The events of blocks `from` to `to` in canonical order, or an empty list if the range has more than `limit` events.
 * Leaves out events that the format cannot express: swaps that do not exchange one token for the other (flash loans
 * repaid in the same token), mints and burns that move nothing, and events of tokens with unknown decimals.
 */
export async function listScreenerEvents(
  runner: QueryRunner,
  head: HeadSnapshot,
  pairs: PairTable,
  range: BlockRange,
  limit: number,
): Promise<ScreenerRange> {
  const params = {
    ...snapshotParams(head),
    after_ord: range.from === 0 ? 0 : lastOrdOfBlock(range.from - 1),
    to_ord: lastOrdOfBlock(range.to),
    limit: limit + 1,
  };
  const [swaps, liquidity] = await Promise.all([
    runner.run('activity/list_screener_swaps', params, swapRowShape),
    runner.run('activity/list_screener_liquidity', params, liquidityRowShape),
  ]);
  const rows: (SwapRow | LiquidityRow)[] = [...swaps, ...liquidity];
  rows.sort((a, b) => Number(a.ord) - Number(b.ord));
  const first = rows[limit];
  if (first !== undefined) return { events: [], fitsTo: blockOfOrd(Number(first.ord)) - 1 };
  const events = rows.flatMap((row) => {
    const pool = pairs.byAddress.get(row.pair)?.pool;
    if (pool === undefined) return [];
    const scale = {
      decimals0: tokenOf(pairs.tokens, row.token0).decimals,
      decimals1: tokenOf(pairs.tokens, row.token1).decimals,
    };
    // The DEX Screener specification asks for whole tokens and a price, so events of tokens with unknown decimals
    // are left out.
    if (!isKnown(scale)) return [];
    return ('kind' in row ? toLiquidity(row, pool, scale) : toSwap(row, pool, scale)) ?? [];
  });
  return { events, fitsTo: null };
}

/** The id of a pool's leg. A two-token pool uses its address alone. */
export function screenerPairId(pool: StoredPool, leg: number): string {
  if (pool.all_tokens.length <= 2) return pool.address;
  return `${pool.address}-${Math.floor(leg / LEG_SPAN)}-${leg % LEG_SPAN}`;
}

interface Scale {
  readonly decimals0: number;
  readonly decimals1: number;
}

function isKnown(scale: { readonly [Key in keyof Scale]: number | null }): scale is Scale {
  return scale.decimals0 !== null && scale.decimals1 !== null;
}

function toSwap(row: SwapRow, pool: StoredPool, { decimals0, decimals1 }: Scale): ScreenerEvent | null {
  const [amount0, amount1] = [BigInt(row.amount0), BigInt(row.amount1)];
  if (amount0 * amount1 >= 0n) return null;
  const sold0 = amount0 > 0n;
  const size0 = formatUnits(sold0 ? amount0 : -amount0, decimals0);
  const size1 = formatUnits(sold0 ? -amount1 : amount1, decimals1);
  return {
    ...placeOf(row),
    eventType: 'swap',
    pairId: screenerPairId(pool, row.leg),
    ...(sold0 ? { asset0In: size0, asset1Out: size1 } : { asset1In: size1, asset0Out: size0 }),
    priceNative: priceOf(row, { decimals0, decimals1 }),
    ...reservesOf(row, { decimals0, decimals1 }),
  };
}

/**
 * Whole token1 per whole token0 after the swap. For a pool without a marginal price, the execution price of the swap.
 */
function priceOf(row: SwapRow, { decimals0, decimals1 }: Scale): string {
  const [reserve0, reserve1] = [BigInt(row.reserve0), BigInt(row.reserve1)];
  const sqrtPriceX96 = BigInt(row.sqrt_price_x96);
  const plain = row.pool_type === CONCENTRATED ? sqrtPriceX96 > 0n : row.pool_type === 2;
  const marginal = plain
    ? formatPrice({ reserve0, reserve1, sqrtPriceX96 }, decimals0, decimals1, true)
    : plainNumber(scalePrice(row.raw_price, decimals0, decimals1, true));
  if (marginal !== null && marginal !== '0') return marginal;
  const [paid0, paid1] = [absolute(BigInt(row.amount0)), absolute(BigInt(row.amount1))];
  return formatRatio(paid1 * 10n ** BigInt(decimals0), paid0 * 10n ** BigInt(decimals1));
}

function toLiquidity(row: LiquidityRow, pool: StoredPool, scale: Scale): ScreenerEvent | null {
  const leg = legOfPool(pool, row.token0, row.token1);
  const amount0 = formatUnits(BigInt(row.amount0), scale.decimals0);
  const amount1 = formatUnits(BigInt(row.amount1), scale.decimals1);
  if (leg === null || (amount0 === '0' && amount1 === '0')) return null;
  return {
    ...placeOf(row),
    eventType: row.kind === 'mint' ? 'join' : 'exit',
    pairId: screenerPairId(pool, leg),
    amount0,
    amount1,
    ...reservesOf(row, scale),
  };
}

function placeOf(
  row: SwapRow | LiquidityRow,
): Pick<ScreenerEvent, 'block' | 'txnId' | 'txnIndex' | 'eventIndex' | 'maker'> {
  const ord = Number(row.ord);
  return {
    block: { blockNumber: blockOfOrd(ord), blockTimestamp: row.timestamp },
    txnId: row.tx_hash,
    txnIndex: row.tx_index,
    eventIndex: logIndexOfOrd(ord),
    maker: row.maker,
  };
}

function reservesOf(
  { reserve0, reserve1 }: SwapRow | LiquidityRow,
  { decimals0, decimals1 }: Scale,
): Pick<ScreenerEvent, 'reserves'> {
  // A V2 swap without a Sync has no known reserves.
  if (reserve0 === null || reserve1 === null || (reserve0 === '0' && reserve1 === '0')) return {};
  return {
    reserves: {
      asset0: formatUnits(BigInt(reserve0), decimals0),
      asset1: formatUnits(BigInt(reserve1), decimals1),
    },
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
