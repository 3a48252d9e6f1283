-- Layer 5, rollups over final rows. As for bars, readers add canonical head rows with ord > last_ord (or > the ord of
-- the latest state).

-- One row: part of one hour of one DEX.
CREATE TABLE IF NOT EXISTS dex_hours
(
    dex LowCardinality(String) COMMENT 'Slug of the DEX',
    hour UInt32 COMMENT 'Start of the hour, unix seconds, UTC',
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps',
    untracked SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps that are not tracked',
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd of tracked swaps',
    fee_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of fee_usd of tracked swaps',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row; head swaps count only above it'
)
ENGINE = AggregatingMergeTree
ORDER BY (dex, hour)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Volume and fees of each DEX by hour over final swaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_dex_hours TO dex_hours AS
SELECT
    dex,
    (intDiv(timestamp, 3600) * 3600)::UInt32 AS hour,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    sum(amount_usd) AS volume_usd,
    sum(fee_usd) AS fee_usd,
    max(ord) AS last_ord
FROM swaps
GROUP BY dex, hour;

-- One row: part of a pair's trading since the start.
CREATE TABLE IF NOT EXISTS pair_totals
(
    pair FixedString(20) COMMENT 'Pool address',
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps',
    first_ord SimpleAggregateFunction(min, UInt64) COMMENT 'ord of the first swap',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'ord of the last swap',
    last_trade_at SimpleAggregateFunction(max, UInt32) COMMENT 'Time of the last swap, unix seconds, UTC'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Swaps of each pair since the start, over final swaps';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_pair_totals TO pair_totals AS
SELECT
    pair,
    count() AS trades,
    min(ord) AS first_ord,
    max(ord) AS last_ord,
    max(timestamp) AS last_trade_at
FROM swaps
GROUP BY pair;

-- One row: part of a pool's newest final state; the tuple with the largest ord counts.
CREATE TABLE IF NOT EXISTS pool_latest
(
    pair FixedString(20) COMMENT 'Pool address',
    state SimpleAggregateFunction(max, Tuple(ord UInt64, timestamp UInt32, reserve0 UInt256, reserve1 UInt256, sqrt_price_x96 UInt256, liquidity UInt128, tick Int32, price Float64, unswapped Array(Float64), walked_liquidity Float64, near0 Float64, near1 Float64)) COMMENT 'Newest state, as in pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final state of each pool';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_pool_latest TO pool_latest AS
SELECT
    pair,
    tuple(
        max(s.ord), argMax(s.timestamp, s.ord), argMax(s.reserve0, s.ord), argMax(s.reserve1, s.ord),
        argMax(s.sqrt_price_x96, s.ord), argMax(s.liquidity, s.ord), argMax(s.tick, s.ord), argMax(s.price, s.ord),
        argMax(s.unswapped, s.ord), argMax(s.walked_liquidity, s.ord), argMax(s.near0, s.ord), argMax(s.near1, s.ord)
    ) AS state
FROM pool_states AS s
GROUP BY pair;

-- One row: part of the newest final balances of a vault pool; the tuple with the largest ord counts.
CREATE TABLE IF NOT EXISTS pool_balances
(
    pair FixedString(20) COMMENT 'Pool address',
    state SimpleAggregateFunction(max, Tuple(ord UInt64, balances Array(UInt256), doubts UInt8)) COMMENT 'Newest balances and doubts, as in pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final balances of weighted and stable pools';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_pool_balances TO pool_balances AS
SELECT
    pair,
    tuple(max(s.ord), argMax(s.balances, s.ord), argMax(s.doubts, s.ord)) AS state
FROM pool_states AS s
WHERE notEmpty(s.balances) OR s.doubts > 0
GROUP BY pair;
