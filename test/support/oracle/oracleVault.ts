/**
 * The oracle for a Balancer V2 vault: applies every event to plain numbers. Shares no code with the product. Weights
 * and pool types come from the simulated chain, because logs do not contain them.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { parsePlain, type PlainEvent } from './plainEvents';
import { contractD, contractY, stablePriceOf } from './stableSwap';

interface VaultListing {
  /** Type of the pool, as in the table pools: 4 weighted, 5 stable. */
  readonly type: number;
  /** Weights times 10^18; empty if the pool has no reliable weights. */
  readonly weights: readonly bigint[];
  /** Scaling factors of a stable pool times 10^18, 0 for its own share; null if its price is unknown. */
  readonly scales?: readonly bigint[] | null;
  /** Whether the factors are known, so that the states of the pool have terms. */
  readonly isScaled?: boolean;
  /** The amplification of a new stable pool, times 1,000. */
  readonly firstAmp?: bigint;
}

interface VaultTruth {
  readonly vault: string;
  /** Tokens preferred as quotes, in order. */
  readonly ranked: readonly string[];
  /** Type of the pool; null if it is neither weighted nor stable. */
  listingOf(pool: string): VaultListing | null;
}

export interface LegSwap {
  readonly pair: string;
  readonly leg: number;
  readonly token0: string;
  readonly token1: string;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** Price of token0 in token1 as a fraction; null if there is no price. */
  readonly price: readonly [bigint, bigint] | null;
  readonly feePips: number;
}

interface Pool {
  readonly id: string;
  readonly pair: string;
  readonly tokens: string[];
  readonly balances: bigint[];
  readonly listing: VaultListing;
  readonly leg: readonly [number, number];
  readonly birth: { readonly block: ChainBlock; readonly log: ChainLog; fee: bigint };
  fee: bigint;
  /** The last block with a fee change, and the fee of the pool before this block; null if the fee never changed. */
  feeMoved: { readonly block: number; readonly before: bigint } | null;
  listed: boolean;
  /**
   * Reasons for doubt, as a sum. MANAGED: an asset manager or a managed balance. UNEXPLAINED_SWAP: a swap that the
   * weights do not explain.
   */
  doubts: number;
  /** The amplification of a stable pool, and whether the ingester knows it. */
  amp: bigint;
  isAmpKnown: boolean;
}

const MANAGED = 1;
const UNEXPLAINED_SWAP = 2;
const ONE = 10n ** 18n;
/** The unit of the amplification of a stable pool. */
const AMP_UNIT = 1_000n;

type Line = (string | number | null)[];
/** Index of the fee in the expected row of a pool. */
const FEE_COLUMN = 8;

export class VaultOracle {
  /** Expected rows, which start with the number of their block. */
  readonly pools: Line[] = [];
  readonly states: Line[] = [];
  readonly liquidity: Line[] = [];
  private readonly byId = new Map<string, Pool>();
  private readonly fees = new Map<string, bigint>();
  private readonly registrations = new Map<string, ChainLog>();

  constructor(
    private readonly truth: VaultTruth,
    private readonly firstBlock: number,
  ) {}

  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null {
    const id = log.topics[1] ?? '';
    const knownPool = this.byId.get(id);
    if (log.address === this.truth.vault && knownPool !== undefined) {
      this.list(knownPool, block, log);
      // The node is asked before the first later block with a log of the pool.
      if (block.number >= this.firstBlock && block.number > knownPool.birth.block.number)
        knownPool.isAmpKnown = true;
    }
    const parsed = parsePlain(log);
    if (parsed === null) return null;
    if (parsed.name === 'AmpUpdateStopped') this.changeAmp(block, log, parsed.args[0] as bigint);
    if (parsed.name === 'SwapFeePercentageChanged') {
      const fee = parsed.args[0] as bigint;
      this.fees.set(log.address, fee);
      for (const pool of this.byId.values()) {
        if (pool.pair !== log.address) continue;
        if (pool.feeMoved?.block !== block.number) pool.feeMoved = { block: block.number, before: pool.fee };
        pool.fee = fee;
        // A fee event in the transaction of the pool's creation sets the initial fee, before or after the registration.
        if (pool.birth.log.transactionHash !== log.transactionHash) continue;
        pool.birth.fee = fee;
        const row = this.pools.find(
          ([, , pair, , , , , , , bornBlock]) => pair === pool.pair && bornBlock !== null,
        );
        if (row !== undefined) row[FEE_COLUMN] = toPips(fee);
      }
      return null;
    }
    if (log.address !== this.truth.vault) return null;
    if (parsed.name === 'PoolRegistered') this.registrations.set(id, log);
    if (parsed.name === 'TokensRegistered')
      this.register(block, log, id, parsed.args[1] as string[], parsed.args[2] as string[]);
    return knownPool === undefined ? null : this.apply(knownPool, parsed, block, log);
  }

