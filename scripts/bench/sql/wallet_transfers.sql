-- Loads the transfers number `at` to `at` + `count` of `total`, in block order, that give each wallet all of `tokens`
-- tokens and `lp_tokens` LP tokens, in `receipts` transfers each.
INSERT INTO transfers
WITH
    (prefix, n) -> unhex(concat(prefix, leftPad(lower(hex(n)), 38, '0'))) AS address_of,
    toFixedString('', 20) AS nobody
SELECT
    (intDiv(n * {blocks:UInt64}, {total:UInt64}) + 1) * 1048576 + 2000 + n % 500,
    {from:UInt32} + n % 86400,
    if(what < {tokens:UInt32}, address_of('01', what + 1), address_of('e2', what - {tokens:UInt32})),
    nobody,
    address_of('05', intDiv(n, ({tokens:UInt32} + {lp_tokens:UInt32}) * {receipts:UInt32})),
    toUInt256(1000000000000000 + cityHash64(n, 3) % 1000000000000000000),
    'transfer',
    n % 50
FROM
(
    SELECT {at:UInt64} + number AS n, n % ({tokens:UInt32} + {lp_tokens:UInt32}) AS what
    FROM numbers({count:UInt64})
)
