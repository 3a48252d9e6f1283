/** From rows of one pool to the pair that lists show. Pure. */
import { plainNumber, unitsToNumber } from '../domain/amounts';
import { formatPrice, scalePrice } from '../domain/prices';
import { WINDOW_SECONDS, type PairItem, type TradeCounts, type Window } from '../wire/pairs';
import type { Token } from '../wire/primitives';
import type { MeanReservesRow, PastPricesRow, StateRow, TradesRow } from './pairRows';
import { tokensOfPool, weightsOfPool, type PoolRow } from './pools';
import { aprPercent, tvlOf, tvlOfWeighted, wholeUnits, type PoolSide } from './poolValue';
import type { TokenPrices } from './priceBook';
import { changePercent, distinctMakers } from './ranking';
import { tokenOf, type TokenMap } from './tokens';

const V3 = 3;
const PIPS_PER_BPS = 100;

/** What was read of one pool beside its own row; null: nothing. */
export interface PairFacts {
  readonly state: StateRow | null;
  /** Raw balances of all tokens; of weighted and stable pools only. */
  readonly balances: readonly string[] | null;
  /** Trading of the last 24 hours. */
  readonly trades: TradesRow | null;
  /** Only of pools whose state moved in the last 24 hours. */
  readonly pastPrices: PastPricesRow | null;
  readonly lastTradeAt: number | null;
  /** The part of its fees that goes to the protocol, 0–1. */
  readonly protocolShare: number;
}

export interface PairEntry {
  readonly item: PairItem;
  readonly pool: PoolRow;
  readonly facts: PairFacts;
  readonly token0: Token;
  readonly token1: Token;
  /** What is in the pool now of token0 and token1. */
  readonly sides: readonly [PoolSide, PoolSide];
  /** What is in the pool now of each of `item.tokens`. */
  readonly holdings: readonly PoolSide[];
}

/** The list item of a pool. */
export function toPairEntry(
  pool: PoolRow,
  tokens: TokenMap,
  prices: TokenPrices,
  facts: PairFacts,
): PairEntry {
  const token0 = tokenOf(tokens, pool.token0);
  const token1 = tokenOf(tokens, pool.token1);
  const [base, quote] = pool.base_is_token0 ? [token0, token1] : [token1, token0];
  const { trades, state } = facts;
  const counts = tradeCounts(trades, 'h24');
  const price = priceOf(pool, state, token0, token1, pool.base_is_token0);
  const sides: [PoolSide, PoolSide] = [
    { amount: wholeOf(state?.reserve0, token0), price: prices.now(token0.address) },
    { amount: wholeOf(state?.reserve1, token1), price: prices.now(token1.address) },
  ];
  const all = tokensOfPool(pool).map((address) => tokenOf(tokens, address));
  const holdings = all.map((token, i): PoolSide => {
    if (pool.all_tokens.length === 0) return i === 0 ? sides[0] : sides[1];
    return { amount: wholeOf(facts.balances?.[i], token), price: prices.now(token.address) };
  });
  const change = (window: Window): number | null =>
    priceChange(facts, { pool, token0, token1, quote }, prices, window);
  const fees = trades?.fees_h24 ?? 0;
  const item: PairItem = {
    address: pool.address,
    dex_name: pool.dex,
    pool_type: pool.pool_type,
    fee_bps: pool.fee_pips / PIPS_PER_BPS,
    name: nameOf(base, quote, all),
    base_token: base,
    quote_token: quote,
    tokens: all,
    price_usd: timesPrice(price, prices.now(quote.address).usd),
    price_native: timesPrice(price, prices.nativeOf(quote.address)),
    price,
    price_change_5m: change('m5'),
    price_change_1h: change('h1'),
    price_change_6h: change('h6'),
    price_change_24h: change('h24'),
    volume_24h_usd: trades?.volume_h24 ?? 0,
    fees_24h_usd: fees,
    liquidity_usd: tvlNow(pool, sides, holdings),
    tx_24h: counts.buys + counts.sells,
    buys_24h: counts.buys,
    sells_24h: counts.sells,
    buyers_24h: counts.buyers,
    sellers_24h: counts.sellers,
    apr_24h: aprPercent(
      fees * (1 - facts.protocolShare),
      WINDOW_SECONDS.h24,
      meanTvl({ pool, token0, token1, sides, holdings }, facts.pastPrices),
    ),
    created_at: pool.created_at,
    created_block: pool.created_block,
    last_trade_at: facts.lastTradeAt,
    flags: [],
  };
  return { item, pool, facts, token0, token1, sides, holdings };
}