  /** The current fee of each listed pool, in pips. */
  feesNow(): ReadonlyMap<string, number> {
    const listedPools = [...this.byId.values()].filter((pool) => pool.listed);
    return new Map(listedPools.map(({ pair, fee }) => [pair, toPips(fee)]));
  }

  /** Amplifications that the contract of the pool logs in this block. */
  private ampsIn(block: ChainBlock, pair: string): { readonly log: ChainLog; readonly amp: bigint }[] {
    return block.logs.flatMap((log) => {
      const event = log.address === pair ? parsePlain(log) : null;
      return event?.name === 'AmpUpdateStopped' ? [{ log, amp: event.args[0] as bigint }] : [];
    });
  }

  private changeAmp(block: ChainBlock, log: ChainLog, amp: bigint): void {
    for (const pool of this.byId.values()) {
      if (pool.pair !== log.address || pool.listing.isScaled !== true) continue;
      const isSame = pool.isAmpKnown && pool.amp === amp;
      // An older pool is known before the block in which the vault first names it.
      const isNamed = (one: ChainLog): boolean =>
        one.address === this.truth.vault && one.topics[1] === pool.id;
      const isSeen = block.number >= this.firstBlock && (pool.listed || block.logs.some(isNamed));
      Object.assign(pool, { amp, isAmpKnown: pool.isAmpKnown || isSeen });
      if (isSeen && !isSame) this.pushState(block, log, pool, 'fee');
    }
  }

  private pushState(block: ChainBlock, log: ChainLog, pool: Pool, kind: string): void {
    if (block.number < this.firstBlock) return;
    const { pair, balances, doubts } = pool;
    this.states.push([block.number, log.logIndex, pair, kind, balances.join(' '), doubts]);
  }

  private register(
    block: ChainBlock,
    tokensLog: ChainLog,
    id: string,
    checksummed: readonly string[],
    managers: readonly string[],
  ): void {
    const pair = id.slice(0, 42);
    const log = this.registrations.get(id);
    const listing = this.truth.listingOf(pair);
    if (log === undefined || listing === null) return;
    const tokens = checksummed.map((token) => token.toLowerCase());
    const fee = this.fees.get(pair) ?? 0n;
    // The pool's own share never belongs to the main leg.
    const weightOf = (index: number): bigint =>
      tokens[index] === pair ? -1n : (listing.weights[index] ?? 0n);
    const quote = this.truth.ranked.find((token) => tokens.includes(token));
    const holdsQuote = (leg: readonly number[]): boolean =>
      quote === undefined || leg.includes(tokens.indexOf(quote));
    let mainLeg: readonly [number, number] = [0, 1];
    for (let i = 0; i < tokens.length; i += 1) {
      for (let j = i + 1; j < tokens.length; j += 1) {
        // If the pool holds a quote token, the main leg contains this token. If several legs are possible, the leg with
        // the largest sum of weights is the main leg. If several sums are equal, the first one wins.
        const sum = weightOf(i) + weightOf(j);
        if (!holdsQuote([i, j])) continue;
        if (!holdsQuote(mainLeg) || sum > weightOf(mainLeg[0]) + weightOf(mainLeg[1])) mainLeg = [i, j];
      }
    }
    const balances = tokens.map(() => 0n);
    const birth = { block, log, fee };
    const amps = this.ampsIn(block, pair).filter((one) => one.log.transactionHash === log.transactionHash);
    const pool: Pool = {
      id,
      pair,
      tokens,
      balances,
      listing,
      leg: mainLeg,
      birth,
      fee,
      feeMoved: null,
      listed: false,
      doubts: managers.some((manager) => BigInt(manager) !== 0n) ? MANAGED : 0,
      // The last amplification of the transaction counts from the beginning of the block.
      amp: amps.at(-1)?.amp ?? listing.firstAmp ?? 0n,
      isAmpKnown: amps.length > 0,
    };
    this.byId.set(id, pool);
    if (block.number < this.firstBlock) return;
    this.list(pool, block, log);
    for (const earlier of this.ampsIn(block, pair))
      if (earlier.log.logIndex < tokensLog.logIndex) this.changeAmp(block, earlier.log, earlier.amp);
    if (listing.isScaled === true) this.pushState(block, tokensLog, pool, 'register');
  }

