-- Blocks that the workers of a backfill have fetched and proven: one row per piece of consecutive blocks, which the
-- writer reads once and then drops. A piece may have two rows, if two workers have staged it; both have the same
-- blocks. Each partition is a piece, so a part is never merged and a piece is dropped at once.
CREATE TABLE IF NOT EXISTS blocks
(
    piece      UInt32 COMMENT 'Number of the piece: its first block, divided by the blocks of a piece',
    from_block UInt32 COMMENT 'First block of the row',
    to_block   UInt32 COMMENT 'Last block of the row',
    bytes      UInt64 COMMENT 'Size of the blocks, bytes',
    body       String COMMENT 'The blocks, in the encoding of src/ingest/staged/blockCodec.ts'
)
ENGINE = MergeTree
PARTITION BY piece
ORDER BY from_block
SETTINGS old_parts_lifetime = 5
