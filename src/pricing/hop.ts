/**
 * Computes the price of one hop at one block. Each pool of the route has its own price. Outliers, and sudden moves
 * that no trades confirm, are left out. The result is the mean of the remaining prices by weight.
 */
import type { LegKey } from './leg';

/**
 * Largest distance (as ln) of a pool's price from its 30-minute mean for which no trades are needed. A larger move
 * must be confirmed by trades.
 */
const CLAMP_LOG = Math.log(1.2);
/**
 * Smallest distance from the median, as ln, from which a pool can be an outlier. An outlier is also more than 3
 * robust standard deviations from the median.
 */
const OUTLIER_LOG_MIN = 0.05;
/** A standard deviation in median absolute deviations, for a normal distribution. */
const MAD_TO_SIGMA = 1.4826;
const OUTLIER_SIGMAS = 3;
/** Two pools disagree if their prices differ by more than this, as ln. */
const DISAGREEMENT_LOG = 0.05;
/** Largest weight of a pool, if the hop has at least three pools and the other pools hold enough of the depth. */
const WEIGHT_MAX = 0.6;
/**
 * A pool's weight is limited only if the other pools of the hop hold at least this part of the depth. With less, the
 * weight above the limit would go to dust pools. Open pools, too, must hold this part to exclude vault pools.
 */
const OTHERS_SHARE_MIN = 0.1;
/** Lists of at most this many values are sorted by insertion, which is faster for short lists. */
const SHORT_LIST_MAX = 24;

export const HOP_WARNINGS = [
  'single_pool',
  'pool_disagreement',
  'outlier_pools_excluded',
  'price_deviates_from_twap',
  'depth_fell',
  'spot_held_to_mean',
] as const;
export type HopWarning = (typeof HOP_WARNINGS)[number];

/** One pool of a hop at one block. */
export interface HopInput {
  readonly key: LegKey;
  /** Weight by depth, not normalized. 0 means that the pool is empty; it is then left out. */
  readonly weight: number;
  /** Price in whole next tokens per whole token of the hop; 0 without a price. */
  readonly price: number;
  /** The spot price, before holds; 0 without a price. */
  readonly spot: number;
  /** The price by the 30-minute mean; 0 without a price. */
  readonly meanPrice: number;
  /** Whether the pool traded at least its own depth within the window. */
  readonly traded: boolean;
  /** Whether `price` is behind the spot price, because the state changed without a swap. */
  readonly held: boolean;
  /** Whether the pool belongs to a vault, so its contract may refuse the trades of others. */
  readonly isVault: boolean;
}

export interface HopPool {
  readonly key: LegKey;
  /** Normalized: the weights of a hop sum to 1. */
  readonly weight: number;
  readonly price: number;
}

interface HopExclusion {
  readonly key: LegKey;
  readonly reason: 'outlier' | 'disagrees' | 'no_price' | 'low_liquidity';
  readonly price: number;
}

export interface HopPrice {
  /** Price of the hop: Σ weight · price over its pools; 0 if no pool has a price. */
  readonly price: number;
  readonly pools: readonly HopPool[];
  readonly excluded: readonly HopExclusion[];
  readonly warnings: HopWarning[];
  /**
   * Deviation of the remaining pools: the weighted median absolute deviation of ln(price). For two pools, the weighted
   * mean deviation. The weights are depths.
   */
  deviation(): number;
  /**
   * Whether the price of a pool depends on its mean. This is so if the price is held back, or so far from the mean
   * that trades must confirm it.
   */
  readonly deviates: boolean;
}

