/**
 * A small random chain for market tests: tokens, pools and blocks of events as plain rows. Inserts them as final
 * blocks, as head blocks under commits, and as orphaned blocks that must never appear.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { encodeRows, insertRows } from '../../../src/clickhouse/rows/inserter';
import {
  blocksTable,
  eventsTable,
  liquidityEventsTable,
  poolStatesTable,
  poolsTable,
  swapsTable,
  tokenPricesTable,
  tokensTable,
  type PoolRow,
  type Table,
  type TokenRow,
} from '../../../src/clickhouse/schema/tables';
import { toOrd } from '../../../src/domain/ord';
import { toEventRows } from '../../../src/ingest/rows/blockRows';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { createRandom, type Random } from '../createRandom';
import { fillBlock, hexOf, type PoolMemory, type WorldBlock } from './worldEvents';
import { createPriceMaker } from './worldPrices';

export { hexOf } from './worldEvents';
export type { WorldBlock } from './worldEvents';

export const CHAIN_ID = 369;
/** 87 blocks below the block where ords gain a digit, so that sorting ords as text gives a wrong order. */
export const FIRST_BLOCK = 9_450;
const START_TIME = 1_700_000_123;

export interface World {
  readonly seed: number;
  readonly tokens: readonly TokenRow[];
  readonly blocks: readonly WorldBlock[];
}

/** Index of the token without a symbol and a name. */
const UNNAMED = 3;
const DECIMALS = [18, 6, 8, 0, null, 30];

function makeTokens(): TokenRow[] {
  return DECIMALS.map((decimals, index) => ({
    address: hexOf('aa', index, 40),
    symbol: index === UNNAMED ? null : ['WPLS', 'USDC', '100%_x', '', 'odd"\\', 'HEX'][index]!,
    name: index === UNNAMED ? null : `Token number ${index}`,
    decimals,
    version: 1,
  }));
}

function makePool(
  index: number,
  random: Random,
  block: { number: number; timestamp: number } | null,
): PoolRow {
  const firstToken = index % DECIMALS.length;
  const secondToken =
    (firstToken + 1 + (Math.floor(index / DECIMALS.length) % (DECIMALS.length - 1))) % DECIMALS.length;
  const isV3 = index % 3 === 2;
  return {
    ord: block === null ? toOrd(FIRST_BLOCK, index) : toOrd(block.number, 900 + index),
    address: hexOf('bb', index, 40),
    dex: isV3 ? 'nine_v3' : index % 2 === 0 ? 'pulsex_v1' : 'pulsex_v2',
    protocol: isV3 ? 'uniswap_v3' : 'uniswap_v2',
    pool_type: isV3 ? 3 : 2,
    factory: hexOf('fa', index % 3, 40),
    token0: hexOf('aa', Math.min(firstToken, secondToken), 40),
    token1: hexOf('aa', Math.max(firstToken, secondToken), 40),
    base_is_token0: random() < 0.5,
    tokens: [],
    weights: [],
    doubts: 0,
    fee_pips: isV3 ? 500 : 2900,
    tick_spacing: isV3 ? 10 : 0,
    scale_decimals: [],
    pool_id: null,
    hooks: null,
    hook_bits: null,
    created_block: block === null ? null : block.number,
    created_at: block === null ? null : block.timestamp,
    created_tx: block === null ? null : hexOf('cc', index, 64),
  };
}

export interface WorldOptions {
  readonly seed: number;
  readonly blocks: number;
  readonly pools: number;
  /** Mean number of seconds between blocks. */
  readonly spacing: number;
  /** Mean number of events per block. */
  readonly events: number;
}

