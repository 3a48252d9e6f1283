/** Fills `swaps` in the database server from a seed: months of trading, a few hot pairs and many rare ones. */
import { TWO_LEVEL_SUMS, type Database } from '../../../src/clickhouse/client/database';
import { listViews, WITH_COMPUTED, type View } from '../../../src/ingest/repair/viewRebuild';
import { readSql } from './readSql';

export interface SwapLoad {
  readonly swaps: number;
  readonly pairs: number;
  /** Time of the first swap, unix seconds. */
  readonly from: number;
  readonly days: number;
}

const CHUNK_SWAPS = 1_000_000;
const BLOCK_SECONDS = 10;
const ORDS_PER_BLOCK = 1_048_576;
const TWO_DAYS_BLOCKS = (2 * 86_400) / BLOCK_SECONDS;
/** Last position (`ord`) of the first block, and of the first epoch of 32 blocks. */
const FIRST_BLOCK_END = 2 * ORDS_PER_BLOCK - 1;
const FIRST_EPOCH_END = 33 * ORDS_PER_BLOCK - 1;
/**
 * Most rows that one INSERT with a SELECT from swaps may make, because ClickHouse holds the rows of a group in memory.
 */
const GROUPS_MAX = 6_000_000;
/**
 * Settings with which a statement writes a single part, instead of one part per 65,409 rows. ClickHouse need not merge
 * rows before the write, because no two rows of the statement have the same key.
 */
const LARGE_PARTS = `SETTINGS ${[
  `min_insert_block_size_rows = ${GROUPS_MAX}`,
  'min_insert_block_size_bytes = 0',
  'optimize_on_insert = 0',
  WITH_COMPUTED,
  TWO_LEVEL_SUMS,
].join(', ')}`;

/** Address of the pair with this index, as hex without 0x. Pair 0 trades most. */
export function loadedPair(index: number): string {
  return `e2${index.toString(16).padStart(38, '0')}`;
}

/** Number of the last loaded block. */
export function lastLoadedBlock({ days }: SwapLoad): number {
  return Math.floor((days * 86_400) / BLOCK_SECONDS);
}

/**
 * Inserts the swaps, oldest first, then the rows of the views, and a cursor that makes the swaps final. Pair index =
 * pairs^u − 1 with u uniform, so popularity falls like 1/rank. The views are dropped during the load: otherwise each
 * chunk would make its own rows of every bar, and merging these takes 20 times as long.
 */
export async function loadSwaps(
  database: Database,
  load: SwapLoad,
  onChunk: (done: number) => void,
): Promise<void> {
  const views = listViews('swaps');
  for (const { name } of views) await database.command('drop view', `DROP VIEW IF EXISTS ${name}`);
  const blocks = lastLoadedBlock(load);
  await database.command('load pools', readSql('pools'), { pairs: load.pairs, from: load.from });
  for (const [name, sql] of METADATA) await database.command(name, sql);
  const loadSwap = readSql('swaps');
  for (let firstIndex = 0; firstIndex < load.swaps; firstIndex += CHUNK_SWAPS) {
    const count = Math.min(CHUNK_SWAPS, load.swaps - firstIndex);
    await database.command('load swaps', `${loadSwap} ${LARGE_PARTS}`, {
      at: firstIndex,
      count,
      swaps: load.swaps,
      blocks,
      pairs: load.pairs,
      from: load.from,
      seconds: BLOCK_SECONDS,
    });
    onChunk(firstIndex + count);
  }
  for (const view of views) await fillView(database, view, load);
  await fillEvents(database, load);
  await database.command('load cursor', readSql('cursor'), {
    blocks,
    from: load.from,
    seconds: BLOCK_SECONDS,
  });
}

/**
 * Fills the target of a view from all swaps, one slice of time after the other, with all timeframes together as the
 * view does; then creates the view.
 */
async function fillView(database: Database, view: View, load: SwapLoad): Promise<void> {
  const timeframes = /arrayJoin\(\[([\d, ]+)\]\)/.exec(view.select)?.[1]?.split(', ') ?? [''];
  const slices = Math.ceil((load.swaps * timeframes.length) / GROUPS_MAX);
  const endBlock = lastLoadedBlock(load) + 1;
  const sliceFills = Array.from({ length: slices }, (_, slice) => {
    const [from, to] = [slice, slice + 1].map(
      (boundary) => Math.floor((boundary * endBlock) / slices) * ORDS_PER_BLOCK,
    );
    const rows = `(SELECT * FROM swaps WHERE ord >= ${from} AND ord < ${to})`;
    const select = view.select.replace(/\bFROM swaps\b/, `FROM ${rows}`);
    return `INSERT INTO ${view.target} ${select} ${LARGE_PARTS}`;
  });
  // Two statements run at a time: one sorts and writes on a single thread while the other one sums.
  const fillSlices = async (): Promise<void> => {
    for (let fill = sliceFills.shift(); fill !== undefined; fill = sliceFills.shift())
      await database.command('fill view', fill);
  };
  await Promise.all([fillSlices(), fillSlices()]);
  await database.command('create view', view.statement);
}

