/**
 * The least that an attacker loses to move the USD price of a token at the end of a block, when everyone else trades
 * the pools back afterwards. The cost excludes capital that the attacker gets back. It is a lower bound: the true cost
 * is higher by a small factor at most. Pure.
 */
import { DEPTH_PART } from '../leg';

/** One pool of a hop. */
export interface CostPool {
  /** USD of one side of the constant product pool with the same price and liquidity. */
  readonly sideUsd: number;
  /** USD of the known side that move the price by 2 %; at most what the pool holds. */
  readonly depthUsd: number;
  /** Share in the hop price; the shares of a hop sum to 1. */
  readonly share: number;
  /** ln of the pool's price relative to the hop price. */
  readonly log: number;
  /** Fee of a swap, as a part of the amount paid in, 0–1. */
  readonly fee: number;
  /** Whether the liquidity may end within the price move (V3). */
  readonly isRanged: boolean;
  /** Active liquidity at the price, divided by the liquidity used for the depth; at least 1. */
  readonly concentration: number;
  /** Whether the pool belongs to a vault. Open pools (V2 and V3) may exclude such a pool from the hop. */
  readonly isVault: boolean;
}

export interface CostHop {
  /** Pools that make the hop price, at least one. */
  readonly pools: readonly CostPool[];
  /**
   * A pool of the route without depth, for example because the price left the range of its liquidity. It has the
   * price that the attacker wants, because moving it costs nothing. Null without such a pool.
   */
  readonly dormant: Pick<CostPool, 'isRanged'> | null;
  /** Highest fee of the pools of the hop and of pools that could join the hop. */
  readonly feeMax: number;
  /** Highest fee of the pools that could give the token of the hop another route. 0 without such a pool. */
  readonly otherFeeMax: number;
  /** Whether the hop has, or could get, more than one pool. */
  readonly hasOthers: boolean;
  /** Whether there are pools that the route does not use, for example young ones. A swap may let them join the hop. */
  readonly hasUnused: boolean;
}

/** Costs in USD of three moves: by 2, 10 and 50 % of the price. */
export interface MoveCosts {
  readonly p2: number;
  readonly p10: number;
  readonly p50: number;
}

export interface ManipulationCost {
  /** To price · (1 + p). */
  readonly up: MoveCosts;
  /** To price · (1 − p). */
  readonly down: MoveCosts;
}

/** Depth is measured up to a price move of 2 % (as ln). Beyond it, the liquidity of a V3 pool may end. */
const KNOWN_LOG = Math.log(1.02);
/** Pools whose prices differ by less than this (as ln) stay in the hop together (hop.ts). */
const AGREEMENT_LOG = 0.05;
/**
 * Open pools exclude vault pools with a distant price if the open pools hold a tenth of the whole depth
 * (hop.ts), so a ninth of the vault pools' depth. The factor 0.9 is for the depths of routes, which are
 * rounded to steps of 9 %.
 */
const OPEN_PER_VAULT = 0.9 / 9;
/**
 * Largest number of pools of a hop that the attacker may move. Every selection of these pools is tried, which
 * limits the work; shallower pools are ignored.
 */
const POOLS_MAX = 6;
/**
 * Depth in USD that a false price needs to be trusted. A trusted price needs a pool with 10,000 USD on its known side
 * (confidence.ts). Such a pool has this depth, which the attacker loses. The rest of the 10,000 USD can be liquidity
 * up to 50 % away from the price, which the attacker withdraws later.
 */
const TRUSTED_DEPTH_USD = 10_000 * DEPTH_PART;

/** A pool without depth. */
const EMPTY_POOL: CostPool = {
  sideUsd: 0,
  depthUsd: 0,
  share: 0,
  log: 0,
  fee: 0,
  isRanged: false,
  concentration: 1,
  isVault: false,
};

/** Largest published cost, USD. Larger costs are lowered to it. */
const COST_MAX = 1e18;

/** Hops from the token to the anchor, at least one. */
export function manipulationCost(hops: readonly CostHop[]): ManipulationCost {
  const costs = (isUp: boolean): MoveCosts => {
    const costOf = (priceChange: number): number =>
      roundCost(moveCost(hops, Math.log(isUp ? 1 + priceChange : 1 - priceChange)));
    return { p2: costOf(0.02), p10: costOf(0.1), p50: costOf(0.5) };
  };
  return { up: costs(true), down: costs(false) };
}

/** Rounds a cost to three significant digits, at most COST_MAX. */
function roundCost(usd: number): number {
  return usd > 0 ? Number(Math.min(COST_MAX, usd).toPrecision(3)) : 0;
}

/**
 * USD to move the price by a factor of e^log. The attacker may give at most one hop another route, if that is
 * cheaper.
 */