/** Prices a hop. The order of the inputs does not matter: ties are decided by key. */
export function priceHop(inputs: readonly HopInput[]): HopPrice {
  const warnings: HopWarning[] = [];
  const excluded: HopExclusion[] = [];
  const priced: HopPool[] = [];
  const vaultKeys: LegKey[] = [];
  let deviates = false;
  for (const input of inputs) {
    const isFarOff = isFarFromMean(input);
    deviates ||= isFarOff || input.held;
    if (input.isVault) vaultKeys.push(input.key);
    if (input.held) addOnce(warnings, 'spot_held_to_mean');
    const clamped = isFarOff && !input.traded;
    if (clamped) addOnce(warnings, 'price_deviates_from_twap');
    const price = clamped ? input.meanPrice : input.price;
    if (!(input.weight > 0)) excluded.push({ key: input.key, reason: 'low_liquidity', price });
    else if (price > 0 && Number.isFinite(price))
      priced.push({ key: input.key, weight: input.weight, price });
    else excluded.push({ key: input.key, reason: 'no_price', price: 0 });
  }
  const compared = dropOutliers(keepNearOpen(priced, vaultKeys, excluded, warnings), excluded, warnings);
  const keptPools = compared.length === 2 ? keepDeeper(compared, excluded, warnings) : compared;
  if (keptPools.length === 1) addOnce(warnings, 'single_pool');
  const pools = normalise(keptPools);
  const onlyPool = pools[0];
  let price = 0;
  for (const pool of pools) price += pool.weight * pool.price;
  if (pools.length === 1 && onlyPool !== undefined) price = onlyPool.price;
  return { price, pools, excluded, warnings, deviation: () => deviationOf(keptPools), deviates };
}

function isFarFromMean(input: HopInput): boolean {
  if (!(input.spot > 0) || !(input.meanPrice > 0)) return false;
  return Math.abs(Math.log(input.spot / input.meanPrice)) > CLAMP_LOG;
}

function addOnce(warnings: HopWarning[], warning: HopWarning): void {
  if (!warnings.includes(warning)) warnings.push(warning);
}

/**
 * Drops vault pools whose price is far from the open pools (V2 and V3). Anyone may trade an open pool back to the
 * market price. So a vault pool does not outvote open pools that hold at least a tenth of the depth.
 */
function keepNearOpen(
  pools: readonly HopPool[],
  vaultKeys: readonly LegKey[],
  excluded: HopExclusion[],
  warnings: HopWarning[],
): readonly HopPool[] {
  if (vaultKeys.length === 0) return pools;
  const openPools = pools.filter(({ key }) => !vaultKeys.includes(key));
  if (openPools.length === 0 || sumOf(openPools) < sumOf(pools) * OTHERS_SHARE_MIN) return pools;
  const { median } = spreadOf(openPools);
  const isNear = (pool: HopPool): boolean =>
    openPools.includes(pool) || Math.abs(Math.log(pool.price) - median) <= OUTLIER_LOG_MIN;
  const farPools = pools.filter((pool) => !isNear(pool));
  if (farPools.length === 0) return pools;
  for (const { key, price } of farPools) excluded.push({ key, reason: 'outlier', price });
  addOnce(warnings, 'outlier_pools_excluded');
  return pools.filter(isNear);
}

function sumOf(pools: readonly HopPool[]): number {
  let sum = 0;
  for (const { weight } of pools) sum += weight;
  return sum;
}

function dropOutliers(
  pools: readonly HopPool[],
  excluded: HopExclusion[],
  warnings: HopWarning[],
): readonly HopPool[] {
  if (pools.length <= 2) return pools;
  const { median, deviation } = spreadOf(pools);
  const bound = Math.max(OUTLIER_SIGMAS * MAD_TO_SIGMA * deviation, OUTLIER_LOG_MIN);
  const keptPools: HopPool[] = [];
  for (const pool of pools) {
    if (Math.abs(Math.log(pool.price) - median) <= bound) keptPools.push(pool);
    else excluded.push({ key: pool.key, reason: 'outlier', price: pool.price });
  }
  if (keptPools.length < pools.length) addOnce(warnings, 'outlier_pools_excluded');
  return keptPools;
}

/** If two pools disagree, keeps only the deeper one. */
function keepDeeper(
  pools: readonly HopPool[],
  excluded: HopExclusion[],
  warnings: HopWarning[],
): readonly HopPool[] {
  const [a, b] = pools;
  if (a === undefined || b === undefined) return pools;
  if (Math.abs(Math.log(a.price / b.price)) <= DISAGREEMENT_LOG) return pools;
  const isFirstDeeper = a.weight > b.weight || (a.weight === b.weight && a.key < b.key);
  const [deeper, other] = isFirstDeeper ? [a, b] : [b, a];
  excluded.push({ key: other.key, reason: 'disagrees', price: other.price });
  addOnce(warnings, 'pool_disagreement');
  return [deeper];
}