/** A decimal price times what one quote token is worth; null where either is unknown. */
function timesPrice(price: string | null, worth: number | null): string | null {
  if (price === null || worth === null) return null;
  const product = Number(price) * worth;
  return product > 0 && Number.isFinite(product) ? plainNumber(product) : null;
}

function wholeOf(raw: string | undefined, token: Token): number {
  return raw === undefined ? 0 : unitsToNumber(BigInt(raw), token.decimals ?? 0);
}

/** "BASE / QUOTE", and the other tokens of a pool of more than two after them. */
function nameOf(base: Token, quote: Token, all: readonly Token[]): string {
  const others = all.filter(({ address }) => address !== base.address && address !== quote.address);
  return [base, quote, ...others].map(labelOf).join(' / ');
}

function tvlNow(pool: PoolRow, sides: readonly [PoolSide, PoolSide], holdings: readonly PoolSide[]): number {
  return pool.all_tokens.length === 0
    ? tvlOf(pool.pool_type, ...sides)
    : tvlOfWeighted(holdings, weightsOfPool(pool));
}

/**
 * TVL of mean reserves at the prices of now. Without means the reserves stood where they stand; pools of more than two
 * tokens count with what they hold now.
 */
export function meanTvl(
  {
    pool,
    token0,
    token1,
    sides,
    holdings,
  }: Pick<PairEntry, 'pool' | 'token0' | 'token1' | 'sides' | 'holdings'>,
  means: MeanReservesRow | null,
): number {
  if (pool.all_tokens.length > 0) return tvlNow(pool, sides, holdings);
  const meanSide = (side: PoolSide, raw: number | null | undefined, token: Token): PoolSide =>
    raw === null || raw === undefined ? side : { ...side, amount: wholeUnits(raw, token.decimals ?? 0) };
  return tvlOf(
    pool.pool_type,
    meanSide(sides[0], means?.mean_reserve0, token0),
    meanSide(sides[1], means?.mean_reserve1, token1),
  );
}

/** A token's symbol, or its address cut short where it has none. */
function labelOf(token: Token): string {
  return token.symbol ?? `${token.address.slice(0, 6)}…${token.address.slice(-4)}`;
}

/** The price of a pool's state as a decimal string: the other token per token0 or token1. */
export function priceOf(
  pool: PoolRow,
  state: StateRow | null,
  token0: Token,
  token1: Token,
  baseIsToken0: boolean,
): string | null {
  if (state === null) return null;
  if (pool.all_tokens.length > 0) {
    const price = scalePrice(state.price, token0.decimals ?? 0, token1.decimals ?? 0, baseIsToken0);
    return price > 0 ? plainNumber(price) : null;
  }
  const sqrtPriceX96 = BigInt(state.sqrt_price_x96);
  if (pool.pool_type === V3 && sqrtPriceX96 === 0n) return null;
  const exact = { reserve0: BigInt(state.reserve0), reserve1: BigInt(state.reserve1), sqrtPriceX96 };
  return formatPrice(exact, token0.decimals ?? 0, token1.decimals ?? 0, baseIsToken0);
}

interface Priced {
  readonly pool: PoolRow;
  readonly token0: Token;
  readonly token1: Token;
  readonly quote: Token;
}

/**
 * Change over a window in percent: of the price in USD where it is known now and then, else of the price in the quote
 * token; null where there is no price now or then.
 */
function priceChange(
  facts: PairFacts,
  { pool, token0, token1, quote }: Priced,
  prices: TokenPrices,
  window: Window,
): number | null {
  const raw = facts.state?.price ?? 0;
  const rawThen = facts.pastPrices === null ? raw : facts.pastPrices[`price_${window}`];
  const scaled = (price: number): number =>
    scalePrice(price, token0.decimals ?? 0, token1.decimals ?? 0, pool.base_is_token0);
  const [now, then] = [scaled(raw), scaled(rawThen)];
  if (now === 0 || then === 0) return null;
  const worth = prices.now(quote.address).usd;
  const worthThen = prices.before(quote.address, window);
  const change =
    worth === null || worthThen === null
      ? changePercent(now, then)
      : changePercent(now * worth, then * worthThen);
  return change !== null && Number.isFinite(change) ? change : null;
}

/** Counts of one window out of a row; nothing traded without one. */
export function tradeCounts(trades: TradesRow | null, window: Window): TradeCounts {
  if (trades === null) return { buys: 0, sells: 0, buyers: 0, sellers: 0 };
  const buys = trades[`buys_${window}`];
  const sells = trades[`sells_${window}`];
  return {
    buys,
    sells,
    buyers: distinctMakers(trades[`buyers_${window}`], buys),
    sellers: distinctMakers(trades[`sellers_${window}`], sells),
  };
}
