-- Layer 14, history: facts from before the start block, for a database that does not start at block 1. A
-- background task of the ingester reads these facts from the node. They cannot be rebuilt from logs.

-- One row: one found pool. The pool is older than the start block and had no event since. The ingester adds
-- the pool to the known pools at the end of the block whose number the row names, on each branch, unless an event
-- has made the pool known by then. The row has the state of the pool at the end of the block, except for the fee of
-- a vault pool, which later fee events change. The hash is zero. Earlier versions of the program wrote the hash of the
-- only block that adds the pool.
CREATE TABLE IF NOT EXISTS found_pools
(
    block UInt32 COMMENT 'Number of the block at whose end the pool is added',
    block_hash FixedString(32) COMMENT 'Zero, because every block with this number adds the pool; in rows of earlier versions, the hash of the only block that adds it',
    address FixedString(20) COMMENT 'Address of the pool contract',
    dex LowCardinality(String) COMMENT 'Short name of the DEX, as in the chain description',
    protocol LowCardinality(String) COMMENT 'Name of the protocol, as in the chain description',
    pool_type UInt8 COMMENT 'Type of the pool, as in pools',
    factory FixedString(20) COMMENT 'Address of the factory, or of the vault',
    token0 FixedString(20) COMMENT 'Address of the first token of the pool',
    token1 FixedString(20) COMMENT 'Address of the second token of the pool',
    base_is_token0 Bool COMMENT 'Whether token0 is the base token',
    tokens Array(FixedString(20)) COMMENT 'Vault pools: addresses of all tokens in the order of the contract; empty for other pools',
    weights Array(UInt64) COMMENT 'Weighted pools: weight of each token, times 10^18; empty for other pools',
    doubts UInt8 COMMENT 'Reasons why the pool backs no price, as in pools',
    fee_pips UInt32 COMMENT 'Swap fee, in hundredths of a basis point',
    tick_spacing Int32 COMMENT 'V3: tick spacing of the pool; bins: bin step; 0 for other pools',
    scale_decimals Array(UInt8) COMMENT 'Stable pools of two tokens: decimals by which the contract scales token0 and token1; empty for other pools, or if unknown',
    pool_id Nullable(FixedString(32)) COMMENT 'Id of the pool in its vault, or of a pool without a contract; null for other pools',
    hooks Nullable(FixedString(20)) COMMENT 'Uniswap V4: contract that the pool calls before or after its swaps; null without one, and for other pools',
    hook_bits Nullable(UInt16) COMMENT 'PancakeSwap Infinity: permissions of the hook, as the bits of a Uniswap V4 hook; null without a hook, and for other pools',
    moved_at UInt32 COMMENT 'Time of the last change of the pool according to its contract, unix seconds, UTC; the time of the block if the contract has no such time',
    reserve0 UInt256 COMMENT 'Pool balance of token0, raw units; vault pools: 0',
    reserve1 UInt256 COMMENT 'Pool balance of token1, raw units; vault pools: 0',
    sqrt_price_x96 UInt256 COMMENT 'V3: sqrtPriceX96 of the pool; 0 for other pools',
    liquidity UInt128 COMMENT 'V3: active liquidity of the pool; 0 for other pools',
    tick Int32 COMMENT 'V3: tick of the pool; Camelot: curve and fees, as in src/protocols/camelot/camelotTick.ts; bins: id of the active bin; 0 for other pools',
    balances Array(UInt256) COMMENT 'Vault pools: balance of each token, raw units; empty for other pools, or if unknown',
    params Array(UInt256) COMMENT 'Pools of many tokens: as in pool_states'
)
ENGINE = ReplacingMergeTree
ORDER BY (block, block_hash, address)
SETTINGS index_granularity = 1024
COMMENT 'Pools that the pool search found, by the block that adds them';

