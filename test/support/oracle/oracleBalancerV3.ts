/**
 * The oracle for pools of a Balancer V3 vault: applies every event to the books of the vault, with prices as exact fractions.
 * Shares no code with the product. Facts and books at the end of a block come from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { added, BooksOracle, type BooksPool } from './booksOracle';
import type { LegSwap } from './oracleVault';
import { parsePlain, plainEvents, type PlainEvent } from './plainEvents';
import { contractD, contractY, stablePriceOf } from './stableSwap';

export const V3_REGISTERED = '0xbc1561eeab9f40962e2fb827a7ff9c7cdb47a9d7c84caeefa4ed90e043842dad';

const EVENTS = plainEvents([
  ['swap', 'Swap(address indexed,address indexed,address indexed,uint256,uint256,uint256,uint256)'],
  ['mint', 'LiquidityAdded(address indexed,address indexed,uint8 indexed,uint256,uint256[],uint256[])'],
  ['burn', 'LiquidityRemoved(address indexed,address indexed,uint8 indexed,uint256,uint256[],uint256[])'],
  ['swapFee', 'SwapFeePercentageChanged(address indexed,uint256)'],
  ['keptPart', 'AggregateSwapFeePercentageChanged(address indexed,uint256)'],
  ['recovery', 'PoolRecoveryModeStateChanged(address indexed,bool)'],
  ['amp', 'AmpUpdateStopped(uint256)'],
]);
const ONE = 10n ** 18n;
/** The unit of the amplification. */
const AMP_UNIT = 1_000n;
const [WEIGHTED_TYPE, STABLE_TYPE] = [4, 5];
/** The doubt about a pool whose formula does not explain a swap. */
const UNEXPLAINED = 2;

export interface V3Books {
  /** Empty for a stable pool. 1e18 means 1. */
  readonly weights: readonly bigint[];
  /** Amplification of a stable pool, times 1,000. */
  readonly amp: bigint;
  /** Factors from raw units to 18 decimals. */
  readonly factors: readonly bigint[];
  /** The fee, and the part of it that the vault keeps outside the balances. 1e18 means 100 %. */
  readonly swapFee: bigint;
  readonly keptPart: bigint;
  /** In recovery mode, the vault keeps nothing. */
  readonly isRecovering: boolean;
  readonly balances: readonly bigint[];
}

type Pool = BooksPool<V3Books>;

export class BalancerV3Oracle extends BooksOracle<V3Books> {
  /** The vault names the pool in topic 1. A pool itself only logs its amplification. */
  protected override keyOf({ address, topics }: ChainLog): string {
    return address === this.factory ? `0x${topics[1]?.slice(26)}` : address;
  }

  protected isEvent(topic: string): boolean {
    return EVENTS.has(topic);
  }

  protected findCreated(_block: ChainBlock, log: ChainLog): string | null {
    return log.topics[0] === V3_REGISTERED ? this.keyOf(log) : null;
  }

  protected emptied(books: V3Books): V3Books {
    return { ...books, balances: books.balances.map(() => 0n) };
  }

  protected typeOf({ weights }: V3Books): number {
    return weights.length > 0 ? WEIGHTED_TYPE : STABLE_TYPE;
  }

  protected override storesTold(): boolean {
    return false;
  }

  protected override weightsOf({ weights }: V3Books): readonly bigint[] {
    return weights;
  }

  protected feeOf({ swapFee }: V3Books): number {
    return toPips(swapFee);
  }

