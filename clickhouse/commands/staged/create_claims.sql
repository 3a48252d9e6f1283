-- Which worker fetches which piece: one row per claim. A claim only avoids double work, so it may be lost.
CREATE TABLE IF NOT EXISTS claims
(
    piece  UInt32 COMMENT 'Number of the piece',
    worker UInt64 COMMENT 'Random number of the worker',
    at     DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'Time of the claim, UTC'
)
ENGINE = Memory
SETTINGS max_rows_to_keep = 10000
