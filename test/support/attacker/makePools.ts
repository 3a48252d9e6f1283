/**
 * Random markets for the attack simulation: a path of one to four hops from a token to an anchor, with pools of all
 * kinds: thin, deep, lopsided, young and drained. Everything follows from the seed.
 */
import type { Hex } from '../../../src/domain/hex';
import { Random } from '../random';
import { DAI, NATIVE, poolAddress, token, USDC } from '../worlds/pools';
import { SimPool, type PoolKind } from './simPool';

const V2_FEE = 0.003;
const V3_FEES = [0.0001, 0.0005, 0.003, 0.01];
const WEIGHTED_FEES = [0.0005, 0.001, 0.003, 0.01];
const WEIGHTS = [0.5, 0.5, 0.2, 0.8, 0.05, 0.95];
/** Range of the USD on the known side of a hop's deepest pool, as powers of ten. */
const SIZES = { thin: [3, 4.3], plain: [4.3, 5.5], deep: [5.5, 7] } as const;
type Size = keyof typeof SIZES;

interface PlannedPool {
  readonly pool: SimPool;
  /** Step of the path to which the pool belongs, 0 at the token. Null for a pool beside the path. */
  readonly step: number | null;
  /** Number of blocks of the history before the pool is created. */
  readonly bornAt: number;
  /** Withdrawal of the owners: the block of the history, and the fraction of the liquidity that they remove. */
  readonly drain: { readonly at: number; readonly part: number } | null;
}

export interface MarketPlan {
  readonly seed: number;
  /** The tokens of the path, from the priced token to the anchor. */
  readonly path: readonly Hex[];
  /** Fair USD prices of all tokens. */
  readonly fairPrices: ReadonlyMap<Hex, number>;
  readonly pools: readonly PlannedPool[];
  readonly historyBlocks: number;
  readonly label: string;
}

export function planMarket(seed: number): MarketPlan {
  const random = new Random(seed);
  const hops = random.pick([1, 1, 1, 2, 2, 3, 4]);
  const path = pathOf(hops, random);
  const fairPrices = new Map<Hex, number>([
    [DAI, 1],
    [USDC, 1],
  ]);
  for (const address of [NATIVE, ...path])
    if (!fairPrices.has(address)) fairPrices.set(address, 10 ** (random.next() * 8 - 5));
  const historyBlocks = 232 + random.int(0, 63);
  const sizeOf = (): Size =>
    hops === 1
      ? random.pick(['thin', 'plain', 'plain', 'deep'] as const)
      : random.pick(['plain', 'deep', 'deep'] as const);
  const pools: PlannedPool[] = [];
  const labels: string[] = [];
  for (let step = 0; step < hops; step += 1) {
    const size = sizeOf();
    const count = random.pick([1, 1, 2, 2, 3, 4]);
    labels.push(`${size}×${count}`);
    for (let i = 0; i < count; i += 1) {
      const nextToken = path[step + 1]!;
      // Some pools of the last hop hold the other anchor.
      const quote = step === hops - 1 && random.chance(0.3) ? (nextToken === DAI ? USDC : DAI) : nextToken;
      const [low, high] = SIZES[size];
      const usd = 10 ** (low + random.next() * (high - low) - (i === 0 ? 0 : random.next() * 2));
      pools.push(
        planPool(pools.length, path[step]!, quote, usd, step, { fairPrices, random, historyBlocks }),
      );
    }
  }
  // Adds a pool that exists from the beginning and is never drained.
  const addBeside = (tokenA: Hex, tokenB: Hex, usd: number, step: number | null): void => {
    const planned = planPool(pools.length, tokenA, tokenB, usd, step, { fairPrices, random, historyBlocks });
    pools.push({ ...planned, bornAt: 0, drain: null });
  };
  for (const middle of path.slice(1, -1)) {
    // The token gets another market, so that its owner is not the only one who can trade it.
    const other = token(random.int(16, 2 ** 40));
    fairPrices.set(other, 1);
    addBeside(middle, other, 3e4, null);
    addBeside(other, DAI, 5e4, null);
  }
  if (hops > 1 && random.chance(0.4))
    addBeside(path[0]!, random.pick([DAI, USDC, NATIVE]), 10 ** (1.5 + random.next() * 3), 0);
  if (random.chance(0.5)) addBeside(DAI, USDC, 10 ** (4 + random.next() * 2), null);
  // Managed pools take their random numbers from a generator of their own. The other pools of a seed stay the same, as
  // the fixed cases of the tests require.
  pools.push(
    ...managedPools(path, pools.length, { fairPrices, random: new Random(seed + 2 ** 32), historyBlocks }),
  );
  return { seed, path, fairPrices, pools, historyBlocks, label: labels.join(' ') };
}