  /** Called for the first log of the pool that the ingester sees. */
  private list(pool: Pool, block: ChainBlock, log: ChainLog): void {
    if (pool.listed || block.number < this.firstBlock) return;
    pool.listed = true;
    const isIngested = pool.birth.block.number >= this.firstBlock;
    const { type, weights } = pool.listing;
    // For a pool older than the first block, the row of the pool has the fee before the block whose log reveals the
    // pool.
    const feeBefore = pool.feeMoved?.block === block.number ? pool.feeMoved.before : pool.fee;
    this.pools.push([
      block.number,
      log.logIndex,
      pool.pair,
      type,
      pool.tokens.join(' '),
      weights.join(' '),
      pool.tokens[pool.leg[0]]!,
      pool.tokens[pool.leg[1]]!,
      toPips(isIngested ? pool.birth.fee : feeBefore),
      isIngested ? block.number : null,
    ]);
  }

  private apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): LegSwap | null {
    const addBalance = (token: string, delta: bigint): void => {
      const index = pool.tokens.indexOf(token.toLowerCase());
      pool.balances[index] = pool.balances[index]! + delta;
    };
    const isIngested = block.number >= this.firstBlock;
    const pushState = (kind: string): void => this.pushState(block, log, pool, kind);
    if (name === 'PoolBalanceManaged') {
      // A manager reports its own balance, so the oracle adds only the cash.
      addBalance(args[2] as string, args[3] as bigint);
      pool.doubts |= MANAGED;
      pushState('collect');
    }
    if (name === 'PoolBalanceChanged') {
      const [tokens, deltas, fees] = [args[2] as string[], args[3] as bigint[], args[4] as bigint[]];
      tokens.forEach((token, index) => addBalance(token, deltas[index]! - fees[index]!));
      const kind = deltas.some((delta) => delta < 0n) ? 'burn' : 'mint';
      const movedAmounts = pool.leg.map((index) => String(deltas[index]!).replace('-', ''));
      pushState(kind);
      if (isIngested) this.liquidity.push([block.number, log.logIndex, pool.pair, kind, ...movedAmounts]);
    }
    if (name !== 'Swap') return null;
    const [tokenIn, tokenOut] = [args[1] as string, args[2] as string].map((token) => token.toLowerCase());
    const [amountIn, amountOut] = [args[3] as bigint, args[4] as bigint];
    // The ingester does not see swaps before the first block, so such swaps raise no doubt.
    if (isIngested && !this.isFair(pool, tokenIn!, tokenOut!, amountIn, amountOut))
      pool.doubts |= UNEXPLAINED_SWAP;
    addBalance(tokenIn!, amountIn);
    addBalance(tokenOut!, -amountOut);
    if (tokenIn === pool.pair || tokenOut === pool.pair) {
      // A swap against the pool's own share is a mint or a burn of the other token.
      const kind = tokenOut === pool.pair ? 'mint' : 'burn';
      const [token, amount] = kind === 'mint' ? [tokenIn, amountIn] : [tokenOut, amountOut];
      const movedAmounts = pool.leg.map((index) => (pool.tokens[index] === token ? String(amount) : '0'));
      pushState(kind);
      if (isIngested) this.liquidity.push([block.number, log.logIndex, pool.pair, kind, ...movedAmounts]);
      return null;
    }
    pushState('swap');
    return isIngested ? this.toLeg(pool, tokenIn!, tokenOut!, amountIn, amountOut) : null;
  }

  /** Whether the weights explain the swap within 1 % and rounding, by the plain formula of WeightedMath. */
  private isFair(
    pool: Pool,
    tokenIn: string,
    tokenOut: string,
    amountIn: bigint,
    amountOut: bigint,
  ): boolean {
    const [indexIn, indexOut] = [pool.tokens.indexOf(tokenIn), pool.tokens.indexOf(tokenOut)];
    const { weights } = pool.listing;
    const stable = (pool.doubts & MANAGED) === 0 ? toStable(pool) : null;
    if (stable !== null) return isStableFair(pool, stable, indexIn, indexOut, amountIn, amountOut);
    if (weights.length === 0 || (pool.doubts & MANAGED) !== 0) return true;
    const [balanceIn, balanceOut] = [Number(pool.balances[indexIn]), Number(pool.balances[indexOut])];
    const outFor = (amount: number): number => {
      const amountAfterFee = Math.max(0, amount) * (1 - toPips(pool.fee) / 1e6);
      return amountAfterFee === 0
        ? 0
        : balanceOut *
            (1 -
              (balanceIn / (balanceIn + amountAfterFee)) **
                (Number(weights[indexIn]) / Number(weights[indexOut])));
    };
    // The slack of 1e-12 of the balance is far more than the rounding error of the floats, 1e-16.
    const [slackIn, slackOut] = [2 + balanceIn * 1e-12, 2 + balanceOut * 1e-12];
    const paidOut = Number(amountOut);
    return (
      paidOut >= outFor(Number(amountIn) - slackIn) * 0.99 - slackOut &&
      paidOut <= outFor(Number(amountIn) + slackIn) * 1.01 + slackOut
    );
  }

  private toLeg(pool: Pool, tokenIn: string, tokenOut: string, amountIn: bigint, amountOut: bigint): LegSwap {
    const [indexIn, indexOut] = [pool.tokens.indexOf(tokenIn), pool.tokens.indexOf(tokenOut)];
    const [lower, higher] = indexIn < indexOut ? [indexIn, indexOut] : [indexOut, indexIn];
    const { balances, listing } = pool;
    const [weight0, weight1] = [listing.weights[lower] ?? 0n, listing.weights[higher] ?? 0n];
    const stable = toStable(pool);
    const [numerator, denominator] =
      stable === null
        ? [balances[higher]! * weight0, balances[lower]! * weight1]
        : stablePrice(stable, lower, higher);
    return {
      pair: pool.pair,
      leg: 256 * lower + higher,
      token0: pool.tokens[lower]!,
      token1: pool.tokens[higher]!,
      amount0: indexIn < indexOut ? amountIn : -amountOut,
      amount1: indexIn < indexOut ? -amountOut : amountIn,
      reserve0: balances[lower]!,
      reserve1: balances[higher]!,
      price: pool.doubts === 0 && numerator > 0n && denominator > 0n ? [numerator, denominator] : null,
      feePips: toPips(pool.fee),
    };
  }
}