/** The same options give the same world. */
export function makeWorld(options: WorldOptions): World {
  const random = createRandom(options.seed);
  const tokens = makeTokens();
  const memories: PoolMemory[] = [];
  // Prices have a separate seed, so that they do not change the events.
  const addPrices = createPriceMaker(createRandom(options.seed + 2));
  const blocks: WorldBlock[] = [];
  let timestamp = START_TIME;
  for (let i = 0; i < options.blocks; i += 1) {
    const number = FIRST_BLOCK + i;
    const parent = blocks.at(-1);
    // Between blocks there is sometimes a long pause, and sometimes two blocks have the same second.
    const pauseSeconds = random() < 0.03 ? random.int(options.spacing * 60) : random.int(options.spacing * 2);
    if (i > 0) timestamp += pauseSeconds;
    const block: WorldBlock = {
      number,
      hash: hexOf('1b', number, 64),
      parentHash: parent?.hash ?? hexOf('1b', number - 1, 64),
      timestamp,
      swaps: [],
      liquidity: [],
      states: [],
      pools: [],
      prices: [],
    };
    const createsPool = memories.length < options.pools && (i < options.pools / 2 || random() < 0.2);
    if (createsPool) addPool(block, memories, random, i === 0);
    fillBlock(block, memories, random, random.int(options.events * 2 + 1));
    addPrices(block);
    blocks.push(block);
  }
  return { seed: options.seed, tokens, blocks };
}

function addPool(block: WorldBlock, memories: PoolMemory[], random: Random, isOld: boolean): void {
  const pool = makePool(memories.length, random, isOld ? null : block);
  block.pools.push(pool);
  memories.push({ pool, reserve0: random.big(70), reserve1: random.big(60), sqrtPrice: random.big(96) });
}

/** Inserts blocks into the final tables as one batch, as a promotion does. */
async function insertFinal(db: Database, blocks: readonly WorldBlock[]): Promise<void> {
  await insertRows(db, blocksTable, blocks.map(toBlockRow));
  await insertRows(
    db,
    poolsTable,
    blocks.flatMap((block) => block.pools),
  );
  await insertRows(
    db,
    poolStatesTable,
    blocks.flatMap((block) => block.states),
  );
  await insertRows(
    db,
    liquidityEventsTable,
    blocks.flatMap((block) => block.liquidity),
  );
  await insertRows(
    db,
    tokenPricesTable,
    blocks.flatMap((block) => block.prices),
  );
  await insertRows(
    db,
    swapsTable,
    blocks.flatMap((block) => block.swaps),
  );
  await insertRows(db, eventsTable, blocks.flatMap(eventsOf));
}

function eventsOf({ swaps, liquidity, states }: WorldBlock): ReturnType<typeof toEventRows> {
  return toEventRows({ swaps, liquidity_events: liquidity, pool_states: states });
}

interface HeadBlock {
  readonly block: WorldBlock;
  readonly commit: number;
}

/** Inserts blocks into the head tables, each under a separate commit, with one insert per table. */
async function insertHeads(db: Database, heads: readonly HeadBlock[]): Promise<void> {
  const partsOf = <Row>(rowsOf: (block: WorldBlock) => readonly Row[]) =>
    heads.map(({ block, commit }) => ({ rows: rowsOf(block), commit }));
  await insertCommits(
    db,
    poolsTable,
    partsOf(({ pools }) => pools),
  );
  await insertCommits(
    db,
    poolStatesTable,
    partsOf(({ states }) => states),
  );
  await insertCommits(
    db,
    liquidityEventsTable,
    partsOf(({ liquidity }) => liquidity),
  );
  await insertCommits(
    db,
    tokenPricesTable,
    partsOf(({ prices }) => prices),
  );
  await insertCommits(
    db,
    swapsTable,
    partsOf(({ swaps }) => swaps),
  );
  await insertCommits(db, eventsTable, partsOf(eventsOf));
}

/** Inserts rows of several commits into the table's head table with one insert. */
export async function insertCommits<Row>(
  db: Database,
  table: Table<Row>,
  parts: readonly { readonly rows: readonly Row[]; readonly commit: number }[],
): Promise<void> {
  const encoded = parts
    .filter(({ rows }) => rows.length > 0)
    .map(({ rows, commit }) => encodeRows(table, rows, commit));
  const [first] = encoded;
  if (first === undefined) return;
  await db.insert(first.table, first.columns, Buffer.concat(encoded.map(({ body }) => body)));
}

