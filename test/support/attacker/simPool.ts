/**
 * A pool of the attack simulation in whole tokens: positions over price ranges (V3), one full range (V2), or weighted
 * balances. Records which part of the liquidity belongs to the attacker. Fees go to the owners of the liquidity in
 * range.
 */
import type { Hex } from '../../../src/domain/hex';
import { makeLeg, type Leg, type LegState } from '../../../src/pricing/leg';
import type { Amounts, Side } from './amounts';
import { VaultRecord } from './vaultRecord';
import * as weighted from './weightedBalances';

/** Largest relative price move for the depth: the tokens paid out within this move are the depth. */
const DEPTH_MOVE = 0.02;
/** The price range in which tokens count as backing, relative to the price: the product's NEAR in ticks/tickMap.ts. */
const NEAR_UP = 1.5;
const NEAR_DOWN = 0.5;

export type PoolKind = 'v2' | 'v3' | 'weighted';

export interface Trade {
  /** Amounts that the trader pays, including the fee. A negative amount is received. */
  readonly paid: Amounts;
  /** The attacker's share of the fee, as a liquidity provider. */
  readonly earned: Amounts;
}

interface Position {
  readonly isAttackers: boolean;
  /** Square roots of the prices at the two ends of the range. */
  readonly low: number;
  readonly high: number;
  readonly liquidity: number;
}

export interface SimPoolPlan {
  readonly address: Hex;
  readonly kind: PoolKind;
  readonly token0: Hex;
  readonly token1: Hex;
  /** Swap fee as a part of the amount paid in, 0–1. */
  readonly fee: number;
  /** Weight of token0, 0–1. The two weights sum to 1. */
  readonly weight0: number;
  /** Whole token1 per whole token0. */
  readonly price: number;
  /** Whether the attacker is the asset manager of the pool (weighted pools). */
  readonly isManaged?: boolean;
}

export class SimPool {
  readonly leg: Leg;
  /** The product's data about the pool in the vault; null for V2 and V3 pools. */
  private vault: VaultRecord | null = null;
  private sqrtPrice: number;
  private positions: readonly Position[] = [];
  private balances: Amounts = { amount0: 0, amount1: 0 };
  /** Fraction of the weighted balances that belongs to the attacker, 0–1. */
  private attackerPart = 0;

  constructor(
    readonly plan: SimPoolPlan,
    leg?: Leg,
  ) {
    if (leg === undefined && plan.kind === 'weighted')
      this.vault = VaultRecord.register({ ...plan, isManaged: plan.isManaged === true });
    this.leg = leg ?? this.vault?.leg ?? makeLeg(plan.address, 1, plan.token0, plan.token1);
    this.sqrtPrice = Math.sqrt(plan.price);
  }

  clone(): SimPool {
    const copy = new SimPool(this.plan, this.leg);
    copy.vault = this.vault;
    copy.sqrtPrice = this.sqrtPrice;
    copy.positions = this.positions;
    copy.balances = this.balances;
    copy.attackerPart = this.attackerPart;
    return copy;
  }

  get price(): number {
    return this.sqrtPrice * this.sqrtPrice;
  }

  state(): LegState {
    const { amount0: reserve0, amount1: reserve1 } = this.heldAmounts;
    if (this.vault !== null) return this.vault.legState(reserve0, reserve1);
    if (this.plan.kind === 'v3') return this.walkedState();
    const price = reserve0 > 0 ? this.price : 0;
    return { price, liquidity: this.liquidityAt(this.sqrtPrice), reserve0, reserve1 };
  }

  /** The state of a V3 pool as a walk over its tick map gives it (protocols/ticks/tickMap.ts). */
  private walkedState(): LegState {
    const { sqrtPrice } = this;
    const paidTo = (factor: number): Amounts => this.clone().swapTo(this.price * factor).paid;
    const up = (-paidTo(1 + DEPTH_MOVE).amount0 * sqrtPrice) / (1 - 1 / Math.sqrt(1 + DEPTH_MOVE));
    const down = -paidTo(1 - DEPTH_MOVE).amount1 / sqrtPrice / (1 - Math.sqrt(1 - DEPTH_MOVE));
    return {
      price: this.price,
      liquidity: Math.max(0, Math.min(up, down)),
      reserve0: Math.max(0, -paidTo(NEAR_UP).amount0),
      reserve1: Math.max(0, -paidTo(NEAR_DOWN).amount1),
    };
  }

  /** Balances of both tokens. */
  get heldAmounts(): Amounts {
    return this.amounts(() => true);
  }

  /** Liquidity of the positions whose range contains the price. */
  get active(): number {
    return this.liquidityAt(this.sqrtPrice);
  }

  /** Trades with the pool until its marginal price is `price`. */
  swapTo(price: number): Trade {
    return this.plan.kind === 'weighted' ? this.swapWeighted(price) : this.swapRanges(Math.sqrt(price));
  }

