-- Loads the start row and one finished range, which makes the first `blocks` blocks final.
INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
SELECT
    369,
    number,
    'done',
    if(number = 0, 'start', 'backfill'),
    1,
    if(number = 0, 0, {blocks:UInt32}),
    unhex(repeat('b1', 32)),
    {from:UInt32} + if(number = 0, 0, {blocks:UInt32}) * {seconds:UInt32},
    map()
FROM numbers(2)
