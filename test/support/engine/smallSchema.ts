/** A small database schema in two versions with the migrations between them, in folders like the package's. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface SmallSchema {
  /** Folder for `migrate` with the first version of the schema and no migrations. */
  readonly before: string;
  /** Folder with the second version of the schema and its migrations. */
  readonly after: string;
  remove(): void;
}

const BEFORE = `CREATE TABLE IF NOT EXISTS swaps
(
    ord UInt64 COMMENT 'Place',
    pair FixedString(20) COMMENT 'Pair',
    price Float64 COMMENT 'Price',
    PROJECTION by_price (SELECT price, _part_offset ORDER BY price)
)
ENGINE = MergeTree
ORDER BY (pair, ord)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000
COMMENT 'Swaps';

-- HEAD OF swaps PARTITION BY intDiv(ord, 256) ORDER BY ord

CREATE TABLE IF NOT EXISTS pools
(
    address FixedString(20) COMMENT 'Pool',
    note String COMMENT 'Dropped by 0001'
)
ENGINE = ReplacingMergeTree
ORDER BY address
COMMENT 'Pools';

CREATE TABLE IF NOT EXISTS bars
(
    pair FixedString(20) COMMENT 'Pair',
    high SimpleAggregateFunction(max, Float64) COMMENT 'Highest price'
)
ENGINE = AggregatingMergeTree
ORDER BY pair
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Bars';

CREATE MATERIALIZED VIEW IF NOT EXISTS mv_bars TO bars AS
SELECT pair, max(price) AS high
FROM swaps
GROUP BY pair;
`;

const AFTER = BEFORE.replace(
  "    price Float64 COMMENT 'Price',\n    PROJECTION by_price (SELECT price, _part_offset ORDER BY price)",
  "    price Float64 COMMENT 'Price' CODEC(ZSTD(1)),\n    fee Float64 COMMENT 'Fee, see 0001',\n    INDEX by_pair pair TYPE bloom_filter(0.01) GRANULARITY 4",
)
  .replace(",\n    note String COMMENT 'Dropped by 0001'", '')
  .replace(
    "COMMENT 'Highest price'",
    "COMMENT 'Highest price',\n    fees SimpleAggregateFunction(sum, Float64) COMMENT 'Sum of fees'",
  )
  .replace('max(price) AS high\n', 'max(price) AS high, sum(fee) AS fees\n')
  .concat(
    "\nCREATE TABLE IF NOT EXISTS tokens\n(\n    address FixedString(20) COMMENT 'Token'\n)\n",
    "ENGINE = ReplacingMergeTree\nORDER BY address\nCOMMENT 'Tokens';\n",
  );

const FEES = `ALTER TABLE swaps ADD COLUMN IF NOT EXISTS fee Float64 COMMENT 'Fee, see 0001', MODIFY COLUMN price CODEC(ZSTD(1));
ALTER TABLE swaps_head ADD COLUMN IF NOT EXISTS fee Float64 COMMENT 'Fee, see 0001', MODIFY COLUMN price CODEC(ZSTD(1));
ALTER TABLE pools DROP COLUMN IF EXISTS note;
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS address FixedString(20);
ALTER TABLE bars ADD COLUMN IF NOT EXISTS fees SimpleAggregateFunction(sum, Float64) COMMENT 'Sum of fees';
ALTER TABLE mv_bars MODIFY QUERY
SELECT pair, max(price) AS high, sum(fee) AS fees
FROM swaps
GROUP BY pair;
`;

const INDEXES = `ALTER TABLE swaps ADD INDEX IF NOT EXISTS by_pair pair TYPE bloom_filter(0.01) GRANULARITY 4;
ALTER TABLE swaps MATERIALIZE INDEX by_pair;
ALTER TABLE swaps DROP PROJECTION IF EXISTS by_price;
`;

export function makeSmallSchema(): SmallSchema {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-schema-'));
  const [before, after] = [join(folder, 'before'), join(folder, 'after')];
  for (const schemaFolder of [before, after]) {
    mkdirSync(join(schemaFolder, 'clickhouse', 'schema'), { recursive: true });
    mkdirSync(join(schemaFolder, 'clickhouse', 'migrations'));
  }
  writeFileSync(join(before, 'clickhouse', 'schema', '1.all.sql'), BEFORE);
  writeFileSync(join(after, 'clickhouse', 'schema', '1.all.sql'), AFTER);
  writeFileSync(join(after, 'clickhouse', 'migrations', '0001_fees.sql'), FEES);
  writeFileSync(join(after, 'clickhouse', 'migrations', '0002_indexes.sql'), INDEXES);
  return { before, after, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
