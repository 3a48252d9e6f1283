-- Layer 5, rollups (totals) over the rows of final blocks. Readers add the rows of canonical head blocks
-- whose ord is above last_ord, or above the ord of the latest state.

-- One row: a part of the totals of one DEX in one hour. Readers merge the rows with the same key.
CREATE TABLE IF NOT EXISTS dex_hours
(
    dex LowCardinality(String) COMMENT 'Short name of the DEX',
    hour UInt32 COMMENT 'Start of the hour, unix seconds, UTC',
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps in the hour',
    untracked SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps in which neither token has a trusted price',
    volume_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Traded value in USD of the swaps in which a token has a trusted price',
    fee_usd SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Fees in USD of the swaps in which a token has a trusted price',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord (position in the chain) of the swaps in this row. Readers add a head swap only if its ord is above'
)
ENGINE = AggregatingMergeTree
ORDER BY (dex, hour)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Volume and fees of each DEX by hour, over the swaps of final blocks';

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

-- One row: a part of the totals of one pair since the start of the index. Readers merge the rows
-- with the same key.
CREATE TABLE IF NOT EXISTS pair_totals
(
    pair FixedString(20) COMMENT 'Address of the pool',
    trades SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of swaps of the pair',
    first_ord SimpleAggregateFunction(min, UInt64) COMMENT 'Position of the first swap in the chain: block_number * 2^20 + log_index',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Position of the last swap in the chain: block_number * 2^20 + log_index',
    last_trade_at SimpleAggregateFunction(max, UInt32) COMMENT 'Time of the last swap, unix seconds, UTC'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Totals of each pair since the start of the index, over the swaps of final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_pair_totals TO pair_totals AS
SELECT
    pair,
    count() AS trades,
    min(ord) AS first_ord,
    max(ord) AS last_ord,
    max(timestamp) AS last_trade_at
FROM swaps
GROUP BY pair;

-- One row: a candidate for the newest final state of a pool. If a pool has several rows, the tuple with the
-- largest ord is the newest state.
CREATE TABLE IF NOT EXISTS pool_latest
(
    pair FixedString(20) COMMENT 'Address of the pool',
    state SimpleAggregateFunction(max, Tuple(ord UInt64, timestamp UInt32, reserve0 UInt256, reserve1 UInt256, sqrt_price_x96 UInt256, liquidity UInt128, tick Int32, price Float64, unswapped Array(Float64), walked_liquidity Float64, near0 Float64, near1 Float64)) COMMENT 'Newest state of the pool, with the meaning of the columns of pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest state of each pool in the final blocks';

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

-- One row: a candidate for the newest final balances of a pool of many tokens. If a pool has several rows, the tuple
-- with the largest ord is the newest.
CREATE TABLE IF NOT EXISTS pool_balances
(
    pair FixedString(20) COMMENT 'Address of the pool',
    state SimpleAggregateFunction(max, Tuple(ord UInt64, balances Array(UInt256), doubts UInt8)) COMMENT 'Newest balances and doubts, as in pool_states',
    params_state SimpleAggregateFunction(max, Tuple(ord UInt64, params Array(UInt256))) COMMENT 'Newest params, as in pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest balances of each weighted or stable pool in the final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_pool_balances TO pool_balances AS
SELECT
    pair,
    tuple(max(s.ord), argMax(s.balances, s.ord), argMax(s.doubts, s.ord)) AS state,
    tuple(max(s.ord), argMax(s.params, s.ord)) AS params_state
FROM pool_states AS s
WHERE notEmpty(s.balances) OR s.doubts > 0
GROUP BY pair;
