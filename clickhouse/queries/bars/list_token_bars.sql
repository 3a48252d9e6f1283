-- Each row: part of one bar of a token, newest first. The caller merges the parts of a bucket. With the parameter
-- `usd`, rows have USD prices; `first_usd` and `last_usd` describe swaps without a native price. With `native`, rows
-- have prices in the native token. Uses the key (token, timeframe, bucket), read backwards. Never scans beyond the
-- LIMIT. The query computes nothing in its columns, because planning costs grow with every expression.
SELECT
    bucket,
    first,
    last,
    first_usd, -- if usd
    last_usd, -- if usd
    high_usd, -- if usd
    low_usd, -- if usd
    high_native, -- if native
    low_native, -- if native
    volume,
    volume_usd,
    trades,
    buys,
    other_ord
FROM token_bars
WHERE timeframe = {timeframe:UInt32}
    AND token = unhex({token:String})
    AND bucket >= {from:UInt32}
    AND bucket < {to:UInt32}
ORDER BY token DESC, timeframe DESC, bucket DESC
LIMIT {limit:UInt32}
