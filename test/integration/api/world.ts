/**
 * A random little chain for the market's tests: tokens, pools and blocks of events as plain rows, and a way into the
 * tables: final blocks in several inserts, head blocks under commits, and orphaned blocks that must never show.
 */
import type { Database } from '../../../src/clickhouse/database';
import { insertRows } from '../../../src/clickhouse/inserter';
import {
  blocksTable,
  liquidityEventsTable,
  poolStatesTable,
  poolsTable,
  swapsTable,
  tokensTable,
  type LiquidityEventRow,
  type PoolRow,
  type PoolStateRow,
  type SwapRow,
  type TokenRow,
} from '../../../src/clickhouse/tables';
import { toOrd } from '../../../src/domain/ord';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { createRandom, type Random } from './random';

export const CHAIN_ID = 369;
/** Some 87 blocks below the one whose ords have a digit more: an order by text would show. */
export const FIRST_BLOCK = 9_450;
const START_TIME = 1_700_000_123;

export interface WorldBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly swaps: SwapRow[];
  readonly liquidity: LiquidityEventRow[];
  readonly states: PoolStateRow[];
  readonly pools: PoolRow[];
}

export interface World {
  readonly seed: number;
  readonly tokens: readonly TokenRow[];
  readonly blocks: readonly WorldBlock[];
}

export function hexOf(prefix: string, index: number, digits: number): Hex {
  return `0x${prefix}${index.toString(16).padStart(digits - prefix.length, '0')}`;
}

const DECIMALS = [18, 6, 8, 0, null, 30];

function makeTokens(): TokenRow[] {
  return DECIMALS.map((decimals, index) => ({
    address: hexOf('aa', index, 40),
    symbol: index === 3 ? null : ['WPLS', 'USDC', '100%_x', '', 'odd"\\', 'HEX'][index]!,
    name: index === 3 ? null : `Token number ${index}`,
    decimals,
    version: 1,
  }));
}

function makePool(
  index: number,
  random: Random,
  block: { number: number; timestamp: number } | null,
): PoolRow {
  const first = index % DECIMALS.length;
  const second =
    (first + 1 + (Math.floor(index / DECIMALS.length) % (DECIMALS.length - 1))) % DECIMALS.length;
  const v3 = index % 3 === 2;
  return {
    ord: block === null ? toOrd(FIRST_BLOCK, index) : toOrd(block.number, 900 + index),
    address: hexOf('bb', index, 40),
    dex: v3 ? 'nine_v3' : index % 2 === 0 ? 'pulsex_v1' : 'pulsex_v2',
    protocol: v3 ? 'uniswap_v3' : 'uniswap_v2',
    pool_type: v3 ? 3 : 2,
    factory: hexOf('fa', index % 3, 40),
    token0: hexOf('aa', Math.min(first, second), 40),
    token1: hexOf('aa', Math.max(first, second), 40),
    base_is_token0: random() < 0.5,
    tokens: [],
    weights: [],
    fee_pips: v3 ? 500 : 2900,
    tick_spacing: v3 ? 10 : 0,
    created_block: block === null ? null : block.number,
    created_at: block === null ? null : block.timestamp,
    created_tx: block === null ? null : hexOf('cc', index, 64),
  };
}

interface PoolMemory {
  readonly pool: PoolRow;
  reserve0: bigint;
  reserve1: bigint;
  sqrt: bigint;
}

export interface WorldOptions {
  readonly seed: number;
  readonly blocks: number;
  readonly pools: number;
  /** Mean seconds between blocks. */
  readonly spacing: number;
  /** Mean events a block. */
  readonly events: number;
}

/** Makes a world; the same options give the same one. */
export function makeWorld(options: WorldOptions): World {
  const random = createRandom(options.seed);
  const tokens = makeTokens();
  const memories: PoolMemory[] = [];
  const blocks: WorldBlock[] = [];
  let timestamp = START_TIME;
  for (let i = 0; i < options.blocks; i += 1) {
    const number = FIRST_BLOCK + i;
    const previous = blocks.at(-1);
    // Now and then a long silence, now and then two blocks in one second.
    const gap = random() < 0.03 ? random.int(options.spacing * 60) : random.int(options.spacing * 2);
    if (i > 0) timestamp += gap;
    const block: WorldBlock = {
      number,
      hash: hexOf('1b', number, 64),
      parentHash: previous?.hash ?? hexOf('1b', number - 1, 64),
      timestamp,
      swaps: [],
      liquidity: [],
      states: [],
      pools: [],
    };
    const born = memories.length < options.pools && (i < options.pools / 2 || random() < 0.2);
    if (born) addPool(block, memories, random, i === 0);
    fillBlock(block, memories, random, random.int(options.events * 2 + 1));
    blocks.push(block);
  }
  return { seed: options.seed, tokens, blocks };
}

