/**
 * The common part of the oracles for pools of many tokens whose events follow from their contract's books. The books of a
 * pool at the end of a block come from the simulated chain: those of an older pool, and what no event tells.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { LegSwap } from './oracleVault';
import type { Line } from './pairOracle';
import type { PlainEvent } from './plainEvents';

interface PoolBooks {
  readonly balances: readonly bigint[];
}

interface BooksTruth<Books> {
  readonly tokens: readonly string[];
  readonly books: Books;
}

export interface BooksPool<Books> {
  readonly address: string;
  readonly tokens: readonly string[];
  /** Block of the creation. */
  readonly born: number;
  books: Books;
  isListed: boolean;
  /** Whether the product knows the books. An event that its contract does not explain makes them unknown. */
  isKnown: boolean;
  /** Reasons for doubt, as in the table pool_states. */
  doubts: number;
  /** The last block with a log of the pool. */
  lastBlock: number;
}

/** A side of a swap: the index of its token, and the amount. */
type Side = readonly [index: number, amount: bigint];
type Fraction = readonly [bigint, bigint] | null;

const LARGEST = (1n << 256n) - 1n;

export abstract class BooksOracle<Books extends PoolBooks> {
  /** Lines of block, log index, and the columns of compareOracle.ts for pools of many tokens. */
  readonly pools: Line[] = [];
  readonly states: Line[] = [];
  readonly liquidity: Line[] = [];
  private readonly byAddress = new Map<string, BooksPool<Books>>();
  /** The first state of an older pool, as the node told it: the product stores it if its block has no other. */
  private readonly told = new Map<string, { readonly block: number; readonly line: Line }>();

  constructor(
    protected readonly factory: string,
    protected readonly firstBlock: number,
    /** The pool at the end of the block with this hash. */
    protected readonly truthAt: (hash: string, pool: string) => BooksTruth<Books> | undefined,
    private readonly ranked: readonly string[],
  ) {}

  /** Whether the product reads logs of pools with this topic. */
  protected abstract isEvent(topic: string): boolean;
  /** The pool that a log of the factory creates. Null for another log. */
  protected abstract findCreated(block: ChainBlock, log: ChainLog): string | null;
  /** The books of a new pool, which has no liquidity. */
  protected abstract emptied(books: Books): Books;
  /** The event of a pool; null if it is malformed. */
  protected abstract readEvent(log: ChainLog, pool: BooksPool<Books>): PlainEvent | null;
  /** What the event of a listed pool changes. Returns the swap if it is one. */
  protected abstract apply(
    pool: BooksPool<Books>,
    event: PlainEvent,
    block: ChainBlock,
    log: ChainLog,
  ): LegSwap | null;
  /** Type of the pool, as in the table pools. */
  protected abstract typeOf(books: Books): number;
  /** The fee of the pool in pips. */
  protected abstract feeOf(books: Books): number;

  /** The pool that a log concerns. */
  protected keyOf(log: ChainLog): string {
    return log.address;
  }

  /** Whether the product knows the books of a new pool by the log that creates it. */
  protected tellsBirth(_log: ChainLog): boolean {
    return true;
  }

  /** Whether the product stores what the node told about an older pool. */
  protected storesTold(): boolean {
    return true;
  }

  protected weightsOf(_books: Books): readonly bigint[] {
    return [];
  }

  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null {
    if (log.address === this.factory) this.create(block, log);
    const pool = this.byAddress.get(this.keyOf(log));
    if (pool === undefined || block.number < this.firstBlock) return null;
    if (!this.isEvent(log.topics[0] ?? '')) return null;
    const isNewBlock = pool.lastBlock !== block.number && pool.born !== block.number;
    pool.lastBlock = block.number;
    if (isNewBlock && !pool.isKnown) {
      pool.books = this.truthAt(block.parentHash, pool.address)!.books;
      pool.isKnown = true;
    }
    if (!pool.isListed) {
      this.list(pool, block, log, null);
      if (this.storesTold()) {
        this.note(pool, block, log, 'fee');
        this.told.set(pool.address, { block: block.number, line: this.states.at(-1)! });
      }
    }
    const event = this.readEvent(log, pool);
    return event === null ? null : this.apply(pool, event, block, log);
  }

  protected find(address: string): BooksPool<Books> | undefined {
    return this.byAddress.get(address);
  }