  /**
   * Adds liquidity worth `value1` token1, between two prices relative to the present one (V3 only). Returns the amounts
   * that the provider pays.
   */
  add(isAttackers: boolean, value1: number, lowFactor = 0, highFactor = Infinity): Amounts {
    if (this.plan.kind === 'weighted') return this.addWeighted(isAttackers, value1);
    const isFull = this.plan.kind === 'v2';
    const low = isFull ? 0 : this.sqrtPrice * Math.sqrt(lowFactor);
    const high = isFull ? Infinity : this.sqrtPrice * Math.sqrt(highFactor);
    const unit = amountsIn({ isAttackers, low, high, liquidity: 1 }, this.sqrtPrice);
    const unitWorth = unit.amount0 * this.price + unit.amount1;
    if (!(unitWorth > 0) || !(value1 > 0)) return { amount0: 0, amount1: 0 };
    const position = { isAttackers, low, high, liquidity: value1 / unitWorth };
    this.positions = [...this.positions, position];
    return amountsIn(position, this.sqrtPrice);
  }

  /** Removes all of the attacker's liquidity. Returns the amounts that the attacker receives. */
  removeAttackers(): Amounts {
    const removedAmounts = this.amounts(({ isAttackers }) => isAttackers);
    this.positions = this.positions.filter(({ isAttackers }) => !isAttackers);
    // Only weighted pools have balances besides the positions.
    if (this.plan.kind === 'weighted') this.balances = minus(this.balances, removedAmounts);
    this.attackerPart = 0;
    return removedAmounts;
  }

  /** Honest providers remove a part of their liquidity, 0–1. */
  drain(part: number): void {
    this.positions = this.positions.map((position) => ({
      ...position,
      liquidity: position.isAttackers ? position.liquidity : position.liquidity * (1 - part),
    }));
    const { amount0, amount1 } = this.balances;
    this.balances = { amount0: amount0 * (1 - part), amount1: amount1 * (1 - part) };
  }

  /** Gives tokens to a V2 pool and syncs. Returns false for other kinds. */
  donate({ amount0, amount1 }: Amounts): boolean {
    if (this.plan.kind !== 'v2') return false;
    const amountsBefore = this.heldAmounts;
    const [newAmount0, newAmount1] = [amountsBefore.amount0 + amount0, amountsBefore.amount1 + amount1];
    if (!(newAmount0 > 0) || !(newAmount1 > 0)) return false;
    const liquidityGrowth = Math.sqrt(newAmount0 * newAmount1) / this.liquidityAt(this.sqrtPrice);
    this.positions = this.positions.map((position) => ({
      ...position,
      liquidity: position.liquidity * liquidityGrowth,
    }));
    this.sqrtPrice = Math.sqrt(newAmount1 / newAmount0);
    return true;
  }

  /** The attacker deposits one token of a weighted pool. Returns false for other kinds. */
  joinOne(side: Side, amount: number): boolean {
    if (this.plan.kind !== 'weighted' || !(amount > 0)) return false;
    const { plan, balances } = this;
    const { minted, balances: after } = weighted.joinOne(balances, plan, side, amount);
    this.attackerPart = (this.attackerPart + minted) / (1 + minted);
    this.setBalances(after);
    return true;
  }

  /**
   * The attacker withdraws one token of a weighted pool for a part (0 to 1) of his share. Returns the amount that the
   * attacker receives.
   */
  exitOne(side: Side, part: number): number {
    const burned = this.attackerPart * part;
    if (this.plan.kind !== 'weighted' || !(burned > 0) || burned >= 1) return 0;
    const { paid, balances: after } = weighted.exitOne(this.balances, this.plan, side, burned);
    this.attackerPart = (this.attackerPart - burned) / (1 - burned);
    this.setBalances(after);
    return paid;
  }

  /** The attacker, as the asset manager, reports tokens that do not exist. Returns false if he is not the manager. */
  declare(side: Side, amount: number): boolean {
    if (this.vault === null || this.plan.isManaged !== true) return false;
    this.vault = this.vault.declare(side, amount);
    return true;
  }

  private setBalances(balances: Amounts): void {
    const { weight0 } = this.plan;
    this.balances = balances;
    this.sqrtPrice = Math.sqrt((balances.amount1 * weight0) / (balances.amount0 * (1 - weight0)));
  }

  private liquidityAt(sqrtPrice: number): number {
    let sum = 0;
    for (const { low, high, liquidity } of this.positions)
      if (sqrtPrice >= low && sqrtPrice < high) sum += liquidity;
    return sum;
  }

  /** Balances of the positions for which `isIncluded` is true, or of their owners in a weighted pool. */
  private amounts(isIncluded: (position: Position) => boolean): Amounts {
    if (this.plan.kind === 'weighted') {
      const { amount0, amount1 } = this.balances;
      const attackerShare = isIncluded({ isAttackers: true, low: 0, high: Infinity, liquidity: 0 })
        ? this.attackerPart
        : 0;
      const otherShare = isIncluded({ isAttackers: false, low: 0, high: Infinity, liquidity: 0 })
        ? 1 - this.attackerPart
        : 0;
      return {
        amount0: amount0 * (attackerShare + otherShare),
        amount1: amount1 * (attackerShare + otherShare),
      };
    }
    let [amount0, amount1] = [0, 0];
    for (const position of this.positions) {
      if (!isIncluded(position)) continue;
      const positionAmounts = amountsIn(position, this.sqrtPrice);
      amount0 += positionAmounts.amount0;
      amount1 += positionAmounts.amount1;
    }
    return { amount0, amount1 };
  }