async function fillEvents(database: Database, load: SwapLoad): Promise<void> {
  const slices = Math.ceil(load.swaps / GROUPS_MAX);
  const endBlock = lastLoadedBlock(load) + 1;
  for (let slice = 0; slice < slices; slice += 1) {
    const [from, to] = [slice, slice + 1].map(
      (boundary) => Math.floor((boundary * endBlock) / slices) * ORDS_PER_BLOCK,
    );
    await database.command(
      'load events',
      `INSERT INTO events SELECT ord, 'swap', pair, token0, token1, maker FROM swaps WHERE ord >= ${from} AND ord < ${to} ${LARGE_PARTS}`,
    );
  }
}

/**
 * SQL for the address of the pool with this index, of its base token (one of 5,000) and of its quote token (one of five
 * anchors).
 */
const PAIR = (index: string): string => `unhex(concat('e2', leftPad(lower(hex(${index})), 38, '0')))`;
const BASE = (index: string): string => `unhex(concat('01', leftPad(lower(hex(${index} % 5000)), 38, '0')))`;
const QUOTE = (index: string): string => `unhex(concat('02', leftPad(lower(hex(${index} % 5)), 38, '0')))`;

/** Metadata of all tokens: a token without metadata is asked again at each request, as if it were unknown. */
const METADATA: readonly (readonly [string, string])[] = [
  [
    'load metadata of base tokens',
    `INSERT INTO tokens SELECT ${BASE('number')}, concat('B', toString(number)), concat('Base ', toString(number)), 18, 1 FROM numbers(5000)`,
  ],
  [
    'load metadata of anchors',
    `INSERT INTO tokens SELECT ${QUOTE('number')}, concat('Q', toString(number)), concat('Quote ', toString(number)), 18, 1 FROM numbers(5)`,
  ],
];

/** Address of a base token, as hex without 0x. */
export function loadedToken(index: number): string {
  return `01${index.toString(16).padStart(38, '0')}`;
}

/** Addresses of the anchors, which are the quotes, as hex without 0x. */
export function loadedAnchors(): string[] {
  return Array.from({ length: 5 }, (_, index) => `02${index.toString(16).padStart(38, '0')}`);
}

/**
 * Loads the data that lists and audits need besides swaps: one pool state for each swap of the last two days, routes,
 * and changing prices.
 */
export async function loadPrices(database: Database, load: SwapLoad): Promise<void> {
  const blocks = lastLoadedBlock(load);
  const params = {
    blocks,
    since: Math.max(0, blocks - TWO_DAYS_BLOCKS) * ORDS_PER_BLOCK,
    pairs: load.pairs,
    from: load.from,
  };
  const statements: readonly (readonly [string, string])[] = [
    ['load first states', readSql('first_states')],
    ['load states', readSql('later_states')],
    [
      'load events of states',
      `INSERT INTO events SELECT ord, 'sync', pair, token0, token1, maker FROM pool_states ${LARGE_PARTS}`,
    ],
    [
      'load blocks',
      `INSERT INTO blocks SELECT 369, number + 1, unhex(leftPad(lower(hex(number + 1)), 64, '0')), unhex(leftPad(lower(hex(number)), 64, '0')),
         {from:UInt32} + (number + 1) * ${BLOCK_SECONDS}, NULL, 10, 20, [], [] FROM numbers({blocks:UInt64})`,
    ],
    [
      'load anchors',
      `INSERT INTO token_prices SELECT ${FIRST_BLOCK_END}, {from:UInt32}, ${QUOTE('number')}, unhex(repeat('00', 20)), 1, 0.99, 0, 1, 0.99,
         unhex(repeat('00', 20)), 0, 0 FROM numbers(5)`,
    ],
    [
      'load anchor routes',
      `INSERT INTO token_routes SELECT ${FIRST_BLOCK_END}, {from:UInt32}, ${QUOTE('number')}, unhex(repeat('00', 20)), 0, 0.99, 0, 0, false, false,
         [], [], [], [] FROM numbers(5)`,
    ],
    [
      'load routes',
      `INSERT INTO token_routes SELECT ${FIRST_BLOCK_END}, {from:UInt32}, ${BASE('number')}, ${QUOTE('number')}, 1, 0.9, 64, 0, false, false,
         [${PAIR('number')}, ${PAIR('number + 5000')}], [1, 1], [64, 32], [] FROM numbers(5000)`,
    ],
    [
      'load prices',
      `INSERT INTO token_prices SELECT intDiv(ord, 1048576) * 1048576 + 1048575 AS o, max(timestamp), token0, any(token1), max(price),
         0.9, 0, max(price), 0.9, any(token1), min(price), 0.9 FROM swaps WHERE ord > {since:UInt64} GROUP BY o, token0`,
    ],
    [
      'load epochs',
      `INSERT INTO pool_epochs SELECT ${FIRST_EPOCH_END}, {from:UInt32} + 320, ${PAIR('number')}, 1, 1 + number, 1000, 3000, 1732, 1732, 1,
         log(1 + number), 100, {from:UInt32} + 320, 0, [], 0 FROM numbers({pairs:UInt64})`,
    ],
  ];
  for (const [name, sql] of statements) await database.command(name, sql, params);
}
