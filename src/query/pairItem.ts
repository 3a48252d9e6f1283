/** From rows of one pool to the pair that answers show. Pure. */
import { formatUnits } from '../domain/amounts';
import { formatPrice } from '../domain/prices';
import { WINDOW_SECONDS, type PairDetail, type PairItem, type TradeCounts, type Window } from '../wire/pairs';
import type { Token } from '../wire/primitives';
import type { PastPricesRow, StateRow, TradesRow } from './pairRows';
import type { PoolRow } from './pools';
import { tokenOf, type TokenMap } from './tokens';

const V3 = 3;
const PIPS_PER_BPS = 100;

/** What was read of one pool beside its own row; null: nothing. */
export interface PairFacts {
  readonly state: StateRow | null;
  /** Trading of the last 24 hours. */
  readonly trades: TradesRow | null;
  /** Only of pools whose state moved in the last 24 hours. */
  readonly pastPrices: PastPricesRow | null;
  readonly lastTradeAt: number | null;
}

export interface PairEntry {
  readonly item: PairItem;
  readonly pool: PoolRow;
  readonly facts: PairFacts;
  readonly token0: Token;
  readonly token1: Token;
}

/** The list item of a pool. */
export function toPairEntry(pool: PoolRow, tokens: TokenMap, facts: PairFacts): PairEntry {
  const token0 = tokenOf(tokens, pool.token0);
  const token1 = tokenOf(tokens, pool.token1);
  const [base, quote] = pool.base_is_token0 ? [token0, token1] : [token1, token0];
  const { trades } = facts;
  const counts = tradeCounts(trades, 'h24');
  const item: PairItem = {
    address: pool.address,
    dex_name: pool.dex,
    pool_type: pool.pool_type,
    fee_bps: pool.fee_pips / PIPS_PER_BPS,
    name: `${labelOf(base)} / ${labelOf(quote)}`,
    base_token: base,
    quote_token: quote,
    tokens: [token0, token1],
    price_usd: null,
    price_native: null,
    price: priceOf(pool, facts.state, token0, token1, pool.base_is_token0),
    price_change_5m: priceChange(pool, facts, 'm5'),
    price_change_1h: priceChange(pool, facts, 'h1'),
    price_change_6h: priceChange(pool, facts, 'h6'),
    price_change_24h: priceChange(pool, facts, 'h24'),
    volume_24h_usd: trades?.volume_h24 ?? null,
    fees_24h_usd: trades?.fees_h24 ?? null,
    liquidity_usd: null,
    tx_24h: counts.buys + counts.sells,
    buys_24h: counts.buys,
    sells_24h: counts.sells,
    buyers_24h: counts.buyers,
    sellers_24h: counts.sellers,
    apr_24h: null,
    created_at: pool.created_at,
    created_block: pool.created_block,
    last_trade_at: facts.lastTradeAt,
    flags: [],
  };
  return { item, pool, facts, token0, token1 };
}

/** The whole record of a pair. */
export function toPairDetail(entry: PairEntry): PairDetail {
  const { item, pool, facts, token0, token1 } = entry;
  const { state, trades } = facts;
  return {
    ...item,
    reserve0: state === null ? null : formatUnits(BigInt(state.reserve0), token0.decimals ?? 0),
    reserve1: state === null ? null : formatUnits(BigInt(state.reserve1), token1.decimals ?? 0),
    reserve0_raw: state?.reserve0 ?? null,
    reserve1_raw: state?.reserve1 ?? null,
    reserve0_usd: null,
    reserve1_usd: null,
    token0_price: priceOf(pool, state, token0, token1, true),
    token1_price: priceOf(pool, state, token0, token1, false),
    volume: {
      m5: trades?.volume_m5 ?? null,
      h1: trades?.volume_h1 ?? null,
      h6: trades?.volume_h6 ?? null,
      h24: trades?.volume_h24 ?? null,
      d7: null,
      d30: null,
    },
    untracked_volume_24h_usd: null,
    fees: { h24: trades?.fees_h24 ?? null, d7: null },
    lp_fees_24h_usd: null,
    protocol_fees_24h_usd: null,
    apr_7d: null,
    transactions: {
      m5: tradeCounts(trades, 'm5'),
      h1: tradeCounts(trades, 'h1'),
      h6: tradeCounts(trades, 'h6'),
      h24: tradeCounts(trades, 'h24'),
    },
    total_supply: null,
    lp_holders: null,
    depth_2pct_usd: { up: null, down: null },
    factory: pool.factory,
    created_tx: pool.created_tx,
    ...(pool.pool_type === V3 ? concentratedFields(pool, state) : {}),
  };
}

type ConcentratedFields = Pick<PairDetail, 'sqrt_price_x96' | 'tick' | 'liquidity_raw' | 'tick_spacing'>;

function concentratedFields(pool: PoolRow, state: StateRow | null): ConcentratedFields {
  const initialised = state !== null && state.sqrt_price_x96 !== '0';
  return {
    sqrt_price_x96: initialised ? state.sqrt_price_x96 : null,
    tick: initialised ? state.tick : null,
    liquidity_raw: state?.liquidity ?? null,
    tick_spacing: pool.tick_spacing,
  };
}

/** A token's symbol, or its address cut short where it has none. */
function labelOf(token: Token): string {
  return token.symbol ?? `${token.address.slice(0, 6)}…${token.address.slice(-4)}`;
}

function priceOf(
  pool: PoolRow,
  state: StateRow | null,
  token0: Token,
  token1: Token,
  baseIsToken0: boolean,
): string | null {
  if (state === null) return null;
  const sqrtPriceX96 = BigInt(state.sqrt_price_x96);
  if (pool.pool_type === V3 && sqrtPriceX96 === 0n) return null;
  const exact = { reserve0: BigInt(state.reserve0), reserve1: BigInt(state.reserve1), sqrtPriceX96 };
  return formatPrice(exact, token0.decimals ?? 0, token1.decimals ?? 0, baseIsToken0);
}

/** Change of the price over a window in percent; null where there is no price now or then. */
function priceChange(pool: PoolRow, facts: PairFacts, window: Window): number | null {
  const now = facts.state?.price ?? 0;
  const then = facts.pastPrices === null ? now : facts.pastPrices[`price_${window}`];
  if (now <= 0 || then <= 0) return null;
  const ratio = pool.base_is_token0 ? now / then : then / now;
  const change = (ratio - 1) * 100;
  return Number.isFinite(change) ? change : null;
}

function tradeCounts(trades: TradesRow | null, window: keyof typeof WINDOW_SECONDS): TradeCounts {
  if (trades === null) return { buys: 0, sells: 0, buyers: 0, sellers: 0 };
  const buys = trades[`buys_${window}`];
  const sells = trades[`sells_${window}`];
  return {
    buys,
    sells,
    buyers: distinct(trades[`buyers_${window}`], buys),
    sellers: distinct(trades[`sellers_${window}`], sells),
  };
}

/** Distinct makers; swaps without any known maker leave the number unknown. */
function distinct(makers: number, swaps: number): number | null {
  return makers === 0 && swaps > 0 ? null : makers;
}
