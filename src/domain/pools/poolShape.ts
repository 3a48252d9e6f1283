/**
 * The types of pools, and what follows from the type alone. Tables and answers carry the number of the type. What differs
 * between protocols of one type is in `src/protocols/protocol.ts`.
 */

/** Constant product, as Uniswap V2. */
export const POOL_V2 = 2;
/** Concentrated liquidity between ticks, as Uniswap V3. */
export const POOL_V3 = 3;
/** Weighted pool of a Balancer vault. */
export const POOL_WEIGHTED = 4;
/** Stable pool of a Balancer vault. */
export const POOL_STABLE = 5;
/** CryptoSwap: liquidity around a price that follows the trades. */
export const POOL_CRYPTO = 6;
/** Liquidity in bins of one price each, as Liquidity Book. */
export const POOL_BINS = 7;
export const POOL_TYPES = [POOL_V2, POOL_V3, POOL_WEIGHTED, POOL_STABLE, POOL_CRYPTO, POOL_BINS] as const;
export type PoolType = (typeof POOL_TYPES)[number];

interface PoolShape {
  /** Whether liquidity lies between ticks: states have √price and tick, and liquidity events have a range. */
  readonly hasTicks: boolean;
  /** Whether the ingester walks the price of the pool to find its depth, because the liquidity changes with the price. */
  readonly isWalked: boolean;
  /** Whether the pool's contract is the token of its shares (LP token). A pool with ticks has positions instead. */
  readonly hasLpToken: boolean;
  /** Whether both sides of the pool have equal value at its price. */
  readonly hasEqualSides: boolean;
  /**
   * The exact source of the price: the ratio of the reserves, √price, or `stored`: only the price that is stored with
   * the state, a float64.
   */
  readonly price: 'reserves' | 'sqrt_price' | 'stored';
  /**
   * The liquidity near the price: √(reserve0 · reserve1), the active liquidity of the state, that of a walk, or that of a
   * weighted pool. Null if it is not computed.
   */
  readonly liquidity: 'reserves' | 'active' | 'walked' | 'weighted' | null;
  /**
   * The least amount that the pool pays out until its price moves by 2 %, as a part of the amount that a constant product
   * pool with the same reserves pays out. 0 if the reserves do not tell.
   */
  readonly reservesPart: number;
}

/** Far from the balance of a pool on the curve x³y + y³x. Near its balance, the part is much more. */
const STABLE_PART = 0.86;

const SHAPES: Readonly<Record<PoolType, PoolShape>> = {
  [POOL_V2]: {
    hasTicks: false,
    isWalked: false,
    hasLpToken: true,
    hasEqualSides: true,
    price: 'reserves',
    liquidity: 'reserves',
    reservesPart: 1,
  },
  [POOL_V3]: {
    hasTicks: true,
    isWalked: true,
    hasLpToken: false,
    hasEqualSides: false,
    price: 'sqrt_price',
    liquidity: 'active',
    reservesPart: 0,
  },
  [POOL_WEIGHTED]: {
    hasTicks: false,
    isWalked: false,
    hasLpToken: true,
    hasEqualSides: false,
    price: 'stored',
    liquidity: 'weighted',
    reservesPart: 0,
  },
  [POOL_STABLE]: {
    hasTicks: false,
    isWalked: false,
    hasLpToken: true,
    hasEqualSides: false,
    price: 'stored',
    liquidity: null,
    reservesPart: STABLE_PART,
  },
  [POOL_CRYPTO]: {
    hasTicks: false,
    isWalked: false,
    hasLpToken: true,
    hasEqualSides: false,
    price: 'stored',
    liquidity: null,
    reservesPart: 0,
  },
  [POOL_BINS]: {
    hasTicks: false,
    isWalked: true,
    hasLpToken: false,
    hasEqualSides: false,
    price: 'stored',
    liquidity: 'walked',
    reservesPart: 0,
  },
};

/** Bit of the tick of a V2 pool's state: the pool is on another curve than x·y = k. */
export const OFF_PRODUCT_CURVE = 1;

/** The type of a pool in one of its states. Some constant product pools can change to a stable curve and back. */
export function typeInState(poolType: PoolType, tick: number): PoolType {
  return poolType === POOL_V2 && (tick & OFF_PRODUCT_CURVE) !== 0 ? POOL_STABLE : poolType;
}

/** The type of this number, or undefined. */
export function findPoolType(value: number): PoolType | undefined {
  return POOL_TYPES.find((type) => type === value);
}

/** A map, because the shape is asked for each row of a list. */
const SHAPE_OF = new Map<number, PoolShape>(POOL_TYPES.map((type) => [type, SHAPES[type]]));

/** The shape of a stored or answered type. Throws a RangeError for an unknown number. */
export function shapeOf(poolType: number): PoolShape {
  const shape = SHAPE_OF.get(poolType);
  if (shape === undefined)
    throw new RangeError(`pool type: got ${poolType}; allowed: ${POOL_TYPES.join(', ')}`);
  return shape;
}
