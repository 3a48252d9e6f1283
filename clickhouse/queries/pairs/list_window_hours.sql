-- One row: an hour of one pair's tracked swaps, or a part of the hour, in no order. Key: (pair, leg, timeframe,
-- bucket). The hours [from, to) must end before the final cursor. Read as RowBinary in this column order.
SELECT
    bucket,
    volume_usd,
    fee_usd
FROM bars
WHERE timeframe = 3600 AND pair = unhex({pair:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
