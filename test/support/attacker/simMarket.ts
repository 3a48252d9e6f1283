/**
 * A market of the attack simulation: pools, fair prices, traders, and the real pricer fed with the pools' states.
 * After each block, arbitrage traders trade every pool back towards the fair price, until the fee exceeds the gain.
 */
import type { Hex } from '../../../src/domain/hex';
import type { UsdPrice } from '../../../src/pricing/confidence';
import type { LegStep } from '../../../src/pricing/holds';
import type { LegState } from '../../../src/pricing/leg';
import type { MarketBlock } from '../../../src/pricing/priceBlock';
import { Pricer } from '../../../src/pricing/pricer';
import { Random } from '../random';
import { ANCHORS, NATIVE } from '../worlds/pools';
import type { Amounts, Side } from './amounts';
import type { MarketPlan } from './makePools';
import type { SimPool, Trade } from './simPool';

const FIRST_BLOCK = 320;
const BLOCK_SECONDS = 10;
/** Probability that an honest maker trades, per pool and block. */
const TRADE_CHANCE = 0.05;
/** Largest change of ln(fair price), and how often the fair prices change. */
const DRIFT = 0.001;
const DRIFT_CHANCE = 0.15;

/** One state of a pool within a block, in log order. */
export interface SimEvent {
  readonly pool: SimPool;
  readonly state: LegState;
  /** The swap that made the state; null if the state changed without a swap. */
  readonly swap: { readonly maker: Hex; readonly amount1: number } | null;
  readonly isNew: boolean;
}

type Maker = 'alice' | 'bob' | 'arbitrage' | 'attacker';

/** Pools, and the events of the running block. Cheap to copy. */
export class SimBooks {
  constructor(
    readonly pools: SimPool[],
    readonly fairPrices: Map<Hex, number>,
    /** Value of the attacker's tokens outside of pools, in USD. */
    public attackerUsd = 0,
    private events: SimEvent[] = [],
  ) {}

  clone(): SimBooks {
    return new SimBooks(
      this.pools.map((pool) => pool.clone()),
      this.fairPrices,
      this.attackerUsd,
      [...this.events],
    );
  }

  takeEvents(): SimEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  /** Token1 per token0 at fair prices; null: a token without a fair price. */
  fairOf({ plan }: SimPool): number | null {
    const [usd0, usd1] = [this.fairPrices.get(plan.token0), this.fairPrices.get(plan.token1)];
    return usd0 === undefined || usd1 === undefined ? null : usd0 / usd1;
  }

  usdOf(pool: SimPool, { amount0, amount1 }: Amounts): number {
    const worth = (amount: number, token: Hex): number =>
      amount === 0 ? 0 : amount * (this.fairPrices.get(token) ?? 0);
    return worth(amount0, pool.plan.token0) + worth(amount1, pool.plan.token1);
  }

  swapTo(pool: SimPool, price: number, maker: Maker): void {
    if (!(price > 0) || price === pool.price) return;
    const trade: Trade = pool.swapTo(price);
    this.attackerUsd += this.usdOf(pool, trade.earned);
    if (maker === 'attacker') this.attackerUsd -= this.usdOf(pool, trade.paid);
    this.note(pool, { maker: MAKERS[maker], amount1: Math.abs(trade.paid.amount1) });
  }

  addAttackers(pool: SimPool, usd: number, low?: number, high?: number): void {
    const usd1 =
      this.fairPrices.get(pool.plan.token1) ?? (this.fairPrices.get(pool.plan.token0) ?? 0) / pool.price;
    this.attackerUsd -= this.usdOf(pool, pool.add(true, usd / usd1, low, high));
    this.note(pool, null);
  }

  removeAttackers(pool: SimPool): void {
    this.attackerUsd += this.usdOf(pool, pool.removeAttackers());
    this.note(pool, null);
  }

  /** The attacker gives tokens to a V2 pool and syncs the pool. */
  donate(pool: SimPool, side: Side, usd: number): void {
    const amountsIn = onSide(side, usd / this.usdPerToken(pool, side));
    if (!pool.donate(amountsIn)) return;
    this.attackerUsd -= this.usdOf(pool, amountsIn);
    this.note(pool, null);
  }

  /** The attacker deposits one token of a weighted pool. */
  joinOne(pool: SimPool, side: Side, usd: number): void {
    const amount = usd / this.usdPerToken(pool, side);
    if (!pool.joinOne(side, amount)) return;
    this.attackerUsd -= this.usdOf(pool, onSide(side, amount));
    this.note(pool, null);
  }

  /** The attacker withdraws one token of a weighted pool, for a part (0 to 1) of his share. */
  exitOne(pool: SimPool, side: Side, part: number): void {
    const amountOut = pool.exitOne(side, part);
    if (amountOut === 0) return;
    this.attackerUsd += this.usdOf(pool, onSide(side, amountOut));
    this.note(pool, null);
  }

  /** The attacker reports tokens of a pool that he manages. No token moves. */
  declare(pool: SimPool, side: Side, usd: number): void {
    if (pool.declare(side, usd / this.usdPerToken(pool, side))) this.note(pool, null);
  }