  /** The current fee of each listed pool, in pips. */
  feesNow(): [string, number][] {
    const listed = [...this.byAddress.values()].filter(({ isListed }) => isListed);
    return listed.map(({ address, books }) => [address, this.feeOf(books)]);
  }

  private create(block: ChainBlock, log: ChainLog): void {
    const address = this.findCreated(block, log);
    const truth = address === null ? undefined : this.truthAt(block.hash, address);
    if (address === null || truth === undefined || this.byAddress.has(address)) return;
    const isIngested = block.number >= this.firstBlock && this.tellsBirth(log);
    const { tokens, books } = truth;
    const pool: BooksPool<Books> = {
      address,
      tokens,
      born: block.number,
      books: this.emptied(books),
      isListed: false,
      isKnown: isIngested,
      doubts: 0,
      lastBlock: -1,
    };
    this.byAddress.set(address, pool);
    if (!isIngested) return;
    this.list(pool, block, log, block.number);
    this.note(pool, block, log, 'register');
  }

  protected list(pool: BooksPool<Books>, block: ChainBlock, log: ChainLog, created: number | null): void {
    pool.isListed = true;
    const { address, tokens, books } = pool;
    const [token0, token1] = this.mainLeg(pool);
    const weights = this.weightsOf(books).join(' ');
    this.pools.push([
      ...[block.number, log.logIndex, address, this.typeOf(books), tokens.join(' '), weights],
      ...[token0, token1, this.feeOf(books), created],
    ]);
  }

  /** The best quote token and the heaviest other token, or the two heaviest tokens. Of equal ones, the first counts. */
  private mainLeg({ tokens, books }: BooksPool<Books>): readonly [string, string] {
    const weights = this.weightsOf(books);
    const weightAt = (index: number): number => Number(weights[index] ?? 0n);
    const heaviest = [...tokens.keys()].sort((a, b) => weightAt(b) - weightAt(a));
    const quote = tokens.indexOf(this.ranked.find((token) => tokens.includes(token)) ?? '');
    const first = quote < 0 ? heaviest[0]! : quote;
    const leg = [first, heaviest.find((index) => index !== first)!].sort((a, b) => a - b);
    return [tokens[leg[0]!]!, tokens[leg[1]!]!];
  }

  protected note(pool: BooksPool<Books>, block: ChainBlock, log: ChainLog, kind: string): void {
    const { address, books, doubts } = pool;
    const told = this.told.get(address);
    if (told?.block === block.number) this.states.splice(this.states.indexOf(told.line), 1);
    this.told.delete(address);
    this.states.push([block.number, log.logIndex, address, kind, books.balances.join(' '), doubts]);
  }

  /** Notes a mint or burn of these amounts, which may be negative. */
  protected move(
    pool: BooksPool<Books>,
    block: ChainBlock,
    log: ChainLog,
    kind: string,
    amounts: readonly bigint[],
  ): void {
    this.note(pool, block, log, kind);
    const shown = this.mainLeg(pool).map((token) =>
      String(amounts[pool.tokens.indexOf(token)]!).replace('-', ''),
    );
    this.liquidity.push([block.number, log.logIndex, pool.address, kind, ...shown]);
  }

  /** The swap of a pool after its books have changed. `priceOf` gets the indexes of a token and of a later one. */
  protected swapOf(
    { address: pair, tokens, books }: BooksPool<Books>,
    [i, sold]: Side,
    [j, bought]: Side,
    feePips: number,
    priceOf: (lower: number, higher: number) => Fraction,
  ): LegSwap {
    const [lower, higher] = i < j ? [i, j] : [j, i];
    return {
      pair,
      leg: 256 * lower + higher,
      token0: tokens[lower]!,
      token1: tokens[higher]!,
      amount0: i < j ? sold : -bought,
      amount1: i < j ? -bought : sold,
      reserve0: books.balances[lower]!,
      reserve1: books.balances[higher]!,
      price: priceOf(lower, higher),
      feePips,
    };
  }
}

export const capped = (value: bigint): bigint => (value < 0n ? 0n : value > LARGEST ? LARGEST : value);

/** The balances after these moves, within 0 and 2^256 − 1. */
export const added = ({ balances }: PoolBooks, moves: readonly bigint[]): bigint[] =>
  balances.map((balance, index) => capped(balance + moves[index]!));

/** Units of 1e-10 in pips. Half a pip counts as a whole one. */
export const toPips = (fee: bigint): number => Number((fee + 5_000n) / 10_000n);