-- One row: the initialised ticks of one V3 pool before the start block. The pool is older than the start block. The
-- ingester reads its ticks from the node at a later block, and takes away the stored mints and burns up to that later
-- block. Prices use the ticks from `from_block` on. If a pool has several rows, the one with the smallest from_block
-- is valid.
CREATE TABLE IF NOT EXISTS old_ticks
(
    pair FixedString(20) COMMENT 'Address of the pool contract',
    from_block UInt32 COMMENT 'Number of the first block whose prices use the ticks',
    low Int32 COMMENT 'First tick or bin of the range that was read; those outside of the range are unknown',
    high Int32 COMMENT 'Last tick or bin of the range that was read; less than low if the contract has no usable answer',
    ticks Array(Int32) COMMENT 'Ticks of the range with net liquidity before the start block, or ids of bins with reserves, ascending',
    nets Array(Int256) COMMENT 'Net liquidity of each tick in ticks: what becomes active when the price rises over the tick, raw units. Bins: both reserves, token0 in the lower 128 bits'
)
ENGINE = ReplacingMergeTree
ORDER BY (pair, from_block)
SETTINGS index_granularity = 1024
COMMENT 'Ticks of V3 pools, and bins of pools with bins, from before the first ingested block';

-- One row: the creation of a pool that is older than the first ingested block.
CREATE TABLE IF NOT EXISTS pool_births
(
    address FixedString(20) COMMENT 'Address of the pool contract',
    created_block UInt32 COMMENT 'Number of the block with the creation event',
    created_at UInt32 COMMENT 'Time of the block created_block, unix seconds, UTC',
    created_tx FixedString(32) COMMENT 'Hash of the transaction with the creation event',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY address
SETTINGS index_granularity = 1024
COMMENT 'Creations of pools that are older than the first ingested block';

-- One row: the protocol's parts of the swap fees of one V3 pool before its first SetFeeProtocol log, as its slot0()
-- returned them. Later parts come from the logs.
CREATE TABLE IF NOT EXISTS pool_first_shares
(
    pair FixedString(20) COMMENT 'Address of the pool contract',
    share0 Nullable(Float64) COMMENT 'Part of the fees paid in token0 that the protocol gets, 0 to 1; null if the contract has no usable answer',
    share1 Nullable(Float64) COMMENT 'Part of the fees paid in token1 that the protocol gets, 0 to 1; null if the contract has no usable answer',
    read_block UInt32 COMMENT 'Number of the block at whose end the contract was called',
    version UInt64 COMMENT 'Time when this row was written, unix milliseconds, UTC; the newest row of a pool is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY pair
SETTINGS index_granularity = 1024
COMMENT 'Protocol fees of V3 pools before the first change';

-- One row: the supply of a token and the balances of its watched holders (burn addresses, treasuries and
-- lockers) before the start block, computed from answers of the token contract. Readers add the mints and
-- burns since then.
CREATE TABLE IF NOT EXISTS token_supplies
(
    token FixedString(20) COMMENT 'Address of the token contract',
    supply_before Nullable(UInt256) COMMENT 'Total supply before the first ingested block, raw units: totalSupply() at read_block, without the mints and burns of the indexed blocks up to it; null if the contract has no usable answer',
    holders Array(FixedString(20)) COMMENT 'Burn addresses, treasuries and lockers of the chain description whose balances were read',
    held_before Array(UInt256) COMMENT 'Balance of each address in holders before the first ingested block, raw units, computed in the same way; 0 if the contract has no usable answer',
    read_block UInt32 COMMENT 'Number of the block at whose end the contract was called',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row of a token is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY token
SETTINGS index_granularity = 1024
COMMENT 'Supplies of tokens before the first ingested block';

-- One row: the progress of the pool search, which finds pools that are older than the start block. The
-- newest row is valid.
CREATE TABLE IF NOT EXISTS pool_search
(
    chain_id UInt32 COMMENT 'EIP-155 id of the chain',
    factories FixedString(32) COMMENT 'SHA-256 of the searched factories. With other factories, the search begins again',
    start_block UInt32 COMMENT 'First ingested block',
    searched_from UInt32 COMMENT 'First block of the range whose factory logs have been read; the range ends at the first ingested block',
    search_to UInt32 COMMENT 'Block at which the search ends: the first block in which a factory can create a pool',
    listed UInt64 COMMENT 'Number of entries of the factories'' lists allPairs that have been read, over all factories; used only if the node has no old logs',
    pools UInt64 COMMENT 'Number of older pools found so far',
    state Enum8('searching' = 1, 'complete' = 2, 'incomplete' = 3) COMMENT 'incomplete: the node has no old logs, so only pools in allPairs are found',
    version UInt64 COMMENT 'Time when this row was written, unix microseconds, UTC; the newest row is valid'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY chain_id
COMMENT 'Progress of the search for pools that are older than the first ingested block';
