-- Each row: the USD volume of one token's tracked swaps (with a trusted price) in one hour. An hour may have several
-- rows, each with a part of the volume, in no order. Uses the key (token, timeframe, bucket). The hours [from, to)
-- must end before the last final block.
SELECT volume_usd
FROM token_bars
WHERE timeframe = 3600 AND token = unhex({token:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
