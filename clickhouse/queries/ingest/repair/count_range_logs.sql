-- Each row: the number of logs in one group of `span` consecutive final blocks, as the sum of their column
-- log_count.
SELECT toUInt32(intDiv(number, {span:UInt32}) * {span:UInt32}) AS range, sum(log_count) AS logs
FROM blocks
WHERE chain_id = {chain:UInt32} AND number BETWEEN {from:UInt32} AND {to:UInt32}
GROUP BY range
LIMIT intDiv({to:UInt32}, {span:UInt32}) - intDiv({from:UInt32}, {span:UInt32}) + 1
