-- Loads the logs number `at` to `at` + `count`. Half are transfers, a quarter are pair events, and the
-- remaining quarter has 300 other kinds of events. Contracts and people follow a power law. `per_block`,
-- `per_tx`: logs of one block and transaction.
INSERT INTO logs
WITH
    n -> toFixedString(substring(concat(sipHash128Reference(n), sipHash128Reference(n + 1)), 1, 20), 20) AS address_of,
    n -> toFixedString(concat(sipHash128Reference(n), sipHash128Reference(n + 1)), 32) AS word_of,
    n -> toFixedString(concat(unhex(repeat('00', 12)), address_of(n)), 32) AS padded_of,
    n -> concat(unhex(repeat('00', 24)), substring(sipHash128Reference(n), 1, 8)) AS amount_of,
    toFixedString('', 32) AS no_word
SELECT
    369,
    block * 1048576 + nth % {per_block:UInt32},
    {start:UInt32} + (block - {first_block:UInt32}) * 10,
    address_of(contract + {seed:UInt64}),
    multiIf(what < 62, 3, what < 74, 1, what < 82, 3, what < 90, 2, 4) AS topics,
    word_of(kind),
    if(topics > 1, padded_of(person1), no_word),
    if(topics > 2, padded_of(person2), no_word),
    if(topics > 3, toFixedString(concat(unhex(repeat('00', 28)), reinterpretAsString(toUInt32(nth))), 32), no_word),
    multiIf(
        what < 50, amount_of(nth + 0),
        what < 62, concat(amount_of(nth + 0), amount_of(nth + 1), unhex(repeat('00', 64))),
        what < 74, concat(amount_of(nth + 2), amount_of(nth + 3)),
        what < 82, unhex(repeat('ff', 32)),
        what < 90, amount_of(nth + 4),
        ''
    ),
    word_of(intDiv(nth, {per_tx:UInt32}) * 2 + {seed:UInt64}),
    intDiv(nth % {per_block:UInt32}, {per_tx:UInt32})
FROM
(
    SELECT
        {at:UInt64} + number AS nth,
        intDiv(nth, {per_block:UInt32}) + {first_block:UInt32} AS block,
        cityHash64(nth, {seed:UInt64}, 1) % 100 AS what,
        toUInt64(pow({contracts:UInt32}, (cityHash64(nth, {seed:UInt64}, 2) % 1000003) / 1000003)) AS near,
        if(what >= 50 AND what < 74, near + 100000, near) AS contract,
        multiIf(what < 50, 1, what < 62, 2, what < 74, 3, what < 82, 4, 100 + near % 300) AS kind,
        toUInt64(pow({people:UInt32}, (cityHash64(nth, {seed:UInt64}, 3) % 1000003) / 1000003)) AS person1,
        toUInt64(pow({people:UInt32}, (cityHash64(nth, {seed:UInt64}, 4) % 1000003) / 1000003)) AS person2
    FROM numbers({count:UInt64})
)
