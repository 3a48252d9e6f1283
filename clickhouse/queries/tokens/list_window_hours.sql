-- One row: the USD volume of an hour of one token's tracked swaps, or of a part of the hour, in no order. Key: (token,
-- timeframe, bucket). The hours [from, to) must end before the final cursor. Read as RowBinary.
SELECT volume_usd
FROM token_bars
WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
