-- Each row: the sums over one pair's tracked swaps (with a trusted price) in one hour. An hour may have several
-- rows, each with a part of the sums, in no order. Uses the key (pair, leg, timeframe, bucket). The hours [from,
-- to) must end before the last final block.
SELECT
    bucket,
    volume_usd,
    fee_usd
FROM bars
WHERE timeframe = 3600 AND pair = unhex({pair:String}) AND bucket >= {from:UInt32} AND bucket < {to:UInt32}
LIMIT {limit:UInt32}