function moveCost(hops: readonly CostHop[], log: number): number {
  const shifts = hops.map((hop) => freeShift(hop, log > 0));
  let leastUsd = pushCost(hops, shifts, log);
  hops.forEach((hop, i) => {
    if (!(hop.otherFeeMax > hop.feeMax)) return;
    const otherShift = freeShift({ ...hop, feeMax: hop.otherFeeMax, hasOthers: true }, log > 0);
    leastUsd = Math.min(
      leastUsd,
      pushCost(
        hops,
        shifts.map((shift, shiftIndex) => (shiftIndex === i ? otherShift : shift)),
        log,
      ),
    );
  });
  return leastUsd;
}

/** Tries every selection of the at most four hops. `shifts` are the parts of the move that cost nothing, per hop. */
function pushCost(hops: readonly CostHop[], shifts: readonly number[], log: number): number {
  let leastUsd = Infinity;
  for (let selectionBits = 1; selectionBits < 2 ** hops.length; selectionBits += 1) {
    let remainingLog = Math.abs(log);
    const pushed: PushedHop[] = [];
    hops.forEach((hop, i) => {
      const shift = shifts[i] ?? 0;
      if ((selectionBits >> i) % 2 === 1) pushed.push({ hop, shift });
      else remainingLog -= shift;
    });
    if (!(remainingLog > 0)) return 0;
    leastUsd = Math.min(leastUsd, splitCost(pushed, Math.sign(log) * remainingLog));
  }
  return leastUsd;
}

interface PushedHop {
  readonly hop: CostHop;
  readonly shift: number;
}

/**
 * Splits the move over hops: a hop that costs less moves further. For quadratic costs c, the least sum is 1 / Σ(1/c).
 */
function splitCost(hops: readonly PushedHop[], log: number): number {
  const inverseCosts = hops.map(({ hop }) => 1 / Math.max(Number.MIN_VALUE, hopCost(hop, KNOWN_LOG)));
  const inverseCostSum = inverseCosts.reduce((sum, value) => sum + value, 0);
  return hops.reduce((sum, { hop, shift }, i) => {
    const logOfHop = (log * (inverseCosts[i] ?? 0)) / inverseCostSum;
    return sum + hopCost(hop, logOfHop) * remainingCostShare(Math.abs(logOfHop), shift);
  }, 0);
}

/**
 * ln of the part of the move that costs nothing. The attacker adds liquidity to the most favourable pool, which gets
 * the weight of the hop in the next epoch, and takes the liquidity back later. The pool stands as far from the fair
 * price as its fee, where arbitrage does not pay.
 */
function freeShift({ pools, feeMax, hasOthers }: CostHop, isUp: boolean): number {
  if (!hasOthers) return 0;
  const sign = isUp ? 1 : -1;
  // Largest distance of the fair price from the hop price. Beyond it, arbitrage would trade a pool of the hop.
  const fairLog = Math.min(...pools.map(({ log, fee }) => sign * log - Math.log(1 - fee)));
  let shift = Math.max(0, fairLog - Math.log(1 - feeMax));
  for (const { log, fee, share } of pools) {
    const edgeLog = Math.max(sign * log, fairLog - Math.log(1 - fee));
    shift = Math.max(shift, sign * log + (edgeLog - sign * log) * (1 - share));
  }
  return shift;
}

/**
 * The part (0 to 1) of a hop's cost that remains for an attacker who also takes weight from some pools of the hop. A
 * weight that moves to other pools changes the hop price by at most s = `shift` of the wanted distance d; both are
 * differences of ln(price). If the part w of the weight moves, the attacker must push the price of the rest by
 * (d − s·w). This costs (d − s·w)² / (1 − w); without such a move, the cost is d². For s > d/2 the cost is least at
 * w = 2 − d/s, where it is 4·s·(d − s). For a smaller s, no move of weight makes the attack cheaper.
 */
function remainingCostShare(distance: number, shift: number): number {
  if (shift * 2 <= distance) return 1;
  return shift < distance ? (4 * shift * (distance - shift)) / distance ** 2 : 0;
}

function hopCost(hop: CostHop, log: number): number {
  return Math.min(jointCost(hop.pools, log), selectionCost(hop, log));
}

/**
 * Least cost of moving the hop price by d if every pool moves, pool i by d_i. The shares give Σ share_i·d_i =
 * d, and the costs are c_i·d_i². Their least sum is d² / Σ(share_i²/c_i).
 */
function jointCost(pools: readonly CostPool[], log: number): number {
  let inverseCostSum = 0;
  for (const pool of pools) {
    const supplyUsd = isBeyondKnownDepth(pool, log) ? supplyCost(pool.depthUsd, log) : 0;
    inverseCostSum += pool.share ** 2 / Math.max(Number.MIN_VALUE, walkCost(pool, log) + supplyUsd);
  }
  return 1 / inverseCostSum;
}

/**
 * Cost of moving some pools. The other pools leave the hop, because they hold less of the depth. A ranged pool that was
 * moved to the end of its range has no depth. The attacker then supplies depth that outweighs the other pools and keeps
 * the confidence.
 */
