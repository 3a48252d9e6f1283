/** Random events of the test world's pools: swaps, mints, burns and states as plain rows. */
import type {
  LiquidityEventRow,
  PoolRow,
  PoolStateRow,
  SwapRow,
  TokenPriceRow,
} from '../../../src/clickhouse/schema/tables';
import { toOrd } from '../../../src/domain/ord';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import type { Random } from '../createRandom';

export interface WorldBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly swaps: SwapRow[];
  readonly liquidity: LiquidityEventRow[];
  readonly states: PoolStateRow[];
  readonly pools: PoolRow[];
  readonly prices: TokenPriceRow[];
}

export function hexOf(prefix: string, index: number, digits: number): Hex {
  return `0x${prefix}${index.toString(16).padStart(digits - prefix.length, '0')}`;
}

export interface PoolMemory {
  readonly pool: PoolRow;
  reserve0: bigint;
  reserve1: bigint;
  sqrt: bigint;
}

/** Fills a block with events of the pools. Log indexes ascend with gaps. */
export function fillBlock(block: WorldBlock, memories: PoolMemory[], random: Random, events: number): void {
  let logIndex = 0;
  for (let i = 0; i < events && memories.length > 0; i += 1) {
    // A few pools trade most, and the last pool never trades.
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
  const kindChance = random();
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
  const kind = !v3 ? 'sync' : kindChance < 0.7 ? 'swap' : kindChance < 0.85 ? 'mint' : 'burn';
  const walked = { walked_liquidity: -1, near0: 0, near1: 0 };
  const priced = { doubts: 0, price, balances: [], params: [], unswapped: [], ...walked };
  block.states.push({ ...common, ...state, ...priced, ord: stateOrd, kind });
  const ord = v3 ? stateOrd : stateOrd + 1;
  if (kindChance < 0.7)
    block.swaps.push(makeSwap({ ...common, ...state, ord, price, fee_pips: pool.fee_pips }, random));
  else
    block.liquidity.push(makeLiquidity({ ...common, ord }, v3, kindChance < 0.85 ? 'mint' : 'burn', random));
  if (v3 && kindChance > 0.95) {
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

/** Price in raw token1 per raw token0; 0 if the pool has no price. */
function rawPrice(state: { reserve0: bigint; reserve1: bigint; sqrt: bigint }, v3: boolean): number {
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
  | 'tracked'
  | 'price_counts'
>;

/** Highs use only prices that bars use. So the price of a token is used by nothing, by bars, or by bars and highs. */
function countsOf(choice: number): number {
  const bits = (at: number): number => [5, 5, 1, 0][at % 4] ?? 0;
  return bits(choice) + 2 * bits(Math.floor(choice / 4));
}

function makeSwap(base: SwapBase, random: Random): SwapRow {
  const direction = random() < 0.5 ? 1n : -1n;
  // Pools of the first token usually have USD prices.
  const tracked = base.token0 === hexOf('aa', 0, 40) && random() < 0.8;
  const flash = random() < 0.03;
  const amount0 = random() < 0.02 ? 0n : direction * random.big(20 + random.int(60));
  const amount1 = flash ? random.big(10) : -direction * random.big(20 + random.int(60));
  // A USD price derives from the pool's price, so a pool without a price has no USD price.
  const usdOf = (price: number): number => (base.price > 0 ? price : 0);
  return {
    ...base,
    leg: 1,
    sender: hexOf('5e', random.int(5), 40),
    recipient: hexOf('4e', random.int(5), 40),
    amount0,
    amount1,
    price_usd: tracked ? usdOf(random() * 10 + 0.001) : 0,
    quote_price_usd: tracked ? usdOf(random() * 10 + 0.001) : 0,
    native_usd: 0.5,
    amount_usd: tracked ? BigInt(random.int(1_000_000_000)) * 1_000n : 0n,
    untracked_usd: tracked ? 0n : BigInt(random.int(1_000_000_000)) * 1_000n,
    tracked,
    price_counts: countsOf(Number(BigInt.asUintN(16, amount0 + amount1))),
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
  | 'others_usd'
>;

function makeLiquidity(
  base: LiquidityBase,
  v3: boolean,
  kind: LiquidityEventRow['kind'],
  random: Random,
): LiquidityEventRow {
  const areValuesKnown = [random() < 0.6, random() < 0.6] as const;
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
    amount0_usd: areValuesKnown[0] ? BigInt(random.int(1_000_000_000)) * 1_000n : null,
    amount1_usd: areValuesKnown[1] ? BigInt(random.int(1_000_000_000)) * 1_000n : null,
    // Only a token with a price can be trusted.
    trust: (areValuesKnown[0] && random() < 0.5 ? 1 : 0) + (areValuesKnown[1] && random() < 0.5 ? 2 : 0),
    others_usd: random() < 0.2 ? BigInt(random.int(1_000_000_000)) * 1_000n : null,
  };
}
