/** Lists swaps, mints and burns of a range of blocks in the format of DEX Screener's adapter. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, f64, nullable, u256 } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { liquidityEventsTable, swapsTable } from '../../clickhouse/schema/tables';
import { formatRatio, formatUnits, plainNumber } from '../../domain/amounts';
import { blockOfOrd, lastOrdOfBlock, logIndexOfOrd } from '../../domain/ord';
import { formatPrice, scalePrice } from '../../domain/prices';
import { shapeOf } from '../../domain/pools/poolShape';
import type { ScreenerEvent } from '../../wire/dialects/dexscreener';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { PairTable } from '../pairs/pairTable';
import { legOfPool, type StoredPool } from '../pairs/pools';
import { tokenOf } from '../tokens/tokens';

/** The number of a leg is this × the index of its first token + the index of its second token. */
const TOKEN_INDEX_SPAN = 256;

/** A row of list_screener_swaps.sql, with amounts in raw units. */
const swapRow = rowType({
  ...pick(swapsTable.types, ['ord', 'timestamp', 'pair', 'leg', 'pool_type', 'token0', 'token1', 'tx_hash']),
  ...pick(swapsTable.types, ['tx_index', 'amount0', 'amount1', 'reserve0', 'reserve1', 'sqrt_price_x96']),
  maker: address,
  /** Price in raw token1 per raw token0; 0 if the swap has no price. */
  raw_price: f64,
});
type SwapRow = RowOf<typeof swapRow>;

/** A row of list_screener_liquidity.sql, with amounts in raw units. */
const liquidityRow = rowType({
  ...pick(liquidityEventsTable.types, ['ord', 'timestamp', 'kind', 'pair', 'token0', 'token1', 'tx_hash']),
  ...pick(liquidityEventsTable.types, ['tx_index', 'amount0', 'amount1']),
  maker: address,
  reserve0: nullable(u256),
  reserve1: nullable(u256),
});
type LiquidityRow = RowOf<typeof liquidityRow>;

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
    runner.run('activity/list_screener_swaps', params, swapRow),
    runner.run('activity/list_screener_liquidity', params, liquidityRow),
  ]);
  const rows: (SwapRow | LiquidityRow)[] = [...swaps, ...liquidity];
  rows.sort((a, b) => a.ord - b.ord);
  const firstLeftOut = rows[limit];
  if (firstLeftOut !== undefined) return { events: [], fitsTo: blockOfOrd(firstLeftOut.ord) - 1 };
  const events = rows.flatMap((row) => {
    const pool = pairs.byAddress.get(row.pair)?.pool;
    if (pool === undefined) return [];
    const scale = {
      decimals0: tokenOf(pairs.tokens, row.token0).decimals,
      decimals1: tokenOf(pairs.tokens, row.token1).decimals,
    };
    // The DEX Screener specification asks for whole tokens and a price, so events of tokens with unknown decimals
    // are left out.
    if (!areDecimalsKnown(scale)) return [];
    return ('kind' in row ? toLiquidity(row, pool, scale) : toSwap(row, pool, scale)) ?? [];
  });
  return { events, fitsTo: null };
}

/** The id of a pool's leg. A two-token pool uses its address alone. */
export function screenerPairId(pool: StoredPool, leg: number): string {
  if (pool.all_tokens.length <= 2) return pool.address;
  return `${pool.address}-${Math.floor(leg / TOKEN_INDEX_SPAN)}-${leg % TOKEN_INDEX_SPAN}`;
}

interface Scale {
  readonly decimals0: number;
  readonly decimals1: number;
}

function areDecimalsKnown(scale: { readonly [Key in keyof Scale]: number | null }): scale is Scale {
  return scale.decimals0 !== null && scale.decimals1 !== null;
}

function toSwap(row: SwapRow, pool: StoredPool, { decimals0, decimals1 }: Scale): ScreenerEvent | null {
  const { amount0, amount1 } = row;
  if (amount0 * amount1 >= 0n) return null;
  // A hook decides what the trader pays.
  if (shapeOf(pool.pool_type).price === 'sqrt_price' && row.raw_price === 0) return null;
  const isToken0Paid = amount0 > 0n;
  const size0 = formatUnits(isToken0Paid ? amount0 : -amount0, decimals0);
  const size1 = formatUnits(isToken0Paid ? -amount1 : amount1, decimals1);
  return {
    ...placeOf(row),
    eventType: 'swap',
    pairId: screenerPairId(pool, row.leg),
    ...(isToken0Paid ? { asset0In: size0, asset1Out: size1 } : { asset1In: size1, asset0Out: size0 }),
    priceNative: priceOf(row, { decimals0, decimals1 }),
    ...reservesOf(row, { decimals0, decimals1 }),
  };
}

/**
 * Whole token1 per whole token0 after the swap. For a pool without a marginal price, the execution price of the swap.
 */
function priceOf(row: SwapRow, { decimals0, decimals1 }: Scale): string {
  const { reserve0, reserve1, sqrt_price_x96: sqrtPriceX96 } = row;
  const { price } = shapeOf(row.pool_type);
  const hasStatePrice = price === 'sqrt_price' ? sqrtPriceX96 > 0n : price === 'reserves';
  const marginalPrice = hasStatePrice
    ? formatPrice({ reserve0, reserve1, sqrtPriceX96 }, decimals0, decimals1, true)
    : plainNumber(scalePrice(row.raw_price, decimals0, decimals1, true));
  if (marginalPrice !== null && marginalPrice !== '0') return marginalPrice;
  const [paid0, paid1] = [absolute(row.amount0), absolute(row.amount1)];
  return formatRatio(paid1 * 10n ** BigInt(decimals0), paid0 * 10n ** BigInt(decimals1));
}

function toLiquidity(row: LiquidityRow, pool: StoredPool, scale: Scale): ScreenerEvent | null {
  const leg = legOfPool(pool, row.token0, row.token1);
  const amount0 = formatUnits(row.amount0, scale.decimals0);
  const amount1 = formatUnits(row.amount1, scale.decimals1);
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
  const { ord } = row;
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
  if (reserve0 === null || reserve1 === null || (reserve0 === 0n && reserve1 === 0n)) return {};
  return {
    reserves: {
      asset0: formatUnits(reserve0, decimals0),
      asset1: formatUnits(reserve1, decimals1),
    },
  };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