function addPool(block: WorldBlock, memories: PoolMemory[], random: Random, old: boolean): void {
  const pool = makePool(memories.length, random, old ? null : block);
  block.pools.push(pool);
  memories.push({ pool, reserve0: random.big(70), reserve1: random.big(60), sqrt: random.big(96) });
}

/** Fills a block with events of the pools; log indexes rise with gaps. */
export function fillBlock(block: WorldBlock, memories: PoolMemory[], random: Random, events: number): void {
  let logIndex = 0;
  for (let i = 0; i < events && memories.length > 0; i += 1) {
    // A few hot pools, and one (the last) that never trades.
    const memory = memories[Math.floor(random() * random() * Math.max(1, memories.length - 1))]!;
    logIndex += 1 + random.int(3);
    logIndex = addEvent(block, memory, random, logIndex);
  }
}

function addEvent(block: WorldBlock, memory: PoolMemory, random: Random, logIndex: number): number {
  const { pool } = memory;
  const common = {
    timestamp: block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.pool_type,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.base_is_token0,
    tx_hash: hexOf('dd', block.number * 4096 + logIndex, 64),
    tx_index: logIndex,
    maker: random() < 0.1 ? null : hexOf('ee', random.int(6), 40),
  };
  const v3 = pool.pool_type === 3;
  const what = random();
  move(memory, random, v3);
  const state = {
    reserve0: memory.reserve0,
    reserve1: memory.reserve1,
    sqrt_price_x96: v3 ? memory.sqrt : 0n,
    liquidity: v3 ? random.big(50) : 0n,
    tick: v3 ? random.int(1000) - 500 : 0,
  };
  const price = rawPrice(memory, v3);
  const stateOrd = toOrd(block.number, logIndex);
  const kind = !v3 ? 'sync' : what < 0.7 ? 'swap' : what < 0.85 ? 'mint' : 'burn';
  block.states.push({ ...common, ...state, ord: stateOrd, kind, price, balances: [] });
  const ord = v3 ? stateOrd : stateOrd + 1;
  if (what < 0.7)
    block.swaps.push(makeSwap({ ...common, ...state, ord, price, fee_pips: pool.fee_pips }, random));
  else block.liquidity.push(makeLiquidity({ ...common, ord }, v3, what < 0.85 ? 'mint' : 'burn', random));
  if (v3 && what > 0.95) {
    block.liquidity.push(makeLiquidity({ ...common, ord: ord + 1 }, v3, 'collect', random));
    return logIndex + 2;
  }
  return logIndex + 1;
}

function move(memory: PoolMemory, random: Random, v3: boolean): void {
  const empty = random() < 0.03;
  memory.reserve0 = empty && !v3 ? 0n : random.big(40 + random.int(40));
  memory.reserve1 = random.big(40 + random.int(40));
  memory.sqrt = random.big(90 + random.int(12));
}

/** Raw token1 per raw token0, 0 where there is none. */
export function rawPrice(state: { reserve0: bigint; reserve1: bigint; sqrt: bigint }, v3: boolean): number {
  if (v3) return (Number(state.sqrt) / 2 ** 96) ** 2;
  return state.reserve0 === 0n || state.reserve1 === 0n ? 0 : Number(state.reserve1) / Number(state.reserve0);
}

type SwapBase = Omit<
  SwapRow,
  | 'leg'
  | 'sender'
  | 'recipient'
  | 'amount0'
  | 'amount1'
  | 'price_usd'
  | 'quote_price_usd'
  | 'native_usd'
  | 'amount_usd'
  | 'untracked_usd'
  | 'fee_usd'
  | 'tracked'
>;

