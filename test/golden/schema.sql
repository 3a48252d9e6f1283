CREATE TABLE abi_signature_names
(
    `name_lower` String COMMENT 'Name in lower case',
    `length` UInt32 COMMENT 'Characters of the signature',
    `signature` String COMMENT 'name(types)',
    `kind` Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'What it is',
    `selector` String COMMENT 'As in abi_signatures',
    `entry` String COMMENT 'JSON: an entry of an ABI' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (name_lower, length, signature, kind)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by name';

CREATE TABLE abi_signatures
(
    `selector` String COMMENT 'Bytes: topic0 (32) of an event, the first 4 of the hash of a function or error',
    `kind` Enum8('event' = 1, 'function' = 2, 'error' = 3) COMMENT 'What it is',
    `signature` String COMMENT 'name(types)',
    `indexed` UInt32 COMMENT 'Events: bit i is set when parameter i is indexed; an event is listed once for each such set',
    `entry` String COMMENT 'JSON: the entry of the ABI that came first' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree
ORDER BY (selector, kind, signature, indexed)
SETTINGS index_granularity = 256
COMMENT 'Signatures of all known ABIs by selector';

CREATE TABLE audit_hashes
(
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `from_block` UInt32 COMMENT 'First block of the range, a multiple of 1,000',
    `hash` FixedString(16) COMMENT 'Hash over all tables: the first half of the SHA-256 of their names, row counts and sums, a line each',
    `rows` UInt64 COMMENT 'Rows of the range in all tables',
    `sums` Map(LowCardinality(String), UInt128) COMMENT 'By table: the sum modulo 2^128 of the sipHash128 of each row',
    `hashed_at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When it was hashed, UTC'
)
ENGINE = ReplacingMergeTree(hashed_at)
ORDER BY (chain_id, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Audit hashes of ranges of final blocks';

CREATE TABLE bars
(
    `timeframe` UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    `pair` FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(3)),
    `leg` UInt16 COMMENT 'Which two tokens of the pool, as in swaps' CODEC(ZSTD(3)),
    `bucket` UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta(4), ZSTD(3)),
    `first` SimpleAggregateFunction(min, Tuple(
        UInt64,
        Float64,
        Float64)) COMMENT '(ord, price, USD per whole base token) of the first swap that has both; (2^64-1, 0, 0): none' CODEC(ZSTD(3)),
    `last` SimpleAggregateFunction(max, Tuple(
        UInt64,
        Float64,
        Float64)) COMMENT 'The same of the last swap that has both; (0, 0, 0): none' CODEC(ZSTD(3)),
    `first_quote` SimpleAggregateFunction(min, Tuple(
        UInt64,
        Float64)) COMMENT '(ord, price) of the first swap that has a price, but none in USD; (2^64-1, 0): none' CODEC(ZSTD(3)),
    `last_quote` SimpleAggregateFunction(max, Tuple(
        UInt64,
        Float64)) COMMENT 'The same of the last such swap; (0, 0): none' CODEC(ZSTD(3)),
    `high` SimpleAggregateFunction(max, Float64) COMMENT 'Largest price; 0: none' CODEC(ZSTD(3)),
    `low` SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price; infinity: none' CODEC(ZSTD(3)),
    `high_usd` SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    `low_usd` SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    `volume0` SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount0|, raw units' CODEC(ZSTD(3)),
    `volume1` SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount1|, raw units' CODEC(ZSTD(3)),
    `volume_usd` SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd of tracked swaps' CODEC(ZSTD(3)),
    `fee_usd` SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of fee_usd of tracked swaps' CODEC(ZSTD(3)),
    `trades` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps' CODEC(ZSTD(3)),
    `untracked` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps whose USD value is not tracked' CODEC(ZSTD(3)),
    `buys` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the base token fell' CODEC(ZSTD(3)),
    `other_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the swaps without both prices; 0: none. What the head adds lies beyond it and the ord of last' CODEC(Delta(8), ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (pair, leg, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of all six timeframes over final swaps';

CREATE TABLE blocks
(
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `number` UInt32 COMMENT 'Block number',
    `hash` FixedString(32) COMMENT 'Block hash, 32 raw bytes',
    `parent_hash` FixedString(32) COMMENT 'Hash of the parent block, 32 raw bytes',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `base_fee` Nullable(UInt128) COMMENT 'Base fee per gas, wei; null before EIP-1559',
    `transaction_count` UInt32 COMMENT 'Transactions in the block',
    `log_count` UInt32 COMMENT 'Logs in the block',
    `gas_prices` Array(UInt128) COMMENT 'Effective gas price of each transaction, wei, in index order; empty where unknown',
    PROJECTION by_hash
    (
        SELECT
            reinterpretAsUInt32(hash),
            _part_offset
        ORDER BY reinterpretAsUInt32(hash)
    )
)
ENGINE = MergeTree
ORDER BY (chain_id, number)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final blocks; append only';

CREATE TABLE blocks_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `number` UInt32 COMMENT 'Block number',
    `hash` FixedString(32) COMMENT 'Block hash, 32 raw bytes',
    `parent_hash` FixedString(32) COMMENT 'Hash of the parent block, 32 raw bytes',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `base_fee` Nullable(UInt128) COMMENT 'Base fee per gas, wei; null before EIP-1559',
    `transaction_count` UInt32 COMMENT 'Transactions in the block',
    `log_count` UInt32 COMMENT 'Logs in the block',
    `gas_prices` Array(UInt128) COMMENT 'Effective gas price of each transaction, wei, in index order; empty where unknown'
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 256)
ORDER BY number
SETTINGS index_granularity = 1024
COMMENT 'Rows of blocks of blocks that are not final yet';

CREATE TABLE contract_codes
(
    `address` FixedString(20) COMMENT 'Address that was asked for',
    `code_hash` FixedString(32) COMMENT 'keccak256 of the runtime code; zero bytes: there is no code',
    `code_size` UInt32 COMMENT 'Bytes of runtime code; 0: none',
    `proxy` LowCardinality(String) COMMENT 'eip1967, eip1967_beacon, eip1822, eip1167, openzeppelin_legacy, eip2535; empty: not seen to be a proxy',
    `implementation` FixedString(20) COMMENT 'Where the proxy led at that block; zero bytes: not one contract, or no proxy',
    `beacon` FixedString(20) COMMENT 'Beacon of an eip1967_beacon; zero bytes otherwise',
    `checked_block` UInt32 COMMENT 'Block as of which it was asked',
    `version` UInt64 COMMENT 'When it was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Code and proxies by address, as the node told';

CREATE TABLE contract_creations
(
    `address` FixedString(20) COMMENT 'The contract',
    `creator` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null: the node does not know the transaction',
    `factory` Nullable(FixedString(20)) COMMENT 'The contract that made it, where that is known',
    `tx_hash` FixedString(32) COMMENT 'Transaction that made it',
    `block` UInt32 COMMENT 'Its block',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC; 0: not known',
    `version` UInt64 COMMENT 'When it was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Creations of contracts as the node told';

CREATE TABLE created_contracts
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + index of the transaction: an order of creations, not of logs',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `address` FixedString(20) COMMENT 'The contract',
    `creator` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (address, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Contracts created by final transactions; append only';

CREATE TABLE created_contracts_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + index of the transaction: an order of creations, not of logs',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `address` FixedString(20) COMMENT 'The contract',
    `creator` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of created_contracts of blocks that are not final yet';

CREATE TABLE dex_hours
(
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `hour` UInt32 COMMENT 'Start of the hour, unix seconds, UTC',
    `trades` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps',
    `untracked` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps whose USD value is not tracked',
    `volume_usd` SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd of tracked swaps',
    `fee_usd` SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of fee_usd of tracked swaps',
    `last_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row'
)
ENGINE = AggregatingMergeTree
ORDER BY (dex, hour)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 8192
COMMENT 'Volume and fees of each DEX by hour over final swaps';

CREATE TABLE head_blocks
(
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `number` UInt32 COMMENT 'Block number',
    `hash` FixedString(32) COMMENT 'Hash that is canonical at this height from this version on; zero bytes: none',
    `parent_hash` FixedString(32) COMMENT 'Its parent hash',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `commit` UInt64 COMMENT 'Names the attempt whose rows in the *_head tables are this block; 0: the height is void',
    `version` UInt64 COMMENT 'Grows by one with each insert, which is one flip of the head',
    `final_number` UInt32 COMMENT 'Last block that was final when this version was written'
)
ENGINE = MergeTree
PARTITION BY intDiv(number, 1024)
ORDER BY (chain_id, number, version)
SETTINGS index_granularity = 256
COMMENT 'Which block is canonical at each unfinalised height; a reorg is one insert here';

CREATE TABLE holder_balances
(
    `holder` FixedString(20) COMMENT 'Who holds it',
    `token` FixedString(20) COMMENT 'Token contract',
    `balance` SimpleAggregateFunction(sum, Int256) COMMENT 'Received minus sent, raw units, as in token_balances' CODEC(ZSTD(1)),
    `last_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row'
)
ENGINE = AggregatingMergeTree
ORDER BY (holder, token)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances by holder over final transfers';

CREATE TABLE import_positions
(
    `source` String COMMENT 'Folder or address of the server, with the chain',
    `position` String COMMENT 'Where to go on, in the words of the source; empty: from the start',
    `version` UInt64 COMMENT 'When it was written, microseconds: the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY source
SETTINGS index_granularity = 8192
COMMENT 'Progress of imports of verified contracts';

CREATE TABLE liquidity_events
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `kind` Enum8('mint' = 1, 'burn' = 2, 'collect' = 3, 'collect_protocol' = 4, 'flash' = 5) COMMENT 'Which event; a V3 burn moves no tokens, its collect does',
    `pair` FixedString(20) COMMENT 'Pool address',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the pool',
    `token1` FixedString(20) COMMENT 'Second token of the pool',
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell',
    `owner` FixedString(20) COMMENT 'V3: owner in the event; V2: sender of a mint, receiver of a burn',
    `recipient` FixedString(20) COMMENT 'Receiver where the event names one; zero bytes otherwise',
    `amount0` UInt256 COMMENT 'Raw token0 moved (or, for a V3 burn, freed)' CODEC(ZSTD(1)),
    `amount1` UInt256 COMMENT 'Raw token1 moved' CODEC(ZSTD(1)),
    `liquidity` Nullable(UInt256) COMMENT 'V3: L; V2: LP tokens where their Transfer was seen; null otherwise' CODEC(ZSTD(1)),
    `tick_lower` Nullable(Int32) COMMENT 'V3: lower tick of the position',
    `tick_upper` Nullable(Int32) COMMENT 'V3: upper tick of the position',
    `amount0_usd` Nullable(Decimal(38, 12)) COMMENT 'Value of amount0 in USD at the end of the block; null when unknown',
    `amount1_usd` Nullable(Decimal(38, 12)) COMMENT 'Value of amount1 in USD at the end of the block; null when unknown',
    `trust` UInt8 COMMENT 'Whose price was trusted: 1 token0, 2 token1, 3 both, 0 none',
    `others_usd` Nullable(Decimal(38, 12)) COMMENT 'Pools of more than two tokens: value in USD at the end of the block of what was moved of the others, by trusted prices; null where none is',
    INDEX by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION by_pair_kind
    (
        SELECT
            pair,
            ord,
            kind
        ORDER BY
            pair,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final mints, burns, collects and flash payments; append only';

CREATE TABLE liquidity_events_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `kind` Enum8('mint' = 1, 'burn' = 2, 'collect' = 3, 'collect_protocol' = 4, 'flash' = 5) COMMENT 'Which event; a V3 burn moves no tokens, its collect does',
    `pair` FixedString(20) COMMENT 'Pool address',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the pool',
    `token1` FixedString(20) COMMENT 'Second token of the pool',
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell',
    `owner` FixedString(20) COMMENT 'V3: owner in the event; V2: sender of a mint, receiver of a burn',
    `recipient` FixedString(20) COMMENT 'Receiver where the event names one; zero bytes otherwise',
    `amount0` UInt256 COMMENT 'Raw token0 moved (or, for a V3 burn, freed)' CODEC(ZSTD(1)),
    `amount1` UInt256 COMMENT 'Raw token1 moved' CODEC(ZSTD(1)),
    `liquidity` Nullable(UInt256) COMMENT 'V3: L; V2: LP tokens where their Transfer was seen; null otherwise' CODEC(ZSTD(1)),
    `tick_lower` Nullable(Int32) COMMENT 'V3: lower tick of the position',
    `tick_upper` Nullable(Int32) COMMENT 'V3: upper tick of the position',
    `amount0_usd` Nullable(Decimal(38, 12)) COMMENT 'Value of amount0 in USD at the end of the block; null when unknown',
    `amount1_usd` Nullable(Decimal(38, 12)) COMMENT 'Value of amount1 in USD at the end of the block; null when unknown',
    `trust` UInt8 COMMENT 'Whose price was trusted: 1 token0, 2 token1, 3 both, 0 none',
    `others_usd` Nullable(Decimal(38, 12)) COMMENT 'Pools of more than two tokens: value in USD at the end of the block of what was moved of the others, by trusted prices; null where none is'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of liquidity_events of blocks that are not final yet';

CREATE TABLE logs
(
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `address` FixedString(20) COMMENT 'Emitter',
    `topic_count` UInt8 COMMENT 'How many topics the log has, 0-4',
    `topic0` FixedString(32) COMMENT 'First topic; zero bytes when absent',
    `topic1` FixedString(32) COMMENT 'Second topic; zero bytes when absent',
    `topic2` FixedString(32) COMMENT 'Third topic; zero bytes when absent',
    `topic3` FixedString(32) COMMENT 'Fourth topic; zero bytes when absent',
    `data` String COMMENT 'Data, raw bytes' CODEC(ZSTD(1)),
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    PROJECTION by_topic
    (
        SELECT
            chain_id,
            topic0,
            ord,
            _part_offset
        ORDER BY
            chain_id,
            topic0,
            ord
    ),
    PROJECTION by_ord
    (
        SELECT
            chain_id,
            ord,
            _part_offset
        ORDER BY
            chain_id,
            ord
    ),
    PROJECTION by_tx
    (
        SELECT
            reinterpretAsUInt32(tx_hash),
            _part_offset
        ORDER BY reinterpretAsUInt32(tx_hash)
    ),
    PROJECTION by_contract
    (
        SELECT
            chain_id,
            address,
            count(),
            min(ord),
            max(ord)
        GROUP BY
            chain_id,
            address
    ) WITH SETTINGS (index_granularity = 512)
)
ENGINE = MergeTree
ORDER BY (chain_id, address, topic0, ord)
SETTINGS index_granularity = 4096, non_replicated_deduplication_window = 1000
COMMENT 'Final logs; append only';

CREATE TABLE logs_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `address` FixedString(20) COMMENT 'Emitter',
    `topic_count` UInt8 COMMENT 'How many topics the log has, 0-4',
    `topic0` FixedString(32) COMMENT 'First topic; zero bytes when absent',
    `topic1` FixedString(32) COMMENT 'Second topic; zero bytes when absent',
    `topic2` FixedString(32) COMMENT 'Third topic; zero bytes when absent',
    `topic3` FixedString(32) COMMENT 'Fourth topic; zero bytes when absent',
    `data` String COMMENT 'Data, raw bytes' CODEC(ZSTD(1)),
    `tx_hash` FixedString(32) COMMENT 'Transaction hash',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of logs of blocks that are not final yet';

CREATE MATERIALIZED VIEW mv_abi_signature_names TO abi_signature_names
(
    `name_lower` String,
    `length` UInt64,
    `signature` String,
    `kind` Enum8('event' = 1, 'function' = 2, 'error' = 3),
    `selector` String,
    `entry` String
)
AS SELECT
    lowerUTF8(substring(signature, 1, position(signature, '(') - 1)) AS name_lower,
    lengthUTF8(signature) AS length,
    signature,
    kind,
    selector,
    entry
FROM abi_signatures;

CREATE MATERIALIZED VIEW mv_bars TO bars
(
    `timeframe` UInt32,
    `pair` FixedString(20),
    `leg` UInt16,
    `bucket` UInt32,
    `first` Tuple(
        UInt64,
        Float64,
        Float64),
    `last` Tuple(
        UInt64,
        Float64,
        Float64),
    `first_quote` Tuple(
        UInt64,
        Float64),
    `last_quote` Tuple(
        UInt64,
        Float64),
    `high` Float64,
    `low` Float64,
    `high_usd` Float64,
    `low_usd` Float64,
    `volume0` UInt256,
    `volume1` UInt256,
    `volume_usd` Decimal(38, 12),
    `fee_usd` Decimal(38, 12),
    `trades` UInt64,
    `untracked` UInt64,
    `buys` UInt64,
    `other_ord` UInt64
)
AS WITH
    if(price_usd > 0, 0, price) AS quote_only
SELECT
    CAST(arrayJoin([60, 300, 900, 3600, 14400, 86400]), 'UInt32') AS timeframe,
    pair,
    leg,
    CAST((intDiv(timestamp, timeframe) * timeframe), 'UInt32') AS bucket,
    (min(if(price_usd > 0, ord, 18446744073709551615)), argMin(if(price_usd > 0, price, 0), if(price_usd > 0, ord, 18446744073709551615)), argMin(price_usd, if(price_usd > 0, ord, 18446744073709551615))) AS first,
    (max(if(price_usd > 0, ord, 0)), argMax(if(price_usd > 0, price, 0), if(price_usd > 0, ord, 0)), argMax(price_usd, if(price_usd > 0, ord, 0))) AS last,
    (min(if(quote_only > 0, ord, 18446744073709551615)), argMin(quote_only, if(quote_only > 0, ord, 18446744073709551615))) AS first_quote,
    (max(if(quote_only > 0, ord, 0)), argMax(quote_only, if(quote_only > 0, ord, 0))) AS last_quote,
    max(price) AS high,
    min(if(price > 0, price, inf)) AS low,
    max(price_usd) AS high_usd,
    min(if(price_usd > 0, price_usd, inf)) AS low_usd,
    sum(CAST(abs(amount0), 'UInt256')) AS volume0,
    sum(CAST(abs(amount1), 'UInt256')) AS volume1,
    sum(amount_usd) AS volume_usd,
    sum(fee_usd) AS fee_usd,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    countIf(if(base_is_token0, amount0, amount1) < 0) AS buys,
    max(if(price_usd > 0, 0, ord)) AS other_ord
FROM swaps
GROUP BY
    timeframe,
    pair,
    leg,
    bucket;

CREATE MATERIALIZED VIEW mv_dex_hours TO dex_hours
(
    `dex` LowCardinality(String),
    `hour` UInt32,
    `trades` UInt64,
    `untracked` UInt64,
    `volume_usd` Decimal(38, 12),
    `fee_usd` Decimal(38, 12),
    `last_ord` UInt64
)
AS SELECT
    dex,
    CAST((intDiv(timestamp, 3600) * 3600), 'UInt32') AS hour,
    count() AS trades,
    countIf(NOT tracked) AS untracked,
    sum(amount_usd) AS volume_usd,
    sum(fee_usd) AS fee_usd,
    max(ord) AS last_ord
FROM swaps
GROUP BY
    dex,
    hour;

CREATE MATERIALIZED VIEW mv_holder_balances TO holder_balances
(
    `holder` FixedString(20),
    `token` FixedString(20),
    `balance` Int256,
    `last_ord` UInt64
)
AS SELECT
    side.1 AS holder,
    token,
    sum(side.2) AS balance,
    max(ord) AS last_ord
FROM
(
    SELECT
        token,
        ord,
        arrayJoin(if((sender = recipient) AND (sender = toFixedString('', 20)), [(sender, -(CAST(amount, 'Int256')))], [(sender, -(CAST(amount, 'Int256'))), (recipient, CAST(amount, 'Int256'))])) AS side
    FROM transfers
)
GROUP BY
    holder,
    token;

CREATE MATERIALIZED VIEW mv_owner_positions TO owner_positions
(
    `owner` FixedString(20),
    `manager` FixedString(20),
    `token_id` UInt256,
    `last_ord` UInt64
)
AS SELECT
    recipient AS owner,
    manager,
    token_id,
    max(ord) AS last_ord
FROM position_events
WHERE kind = 'transfer'
GROUP BY
    owner,
    manager,
    token_id;

CREATE MATERIALIZED VIEW mv_pair_totals TO pair_totals
(
    `pair` FixedString(20),
    `trades` UInt64,
    `first_ord` UInt64,
    `last_ord` UInt64,
    `last_trade_at` UInt32
)
AS SELECT
    pair,
    count() AS trades,
    min(ord) AS first_ord,
    max(ord) AS last_ord,
    max(timestamp) AS last_trade_at
FROM swaps
GROUP BY pair;

CREATE MATERIALIZED VIEW mv_pool_balances TO pool_balances
(
    `pair` FixedString(20),
    `state` Tuple(
        UInt64,
        Array(UInt256))
)
AS SELECT
    pair,
    tuple(max(s.ord), argMax(s.balances, s.ord)) AS state
FROM pool_states AS s
WHERE notEmpty(s.balances)
GROUP BY pair;

CREATE MATERIALIZED VIEW mv_pool_latest TO pool_latest
(
    `pair` FixedString(20),
    `state` Tuple(
        UInt64,
        UInt32,
        UInt256,
        UInt256,
        UInt256,
        UInt128,
        Int32,
        Float64)
)
AS SELECT
    pair,
    tuple(max(s.ord), argMax(s.timestamp, s.ord), argMax(s.reserve0, s.ord), argMax(s.reserve1, s.ord), argMax(s.sqrt_price_x96, s.ord), argMax(s.liquidity, s.ord), argMax(s.tick, s.ord), argMax(s.price, s.ord)) AS state
FROM pool_states AS s
GROUP BY pair;

CREATE MATERIALIZED VIEW mv_token_balances TO token_balances
(
    `token` FixedString(20),
    `holder` FixedString(20),
    `balance` Int256,
    `transfers` UInt64,
    `last_ord` UInt64
)
AS SELECT
    token,
    side.1 AS holder,
    sum(side.2) AS balance,
    count() AS transfers,
    max(ord) AS last_ord
FROM
(
    SELECT
        token,
        ord,
        arrayJoin(if((sender = recipient) AND (sender = toFixedString('', 20)), [(sender, -(CAST(amount, 'Int256')))], [(sender, -(CAST(amount, 'Int256'))), (recipient, CAST(amount, 'Int256'))])) AS side
    FROM transfers
)
GROUP BY
    token,
    holder;

CREATE MATERIALIZED VIEW mv_token_bars TO token_bars
(
    `timeframe` UInt32,
    `token` FixedString(20),
    `bucket` UInt32,
    `first` Tuple(
        UInt64,
        Float64,
        Float64),
    `last` Tuple(
        UInt64,
        Float64,
        Float64),
    `first_usd` Tuple(
        UInt64,
        Float64),
    `last_usd` Tuple(
        UInt64,
        Float64),
    `high_usd` Float64,
    `low_usd` Float64,
    `high_native` Float64,
    `low_native` Float64,
    `volume` UInt256,
    `volume_usd` Decimal(38, 12),
    `trades` UInt64,
    `buys` UInt64,
    `other_ord` UInt64
)
AS SELECT
    CAST(arrayJoin([60, 300, 900, 3600, 14400, 86400]), 'UInt32') AS timeframe,
    token,
    CAST((intDiv(timestamp, timeframe) * timeframe), 'UInt32') AS bucket,
    (min(if(native > 0, ord, 18446744073709551615)), argMin(if(native > 0, usd, 0), if(native > 0, ord, 18446744073709551615)), argMin(native, if(native > 0, ord, 18446744073709551615))) AS first,
    (max(if(native > 0, ord, 0)), argMax(if(native > 0, usd, 0), if(native > 0, ord, 0)), argMax(native, if(native > 0, ord, 0))) AS last,
    (min(if(usd_only > 0, ord, 18446744073709551615)), argMin(usd_only, if(usd_only > 0, ord, 18446744073709551615))) AS first_usd,
    (max(if(usd_only > 0, ord, 0)), argMax(usd_only, if(usd_only > 0, ord, 0))) AS last_usd,
    max(usd) AS high_usd,
    min(if(usd > 0, usd, inf)) AS low_usd,
    max(native) AS high_native,
    min(if(native > 0, native, inf)) AS low_native,
    sum(CAST(amount, 'UInt256')) AS volume,
    sum(amount_usd) AS volume_usd,
    count() AS trades,
    countIf(buy) AS buys,
    max(if(native > 0, 0, ord)) AS other_ord
FROM
(
    SELECT
        ord,
        timestamp,
        amount_usd,
        arrayJoin([(token0, if(base_is_token0, price_usd, quote_price_usd), abs(amount0), amount0 < 0), (token1, if(base_is_token0, quote_price_usd, price_usd), abs(amount1), amount1 < 0)]) AS side,
        side.1 AS token,
        side.2 AS usd,
        if(native_usd > 0, usd / native_usd, 0) AS native,
        if(native > 0, 0, usd) AS usd_only,
        side.3 AS amount,
        side.4 AS buy
    FROM swaps
    WHERE tracked
)
GROUP BY
    timeframe,
    token,
    bucket;

CREATE MATERIALIZED VIEW mv_token_price_latest TO token_price_latest
(
    `token` FixedString(20),
    `price` Tuple(
        UInt64,
        FixedString(20),
        Float64,
        Float64)
)
AS SELECT
    token,
    tuple(max(p.ord), argMax(p.next_token, p.ord), argMax(p.hop_price, p.ord), argMax(p.hop_confidence, p.ord)) AS price
FROM token_prices AS p
GROUP BY token;

CREATE MATERIALIZED VIEW mv_verified_code_hashes TO verified_code_hashes
(
    `code_hash` FixedString(32),
    `status` Enum8('exact_match' = 1, 'match' = 2),
    `verified_at` UInt32,
    `chain_id` UInt32,
    `address` FixedString(20)
)
AS SELECT
    code_hash,
    status,
    verified_at,
    chain_id,
    address
FROM verified_contracts
WHERE code_hash != toFixedString('', 32);

CREATE TABLE operations
(
    `name` LowCardinality(String) COMMENT 'pause: until when no range may be written to the final tables, unix ms, UTC; floor.<table>: first block whose rows of the table are all kept',
    `value` UInt64 COMMENT 'In the unit of the name',
    `version` UInt64 COMMENT 'When it was written, unix microseconds, UTC: the newest counts'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY name
SETTINGS index_granularity = 8192
COMMENT 'Wishes of operators: pauses and retention';

CREATE TABLE owner_positions
(
    `owner` FixedString(20) COMMENT 'Who got the position',
    `manager` FixedString(20) COMMENT 'Position manager',
    `token_id` UInt256 COMMENT 'Number of the position',
    `last_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'When it got it last'
)
ENGINE = AggregatingMergeTree
ORDER BY (owner, manager, token_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Positions that an address ever owned, over final events';

CREATE TABLE pair_totals
(
    `pair` FixedString(20) COMMENT 'Pool address',
    `trades` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps',
    `first_ord` SimpleAggregateFunction(min, UInt64) COMMENT 'ord of the first swap',
    `last_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'ord of the last swap',
    `last_trade_at` SimpleAggregateFunction(max, UInt32) COMMENT 'Time of the last swap, unix seconds, UTC'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Swaps of each pair since the start, over final swaps';

CREATE TABLE pool_balances
(
    `pair` FixedString(20) COMMENT 'Pool address',
    `state` SimpleAggregateFunction(max, Tuple(
        ord UInt64,
        balances Array(UInt256))) COMMENT 'Newest balances, as in pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final balances of weighted and stable pools';

CREATE TABLE pool_epochs
(
    `ord` UInt64 COMMENT 'Largest ord of the first block after the epoch',
    `timestamp` UInt32 COMMENT 'Time of the last block of the epoch, unix seconds, UTC',
    `pair` FixedString(20) COMMENT 'Pool address',
    `leg` UInt16 COMMENT 'Which two tokens of the pool, as in swaps',
    `price` Float64 COMMENT 'Marginal price at its end, whole token1 per whole token0; 0: none',
    `reserve0` Float64 COMMENT 'Real balance of token0 at its end, whole tokens',
    `reserve1` Float64 COMMENT 'Real balance of token1 at its end, whole tokens',
    `liquidity` Float64 COMMENT 'Square root of the product of the virtual reserves at its end, whole tokens',
    `depth_liquidity` Float64 COMMENT 'The same over the epoch: median of its ends of blocks',
    `mean_log` Float64 COMMENT 'Exponentially weighted mean of ln(price) with a time constant of 30 minutes',
    `traded` Float64 COMMENT 'Whole token1 traded, decaying with the same constant',
    `moved_at` UInt32 COMMENT 'Time of the last block that moved it, unix seconds, UTC',
    PROJECTION by_pair
    (
        SELECT
            pair,
            ord
        ORDER BY
            pair,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Averages of final epochs, of the legs that moved in them; append only';

CREATE TABLE pool_epochs_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'Largest ord of the first block after the epoch',
    `timestamp` UInt32 COMMENT 'Time of the last block of the epoch, unix seconds, UTC',
    `pair` FixedString(20) COMMENT 'Pool address',
    `leg` UInt16 COMMENT 'Which two tokens of the pool, as in swaps',
    `price` Float64 COMMENT 'Marginal price at its end, whole token1 per whole token0; 0: none',
    `reserve0` Float64 COMMENT 'Real balance of token0 at its end, whole tokens',
    `reserve1` Float64 COMMENT 'Real balance of token1 at its end, whole tokens',
    `liquidity` Float64 COMMENT 'Square root of the product of the virtual reserves at its end, whole tokens',
    `depth_liquidity` Float64 COMMENT 'The same over the epoch: median of its ends of blocks',
    `mean_log` Float64 COMMENT 'Exponentially weighted mean of ln(price) with a time constant of 30 minutes',
    `traded` Float64 COMMENT 'Whole token1 traded, decaying with the same constant',
    `moved_at` UInt32 COMMENT 'Time of the last block that moved it, unix seconds, UTC'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of pool_epochs of blocks that are not final yet';

CREATE TABLE pool_latest
(
    `pair` FixedString(20) COMMENT 'Pool address',
    `state` SimpleAggregateFunction(max, Tuple(
        ord UInt64,
        timestamp UInt32,
        reserve0 UInt256,
        reserve1 UInt256,
        sqrt_price_x96 UInt256,
        liquidity UInt128,
        tick Int32,
        price Float64)) COMMENT 'Newest state, as in pool_states'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final state of each pool';

CREATE TABLE pool_states
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index of the log that made this state' CODEC(Delta(8), ZSTD(1)),
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta(4), ZSTD(1)),
    `kind` Enum8('sync' = 1, 'initialize' = 2, 'swap' = 3, 'mint' = 4, 'burn' = 5, 'collect' = 6, 'collect_protocol' = 7, 'flash' = 8) COMMENT 'Which event moved it',
    `pair` FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the pool' CODEC(ZSTD(1)),
    `token1` FixedString(20) COMMENT 'Second token of the pool' CODEC(ZSTD(1)),
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell' CODEC(ZSTD(1)),
    `reserve0` UInt256 COMMENT 'V2: raw reserve; V3: raw balance' CODEC(ZSTD(1)),
    `reserve1` UInt256 COMMENT 'The same of token1' CODEC(ZSTD(1)),
    `sqrt_price_x96` UInt256 COMMENT 'V3: sqrtPriceX96; 0 otherwise' CODEC(ZSTD(1)),
    `liquidity` UInt128 COMMENT 'V3: active liquidity; 0 otherwise' CODEC(ZSTD(1)),
    `tick` Int32 COMMENT 'V3: tick; 0 otherwise',
    `price` Float64 COMMENT 'Marginal price of this state, raw token1 per raw token0; 0: none',
    `balances` Array(UInt256) COMMENT 'Weighted and stable pools: the raw balance of each token, in the order of pools.tokens' CODEC(ZSTD(1)),
    INDEX by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION by_pair_kind
    (
        SELECT
            pair,
            ord,
            kind
        ORDER BY
            pair,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final pool states; append only';

CREATE TABLE pool_states_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index of the log that made this state' CODEC(Delta(8), ZSTD(1)),
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta(4), ZSTD(1)),
    `kind` Enum8('sync' = 1, 'initialize' = 2, 'swap' = 3, 'mint' = 4, 'burn' = 5, 'collect' = 6, 'collect_protocol' = 7, 'flash' = 8) COMMENT 'Which event moved it',
    `pair` FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the pool' CODEC(ZSTD(1)),
    `token1` FixedString(20) COMMENT 'Second token of the pool' CODEC(ZSTD(1)),
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell' CODEC(ZSTD(1)),
    `reserve0` UInt256 COMMENT 'V2: raw reserve; V3: raw balance' CODEC(ZSTD(1)),
    `reserve1` UInt256 COMMENT 'The same of token1' CODEC(ZSTD(1)),
    `sqrt_price_x96` UInt256 COMMENT 'V3: sqrtPriceX96; 0 otherwise' CODEC(ZSTD(1)),
    `liquidity` UInt128 COMMENT 'V3: active liquidity; 0 otherwise' CODEC(ZSTD(1)),
    `tick` Int32 COMMENT 'V3: tick; 0 otherwise',
    `price` Float64 COMMENT 'Marginal price of this state, raw token1 per raw token0; 0: none',
    `balances` Array(UInt256) COMMENT 'Weighted and stable pools: the raw balance of each token, in the order of pools.tokens' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of pool_states of blocks that are not final yet';

CREATE TABLE pools
(
    `ord` UInt64 COMMENT 'Order of the creation event, or of the first log seen of a pool older than the start block',
    `address` FixedString(20) COMMENT 'Pool contract',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `protocol` LowCardinality(String) COMMENT 'Protocol name as in the chain description',
    `pool_type` UInt8 COMMENT '2 = V2 constant product, 3 = V3 concentrated, 4 = weighted, 5 = stable',
    `factory` FixedString(20) COMMENT 'Factory (or vault) that made it',
    `token0` FixedString(20) COMMENT 'First token in chain order',
    `token1` FixedString(20) COMMENT 'Second token in chain order',
    `base_is_token0` Bool COMMENT 'Which token is the base; fixed when the pool is first seen',
    `tokens` Array(FixedString(20)) COMMENT 'Weighted and stable pools: all tokens in chain order; token0 and token1 are the two of the default leg',
    `weights` Array(UInt64) COMMENT 'Weighted pools: the weight of each token, times 10^18',
    `fee_pips` UInt32 COMMENT 'Fee at creation, hundredths of a basis point',
    `tick_spacing` Int32 COMMENT 'V3 tick spacing; 0 otherwise',
    `created_block` Nullable(UInt32) COMMENT 'Block of the creation event; null when it lies before the start block',
    `created_at` Nullable(UInt32) COMMENT 'Time of that block, unix seconds, UTC',
    `created_tx` Nullable(FixedString(32)) COMMENT 'Transaction of the creation event'
)
ENGINE = MergeTree
ORDER BY address
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Pools of configured factories; append only';

CREATE TABLE pools_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'Order of the creation event, or of the first log seen of a pool older than the start block',
    `address` FixedString(20) COMMENT 'Pool contract',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `protocol` LowCardinality(String) COMMENT 'Protocol name as in the chain description',
    `pool_type` UInt8 COMMENT '2 = V2 constant product, 3 = V3 concentrated, 4 = weighted, 5 = stable',
    `factory` FixedString(20) COMMENT 'Factory (or vault) that made it',
    `token0` FixedString(20) COMMENT 'First token in chain order',
    `token1` FixedString(20) COMMENT 'Second token in chain order',
    `base_is_token0` Bool COMMENT 'Which token is the base; fixed when the pool is first seen',
    `tokens` Array(FixedString(20)) COMMENT 'Weighted and stable pools: all tokens in chain order; token0 and token1 are the two of the default leg',
    `weights` Array(UInt64) COMMENT 'Weighted pools: the weight of each token, times 10^18',
    `fee_pips` UInt32 COMMENT 'Fee at creation, hundredths of a basis point',
    `tick_spacing` Int32 COMMENT 'V3 tick spacing; 0 otherwise',
    `created_block` Nullable(UInt32) COMMENT 'Block of the creation event; null when it lies before the start block',
    `created_at` Nullable(UInt32) COMMENT 'Time of that block, unix seconds, UTC',
    `created_tx` Nullable(FixedString(32)) COMMENT 'Transaction of the creation event'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of pools of blocks that are not final yet';

CREATE TABLE position_events
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `manager` FixedString(20) COMMENT 'Position manager, the emitter',
    `token_id` UInt256 COMMENT 'Number of the position (the NFT)' CODEC(ZSTD(1)),
    `kind` Enum8('transfer' = 1, 'increase' = 2, 'decrease' = 3, 'collect' = 4) COMMENT 'transfer: a new owner; increase, decrease: liquidity; collect: tokens paid out',
    `sender` FixedString(20) COMMENT 'transfer: the owner before; zero bytes otherwise',
    `recipient` FixedString(20) COMMENT 'transfer: the owner after; collect: who was paid; zero bytes otherwise',
    `pair` FixedString(20) COMMENT 'increase: the pool; zero bytes otherwise',
    `tick_lower` Int32 COMMENT 'increase: lower tick; 0 otherwise',
    `tick_upper` Int32 COMMENT 'increase: upper tick; 0 otherwise',
    `liquidity` UInt128 COMMENT 'increase, decrease: L put in or taken out' CODEC(ZSTD(1)),
    `amount0` UInt256 COMMENT 'Raw token0 put in, freed or paid out' CODEC(ZSTD(1)),
    `amount1` UInt256 COMMENT 'Raw token1' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (manager, token_id, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final events of V3 positions; append only';

CREATE TABLE position_events_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `manager` FixedString(20) COMMENT 'Position manager, the emitter',
    `token_id` UInt256 COMMENT 'Number of the position (the NFT)' CODEC(ZSTD(1)),
    `kind` Enum8('transfer' = 1, 'increase' = 2, 'decrease' = 3, 'collect' = 4) COMMENT 'transfer: a new owner; increase, decrease: liquidity; collect: tokens paid out',
    `sender` FixedString(20) COMMENT 'transfer: the owner before; zero bytes otherwise',
    `recipient` FixedString(20) COMMENT 'transfer: the owner after; collect: who was paid; zero bytes otherwise',
    `pair` FixedString(20) COMMENT 'increase: the pool; zero bytes otherwise',
    `tick_lower` Int32 COMMENT 'increase: lower tick; 0 otherwise',
    `tick_upper` Int32 COMMENT 'increase: upper tick; 0 otherwise',
    `liquidity` UInt128 COMMENT 'increase, decrease: L put in or taken out' CODEC(ZSTD(1)),
    `amount0` UInt256 COMMENT 'Raw token0 put in, freed or paid out' CODEC(ZSTD(1)),
    `amount1` UInt256 COMMENT 'Raw token1' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY (manager, token_id, ord)
SETTINGS index_granularity = 1024
COMMENT 'Rows of position_events of blocks that are not final yet';

CREATE TABLE promotions
(
    `chain_id` UInt32 COMMENT 'EIP-155 chain id',
    `seq` UInt64 COMMENT 'Grows by one with each range; an intent and its completion share it',
    `status` Enum8('intent' = 1, 'done' = 2) COMMENT 'intent: inserts may be under way; done: everything of the range is stored',
    `kind` Enum8('start' = 1, 'backfill' = 2, 'promotion' = 3) COMMENT 'start: the block before the first ingested one; backfill: straight from the node; promotion: from the head tables',
    `from_block` UInt32 COMMENT 'First block of the range',
    `to_block` UInt32 COMMENT 'Last block of the range: the cursor once the row is done',
    `to_hash` FixedString(32) COMMENT 'Hash of the last block',
    `to_timestamp` UInt32 COMMENT 'Time of the last block, unix seconds, UTC',
    `counts` Map(LowCardinality(String), UInt64) COMMENT 'Rows of the range by final table',
    `written_at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When this row was written, UTC'
)
ENGINE = MergeTree
ORDER BY (chain_id, seq, status)
SETTINGS index_granularity = 256
COMMENT 'Intents and cursors of the final tables';

CREATE TABLE schema_migrations
(
    `id` UInt32 COMMENT 'Number of the migration file; 0: created by the current schema',
    `name` String COMMENT 'File name',
    `applied_at` DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When it was applied, UTC'
)
ENGINE = ReplacingMergeTree
ORDER BY id
SETTINGS index_granularity = 8192
COMMENT 'Which migrations this database has';

CREATE TABLE source_files
(
    `content_hash` FixedString(32) COMMENT 'keccak256 of the content',
    `content` String COMMENT 'UTF-8' CODEC(ZSTD(3)),
    INDEX content_ngrams content TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(content)) GRANULARITY 100000000
)
ENGINE = ReplacingMergeTree
ORDER BY content_hash
SETTINGS index_granularity = 64, index_granularity_bytes = 32768, min_compress_block_size = 16384, max_compress_block_size = 65536
COMMENT 'Source files by content';

CREATE TABLE source_uses
(
    `content_hash` FixedString(32) COMMENT 'keccak256 of the content',
    `chain_id` UInt32 COMMENT 'Chain of the contract',
    `address` FixedString(20) COMMENT 'Contract',
    `path` String COMMENT 'Of the file in this contract',
    `contract_name` LowCardinality(String) COMMENT 'Name of the contract in its source',
    `language` LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    `status` Enum8('exact_match' = 1, 'match' = 2) COMMENT 'As in verified_contracts',
    `version` UInt64 COMMENT 'Version of the row of verified_contracts that it belongs to',
    `removed` UInt8 COMMENT '1: a newer verification of the contract is without the file'
)
ENGINE = ReplacingMergeTree(version, removed)
ORDER BY (content_hash, chain_id, address, path)
SETTINGS index_granularity = 1024
COMMENT 'Which verified contracts have which source file';

CREATE TABLE swaps
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index of the Swap log' CODEC(Delta(8), ZSTD(1)),
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta(4), ZSTD(1)),
    `pair` FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    `leg` UInt16 COMMENT 'Which two tokens of the pool: 256 * index of token0 + index of token1; 1 in two-token pools',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the leg' CODEC(ZSTD(1)),
    `token1` FixedString(20) COMMENT 'Second token of the leg' CODEC(ZSTD(1)),
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell' CODEC(ZSTD(1)),
    `sender` FixedString(20) COMMENT 'sender of the Swap event' CODEC(ZSTD(1)),
    `recipient` FixedString(20) COMMENT 'Receiver named by the Swap event' CODEC(ZSTD(1)),
    `amount0` Int256 COMMENT 'Raw net token0, + into the pool' CODEC(ZSTD(1)),
    `amount1` Int256 COMMENT 'Raw net token1, + into the pool' CODEC(ZSTD(1)),
    `reserve0` UInt256 COMMENT 'V2: raw reserve after the swap (its Sync); V3: raw balance after it' CODEC(ZSTD(1)),
    `reserve1` UInt256 COMMENT 'The same of token1' CODEC(ZSTD(1)),
    `sqrt_price_x96` UInt256 COMMENT 'V3: sqrtPriceX96 after the swap; 0 otherwise' CODEC(ZSTD(1)),
    `liquidity` UInt128 COMMENT 'V3: active liquidity after the swap; 0 otherwise' CODEC(ZSTD(1)),
    `tick` Int32 COMMENT 'V3: tick after the swap; 0 otherwise',
    `price` Float64 COMMENT 'Marginal price after the swap, raw token1 per raw token0; 0: none',
    `price_usd` Float64 COMMENT 'The marginal price of one whole base token in USD at the end of the block; 0: none',
    `quote_price_usd` Float64 COMMENT 'USD per whole quote token by the marginal price and the base token\'s price; 0: none',
    `native_usd` Float64 COMMENT 'USD per whole native token at the end of the block; 0: none',
    `amount_usd` Decimal(38, 12) COMMENT 'Value in USD at the end of the block; 0 when not tracked' CODEC(ZSTD(1)),
    `untracked_usd` Decimal(38, 12) COMMENT 'Value in USD by prices that are not trusted; 0 when tracked or unknown' CODEC(ZSTD(1)),
    `fee_usd` Decimal(38, 12) ALIAS (amount_usd * least(fee_pips, 1000000)) / 1000000 COMMENT 'Fee in USD, rounded down; 0 when not tracked',
    `tracked` Bool COMMENT 'Whether amount_usd counts',
    `fee_pips` UInt32 COMMENT 'Fee of the pool at this swap, hundredths of a basis point',
    INDEX by_maker maker TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION by_pair
    (
        SELECT
            pair,
            ord
        ORDER BY
            pair,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, default_compression_codec = 'ZSTD(3)'
COMMENT 'Final swaps; append only';

CREATE TABLE swaps_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index of the Swap log' CODEC(Delta(8), ZSTD(1)),
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC' CODEC(Delta(4), ZSTD(1)),
    `pair` FixedString(20) COMMENT 'Pool address' CODEC(ZSTD(1)),
    `leg` UInt16 COMMENT 'Which two tokens of the pool: 256 * index of token0 + index of token1; 1 in two-token pools',
    `dex` LowCardinality(String) COMMENT 'Slug of the DEX',
    `pool_type` UInt8 COMMENT '2, 3, 4 or 5 as in pools',
    `token0` FixedString(20) COMMENT 'First token of the leg' CODEC(ZSTD(1)),
    `token1` FixedString(20) COMMENT 'Second token of the leg' CODEC(ZSTD(1)),
    `base_is_token0` Bool COMMENT 'Which of them is the base',
    `tx_hash` FixedString(32) COMMENT 'Transaction hash' CODEC(ZSTD(1)),
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block',
    `maker` Nullable(FixedString(20)) COMMENT 'Sender of the transaction; null where the node does not tell' CODEC(ZSTD(1)),
    `sender` FixedString(20) COMMENT 'sender of the Swap event' CODEC(ZSTD(1)),
    `recipient` FixedString(20) COMMENT 'Receiver named by the Swap event' CODEC(ZSTD(1)),
    `amount0` Int256 COMMENT 'Raw net token0, + into the pool' CODEC(ZSTD(1)),
    `amount1` Int256 COMMENT 'Raw net token1, + into the pool' CODEC(ZSTD(1)),
    `reserve0` UInt256 COMMENT 'V2: raw reserve after the swap (its Sync); V3: raw balance after it' CODEC(ZSTD(1)),
    `reserve1` UInt256 COMMENT 'The same of token1' CODEC(ZSTD(1)),
    `sqrt_price_x96` UInt256 COMMENT 'V3: sqrtPriceX96 after the swap; 0 otherwise' CODEC(ZSTD(1)),
    `liquidity` UInt128 COMMENT 'V3: active liquidity after the swap; 0 otherwise' CODEC(ZSTD(1)),
    `tick` Int32 COMMENT 'V3: tick after the swap; 0 otherwise',
    `price` Float64 COMMENT 'Marginal price after the swap, raw token1 per raw token0; 0: none',
    `price_usd` Float64 COMMENT 'The marginal price of one whole base token in USD at the end of the block; 0: none',
    `quote_price_usd` Float64 COMMENT 'USD per whole quote token by the marginal price and the base token\'s price; 0: none',
    `native_usd` Float64 COMMENT 'USD per whole native token at the end of the block; 0: none',
    `amount_usd` Decimal(38, 12) COMMENT 'Value in USD at the end of the block; 0 when not tracked' CODEC(ZSTD(1)),
    `untracked_usd` Decimal(38, 12) COMMENT 'Value in USD by prices that are not trusted; 0 when tracked or unknown' CODEC(ZSTD(1)),
    `fee_usd` Decimal(38, 12) ALIAS (amount_usd * least(fee_pips, 1000000)) / 1000000 COMMENT 'Fee in USD, rounded down; 0 when not tracked',
    `tracked` Bool COMMENT 'Whether amount_usd counts',
    `fee_pips` UInt32 COMMENT 'Fee of the pool at this swap, hundredths of a basis point'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of swaps of blocks that are not final yet';

CREATE TABLE token_balance_checks
(
    `token` FixedString(20) COMMENT 'Token contract',
    `checked_block` UInt32 COMMENT 'Block as of which balances were compared last',
    `holders_checked` UInt64 COMMENT 'Balances compared so far',
    `mismatches` UInt64 COMMENT 'How many of them the logs do not tell; in a history that begins late: whose difference changed',
    `mismatch_block` UInt32 COMMENT 'Block of the newest mismatch; 0: none',
    `rebasing` Bool COMMENT 'There were mismatches as of two blocks; stays true when later checks agree',
    `version` UInt64 COMMENT 'When it was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Checks of balances against the contracts, by token';

CREATE TABLE token_balances
(
    `token` FixedString(20) COMMENT 'Token contract',
    `holder` FixedString(20) COMMENT 'Who holds it',
    `balance` SimpleAggregateFunction(sum, Int256) COMMENT 'Received minus sent, raw units' CODEC(ZSTD(1)),
    `transfers` SimpleAggregateFunction(sum, UInt64) COMMENT 'Transfers in and out',
    `last_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row: what the head adds lies beyond it'
)
ENGINE = AggregatingMergeTree
ORDER BY (token, holder)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances by token over final transfers';

CREATE TABLE token_bars
(
    `timeframe` UInt32 COMMENT 'Length in seconds: 60, 300, 900, 3600, 14400 or 86400' CODEC(ZSTD(3)),
    `token` FixedString(20) COMMENT 'The token' CODEC(ZSTD(3)),
    `bucket` UInt32 COMMENT 'Open time, unix seconds, UTC, a multiple of timeframe' CODEC(Delta(4), ZSTD(3)),
    `first` SimpleAggregateFunction(min, Tuple(
        UInt64,
        Float64,
        Float64)) COMMENT '(ord, USD, native tokens per whole token) of the first swap that has both prices; (2^64-1, 0, 0): none' CODEC(ZSTD(3)),
    `last` SimpleAggregateFunction(max, Tuple(
        UInt64,
        Float64,
        Float64)) COMMENT 'The same of the last swap that has both; (0, 0, 0): none' CODEC(ZSTD(3)),
    `first_usd` SimpleAggregateFunction(min, Tuple(
        UInt64,
        Float64)) COMMENT '(ord, USD per whole token) of the first swap that has a price in USD, but none in the native token; (2^64-1, 0): none' CODEC(ZSTD(3)),
    `last_usd` SimpleAggregateFunction(max, Tuple(
        UInt64,
        Float64)) COMMENT 'The same of the last such swap; (0, 0): none' CODEC(ZSTD(3)),
    `high_usd` SimpleAggregateFunction(max, Float64) COMMENT 'Largest USD price; 0: none' CODEC(ZSTD(3)),
    `low_usd` SimpleAggregateFunction(min, Float64) COMMENT 'Smallest USD price; infinity: none' CODEC(ZSTD(3)),
    `high_native` SimpleAggregateFunction(max, Float64) COMMENT 'Largest price in the native token; 0: none' CODEC(ZSTD(3)),
    `low_native` SimpleAggregateFunction(min, Float64) COMMENT 'Smallest price in the native token; infinity: none' CODEC(ZSTD(3)),
    `volume` SimpleAggregateFunction(sum, UInt256) COMMENT 'Sum of |net amount| of the token, raw units' CODEC(ZSTD(3)),
    `volume_usd` SimpleAggregateFunction(sum, Decimal(38, 12)) COMMENT 'Sum of amount_usd' CODEC(ZSTD(3)),
    `trades` SimpleAggregateFunction(sum, UInt64) COMMENT 'Tracked swaps' CODEC(ZSTD(3)),
    `buys` SimpleAggregateFunction(sum, UInt64) COMMENT 'Swaps in which the pool balance of the token fell' CODEC(ZSTD(3)),
    `other_ord` SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord of the tracked swaps without both prices; 0: none. What the head adds lies beyond it and the ord of last' CODEC(Delta(8), ZSTD(3))
)
ENGINE = AggregatingMergeTree
ORDER BY (token, timeframe, bucket)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, min_compress_block_size = 65536
COMMENT 'Bars of tokens in all six timeframes over final tracked swaps';

CREATE TABLE token_price_latest
(
    `token` FixedString(20) COMMENT 'The token',
    `price` SimpleAggregateFunction(max, Tuple(
        ord UInt64,
        next_token FixedString(20),
        hop_price Float64,
        hop_confidence Float64)) COMMENT 'Newest hop, as in token_prices'
)
ENGINE = AggregatingMergeTree
ORDER BY token
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
COMMENT 'Newest final hop of each token';

CREATE TABLE token_prices
(
    `ord` UInt64 COMMENT 'Largest ord of the block',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'The token',
    `next_token` FixedString(20) COMMENT 'The token it is priced in; zero bytes: hop_price is USD',
    `hop_price` Float64 COMMENT 'Whole next_token per whole token; 0: no price',
    `hop_confidence` Float64 COMMENT 'Trust in this hop, 0-1; the product along the path, at most 0.989, is the trust in the price',
    `price_usd` Float64 COMMENT 'USD per whole token at the end of this block; 0: none',
    `confidence` Float64 COMMENT 'Trust in it, 0-1',
    `previous_next_token` FixedString(20) COMMENT 'next_token before this block',
    `previous_hop_price` Float64 COMMENT 'hop_price before this block; 0: none',
    PROJECTION by_token
    (
        SELECT
            token,
            ord
        ORDER BY
            token,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Prices of final blocks where they changed; append only';

CREATE TABLE token_prices_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'Largest ord of the block',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'The token',
    `next_token` FixedString(20) COMMENT 'The token it is priced in; zero bytes: hop_price is USD',
    `hop_price` Float64 COMMENT 'Whole next_token per whole token; 0: no price',
    `hop_confidence` Float64 COMMENT 'Trust in this hop, 0-1; the product along the path, at most 0.989, is the trust in the price',
    `price_usd` Float64 COMMENT 'USD per whole token at the end of this block; 0: none',
    `confidence` Float64 COMMENT 'Trust in it, 0-1',
    `previous_next_token` FixedString(20) COMMENT 'next_token before this block',
    `previous_hop_price` Float64 COMMENT 'hop_price before this block; 0: none'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of token_prices of blocks that are not final yet';

CREATE TABLE token_routes
(
    `ord` UInt64 COMMENT 'Largest ord of the block from whose end on the route holds',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'The token that is priced',
    `next_token` FixedString(20) COMMENT 'The token it is priced in; zero bytes: an anchor, or no route',
    `hops` UInt8 COMMENT 'Hops to the anchor; 0: an anchor, or no route',
    `hop_confidence` Float64 COMMENT 'Trust in this hop, 0-1',
    `depth_usd` Float64 COMMENT 'Depth of its narrowest hop: USD that move the price by 2 percent, in steps of an eighth of an octave',
    `recent` Bool COMMENT 'Made within the epoch, from liquidity that no epoch has confirmed yet',
    `stale` Bool COMMENT 'No pool of the hop moved for a day',
    `pairs` Array(FixedString(20)) COMMENT 'Pools of the hop',
    `legs` Array(UInt16) COMMENT 'Their legs',
    `weights` Array(Float64) COMMENT 'Their weights, not normalised',
    `warnings` Array(LowCardinality(String)) COMMENT 'Codes of what a user should know',
    PROJECTION by_token
    (
        SELECT
            token,
            ord
        ORDER BY
            token,
            ord
    )
)
ENGINE = MergeTree
ORDER BY ord
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Routes of final blocks; append only';

CREATE TABLE token_routes_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'Largest ord of the block from whose end on the route holds',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'The token that is priced',
    `next_token` FixedString(20) COMMENT 'The token it is priced in; zero bytes: an anchor, or no route',
    `hops` UInt8 COMMENT 'Hops to the anchor; 0: an anchor, or no route',
    `hop_confidence` Float64 COMMENT 'Trust in this hop, 0-1',
    `depth_usd` Float64 COMMENT 'Depth of its narrowest hop: USD that move the price by 2 percent, in steps of an eighth of an octave',
    `recent` Bool COMMENT 'Made within the epoch, from liquidity that no epoch has confirmed yet',
    `stale` Bool COMMENT 'No pool of the hop moved for a day',
    `pairs` Array(FixedString(20)) COMMENT 'Pools of the hop',
    `legs` Array(UInt16) COMMENT 'Their legs',
    `weights` Array(Float64) COMMENT 'Their weights, not normalised',
    `warnings` Array(LowCardinality(String)) COMMENT 'Codes of what a user should know'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY ord
SETTINGS index_granularity = 1024
COMMENT 'Rows of token_routes of blocks that are not final yet';

CREATE TABLE tokens
(
    `address` FixedString(20) COMMENT 'Token contract',
    `symbol` Nullable(String) COMMENT 'Symbol, cleaned of control characters, at most 64 characters; null when the call reverts',
    `name` Nullable(String) COMMENT 'Name, cleaned of control characters, at most 128 characters; null when the call reverts',
    `decimals` Nullable(UInt8) COMMENT 'Decimals, 0-77; null when the call reverts or says more',
    `version` UInt64 COMMENT 'Block at which it was read'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 8192
COMMENT 'Token metadata, read once per token when its first pool appears';

CREATE TABLE transfers
(
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'Token contract, the emitter',
    `sender` FixedString(20) COMMENT 'Whose balance falls; the zero address for a mint',
    `recipient` FixedString(20) COMMENT 'Whose balance rises; the zero address for a burn',
    `amount` UInt256 COMMENT 'Raw units' CODEC(ZSTD(1)),
    `kind` Enum8('transfer' = 1, 'deposit' = 2, 'withdrawal' = 3) COMMENT 'transfer: a Transfer log; deposit and withdrawal: those of the wrapped native token, which mint and burn without a Transfer',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (token, ord)
SETTINGS index_granularity = 8192, non_replicated_deduplication_window = 1000
COMMENT 'Final ERC-20 transfers; append only';

CREATE TABLE transfers_head
(
    `commit` UInt64 COMMENT 'Names the attempt that wrote the row; head_blocks says which commits are canonical',
    `ord` UInt64 COMMENT 'block_number * 2^20 + log_index',
    `timestamp` UInt32 COMMENT 'Block time, unix seconds, UTC',
    `token` FixedString(20) COMMENT 'Token contract, the emitter',
    `sender` FixedString(20) COMMENT 'Whose balance falls; the zero address for a mint',
    `recipient` FixedString(20) COMMENT 'Whose balance rises; the zero address for a burn',
    `amount` UInt256 COMMENT 'Raw units' CODEC(ZSTD(1)),
    `kind` Enum8('transfer' = 1, 'deposit' = 2, 'withdrawal' = 3) COMMENT 'transfer: a Transfer log; deposit and withdrawal: those of the wrapped native token, which mint and burn without a Transfer',
    `tx_index` UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
PARTITION BY intDiv(ord, 268435456)
ORDER BY (token, ord)
SETTINGS index_granularity = 1024
COMMENT 'Rows of transfers of blocks that are not final yet';

CREATE TABLE verified_code_hashes
(
    `code_hash` FixedString(32) COMMENT 'keccak256 of the runtime code on the chain',
    `status` Enum8('exact_match' = 1, 'match' = 2) COMMENT 'As in verified_contracts',
    `verified_at` UInt32 COMMENT 'When it was verified, unix seconds, UTC',
    `chain_id` UInt32 COMMENT 'Chain of the contract',
    `address` FixedString(20) COMMENT 'Contract'
)
ENGINE = ReplacingMergeTree
ORDER BY (code_hash, status, verified_at, chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verified contracts by the hash of their code';

CREATE TABLE verified_contracts
(
    `chain_id` UInt32 COMMENT 'Chain of the contract',
    `address` FixedString(20) COMMENT 'Contract',
    `code_hash` FixedString(32) COMMENT 'keccak256 of the runtime code on the chain; zero bytes where it is not known',
    `status` Enum8('exact_match' = 1, 'match' = 2) COMMENT 'exact_match: the metadata hash agrees too; match: everything but it',
    `source` LowCardinality(String) COMMENT 'sourcify, blockscout, local (recompiled here) or ancestor:1',
    `verified_at` UInt32 COMMENT 'When it was verified, unix seconds, UTC',
    `name` String COMMENT 'Name of the contract in its source',
    `path` String COMMENT 'Source file that holds the contract',
    `language` LowCardinality(String) COMMENT 'Solidity, Vyper or Yul',
    `compiler` LowCardinality(String) COMMENT 'solc or vyper',
    `compiler_version` LowCardinality(String) COMMENT 'Without a leading v',
    `optimization` Bool COMMENT 'Whether the optimizer was on',
    `runs` UInt32 COMMENT 'Optimizer runs',
    `evm_version` Nullable(String) COMMENT 'NULL: the default of the compiler',
    `license` Nullable(String) COMMENT 'SPDX identifier; NULL: not given',
    `abi` String COMMENT 'JSON list as the compiler prints it' CODEC(ZSTD(3)),
    `constructor_arguments` Nullable(String) COMMENT 'ABI-encoded, bytes; NULL: unknown' CODEC(ZSTD(1)),
    `libraries` String COMMENT 'JSON object: address by fully qualified library name',
    `settings` String COMMENT 'JSON object: settings of the standard JSON input without outputSelection' CODEC(ZSTD(3)),
    `file_paths` Array(String) COMMENT 'Paths of the source files, in their order',
    `file_hashes` Array(FixedString(32)) COMMENT 'keccak256 of the content of each, for source_files',
    `deployer` Nullable(FixedString(20)) COMMENT 'Who created the contract, where the source of the record says it',
    `deployment_tx` Nullable(FixedString(32)) COMMENT 'Transaction that created it, where the source of the record says it',
    `deployment_block` Nullable(UInt32) COMMENT 'Its block, where the source of the record says it',
    `version` UInt64 COMMENT 'When the row was written, microseconds: the newest counts',
    INDEX name_ngrams name TYPE text(tokenizer = ngrams(3), preprocessor = lowerUTF8(name)) GRANULARITY 100000000
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (chain_id, address)
SETTINGS index_granularity = 256
COMMENT 'Verified contracts';
