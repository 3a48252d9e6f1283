/** Pools of price tests as the ingester decodes them: a V3 pool with positions, and a V2 pool with reserves. */
import type { PoolRow, PoolStateRow } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { noFacts, type BlockFacts } from '../../../src/ingest/rows/blockRows';
import { amountsOfLiquidity, sqrtRatioAtTick } from '../../../src/protocols/ticks/tickMath';
import { token } from './pools';

const BLOCK_SECONDS = 10;
const ONE = 10n ** 18n;
const TRADER = token(901);
const MAKERS = [token(900), TRADER];
const timeOf = (block: number): number => 1_000_000 + block * BLOCK_SECONDS;

export function emptyFacts(number: number): BlockFacts {
  return noFacts({ number, hash: ZERO_HASH, parentHash: ZERO_HASH, timestamp: timeOf(number) });
}

/** The tick at or below a price of raw token1 per raw token0. */
export const tickOf = (price: number): number => Math.floor(Math.log(price) / Math.log(1.0001));

export interface PoolNames {
  readonly address: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Block of the pool's creation; null if the pool is older than the first ingested block. */
  readonly createdBlock: number | null;
}

function poolRow(
  facts: BlockFacts,
  { address, token0, token1, createdBlock }: PoolNames,
  type: 2 | 3,
): PoolRow {
  return {
    ord: nextOrd(facts),
    address,
    dex: 'test',
    protocol: type === 2 ? 'uniswap_v2' : 'uniswap_v3',
    pool_type: type,
    factory: ZERO_ADDRESS,
    token0,
    token1,
    base_is_token0: true,
    tokens: [],
    weights: [],
    doubts: 0,
    fee_pips: 3_000,
    tick_spacing: type === 2 ? 0 : 1,
    scale_decimals: [],
    pool_id: null,
    hooks: null,
    hook_bits: null,
    created_block: createdBlock,
    created_at: createdBlock === null ? null : timeOf(createdBlock),
    created_tx: createdBlock === null ? null : ZERO_HASH,
  };
}

/** Every row takes the next place in its block. */
function nextOrd({
  ref,
  pools,
  pool_states: states,
  liquidity_events: liquidity,
  swaps,
}: BlockFacts): number {
  return toOrd(ref.number, pools.length + states.length + liquidity.length + swaps.length);
}

function rowOf(facts: BlockFacts, { address, token0, token1 }: PoolNames, type: 2 | 3) {
  return {
    ord: nextOrd(facts),
    timestamp: facts.ref.timestamp,
    pair: address,
    dex: 'test',
    pool_type: type,
    token0,
    token1,
    base_is_token0: true,
    tx_hash: ZERO_HASH,
    tx_index: 0,
    // The makers take turns.
    maker: MAKERS[facts.ref.number % MAKERS.length]!,
  };
}

const UNPRICED = { doubts: 0, unswapped: [], walked_liquidity: -1, near0: 0, near1: 0 };

/** A V2 pool is created with these whole tokens. */
export function openV2(facts: BlockFacts, names: PoolNames, amount0: number, amount1: number): void {
  facts.pools.push(poolRow(facts, names, 2));
  syncV2(facts, names, amount0, amount1);
}

export function syncV2(facts: BlockFacts, names: PoolNames, amount0: number, amount1: number): void {
  const [reserve0, reserve1] = [BigInt(amount0) * ONE, BigInt(amount1) * ONE];
  facts.pool_states.push({
    ...rowOf(facts, names, 2),
    ...UNPRICED,
    kind: 'sync',
    reserve0,
    reserve1,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    price: Number(reserve1) / Number(reserve0),
    balances: [],
    params: [],
  });
}

/** A V3 pool whose balances follow from its positions. */
export class RangePool {
  private readonly positions: {
    readonly lower: number;
    readonly upper: number;
    readonly liquidity: bigint;
  }[] = [];
  private tick = 0;
  private sqrtPrice = 0n;