  protected readEvent(log: ChainLog, { tokens }: Pool): PlainEvent | null {
    const event = parsePlain(log, EVENTS);
    const lists = event?.args.filter((value) => typeof value === 'object') ?? [];
    if (event === null || lists.some(({ length }) => length !== tokens.length)) return null;
    // A fee is at most 100 %.
    if (event.name === 'swap' && (event.args[5] as bigint) > ONE) return null;
    return (event.name === 'amp') === (log.address === this.factory) ? null : event;
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    const [amounts = [], fees = []] = args.filter((value) => typeof value === 'object') as bigint[][];
    if (name === 'swap') return this.swap(pool, args.map(String), numbers, block, log);
    if (name === 'mint' || name === 'burn') {
      const signed = amounts.map((amount) => (name === 'mint' ? amount : -amount));
      const moves = signed.map((amount, index) => amount - keptOf(pool.books, fees[index]!));
      pool.books = { ...pool.books, balances: added(pool.books, moves) };
      this.move(pool, block, log, name, signed);
      return null;
    }
    const value = name === 'recovery' ? numbers[0] === 1n : numbers[0]!;
    const key = name === 'recovery' ? 'isRecovering' : (name as 'swapFee' | 'keptPart' | 'amp');
    // An event that changes nothing makes no row.
    if (pool.books[key] === value) return null;
    pool.books = { ...pool.books, [key]: value };
    this.note(pool, block, log, 'fee');
    return null;
  }

  private swap(
    pool: Pool,
    [, tokenIn, tokenOut]: readonly string[],
    [sold, bought, swapFee, taken]: readonly bigint[],
    block: ChainBlock,
    log: ChainLog,
  ): LegSwap {
    const [i, j] = [pool.tokens.indexOf(tokenIn!), pool.tokens.indexOf(tokenOut!)];
    const { books } = pool;
    // A swap of the simulated chain gives what the formula gives, or half of it.
    const expected = v3Out(books, i, j, sold!, swapFee!);
    if (bought! > 100n && bought! * 4n < expected * 3n) pool.doubts |= UNEXPLAINED;
    const kept = keptOf(books, taken!);
    const moves = pool.tokens.map((_, index) => (index === i ? sold! - kept : index === j ? -bought! : 0n));
    pool.books = { ...books, balances: added(books, moves) };
    this.note(pool, block, log, 'swap');
    return this.swapOf(pool, [i, sold!], [j, bought!], toPips(swapFee!), (lower, higher) =>
      pool.doubts === 0 ? priceOf(pool.books, lower, higher) : null,
    );
  }
}

function keptOf({ keptPart, isRecovering }: V3Books, fee: bigint): bigint {
  return isRecovering ? 0n : (fee * keptPart) / ONE;
}

function scaled({ balances, factors }: V3Books): bigint[] {
  return balances.map((balance, index) => balance * factors[index]!);
}

const termsOf = ({ amp, balances }: V3Books) => ({
  ann: amp * BigInt(balances.length),
  unit: AMP_UNIT,
  dividesEach: true,
});

/** What the pool pays out: by StableMath.sol in whole numbers, or by WeightedMath.sol in floats. All balances are above 0. */
export function v3Out(books: V3Books, i: number, j: number, sold: bigint, swapFee: bigint): bigint {
  const { weights, balances, factors } = books;
  if (weights.length > 0) {
    const paid = Number(sold) * (1 - Number(swapFee) / 1e18);
    const growth = Math.log1p(paid / Number(balances[i]));
    const part = -Math.expm1((-growth * Number(weights[i])) / Number(weights[j]));
    return BigInt(Math.floor(Number(balances[j]) * part));
  }
  const xs = scaled(books);
  const added = sold * factors[i]!;
  const paid = added - (added * swapFee + ONE - 1n) / ONE;
  const others = xs.map((x, index) => (index === i ? x + paid : x)).filter((_, index) => index !== j);
  const out = xs[j]! - contractY(others, termsOf(books), contractD(xs, termsOf(books))) - 1n;
  return out <= 0n ? 0n : out / factors[j]!;
}

/** The price of token i in token j, raw. Null if a balance is 0. */
function priceOf(books: V3Books, i: number, j: number): readonly [bigint, bigint] | null {
  const { weights, balances, factors } = books;
  if (weights.length > 0) {
    const [top, bottom] = [balances[j]! * weights[i]!, balances[i]! * weights[j]!];
    return top > 0n && bottom > 0n ? [top, bottom] : null;
  }
  const price = stablePriceOf(scaled(books), termsOf(books), i, j);
  return price === null ? null : [price[0] * factors[i]!, price[1] * factors[j]!];
}

/** Converts 1e18 = 100 % to 1e6 = 100 %, rounding half up. */
const toPips = (fee: bigint): number => Number((fee * 2n + 10n ** 12n) / (2n * 10n ** 12n));
