-- A swap's fee follows from its value and its pool's fee: a database made today computes it whenever it is read. One of before
-- keeps the column, since its bars are sums of what stands there, and fills it by the same rule.
ALTER TABLE swaps MODIFY COLUMN fee_usd DEFAULT amount_usd * least(fee_pips, 1000000) / 1000000 COMMENT 'Fee in USD, rounded down; 0 when not tracked';
ALTER TABLE swaps_head MODIFY COLUMN fee_usd DEFAULT amount_usd * least(fee_pips, 1000000) / 1000000 COMMENT 'Fee in USD, rounded down; 0 when not tracked';