  constructor(readonly names: PoolNames) {}

  /** The pool appears in this block, with its price at a tick. */
  open(facts: BlockFacts, tick: number): void {
    facts.pools.push(poolRow(facts, this.names, 3));
    this.moveTo(tick);
    this.pushState(facts, 'initialize');
  }

  /** Adds liquidity between two ticks. A negative amount is a burn, whose tokens are collected in the same block. */
  add(facts: BlockFacts, lower: number, upper: number, liquidity: bigint): void {
    const kind = liquidity > 0n ? 'mint' : 'burn';
    const absolute = liquidity > 0n ? liquidity : -liquidity;
    this.positions.push({ lower, upper, liquidity });
    facts.liquidity_events.push({
      ...rowOf(facts, this.names, 3),
      ...amountsOfLiquidity(this.sqrtPrice, lower, upper, absolute),
      kind,
      owner: TRADER,
      recipient: ZERO_ADDRESS,
      liquidity: absolute,
      tick_lower: lower,
      tick_upper: upper,
    });
    this.pushState(facts, kind);
  }

  /** Adds one token only: token1 below the price or token0 above the price, in whole tokens. */
  addTokens(facts: BlockFacts, lower: number, upper: number, wholeTokens: number): void {
    const unit = 10n ** 24n;
    const { amount0, amount1 } = amountsOfLiquidity(this.sqrtPrice, lower, upper, unit);
    const amountOfUnit = amount0 > 0n ? amount0 : amount1;
    this.add(facts, lower, upper, (BigInt(Math.round(wholeTokens * 1e6)) * 10n ** 12n * unit) / amountOfUnit);
  }

  /** Moves the price to a tick. `part` is the fraction of the way from this tick to the next one, 0 to 0.999. */
  swapTo(facts: BlockFacts, tick: number, part = 0): void {
    const balancesBefore = this.balances();
    this.moveTo(tick, part);
    const balancesAfter = this.balances();
    facts.swaps.push({
      ...rowOf(facts, this.names, 3),
      ...this.state(),
      leg: 1,
      sender: TRADER,
      recipient: TRADER,
      amount0: balancesAfter.reserve0 - balancesBefore.reserve0,
      amount1: balancesAfter.reserve1 - balancesBefore.reserve1,
      fee_pips: 3_000,
    });
    this.pushState(facts, 'swap');
  }

  private moveTo(tick: number, part = 0): void {
    const [sqrtRatio, nextSqrtRatio] = [sqrtRatioAtTick(tick), sqrtRatioAtTick(tick + 1)];
    this.tick = tick;
    this.sqrtPrice = sqrtRatio + ((nextSqrtRatio - sqrtRatio) * BigInt(Math.round(part * 1_000))) / 1_000n;
  }

  private balances(): { reserve0: bigint; reserve1: bigint } {
    let [reserve0, reserve1] = [0n, 0n];
    for (const { lower, upper, liquidity } of this.positions) {
      const { amount0, amount1 } = amountsOfLiquidity(this.sqrtPrice, lower, upper, liquidity);
      reserve0 += amount0;
      reserve1 += amount1;
    }
    return { reserve0, reserve1 };
  }

  private state() {
    const { tick, sqrtPrice } = this;
    const activePositions = this.positions.filter(({ lower, upper }) => lower <= tick && tick < upper);
    return {
      ...this.balances(),
      sqrt_price_x96: sqrtPrice,
      liquidity: activePositions.reduce((sum, { liquidity }) => sum + liquidity, 0n),
      tick,
      price: (Number(sqrtPrice) / 2 ** 96) ** 2,
    };
  }

  private pushState(facts: BlockFacts, kind: PoolStateRow['kind']): void {
    facts.pool_states.push({
      ...rowOf(facts, this.names, 3),
      ...this.state(),
      ...UNPRICED,
      kind,
      balances: [],
      params: [],
    });
  }
}
