-- The mark "rebasing" of a token is removed when the balance that caused the mark agrees with the logs again.
-- The table keeps the holder of this balance. The number of holders of a token is unknown until its holders
-- were sampled, so the table also keeps the last sample.
ALTER TABLE token_balance_checks
    ADD COLUMN IF NOT EXISTS witness FixedString(20) COMMENT 'Holder whose balance was a mismatch. The next checks compare its balance again; zero bytes without such a holder' AFTER unconfirmed,
    ADD COLUMN IF NOT EXISTS witness_baseline Int256 COMMENT 'balanceOf of the witness minus the sum of its logs, while transfers explain its balance, raw units; 0 if the whole history is stored' AFTER witness,
    ADD COLUMN IF NOT EXISTS agreed UInt32 COMMENT 'Number of checks in a row that agreed since the token was marked as rebasing' AFTER witness_baseline,
    ADD COLUMN IF NOT EXISTS sampled_block UInt32 COMMENT 'Number of the block at which holders of the token were last compared by size and at random; 0 if never' AFTER agreed,
    ADD COLUMN IF NOT EXISTS sampled_holders UInt32 COMMENT 'Number of holders according to the logs at sampled_block' AFTER sampled_block;
