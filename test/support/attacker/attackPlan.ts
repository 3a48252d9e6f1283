/**
 * One attack on a simulated market: preparations over some blocks, then a push of pools in the last block.
 * The push is the smallest one that moves the price by the requested percentage. The attacker's loss is
 * exact, in USD at fair prices.
 */
import type { Hex } from '../../../src/domain/hex';
import { TRUSTED_MIN } from '../../../src/pricing/confidence';
import type { Side } from './amounts';
import { toMarketBlock, type SimBooks, type SimEvent, type SimMarket } from './simMarket';
import { SimPool, type SimPoolPlan } from './simPool';

/**
 * One move of the attacker. Times are in blocks since the attack began. `pool` is an index into the market's pools;
 * pools that the attack created come last.
 */
export type AttackMove =
  | { readonly kind: 'swap'; readonly at: number; readonly pool: number; readonly log: number }
  | {
      readonly kind: 'add';
      readonly at: number;
      readonly pool: number;
      readonly usd: number;
      /** The ends of the range, as ln of price divided by present price. */
      readonly low: number;
      readonly high: number;
    }
  | { readonly kind: 'remove'; readonly at: number; readonly pool: number }
  | {
      /** `join` deposits one token of a weighted pool. `declare` reports a managed balance of a pool with a manager. */
      readonly kind: 'donate' | 'join' | 'declare';
      readonly at: number;
      readonly pool: number;
      readonly side: Side;
      readonly usd: number;
    }
  | {
      /** Withdraws one token of a weighted pool. */
      readonly kind: 'exit';
      readonly at: number;
      readonly pool: number;
      readonly side: Side;
      /** The part of the attacker's share of the pool to withdraw, 0–1. */
      readonly part: number;
    }
  | { readonly kind: 'create'; readonly at: number; readonly plan: SimPoolPlan; readonly usd: number };

/** Largest number of blocks of an attack. */
export const BLOCKS_MAX = 40;

export interface AttackPlan {
  /** Blocks of preparation before the block of the push, 0–39. */
  readonly prepBlocks: number;
  /** Moves of the preparation, and moves of the last block before its push. */
  readonly moves: readonly AttackMove[];
  /** Direction of the push: ln of the price per pool, towards a higher (1) or lower (−1) price of the token. */
  readonly push: readonly number[];
  /** Moves of the last block after its push. */
  readonly afterPush: readonly AttackMove[];
}

export interface AttackResult {
  /** Loss of the attacker, in USD. */
  readonly loss: number;
  /** ln of the price divided by the price of the honest run. */
  readonly moved: number;
  /** Number of blocks from the start of the attack to this result. */
  readonly at: number;
}

/** Most bisections of a push. They end earlier when the size is known to 0.5 %. */
const BISECTIONS_MAX = 18;
const PUSH_PRECISION = 5e-3;
/** Largest push, as ln of the price of a pool. */
const PUSH_MAX = 3;
/** Sizes of pushes to try, as multiples of the requested move of ln(price). */
const PUSH_SIZES = [0.5, 0.8, 1, 1.02, 1.1, 1.3, 1.7, 2.5, 4];

export class AttackRunner {
  /** Price of the token in a run without the attack, at the end of each block; null if this price is not trusted. */
  private readonly honestPrices: (number | null)[] = [];
  evaluations = 0;

  constructor(
    private readonly market: SimMarket,
    private readonly target: Hex,
    blocksMax: number,
  ) {
    const { pricer, block } = market;
    const clonedBooks = market.books.clone();
    for (let i = 1; i <= blocksMax; i += 1) {
      clonedBooks.arbitrage();
      pricer.apply(toMarketBlock(block + i, clonedBooks.takeEvents()), true);
      this.honestPrices.push(pricer.priceOf(target)?.usd ?? null);
    }
    pricer.rewindTo(block);
  }

  /** Runs the attack. Returns null if it does not move ln(price) by `wantedLog`. */
  run(plan: AttackPlan, wantedLog: number): AttackResult | null {
    this.evaluations += 1;
    const { pricer, block } = this.market;
    const books = this.market.books.clone();
    try {
      for (let blockIndex = 0; blockIndex < plan.prepBlocks; blockIndex += 1) {
        books.arbitrage();
        for (const move of plan.moves) if (move.at === blockIndex) apply(books, move);
        const movedLog = this.step(blockIndex, books.takeEvents());
        if (movedLog !== null && reaches(movedLog, wantedLog))
          return { loss: lossOf(books), moved: movedLog, at: blockIndex };
      }
      books.arbitrage();
      for (const move of plan.moves) if (move.at >= plan.prepBlocks) apply(books, move);
      return this.findPush(plan, books, wantedLog);
    } finally {
      pricer.rewindTo(block);
    }
  }

