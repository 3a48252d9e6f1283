-- One row: the first block of the first UTC day without a block below `floor`; null if there is no such day.
SELECT minOrNull(number) AS number
FROM blocks
WHERE chain_id = {chain:UInt32}
    AND timestamp >=
    (
        SELECT toUInt32(intDiv(max(timestamp), 86400) * 86400 + 86400)
        FROM blocks
        WHERE chain_id = {chain:UInt32} AND number < {floor:UInt32}
    )
LIMIT 1
