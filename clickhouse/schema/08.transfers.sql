-- Layer 8, ownership: ERC-20 transfers, the balances that follow from them, and positions of V3 position managers.

-- One row: one transfer of tokens by one log. Read by token, or by holder through the views.
CREATE TABLE IF NOT EXISTS transfers
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Token contract, which emitted the log',
    sender FixedString(20) COMMENT 'Address whose balance falls; the zero address for a mint',
    recipient FixedString(20) COMMENT 'Address whose balance rises; the zero address for a burn',
    amount UInt256 COMMENT 'Amount, raw units' CODEC(ZSTD(1)),
    kind Enum8('transfer' = 1, 'deposit' = 2, 'withdrawal' = 3) COMMENT 'Log of the transfer. deposit, withdrawal: only of the wrapped native token, which mints and burns without a Transfer log',
    tx_index UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (token, ord)
SETTINGS index_granularity = 8192, non_replicated_deduplication_window = 1000
COMMENT 'Final ERC-20 transfers; append only';

-- HEAD OF transfers PARTITION BY intDiv(ord, 268435456) ORDER BY (token, ord)

-- One row: part of the balance of one token at one address, by token. Sums are modulo 2^256, read as signed. A negative
-- sum means that the history begins too late, or that the logs do not add up. The zero address holds minus the supply.
-- Tokens minted to the zero address stay supply (V2 pairs lock their first 1000 LP tokens this way). So a transfer from
-- the zero address to itself has one side only.
CREATE TABLE IF NOT EXISTS token_balances
(
    token FixedString(20) COMMENT 'Token contract',
    holder FixedString(20) COMMENT 'Address of the holder',
    balance SimpleAggregateFunction(sum, Int256) COMMENT 'Received minus sent, raw units' CODEC(ZSTD(1)),
    transfers SimpleAggregateFunction(sum, UInt64) COMMENT 'Transfers in and out',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row; head transfers count only above it'
)
ENGINE = AggregatingMergeTree
ORDER BY (token, holder)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances by token over final transfers';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_token_balances TO token_balances AS
SELECT
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
        arrayJoin(if(
            sender = recipient AND sender = toFixedString('', 20),
            [(sender, -(amount::Int256))],
            [(sender, -(amount::Int256)), (recipient, amount::Int256)]
        )) AS side
    FROM transfers
)
GROUP BY token, holder;

-- One row: part of the balance of one token at one address, as in token_balances, but by holder.
CREATE TABLE IF NOT EXISTS holder_balances
(
    holder FixedString(20) COMMENT 'Address of the holder',
    token FixedString(20) COMMENT 'Token contract',
    balance SimpleAggregateFunction(sum, Int256) COMMENT 'Received minus sent, raw units, as in token_balances' CODEC(ZSTD(1)),
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord in this row; head transfers count only above it'
)
ENGINE = AggregatingMergeTree
ORDER BY (holder, token)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances by holder over final transfers';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_holder_balances TO holder_balances AS
SELECT
    side.1 AS holder,
    token,
    sum(side.2) AS balance,
    max(ord) AS last_ord
FROM
(
    SELECT
        token,
        ord,
        arrayJoin(if(
            sender = recipient AND sender = toFixedString('', 20),
            [(sender, -(amount::Int256))],
            [(sender, -(amount::Int256)), (recipient, amount::Int256)]
        )) AS side
    FROM transfers
)
GROUP BY holder, token;

-- One row: one event of one position of a V3 position manager. The pool and ticks of an increase come from a matching
-- Mint of the pool in the same transaction.
CREATE TABLE IF NOT EXISTS position_events
(
    ord UInt64 COMMENT 'block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    manager FixedString(20) COMMENT 'Position manager, which emitted the log',
    token_id UInt256 COMMENT 'Token id of the position NFT' CODEC(ZSTD(1)),
    kind Enum8('transfer' = 1, 'increase' = 2, 'decrease' = 3, 'collect' = 4) COMMENT 'transfer: a new owner; increase, decrease: liquidity; collect: tokens paid out',
    sender FixedString(20) COMMENT 'transfer: previous owner; zero bytes otherwise',
    recipient FixedString(20) COMMENT 'transfer: new owner; collect: recipient of the tokens; zero bytes otherwise',
    pair FixedString(20) COMMENT 'increase: the pool; zero bytes otherwise',
    tick_lower Int32 COMMENT 'increase: lower tick; 0 otherwise',
    tick_upper Int32 COMMENT 'increase: upper tick; 0 otherwise',
    liquidity UInt128 COMMENT 'increase, decrease: liquidity added or removed; 0 otherwise' CODEC(ZSTD(1)),
    amount0 UInt256 COMMENT 'Token0, raw units. increase: added; decrease: ready to collect; collect: paid out' CODEC(ZSTD(1)),
    amount1 UInt256 COMMENT 'Token1, raw units, as amount0' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (manager, token_id, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Final events of V3 positions; append only';

-- HEAD OF position_events PARTITION BY intDiv(ord, 268435456) ORDER BY (manager, token_id, ord)

-- One row: a position that an owner once received. position_events has the current owner.
CREATE TABLE IF NOT EXISTS owner_positions
(
    owner FixedString(20) COMMENT 'Address that received the position',
    manager FixedString(20) COMMENT 'Position manager',
    token_id UInt256 COMMENT 'Token id of the position NFT',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'ord of the newest transfer of the position to this owner'
)
ENGINE = AggregatingMergeTree
ORDER BY (owner, manager, token_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Positions that an address ever owned, over final events';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_owner_positions TO owner_positions AS
SELECT
    recipient AS owner,
    manager,
    token_id,
    max(ord) AS last_ord
FROM position_events
WHERE kind = 'transfer'
GROUP BY owner, manager, token_id;

-- One row: the result of comparing one token's balances with balanceOf; the newest version counts. The ingester writes
-- these rows while it follows the head. They cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS token_balance_checks
(
    token FixedString(20) COMMENT 'Token contract',
    checked_block UInt32 COMMENT 'Block of the newest comparison',
    holders_checked UInt64 COMMENT 'Balances compared so far',
    mismatches UInt64 COMMENT 'Compared balances that differ from the logs. If early transfers are missing, a constant difference does not count',
    mismatch_block UInt32 COMMENT 'Block of the newest mismatch; 0: none',
    rebasing Bool COMMENT 'Whether comparisons at two blocks found mismatches; later matches do not reset it',
    held_checked UInt64 COMMENT 'Different addresses compared that hold the token by its logs',
    unconfirmed UInt64 COMMENT 'Such addresses for which the contract answered 0, or gave no usable answer',
    version UInt64 COMMENT 'Time of writing, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Checks of balances against the contracts, by token';