  /** Applies a block. Returns ln of the trusted price divided by the price of the honest run. */
  private step(blockIndex: number, events: readonly SimEvent[]): number | null {
    const { pricer, block } = this.market;
    pricer.apply(toMarketBlock(block + 1 + blockIndex, events), true);
    const price = pricer.priceOf(this.target);
    const honestPrice = this.honestPrices[blockIndex] ?? null;
    if (price === null || honestPrice === null || price.confidence < TRUSTED_MIN) return null;
    return Math.log(price.usd / honestPrice);
  }

  /** Finds the smallest push that reaches the move. Widens the push in steps, then bisects. */
  private findPush(plan: AttackPlan, booksBefore: SimBooks, wantedLog: number): AttackResult | null {
    const attackBlock = plan.prepBlocks;
    const sign = Math.sign(wantedLog);
    const attempt = (size: number): AttackResult | null => {
      const books = booksBefore.clone();
      pushPools(books, plan.push, sign * size);
      for (const move of plan.afterPush) apply(books, move);
      const movedLog = this.step(attackBlock, books.takeEvents());
      this.market.pricer.rewindTo(this.market.block + attackBlock);
      return movedLog !== null && reaches(movedLog, wantedLog)
        ? { loss: lossOf(books), moved: movedLog, at: attackBlock }
        : null;
    };
    let [low, high] = [0, 0];
    let best = attempt(0);
    if (best !== null) return best;
    for (const factor of PUSH_SIZES) {
      const size = Math.abs(wantedLog) * factor;
      if (size > PUSH_MAX) break;
      best = attempt(size);
      high = size;
      if (best !== null) break;
      low = size;
    }
    if (best === null) return null;
    for (let step = 0; step < BISECTIONS_MAX && high - low > PUSH_PRECISION * high; step += 1) {
      const middle = (low + high) / 2;
      const result = attempt(middle);
      if (result === null) low = middle;
      else [high, best] = [middle, result];
    }
    return best;
  }
}

function reaches(movedLog: number, wantedLog: number): boolean {
  return wantedLog > 0 ? movedLog >= wantedLog : movedLog <= wantedLog;
}

function pushPools(books: SimBooks, push: readonly number[], size: number): void {
  push.forEach((part, poolIndex) => {
    const pool = books.pools[poolIndex];
    if (pool !== undefined && part !== 0) books.swapTo(pool, pool.price * Math.exp(part * size), 'attacker');
  });
}

/** The attacker's loss in USD after arbitrage traded the pools back and the attacker withdrew all liquidity. */
function lossOf(booksAfter: SimBooks): number {
  const books = booksAfter.clone();
  books.arbitrage();
  for (const pool of books.pools) books.removeAttackers(pool);
  return -books.attackerUsd;
}

function apply(books: SimBooks, move: AttackMove): void {
  if (move.kind === 'create') {
    const created = new SimPool(move.plan);
    books.pools.push(created);
    // A range from a tenth to ten times the price.
    books.addAttackers(created, move.usd, 0.1, 10);
    books.note(created, null, true);
    return;
  }
  const pool: SimPool | undefined = books.pools[move.pool];
  if (pool === undefined) return;
  switch (move.kind) {
    case 'add':
      return books.addAttackers(pool, move.usd, Math.exp(move.low), Math.exp(move.high));
    case 'remove':
      return books.removeAttackers(pool);
    case 'join':
      return books.joinOne(pool, move.side, move.usd);
    case 'exit':
      return books.exitOne(pool, move.side, move.part);
    case 'declare':
      return books.declare(pool, move.side, move.usd);
    case 'donate':
      return books.donate(pool, move.side, move.usd);
    case 'swap': {
      const fairPrice = books.fairOf(pool);
      if (fairPrice !== null) books.swapTo(pool, fairPrice * Math.exp(move.log), 'attacker');
    }
  }
}
