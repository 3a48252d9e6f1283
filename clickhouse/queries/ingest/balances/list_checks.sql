-- Each row: the result of all balance checks of one token so far. Reads the whole table token_balance_checks, which
-- has one row per checked token, once at the start.
SELECT
    token,
    checked_block,
    holders_checked,
    mismatches,
    mismatch_block,
    rebasing,
    held_checked,
    unconfirmed,
    witness,
    witness_baseline,
    agreed,
    sampled_block,
    sampled_holders,
    version
FROM token_balance_checks FINAL
LIMIT {limit:UInt32}