function pathOf(hops: number, random: Random): Hex[] {
  // Addresses are random, so a token is token0 in some pools and token1 in others.
  const freshToken = (): Hex => token(random.int(16, 2 ** 40));
  const middleTokens = Array.from({ length: hops - 1 }, freshToken);
  if (middleTokens.length > 0 && random.chance(0.7)) middleTokens[middleTokens.length - 1] = NATIVE;
  return [freshToken(), ...middleTokens, random.pick([DAI, USDC])];
}

interface MarketContext {
  readonly fairPrices: ReadonlyMap<Hex, number>;
  readonly random: Random;
  readonly historyBlocks: number;
}

function planPool(
  poolNumber: number,
  tokenA: Hex,
  tokenB: Hex,
  usd: number,
  step: number | null,
  { fairPrices, random, historyBlocks }: MarketContext,
): PlannedPool {
  const [token0, token1] = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  const kind: PoolKind = random.pick(['v2', 'v2', 'v3', 'v3', 'weighted']);
  const fee = kind === 'v2' ? V2_FEE : random.pick(kind === 'v3' ? V3_FEES : WEIGHTED_FEES);
  const price = fairPrices.get(token0)! / fairPrices.get(token1)!;
  const weight0 = random.pick(WEIGHTS);
  const pool = new SimPool({
    address: poolAddress(poolNumber + 1),
    kind,
    token0,
    token1,
    fee,
    weight0,
    price,
  });
  const value1 = (2 * usd) / fairPrices.get(token1)!;
  if (kind === 'v3') addRanges(pool, value1, random);
  else pool.add(false, value1);
  const isYoung = random.chance(0.1);
  const bornAt = isYoung ? historyBlocks - random.int(5, 120) : random.int(0, 60);
  const drain = random.chance(0.1)
    ? { at: random.int(bornAt + 1, historyBlocks - 1), part: 1 - 10 ** (-random.next() * 3) }
    : null;
  return { pool, step, bornAt, drain };
}

/** In one of four markets, adds a weighted pool beside a hop whose asset manager is the attacker. */
function managedPools(path: readonly Hex[], poolNumber: number, context: MarketContext): PlannedPool[] {
  const { fairPrices, random } = context;
  if (!random.chance(0.25)) return [];
  const step = random.int(0, path.length - 2);
  const [tokenA, tokenB] = [path[step]!, path[step + 1]!];
  const [token0, token1] = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  const plan = {
    address: poolAddress(poolNumber + 1),
    kind: 'weighted' as const,
    token0,
    token1,
    fee: random.pick(WEIGHTED_FEES),
    weight0: random.pick(WEIGHTS),
    price: fairPrices.get(token0)! / fairPrices.get(token1)!,
    isManaged: true,
  };
  const pool = new SimPool(plan);
  pool.add(false, (2 * 10 ** (2 + random.next() * 5)) / fairPrices.get(token1)!);
  return [{ pool, step, bornAt: random.int(0, 60), drain: null }];
}

/** Adds wide, narrow and one-sided positions. The first position contains the price. */
function addRanges(pool: SimPool, value1: number, random: Random): void {
  const count = random.int(1, 4);
  for (let i = 0; i < count; i += 1) {
    const width = random.pick([0.005, 0.03, 0.06, 0.2, 0.7, 2]);
    const centreShift = i === 0 ? 0 : random.pick([0, 0, 0.5, -0.5]) * (0.2 + random.next());
    const centre = Math.exp(centreShift);
    // A narrow position gets less value, so that it has about as much liquidity at the price as a wide position.
    const positionValue = (value1 / count) * Math.min(1, width) * (0.3 + random.next());
    pool.add(false, positionValue, centre * Math.exp(-width), centre * Math.exp(width));
  }
}
