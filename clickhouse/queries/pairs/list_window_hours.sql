-- One row: an hour of one pair's tracked swaps, or a part of it, in no order; key (pair, leg, timeframe, bucket). The caller names whole hours
-- [from, to) that lie below the final cursor. Read as RowBinary in this order of columns.
SELECT
    bucket,
    volume_usd,
    fee_usd
FROM bars
WHERE timeframe = 3600 AND pair = unhex({pair:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
