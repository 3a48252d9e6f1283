-- Layer 8, ownership: ERC-20 transfers, the balances computed from them, and positions of V3 position
-- managers.

-- One row: one transfer of tokens by one log. The table is sorted by token. Views keep the balances
-- by token and by holder.
CREATE TABLE IF NOT EXISTS transfers
(
    ord UInt64 COMMENT 'Position of the log in the chain: block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    token FixedString(20) COMMENT 'Address of the token contract, which emitted the log',
    sender FixedString(20) COMMENT 'Address whose balance falls; the zero address for a mint',
    recipient FixedString(20) COMMENT 'Address whose balance rises; the zero address for a burn',
    amount UInt256 COMMENT 'Transferred amount, raw units' CODEC(ZSTD(1)),
    kind Enum8('transfer' = 1, 'deposit' = 2, 'withdrawal' = 3) COMMENT 'Kind of the log. deposit and withdrawal: a Deposit or Withdrawal log of a wrapped coin, which mints and burns without a Transfer log',
    tx_index UInt32 COMMENT 'Index of the transaction in its block'
)
ENGINE = MergeTree
ORDER BY (token, ord)
SETTINGS index_granularity = 8192, non_replicated_deduplication_window = 1000
COMMENT 'ERC-20 transfers in final blocks; rows are only appended';

-- HEAD OF transfers PARTITION BY intDiv(ord, 268435456) ORDER BY (token, ord)

-- One row: a part of the balance of one token at one address. The table is sorted by token. Sums are modulo
-- 2^256 and read as signed numbers. A negative sum means that the stored history begins too late, or that the
-- logs do not add up. The balance of the zero address is minus the supply. Tokens minted to the zero address
-- stay in the supply (V2 pairs lock their first 1,000 LP tokens this way). So a transfer from the zero
-- address to itself lowers the balance of the zero address and does not raise it.
CREATE TABLE IF NOT EXISTS token_balances
(
    token FixedString(20) COMMENT 'Address of the token contract',
    holder FixedString(20) COMMENT 'Address of the holder',
    balance SimpleAggregateFunction(sum, Int256) COMMENT 'Balance of the holder: received minus sent tokens, raw units' CODEC(ZSTD(1)),
    transfers SimpleAggregateFunction(sum, UInt64) COMMENT 'Number of transfers in and out',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord (position in the chain) of the transfers in this row. Readers add a head transfer only if its ord is above'
)
ENGINE = AggregatingMergeTree
ORDER BY (token, holder)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances of holders, sorted by token, over the transfers of final blocks';

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

