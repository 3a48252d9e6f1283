-- Each row: the result of all balance checks of one token so far. Reads the whole table token_balance_checks, which
-- has one row per checked token, once at the start.
SELECT
    concat('0x', lower(hex(c.token))) AS token,
    c.checked_block AS checked_block,
    c.holders_checked AS holders_checked,
    c.mismatches AS mismatches,
    c.mismatch_block AS mismatch_block,
    c.rebasing AS rebasing,
    c.held_checked AS held_checked,
    c.unconfirmed AS unconfirmed,
    concat('0x', lower(hex(c.witness))) AS witness,
    toString(c.witness_baseline) AS witness_baseline,
    c.agreed AS agreed,
    c.sampled_block AS sampled_block,
    c.sampled_holders AS sampled_holders
FROM token_balance_checks AS c FINAL
LIMIT {limit:UInt32}