function selectionCost({ pools: hopPools, dormant, hasUnused }: CostHop, log: number): number {
  const pools = [...hopPools].sort((a, b) => b.depthUsd - a.depthUsd).slice(0, POOLS_MAX);
  if (dormant !== null) pools.push({ ...EMPTY_POOL, ...dormant });
  // An unused open pool may join the hop and exclude the hop's vault pools. It starts without depth; the attacker
  // supplies the depth that it needs.
  if (hasUnused && pools.some(({ isVault }) => isVault)) pools.push(EMPTY_POOL);
  let leastUsd = Infinity;
  for (let selectionBits = 1; selectionBits < 2 ** pools.length; selectionBits += 1) {
    const isAll = selectionBits === 2 ** pools.length - 1;
    const distance = isAll ? log : Math.sign(log) * Math.max(Math.abs(log), AGREEMENT_LOG);
    const movedPools = pools.filter((_, i) => (selectionBits >> i) % 2 === 1);
    const otherPools = pools.filter((_, i) => (selectionBits >> i) % 2 === 0);
    const missingUsd = missingDepth(movedPools, otherPools, distance);
    const unrangedUsd = unrangedCost(missingUsd / DEPTH_PART, distance);
    const supplyUsd = movedPools.some(({ isRanged }) => isRanged)
      ? Math.min(unrangedUsd, supplyCost(missingUsd, distance))
      : unrangedUsd;
    const walkUsd = movedPools.reduce((sum, pool) => sum + walkCost(pool, distance), 0);
    leastUsd = Math.min(leastUsd, walkUsd + supplyUsd);
  }
  return leastUsd;
}

/** USD of depth that the attacker must supply at the false price, so that the moved pools set a trusted price. */
function missingDepth(movedPools: readonly CostPool[], otherPools: readonly CostPool[], log: number): number {
  const poolsWithDepth = movedPools.filter((pool) => !isBeyondKnownDepth(pool, log));
  const [movedUsd, otherUsd] = [depthOf(poolsWithDepth), depthOf(otherPools)];
  // The depth of pools that left the hop still counts towards the confidence.
  const untrustedUsd = Math.max(0, TRUSTED_DEPTH_USD - movedUsd - otherUsd);
  const outvotingUsd = Math.max(0, otherUsd - movedUsd);
  if (!movedPools.some(isOpen) || !otherPools.some(({ isVault }) => isVault))
    return Math.max(outvotingUsd, untrustedUsd);
  // Moved open pools can instead exclude the vault pools of the hop. They then must outvote only the open
  // pools that were not moved.
  const [movedOpenUsd, otherOpenUsd] = [
    depthOf(poolsWithDepth.filter(isOpen)),
    depthOf(otherPools.filter(isOpen)),
  ];
  const vaultUsd = depthOf([...movedPools, ...otherPools].filter(({ isVault }) => isVault));
  const excludingUsd = Math.max(
    0,
    otherOpenUsd - movedOpenUsd,
    vaultUsd * OPEN_PER_VAULT - movedOpenUsd - otherOpenUsd,
  );
  return Math.max(Math.min(outvotingUsd, excludingUsd), untrustedUsd);
}

function isOpen({ isVault }: CostPool): boolean {
  return !isVault;
}

function depthOf(pools: readonly CostPool[]): number {
  return pools.reduce((sum, { depthUsd }) => sum + depthUsd, 0);
}

/**
 * Loss in USD on depth that the attacker offers at a false price: its value at that price minus its fair value. Others
 * buy it.
 */
function supplyCost(depthUsd: number, log: number): number {
  return depthUsd * (log > 0 ? 1 - Math.exp(-log) : Math.exp(-log) - 1);
}

function isBeyondKnownDepth({ isRanged }: CostPool, log: number): boolean {
  return isRanged && Math.abs(log) > KNOWN_LOG * 1.05;
}

/**
 * Loss in USD of moving a pool. The attacker moves a constant product pool from P to P·r, and others trade it back. The
 * attacker pays L·√P·(√r − 1) token1 for L/√P·(1 − 1/√r) token0. The loss is L·√P·(√r + 1/√r − 2) token1, which is
 * L·√P·4·sinh²(x/4) with r = e^x (Uniswap V3 whitepaper, 6.2). The liquidity of a ranged pool is known up to its depth
 * D only. If D is smaller than the depth of L, the liquidity ends at a move of 2·D/(L·√P), and the loss up to there is
 * D²/(L·√P).
 */
function walkCost(pool: CostPool, log: number): number {
  const { sideUsd, depthUsd, isRanged, concentration } = pool;
  const unranged = unrangedCost(sideUsd, log);
  if (!isRanged) return unranged;
  const knownCost = Math.min(unrangedCost(sideUsd, KNOWN_LOG), sideUsd > 0 ? depthUsd ** 2 / sideUsd : 0);
  return Math.min(unranged, knownCost) / Math.max(1, concentration);
}

function unrangedCost(sideUsd: number, log: number): number {
  return sideUsd * 4 * Math.sinh(log / 4) ** 2;
}