/** Number of head blocks per insert: each table gets several parts, but fewer than one per block. */
export const HEADS_AT_ONCE = 20;

export async function insertTokens(db: Database, tokens: readonly TokenRow[]): Promise<void> {
  await insertRows(db, tokensTable, tokens);
}

function toBlockRow(block: WorldBlock): Parameters<typeof blocksTable.writeRow>[1] {
  return {
    chain_id: CHAIN_ID,
    number: block.number,
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp: block.timestamp,
    base_fee: null,
    transaction_count: 0,
    log_count: 0,
    gas_prices: [],
    gas_used: [],
  };
}

/** The commit of a canonical head block is its number + COMMIT_BASE. Orphans have other commits. */
const COMMIT_BASE = 50_000;
const ORPHAN_BASE = 90_000;

export function commitOf(number: number): number {
  return COMMIT_BASE + number;
}

/**
 * Stores the whole world: blocks up to `storedTo` as final (in several inserts), blocks from `headFrom` in the head
 * tables. Some heights also get an orphaned block with swaps, mints and pools.
 */
export async function storeWorld(
  db: Database,
  world: World,
  options: { readonly storedTo: number; readonly headFrom: number; readonly inserts: number },
): Promise<void> {
  await insertTokens(db, world.tokens);
  const finalBlocks = world.blocks.filter((block) => block.number <= options.storedTo);
  const insertSize = Math.ceil(finalBlocks.length / options.inserts);
  for (let from = 0; from < finalBlocks.length; from += insertSize)
    await insertFinal(db, finalBlocks.slice(from, from + insertSize));
  const random = createRandom(world.seed + 1);
  const heads: HeadBlock[] = [];
  for (const block of world.blocks.filter(({ number }) => number >= options.headFrom)) {
    if (random() < 0.4) heads.push({ block: orphanOf(block, random), commit: ORPHAN_BASE + block.number });
    heads.push({ block, commit: commitOf(block.number) });
  }
  for (let from = 0; from < heads.length; from += HEADS_AT_ONCE)
    await insertHeads(db, heads.slice(from, from + HEADS_AT_ONCE));
}

function orphanOf(block: WorldBlock, random: Random): WorldBlock {
  const orphan: WorldBlock = {
    ...block,
    hash: hexOf('0f', block.number, 64),
    timestamp: block.timestamp + 1,
    swaps: [],
    liquidity: [],
    states: [],
    pools: [makePool(100 + block.number, random, block)],
    prices: [],
  };
  const memories = Array.from({ length: 4 }, (_, index) => ({
    pool: makePool(index, random, null),
    reserve0: 1n,
    reserve1: 1n,
    sqrtPrice: 1n << 96n,
  }));
  fillBlock(orphan, memories, random, 6);
  createPriceMaker(random)(orphan);
  return orphan;
}

/** The snapshot with this last final block and newest block. `finalNumber` is the last final block by
 * default. */
export function snapshotOf(world: World, finalTo: number, tip: number, finalNumber = finalTo): HeadSnapshot {
  const blockAt = (number: number): WorldBlock => world.blocks[number - FIRST_BLOCK]!;
  const newestBlock = blockAt(tip);
  return {
    version: `${world.seed}.${finalTo}.${tip}`,
    startBlock: FIRST_BLOCK,
    logsFrom: FIRST_BLOCK,
    number: tip,
    hash: newestBlock.hash,
    timestamp: newestBlock.timestamp,
    finalTo,
    finalNumber,
    blocks: world.blocks
      .filter((block) => block.number > finalTo && block.number <= tip)
      .map((block) => ({
        number: block.number,
        hash: block.hash,
        parentHash: block.parentHash,
        timestamp: block.timestamp,
        commit: commitOf(block.number),
      })),
  };
}
