/**
 * Prices decoded blocks in chain order. Adds USD values to swaps and liquidity events, and makes the rows of routes
 * and prices. `src/pricing` has the pricing rules.
 */
import type { OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { LiquidityEventRow, SwapRow } from '../../clickhouse/schema/tables';
import { wholeTokens } from '../../domain/amounts';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { pricedAs } from '../../domain/pools/nativeCoin';
import { scalePrice } from '../../domain/prices';
import type { LegRecord } from '../../pricing/epoch';
import type { DecimalsOf } from '../../pricing/legState';
import type { HopChange } from '../../pricing/priceBlock';
import { Pricer } from '../../pricing/pricer';
import type { PricerConfig } from '../../pricing/pricerConfig';
import type { PriceRoute } from '../../pricing/priceRoute';
import { isTrusted, type UsdPrice } from '../../pricing/confidence';
import { valueSides, valueTrade } from '../../pricing/tradeValue';
import {
  toEventRows,
  type BlockFacts,
  type BlockRows,
  type LiquidityFact,
  type SwapFact,
} from '../rows/blockRows';
import { MarketReader } from './marketBlock';
import { priceCounts } from './priceCounts';
import { VaultCaps } from './vaultCaps';
import type { StoredPrices } from './storedPrices';
import { BinBook } from './binBook';
import { TickBook } from './tickBook';

/** USD amounts are stored with 12 decimal places. */
const USD_SCALE = 1e12;
const USD_MICRO = 1e6;

export class BlockPricer {
  private readonly pricer: Pricer;
  private readonly reader: MarketReader;
  private readonly ticks = new TickBook();
  private readonly bins = new BinBook();
  private readonly wrappedNative: Hex | null;

  constructor(
    config: PricerConfig,
    private readonly decimalsOf: DecimalsOf,
    /** Called before a block is priced. From then on, `decimalsOf` answers for this block. */
    private readonly onBlock: (number: number) => void = () => undefined,
  ) {
    this.pricer = new Pricer(config);
    this.reader = new MarketReader(decimalsOf, config.wrappedNative);
    this.wrappedNative = config.wrappedNative;
  }

  /** Replaces the whole pricing state with the state from the database. `old`: ticks from before the start block that are in use. */
  load(stored: StoredPrices, old: readonly OldTicksRow[] = []): void {
    this.pricer.clear();
    this.reader.clear();
    const pools = [...stored.pools, ...stored.blocks.flatMap((block) => block.pools)];
    this.ticks.load(pools, stored.ticks, old);
    this.bins.load(pools, stored.bins, old);
    const legs = stored.pools.flatMap((pool) => this.reader.addPool(pool));
    const legOf = new Map(legs.map((entry) => [entry.leg.key, entry.leg]));
    if (stored.base !== null) this.pricer.load(stored.base, legs, stored.records(legOf));
    this.pricer.loadHops(stored.routes(legOf), stored.hops);
    for (const block of stored.blocks) {
      this.onBlock(block.number);
      this.pricer.apply(this.reader.toMarketBlock(block), false);
    }
  }

  /**
   * `reversible` means that a reorg can still remove the block. Its changes then go into the journal. `old`: ticks from
   * before the start block that are used from this block on.
   */
  price(
    { held, moved: _, toldBins, ...facts }: BlockFacts,
    reversible: boolean,
    old: readonly OldTicksRow[] = [],
  ): BlockRows {
    const { number, timestamp } = facts.ref;
    this.onBlock(number);
    this.ticks.apply(number, facts.pools, facts.liquidity_events, reversible, old);
    const withBins = this.bins.apply(number, { ...facts, toldBins }, reversible, old);
    const states = this.ticks.walkLast(withBins);
    const changes = this.pricer.apply(
      this.reader.toMarketBlock({
        number,
        timestamp,
        pools: facts.pools,
        states,
        swaps: facts.swaps,
      }),
      reversible,
    );
    const ord = lastOrdOfBlock(number);
    const caps = new VaultCaps(
      { held, transfers: facts.transfers },
      (token) => this.priceOf(token),
      this.decimalsOf,
    );
    const native = this.wrappedNative === null ? null : this.pricer.priceOf(this.wrappedNative);
    return {
      ...facts,
      pool_states: this.reader.addHolds(states, changes.holds),
      swaps: facts.swaps.map((swap) => this.priceSwap(swap, native?.usd ?? 0, caps)),
      liquidity_events: facts.liquidity_events.map((event) => this.priceLiquidity(event)),
      events: toEventRows(facts),
      pool_epochs: changes.records.map((record) => toEpochRow(record, ord)),
      token_routes: changes.routes.map((route) => toRouteRow(route, ord, timestamp)),
      token_prices: changes.hops.map((change) => toPriceRow(change, ord, timestamp)),
    };
  }

  rewindTo(number: number): void {
    this.pricer.rewindTo(number);
    this.ticks.rewindTo(number);
    this.bins.rewindTo(number);
  }

  finalise(number: number): void {
    this.pricer.finalise(number);
    this.ticks.finalise(number);
    this.bins.finalise(number);
  }

  private pricedAs(token: Hex): Hex {
    return pricedAs(token, this.wrappedNative);
  }

  private priceOf(token: Hex): UsdPrice | null {
    return this.pricer.priceOf(this.pricedAs(token));
  }

  private priceSwap(swap: SwapFact, nativeUsd: number, caps: VaultCaps): SwapRow {
    const [token0, token1] = [this.pricedAs(swap.token0), this.pricedAs(swap.token1)];
    const [price0, price1] = [this.pricer.priceOf(token0), this.pricer.priceOf(token1)];
    const [base, quote] = swap.base_is_token0 ? [price0, price1] : [price1, price0];
    const decimals0 = this.decimalsOf(swap.token0);
    const decimals1 = this.decimalsOf(swap.token1);
    const marginal =
      base === null && quote === null ? 0 : scalePrice(swap.price, decimals0, decimals1, swap.base_is_token0);
    // A token with unknown decimals has no price, so its amount does not affect the value.
    const amount0 = wholeTokens(swap.amount0 < 0n ? -swap.amount0 : swap.amount0, decimals0 ?? 0);
    const amount1 = wholeTokens(swap.amount1 < 0n ? -swap.amount1 : swap.amount1, decimals1 ?? 0);
    const value = caps.limit(swap, valueTrade(price0, price1, amount0, amount1));
    const priceUsd = marginal > 0 ? finite(marginal * (quote?.usd ?? 0)) : 0;
    const quotePriceUsd = marginal > 0 ? finite((base?.usd ?? 0) / marginal) : 0;
    const [usd0, usd1] = swap.base_is_token0 ? [priceUsd, quotePriceUsd] : [quotePriceUsd, priceUsd];
    const side0 = { token: token0, price: price0, usd: usd0 };
    const side1 = { token: token1, price: price1, usd: usd1 };
    // Fields are listed, because a spread adds them one by one, with five times the memory.
    return {
      ord: swap.ord,
      timestamp: swap.timestamp,
      pair: swap.pair,
      dex: swap.dex,
      pool_type: swap.pool_type,
      token0: swap.token0,
      token1: swap.token1,
      base_is_token0: swap.base_is_token0,
      tx_hash: swap.tx_hash,
      tx_index: swap.tx_index,
      maker: swap.maker,
      leg: swap.leg,
      sender: swap.sender,
      recipient: swap.recipient,
      amount0: swap.amount0,
      amount1: swap.amount1,
      reserve0: swap.reserve0,
      reserve1: swap.reserve1,
      sqrt_price_x96: swap.sqrt_price_x96,
      liquidity: swap.liquidity,
      tick: swap.tick,
      price: swap.price,
      fee_pips: swap.fee_pips,
      price_usd: priceUsd,
      quote_price_usd: quotePriceUsd,
      native_usd: nativeUsd,
      amount_usd: toStoredUsd(value.amountUsd),
      untracked_usd: toStoredUsd(value.untrackedUsd),
      tracked: value.tracked,
      price_counts: priceCounts(this.pricer, swap, side0, side1),
    };
  }

  private priceLiquidity({ others, ...event }: LiquidityFact): LiquidityEventRow {
    const [price0, price1] = [this.priceOf(event.token0), this.priceOf(event.token1)];
    let othersUsd: bigint | null = null;
    for (const { token, amount } of others ?? []) {
      const price = this.priceOf(token);
      const [value = null] = isTrusted(price) ? this.valueAmounts([price], [token], [amount]) : [];
      if (value !== null) othersUsd = (othersUsd ?? 0n) + value;
    }
    const [usd0 = null, usd1 = null] = this.valueAmounts(
      [price0, price1],
      [event.token0, event.token1],
      [event.amount0, event.amount1],
    );
    return {
      amount0_usd: usd0,
      amount1_usd: usd1,
      trust: (isTrusted(price0) ? 1 : 0) + (isTrusted(price1) ? 2 : 0),
      others_usd: othersUsd,
      ...event,
    };
  }

  /** USD value of the amounts. Null if none has a price; a token with unknown decimals has no price. */
  private valueAmounts(
    prices: readonly (UsdPrice | null)[],
    tokens: readonly Hex[],
    amounts: readonly bigint[],
  ): (bigint | null)[] {
    const wholeAmounts = tokens.map((token, i) => wholeTokens(amounts[i] ?? 0n, this.decimalsOf(token) ?? 0));
    return valueSides(prices, wholeAmounts).map((usd) => (usd === null ? null : toStoredUsd(usd)));
  }
}

function finite(price: number): number {
  return Number.isFinite(price) ? price : 0;
}

/**
 * Converts USD to units of 10^-12, for 0 <= usd < 10^20. Large values are converted in two steps, because the
 * product may exceed the integers that a float holds exactly.
 */
function toStoredUsd(usd: number): bigint {
  if (usd < 1_000) return BigInt(Math.round(usd * USD_SCALE));
  const micros = Math.round(usd * USD_MICRO);
  return BigInt(micros) * 1_000_000n;
}

function toEpochRow(record: LegRecord, ord: number): BlockRows['pool_epochs'][number] {
  const { state } = record;
  return {
    ord,
    timestamp: record.at,
    pair: record.leg.pair,
    leg: record.leg.number,
    price: state.price,
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    liquidity: state.liquidity,
    depth_liquidity: record.depthLiquidity,
    depth_weight: record.depthWeight,
    mean_log: record.meanLog,
    traded: record.traded,
    moved_at: record.movedAt,
    unswapped: record.unswapped,
    makers: [...record.makers],
    born_block: record.bornBlock,
  };
}

function toRouteRow(route: PriceRoute, ord: number, timestamp: number): BlockRows['token_routes'][number] {
  return {
    ord,
    timestamp,
    token: route.token,
    next_token: route.next,
    hops: route.hops,
    hop_confidence: route.confidence,
    depth_usd: Number.isFinite(route.depthUsd) ? route.depthUsd : 0,
    other_depth_usd: route.otherDepthUsd,
    recent: route.recent,
    stale: route.stale,
    pairs: route.pools.map(({ leg }) => leg.pair),
    legs: route.pools.map(({ leg }) => leg.number),
    weights: route.pools.map(({ weight }) => weight),
    warnings: route.warnings,
  };
}

function toPriceRow(change: HopChange, ord: number, timestamp: number): BlockRows['token_prices'][number] {
  const { token, before, after, price } = change;
  return {
    ord,
    timestamp,
    token,
    next_token: after.next,
    hop_price: after.price,
    hop_confidence: after.confidence,
    hop_cap: Number.isFinite(after.cap) ? after.cap : 0,
    price_usd: price?.usd ?? 0,
    confidence: price?.confidence ?? 0,
    previous_next_token: before?.next ?? ZERO_ADDRESS,
    previous_hop_price: before?.price ?? 0,
    previous_hop_confidence: before?.confidence ?? 0,
  };
}