/**
 * Normalizes weights to a sum of 1. If the hop has at least three pools, and the other pools hold a tenth of the depth,
 * no weight is above 60 %. At most one pool can exceed this limit.
 */
function normalise(pools: readonly HopPool[]): readonly HopPool[] {
  let totalWeight = 0;
  for (const pool of pools) totalWeight += pool.weight;
  const normalizedPools = pools.map(({ key, weight, price }) => ({
    key,
    weight: weight / totalWeight,
    price,
  }));
  const heaviestPool = normalizedPools.find((pool) => pool.weight > WEIGHT_MAX);
  if (heaviestPool === undefined || normalizedPools.length < 3) return normalizedPools;
  // The weights are added, because 1 minus the largest weight would only be rounding error if one pool is
  // 10^16 times as deep.
  let otherWeights = 0;
  for (const pool of normalizedPools) if (pool !== heaviestPool) otherWeights += pool.weight;
  if (otherWeights < OTHERS_SHARE_MIN) return normalizedPools;
  const scale = (1 - WEIGHT_MAX) / otherWeights;
  return normalizedPools.map((pool) => {
    const weight = pool === heaviestPool ? WEIGHT_MAX : pool.weight * scale;
    return { key: pool.key, weight, price: pool.price };
  });
}

/** Deviation of ln(price). A median of two prices is one of them, so two pools have the weighted mean deviation: 2·w0·w1·|ln(p0/p1)|. */
function deviationOf(pools: readonly HopPool[]): number {
  if (pools.length < 2) return 0;
  const [a, b] = pools;
  if (pools.length === 2 && a !== undefined && b !== undefined) {
    const totalWeight = a.weight + b.weight;
    return 2 * (a.weight / totalWeight) * (b.weight / totalWeight) * Math.abs(Math.log(a.price / b.price));
  }
  return spreadOf(pools).deviation;
}

/**
 * Weighted median and weighted median absolute deviation of ln(price). Without weights, a few dust pools could widen
 * the outlier limit so far that no dust pool is excluded.
 */
function spreadOf(pools: readonly HopPool[]): { readonly median: number; readonly deviation: number } {
  const logs = pools.map(({ price }) => Math.log(price));
  const median = weightedMedian(logs, pools);
  const distances = logs.map((log) => Math.abs(log - median));
  return { median, deviation: weightedMedian(distances, pools) };
}

/**
 * The smallest value such that half of the weight is at or below it. Weights are summed in the order of value and
 * then pool, so the result is always the same.
 */
function weightedMedian(values: readonly number[], pools: readonly HopPool[]): number {
  const order = sortedIndexes(values);
  let totalWeight = 0;
  for (const index of order) totalWeight += pools[index]?.weight ?? 0;
  let seenWeight = 0;
  for (const index of order) {
    seenWeight += pools[index]?.weight ?? 0;
    if (seenWeight * 2 >= totalWeight) return values[index] ?? 0;
  }
  return values[order[order.length - 1] ?? 0] ?? 0;
}

/** Indexes of the values in ascending order, stable. Insertion is faster for short lists, which are typical. */
function sortedIndexes(values: readonly number[]): number[] {
  const order: number[] = [];
  if (values.length > SHORT_LIST_MAX) {
    for (let valueIndex = 0; valueIndex < values.length; valueIndex += 1) order.push(valueIndex);
    return order.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  }
  for (let valueIndex = 0; valueIndex < values.length; valueIndex += 1) {
    const value = values[valueIndex] ?? 0;
    let position = valueIndex;
    for (; position > 0 && (values[order[position - 1] ?? 0] ?? 0) > value; position -= 1)
      order[position] = order[position - 1] ?? 0;
    order[position] = valueIndex;
  }
  return order;
}
