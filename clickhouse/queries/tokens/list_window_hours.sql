-- One row: USD volume of an hour of one token's tracked swaps, or of a part of it, in no order; key (token, timeframe, bucket). The caller
-- names whole hours [from, to) that lie below the final cursor. Read as RowBinary.
SELECT volume_usd
FROM token_bars
WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