function makeSwap(base: SwapBase, random: Random): SwapRow {
  const direction = random() < 0.5 ? 1n : -1n;
  // Pools of the first token have USD prices, most of the time.
  const tracked = base.token0 === hexOf('aa', 0, 40) && random() < 0.8;
  const flash = random() < 0.03;
  const amount0 = random() < 0.02 ? 0n : direction * random.big(20 + random.int(60));
  const amount1 = flash ? random.big(10) : -direction * random.big(20 + random.int(60));
  return {
    ...base,
    leg: 1,
    sender: hexOf('5e', random.int(5), 40),
    recipient: hexOf('4e', random.int(5), 40),
    amount0,
    amount1,
    price_usd: tracked ? random() * 10 + 0.001 : 0,
    quote_price_usd: tracked ? random() * 10 + 0.001 : 0,
    native_usd: 0.5,
    amount_usd: tracked ? BigInt(random.int(1_000_000_000)) * 1_000n : 0n,
    untracked_usd: tracked ? 0n : BigInt(random.int(1_000_000_000)) * 1_000n,
    fee_usd: tracked ? BigInt(random.int(1_000_000)) * 1_000n : 0n,
    tracked,
  };
}

type LiquidityBase = Omit<
  LiquidityEventRow,
  | 'kind'
  | 'owner'
  | 'recipient'
  | 'amount0'
  | 'amount1'
  | 'liquidity'
  | 'tick_lower'
  | 'tick_upper'
  | 'amount0_usd'
  | 'amount1_usd'
  | 'trust'
>;

function makeLiquidity(
  base: LiquidityBase,
  v3: boolean,
  kind: LiquidityEventRow['kind'],
  random: Random,
): LiquidityEventRow {
  return {
    ...base,
    kind,
    owner: hexOf('0e', random.int(5), 40),
    recipient: ZERO_ADDRESS,
    amount0: random.big(50),
    amount1: random.big(50),
    liquidity: v3 || random() < 0.5 ? random.big(60) : null,
    tick_lower: v3 ? -100 : null,
    tick_upper: v3 ? 200 : null,
    amount0_usd: null,
    amount1_usd: null,
    trust: 0,
  };
}

/** Inserts blocks into the final tables as one batch, as a promotion does. */
export async function insertFinal(db: Database, blocks: readonly WorldBlock[]): Promise<void> {
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
    swapsTable,
    blocks.flatMap((block) => block.swaps),
  );
}

/** Inserts one block into the head tables. */
export async function insertHead(db: Database, block: WorldBlock, commit: number): Promise<void> {
  await insertRows(db, poolsTable, block.pools, { commit });
  await insertRows(db, poolStatesTable, block.states, { commit });
  await insertRows(db, liquidityEventsTable, block.liquidity, { commit });
  await insertRows(db, swapsTable, block.swaps, { commit });
}

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
  };
}

/** Commits of canonical head blocks are their number plus this; orphans have others. */
const COMMIT_BASE = 50_000;
const ORPHAN_BASE = 90_000;

export function commitOf(number: number): number {
  return COMMIT_BASE + number;
}

/**
 * The whole world in the tables: blocks up to `storedTo` final (in several inserts), those from `headFrom` to the end in
 * the head tables, and beside some of them an orphan that swapped, minted and made pools too.
 */
export async function storeWorld(
  db: Database,
  world: World,
  options: { readonly storedTo: number; readonly headFrom: number; readonly inserts: number },
): Promise<void> {
  await insertTokens(db, world.tokens);
  const final = world.blocks.filter((block) => block.number <= options.storedTo);
  const size = Math.ceil(final.length / options.inserts);
  for (let from = 0; from < final.length; from += size) await insertFinal(db, final.slice(from, from + size));
  const random = createRandom(world.seed + 1);
  for (const block of world.blocks.filter(({ number }) => number >= options.headFrom)) {
    if (random() < 0.4) await insertHead(db, orphanOf(block, random), ORPHAN_BASE + block.number);
    await insertHead(db, block, commitOf(block.number));
  }
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
  };
  const memories = Array.from({ length: 4 }, (_, index) => ({
    pool: makePool(index, random, null),
    reserve0: 1n,
    reserve1: 1n,
    sqrt: 1n << 96n,
  }));
  fillBlock(orphan, memories, random, 6);
  return orphan;
}

/** The snapshot with this cursor and this newest block; `finalNumber` defaults to the cursor. */
export function snapshotOf(world: World, finalTo: number, tip: number, finalNumber = finalTo): HeadSnapshot {
  const at = (number: number): WorldBlock => world.blocks[number - FIRST_BLOCK]!;
  const top = at(tip);
  return {
    version: `${world.seed}.${finalTo}.${tip}`,
    startBlock: FIRST_BLOCK,
    number: tip,
    hash: top.hash,
    timestamp: top.timestamp,
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