/** A stable pool without its own share. */
interface Stable {
  readonly xs: readonly bigint[];
  readonly ann: bigint;
  readonly scales: readonly bigint[];
  /** The place in `xs` of each token. */
  readonly places: readonly number[];
}

/** Null without a price: its rates or its amplification are unknown, or a balance is 0. */
function toStable({ listing, balances, amp, isAmpKnown }: Pool): Stable | null {
  const { scales } = listing;
  if (scales == null || !isAmpKnown) return null;
  const traded = scales.flatMap((scale, index) => (scale === 0n ? [] : [index]));
  const xs = traded.map((index) => (balances[index]! * scales[index]!) / ONE);
  if (xs.some((x) => x === 0n)) return null;
  const places = scales.map((_, index) => traded.indexOf(index));
  return { xs, ann: amp * BigInt(xs.length), scales, places };
}

/** The price of token i in token j, raw. */
function stablePrice({ xs, ann, scales, places }: Stable, i: number, j: number): readonly [bigint, bigint] {
  const [numerator, denominator] = stablePriceOf(xs, { ann, unit: AMP_UNIT }, places[i]!, places[j]!)!;
  return [numerator * scales[i]!, denominator * scales[j]!];
}

/** Whether the formula of StableMath.sol explains the swap within 1 % and rounding. */
function isStableFair(
  pool: Pool,
  stable: Stable,
  indexIn: number,
  indexOut: number,
  amountIn: bigint,
  amountOut: bigint,
): boolean {
  const { xs, ann, scales, places } = stable;
  const [placeIn, placeOut] = [places[indexIn]!, places[indexOut]!];
  // A trade with the pool's own share is no swap.
  if (placeIn < 0 || placeOut < 0) return true;
  const terms = { ann, unit: AMP_UNIT, dividesEach: true };
  const paid = ((amountIn - (amountIn * pool.fee) / ONE) * scales[indexIn]!) / ONE;
  const others = xs.map((x, place) => (place === placeIn ? x + paid : x));
  others.splice(placeOut, 1);
  const left = contractY(others, terms, contractD(xs, terms));
  const expected = Number(((xs[placeOut]! - left - 1n) * ONE) / scales[indexOut]!);
  if (expected < 0) return true;
  const [top, bottom] = stablePrice(stable, indexIn, indexOut);
  const slack = 4 * (2 + Number(top / bottom));
  return Math.abs(expected - Number(amountOut)) <= slack + expected / 100;
}

/** Converts 1e18 = 100 % to 1e6 = 100 %, rounding half up. */
const toPips = (fee: bigint): number => Number((fee * 2n + 10n ** 12n) / (2n * 10n ** 12n));
