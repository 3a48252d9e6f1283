-- One row: what checks against the node have found of one token's balances so far. Reads the whole table, one row per token
-- that was ever checked: once at the start.
SELECT
    concat('0x', lower(hex(c.token))) AS token,
    c.checked_block AS checked_block,
    c.holders_checked AS holders_checked,
    c.mismatches AS mismatches,
    c.mismatch_block AS mismatch_block,
    c.rebasing AS rebasing
FROM token_balance_checks AS c FINAL
LIMIT {limit:UInt32}