  /** USD per whole token of a side, Infinity without a fair price. */
  private usdPerToken({ plan }: SimPool, side: Side): number {
    return this.fairPrices.get(side === 0 ? plan.token0 : plan.token1) ?? Infinity;
  }

  /** Records the state of a pool as an event of the running block. */
  note(pool: SimPool, swap: SimEvent['swap'], isNew = false): void {
    this.events.push({ pool, state: pool.state(), swap, isNew });
  }

  /** Trades each pool towards its fair price, as far as the gain exceeds the fee. */
  arbitrage(): void {
    for (const pool of this.pools) {
      const fairPrice = this.fairOf(pool);
      if (fairPrice === null) continue;
      const keptShare = 1 - pool.plan.fee;
      if (pool.price > (fairPrice / keptShare) * (1 + 1e-9))
        this.swapTo(pool, fairPrice / keptShare, 'arbitrage');
      else if (pool.price < fairPrice * keptShare * (1 - 1e-9))
        this.swapTo(pool, fairPrice * keptShare, 'arbitrage');
    }
  }
}

function onSide(side: Side, amount: number): Amounts {
  return { amount0: side === 0 ? amount : 0, amount1: side === 1 ? amount : 0 };
}

const MAKERS: Readonly<Record<Maker, Hex>> = {
  alice: `0x${'a1'.repeat(20)}`,
  bob: `0x${'b0'.repeat(20)}`,
  arbitrage: `0x${'c3'.repeat(20)}`,
  attacker: `0x${'ee'.repeat(20)}`,
};

export function toMarketBlock(number: number, events: readonly SimEvent[]): MarketBlock {
  const steps = new Map<string, LegStep[]>();
  const traded = new Map<string, { key: string; amount: number; makers: Hex[] }>();
  for (const { pool, state, swap } of events) {
    const { key } = pool.leg;
    const hasReserves = pool.plan.kind === 'v2';
    const cause = swap === null ? 'other' : hasReserves ? 'reserve_swap' : 'swap';
    const stepsOfLeg = steps.get(key) ?? [];
    steps.set(key, stepsOfLeg);
    stepsOfLeg.push({ state, cause });
    if (swap === null) continue;
    const tradeOfLeg = traded.get(key) ?? { key, amount: 0, makers: [] };
    traded.set(key, tradeOfLeg);
    tradeOfLeg.amount += swap.amount1;
    tradeOfLeg.makers.push(swap.maker);
  }
  return {
    number,
    timestamp: timeOf(number),
    legs: events.flatMap(({ pool, isNew }) => (isNew ? [{ leg: pool.leg, older: false }] : [])),
    moves: [...steps].map(([key, legSteps]) => ({ key, steps: legSteps })),
    traded: [...traded.values()],
  };
}

export function timeOf(block: number): number {
  return 1_700_000_000 + block * BLOCK_SECONDS;
}

/** A market after its honest history. */
export interface SimMarket {
  readonly plan: MarketPlan;
  readonly pricer: Pricer;
  readonly books: SimBooks;
  /** The last block of the history. */
  readonly block: number;
  /** Price of the token at the end of the history; null: no price. */
  readonly price: UsdPrice | null;
}

/** Runs the honest history of a plan: makers trade, fair prices drift, arbitrage follows. */
export function runHistory(plan: MarketPlan): SimMarket {
  const random = new Random(plan.seed + 1);
  const pricer = new Pricer({ anchors: ANCHORS, wrappedNative: NATIVE });
  const books = new SimBooks([], new Map(plan.fairPrices));
  const driftingTokens = [...plan.fairPrices.keys()].filter(
    (token) => !ANCHORS.some(({ address }) => address === token),
  );
  let block = FIRST_BLOCK;
  for (let historyBlock = 0; historyBlock <= plan.historyBlocks; historyBlock += 1, block += 1) {
    for (const token of random.chance(DRIFT_CHANCE) ? driftingTokens : [])
      books.fairPrices.set(token, books.fairPrices.get(token)! * Math.exp((random.next() - 0.5) * 2 * DRIFT));
    books.arbitrage();
    for (const { pool, bornAt, drain } of plan.pools) {
      if (bornAt === historyBlock) {
        const clonedPool = pool.clone();
        books.pools.push(clonedPool);
        clonedPool.swapTo(books.fairOf(clonedPool)!);
        books.note(clonedPool, null, true);
      }
      const ownPool = books.pools.find(({ leg }) => leg.key === pool.leg.key);
      if (ownPool === undefined) continue;
      if (drain?.at === historyBlock) {
        ownPool.drain(drain.part);
        books.note(ownPool, null);
      }
      if (random.chance(TRADE_CHANCE)) {
        const maker = random.pick(['alice', 'bob'] as const);
        books.swapTo(ownPool, ownPool.price * Math.exp((random.next() - 0.5) * 0.02), maker);
      }
    }
    if (historyBlock === plan.historyBlocks) books.arbitrage();
    pricer.apply(toMarketBlock(block, books.takeEvents()), false);
  }
  return { plan, pricer, books, block: block - 1, price: pricer.priceOf(plan.path[0]!) };
}