-- One row: a part of the balance of one token at one address, as in token_balances, but sorted by
-- holder.
CREATE TABLE IF NOT EXISTS holder_balances
(
    holder FixedString(20) COMMENT 'Address of the holder',
    token FixedString(20) COMMENT 'Address of the token contract',
    balance SimpleAggregateFunction(sum, Int256) COMMENT 'Balance of the holder: received minus sent tokens, raw units, as in token_balances' CODEC(ZSTD(1)),
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Largest ord (position in the chain) of the transfers in this row. Readers add a head transfer only if its ord is above'
)
ENGINE = AggregatingMergeTree
ORDER BY (holder, token)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Balances of holders, sorted by holder, over the transfers of final blocks';

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
-- Mint of the pool in the same transaction. A move of shares of a bin is a transfer, too.
CREATE TABLE IF NOT EXISTS position_events
(
    ord UInt64 COMMENT 'Position of the log in the chain: block_number * 2^20 + log_index',
    timestamp UInt32 COMMENT 'Block time, unix seconds, UTC',
    manager FixedString(20) COMMENT 'Address of the position manager; for shares of a bin, the contract that has them',
    token_id UInt256 COMMENT 'Token id of the position NFT, or of the shares of a bin' CODEC(ZSTD(1)),
    kind Enum8('transfer' = 1, 'increase' = 2, 'decrease' = 3, 'collect' = 4) COMMENT 'Kind of the event. transfer: a new owner; increase, decrease: liquidity added or removed; collect: tokens paid out',
    sender FixedString(20) COMMENT 'Previous owner, for a transfer; zero bytes for other kinds',
    recipient FixedString(20) COMMENT 'New owner, for a transfer; recipient of the tokens, for a collect; zero bytes for other kinds',
    pair FixedString(20) COMMENT 'Address of the pool, for an increase and for shares of a bin; zero bytes for other kinds',
    tick_lower Int32 COMMENT 'Lower tick of the position, for an increase; id of the bin, for shares; 0 for other kinds',
    tick_upper Int32 COMMENT 'Upper tick of the position, for an increase; id of the bin, for shares; 0 for other kinds',
    liquidity UInt128 COMMENT 'Liquidity added by an increase or removed by a decrease; 0 for other kinds' CODEC(ZSTD(1)),
    amount0 UInt256 COMMENT 'Amount of token0, raw units: added by an increase, made ready to collect by a decrease, or paid out by a collect. For a transfer, the moved shares of a bin' CODEC(ZSTD(1)),
    amount1 UInt256 COMMENT 'Amount of token1, raw units: added by an increase, made ready to collect by a decrease, or paid out by a collect' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (manager, token_id, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Events of V3 positions in final blocks; rows are only appended';

-- HEAD OF position_events PARTITION BY intDiv(ord, 268435456) ORDER BY (manager, token_id, ord)

-- One row: a V3 position that an owner has received at some time. The table position_events has the
-- current owner.
CREATE TABLE IF NOT EXISTS owner_positions
(
    owner FixedString(20) COMMENT 'Address that received the position at some time',
    manager FixedString(20) COMMENT 'Address of the position manager',
    token_id UInt256 COMMENT 'Token id of the position NFT',
    last_ord SimpleAggregateFunction(max, UInt64) COMMENT 'Position in the chain of the newest transfer of the position to this owner: block_number * 2^20 + log_index'
)
ENGINE = AggregatingMergeTree
ORDER BY (owner, manager, token_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'V3 positions that each address has ever owned, over the events of final blocks';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_owner_positions TO owner_positions AS
SELECT
    recipient AS owner,
    manager,
    token_id,
    max(ord) AS last_ord
FROM position_events
WHERE kind = 'transfer'
GROUP BY owner, manager, token_id;

-- One row: the result of comparing one token's balances with balanceOf of its contract. If a token has
-- several rows, the newest one is valid. The ingester writes these rows while it follows the head. They come
-- from the node and cannot be rebuilt from logs.
CREATE TABLE IF NOT EXISTS token_balance_checks
(
    token FixedString(20) COMMENT 'Address of the token contract',
    checked_block UInt32 COMMENT 'Number of the block at which balances were last compared',
    holders_checked UInt64 COMMENT 'Number of balances compared so far',
    mismatches UInt64 COMMENT 'Number of compared balances that differ from the logs. If early transfers are missing, a constant difference is no mismatch',
    mismatch_block UInt32 COMMENT 'Number of the block of the newest mismatch; 0 if there was none',
    rebasing Bool COMMENT 'Whether balances change without transfers: the balance of one holder was a mismatch in two checks in a row, and fewer than three checks in a row have agreed since',
    held_checked UInt64 COMMENT 'Number of different compared addresses that hold the token according to its logs',
    unconfirmed UInt64 COMMENT 'Number of the addresses in held_checked for which the contract answered 0 or gave no usable answer',
    witness FixedString(20) COMMENT 'Holder whose balance was a mismatch. The next checks compare its balance again; zero bytes without such a holder',
    witness_baseline Int256 COMMENT 'balanceOf of the witness minus the sum of its logs, while transfers explain its balance, raw units; 0 if the whole history is stored',
    agreed UInt32 COMMENT 'Number of checks in a row that agreed since the token was marked as rebasing',
    sampled_block UInt32 COMMENT 'Number of the block at which holders of the token were last compared by size and at random; 0 if never',
    sampled_holders UInt32 COMMENT 'Number of holders according to the logs at sampled_block',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Results of comparing balances from logs with balanceOf of the contract, by token';

-- One row: a token whose Transfer logs do not tell all changes of its balances. If a token has several rows, the
-- newest one is valid. The ingester writes the row before the rows of the block become visible. A reorg does not
-- remove the row.
CREATE TABLE IF NOT EXISTS odd_tokens
(
    token FixedString(20) COMMENT 'Address of the contract, which emitted the logs',
    kind Enum8('unpaired_deposit' = 1, 'unread_transfer' = 2) COMMENT 'unread_transfer: a Transfer log of a form that cannot be read, such as one of an NFT; unpaired_deposit: a Deposit or Withdrawal log without a Transfer log beside it, stored as a transfer',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Tokens whose Transfer logs do not tell all changes of their balances';