  /** Walks the ranges between the present root and the target (Uniswap V3 whitepaper, 6.2). */
  private swapRanges(target: number): Trade {
    const isUp = target > this.sqrtPrice;
    const [from, to] = isUp ? [this.sqrtPrice, target] : [target, this.sqrtPrice];
    const stops = stopsBetween(this.positions, from, to);
    let paid0 = 0;
    let paid1 = 0;
    let earned = 0;
    const { fee } = this.plan;
    for (let i = 1; i < stops.length; i += 1) {
      const lowRoot = stops[i - 1]!;
      const highRoot = stops[i]!;
      const middle = (lowRoot + highRoot) / 2;
      let totalLiquidity = 0;
      let attackerLiquidity = 0;
      for (const { low, high, liquidity, isAttackers } of this.positions) {
        if (middle < low || middle >= high) continue;
        totalLiquidity += liquidity;
        if (isAttackers) attackerLiquidity += liquidity;
      }
      if (totalLiquidity === 0) continue;
      const delta0 = totalLiquidity * (1 / lowRoot - 1 / highRoot);
      const delta1 = totalLiquidity * (highRoot - lowRoot);
      const chargedFee = ((isUp ? delta1 : delta0) * fee) / (1 - fee);
      paid0 += isUp ? -delta0 : delta0 + chargedFee;
      paid1 += isUp ? delta1 + chargedFee : -delta1;
      earned += (chargedFee * attackerLiquidity) / totalLiquidity;
    }
    this.sqrtPrice = target;
    return {
      paid: { amount0: paid0, amount1: paid1 },
      earned: isUp ? { amount0: 0, amount1: earned } : { amount0: earned, amount1: 0 },
    };
  }

  /** The invariant is B0^w0 · B1^w1 (Balancer WeightedMath). The fee goes to the owners, not into the balances. */
  private swapWeighted(target: number): Trade {
    const { weight0, fee } = this.plan;
    const balancesBefore = this.balances;
    const priceRatio = target / this.price;
    const balancesAfter = {
      amount0: balancesBefore.amount0 * priceRatio ** -(1 - weight0),
      amount1: balancesBefore.amount1 * priceRatio ** weight0,
    };
    const [delta0, delta1] = [
      balancesAfter.amount0 - balancesBefore.amount0,
      balancesAfter.amount1 - balancesBefore.amount1,
    ];
    this.balances = balancesAfter;
    this.sqrtPrice = Math.sqrt(target);
    const [fee0, fee1] = [delta0, delta1].map((delta) => (Math.max(0, delta) * fee) / (1 - fee));
    return {
      paid: { amount0: delta0 + fee0!, amount1: delta1 + fee1! },
      earned: { amount0: fee0! * this.attackerPart, amount1: fee1! * this.attackerPart },
    };
  }

  private addWeighted(isAttackers: boolean, value1: number): Amounts {
    const { weight0 } = this.plan;
    const addedAmounts = { amount0: (value1 * weight0) / this.price, amount1: value1 * (1 - weight0) };
    const attackerAmount1 =
      this.balances.amount1 * this.attackerPart + (isAttackers ? addedAmounts.amount1 : 0);
    this.balances = {
      amount0: this.balances.amount0 + addedAmounts.amount0,
      amount1: this.balances.amount1 + addedAmounts.amount1,
    };
    this.attackerPart = attackerAmount1 / this.balances.amount1;
    return addedAmounts;
  }
}

/**
 * The square root prices `from` and `to`, and all ends of positions' ranges between them, ascending. The liquidity
 * changes at these ends.
 */
function stopsBetween(positions: readonly Position[], from: number, to: number): number[] {
  const stops = [from];
  for (const { low, high } of positions) {
    if (low > from && low < to && !stops.includes(low)) stops.push(low);
    if (high > from && high < to && !stops.includes(high)) stops.push(high);
  }
  stops.push(to);
  return stops.length === 2 ? stops : stops.sort((a, b) => a - b);
}

function amountsIn({ low, high, liquidity }: Position, sqrtPrice: number): Amounts {
  const boundedRoot = Math.min(Math.max(sqrtPrice, low), high);
  return {
    amount0: liquidity * (1 / boundedRoot - (high === Infinity ? 0 : 1 / high)),
    amount1: liquidity * (boundedRoot - low),
  };
}

function minus(a: Amounts, b: Amounts): Amounts {
  return { amount0: a.amount0 - b.amount0, amount1: a.amount1 - b.amount1 };
}
