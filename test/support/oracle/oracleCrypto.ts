/**
 * The oracle for CryptoSwap pools: applies every event to the books of the contract, with prices as exact fractions. Shares no
 * code with the product. Coins, settings and the books at the end of a block come from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { added, BooksOracle, toPips, type BooksPool } from './booksOracle';
import {
  atScale,
  cryptoPriceOf,
  cryptoRemoveOne,
  scaled,
  shapeAt,
  solveD,
  type CryptoBooks,
} from './cryptoContract';
import type { LegSwap } from './oracleVault';
import { parsePlain, plainEvents, type PlainEvent } from './plainEvents';

/** Topics of TwocryptoPoolDeployed and TricryptoPoolDeployed. The pool is the first word of their data. */
const CREATIONS: ReadonlySet<string> = new Set([
  '0x8152a3037e3dc54154ad0d2cadb1cf7e1d1b9e2b625faa3dfb4fe03d609102ca',
  '0xa307f5d0802489baddec443058a63ce115756de9020e2b07d3e2cd2f21269e2a',
]);
/** The events with an address. The contract of 2025 indexes none, and the topics are the same. */
const [INDEXED, PLAIN] = [' indexed', ''].map((indexed) =>
  plainEvents([
    ['exchange', `TokenExchange(address${indexed},uint256,uint256,uint256,uint256,uint256,uint256)`],
    ...[2, 3].flatMap((coins): [string, string][] => [
      ['add', `AddLiquidity(address${indexed},uint256[${coins}],uint256,uint256,uint256)`],
      ['remove', `RemoveLiquidity(address${indexed},uint256[${coins}],uint256)`],
      ['claim', `ClaimAdminFee(address${indexed},uint256[${coins}])`],
    ]),
    ['one', `RemoveLiquidityOne(address${indexed},uint256,uint256,uint256,uint256,uint256)`],
    ['mint', `ClaimAdminFee(address${indexed},uint256)`],
    ['donate', `Donation(address${indexed},uint256[2])`],
  ]),
);
const SETTINGS = plainEvents([
  ['ramp', 'RampAgamma(uint256,uint256,uint256,uint256,uint256,uint256)'],
  ['stop', 'StopRampA(uint256,uint256,uint256)'],
  ['fees', 'NewParameters(uint256,uint256,uint256,uint256,uint256,uint256)'],
  ['fees', 'NewParameters(uint256,uint256,uint256,uint256,uint256,uint256,uint256)'],
]);
const TOPICS = new Set([INDEXED!, SETTINGS].flatMap((events) => [...events.keys()]));

const CRYPTO_TYPE = 6;
const PIPS = 1_000_000n;

type Pool = BooksPool<CryptoBooks>;

export class CryptoOracle extends BooksOracle<CryptoBooks> {
  protected isEvent(topic: string): boolean {
    return TOPICS.has(topic);
  }

  protected findCreated(_block: ChainBlock, { topics, data }: ChainLog): string | null {
    return CREATIONS.has(topics[0] ?? '') ? `0x${data.slice(26, 66)}` : null;
  }

  protected emptied(books: CryptoBooks): CryptoBooks {
    return { ...books, supply: 0n, d: 0n, balances: books.balances.map(() => 0n) };
  }

  protected typeOf(): number {
    return CRYPTO_TYPE;
  }

  protected feeOf({ midFee }: CryptoBooks): number {
    return toPips(midFee);
  }

  protected readEvent(log: ChainLog, { tokens }: Pool): PlainEvent | null {
    const event = parsePlain(log, SETTINGS) ?? parsePlain(log, log.topics.length > 1 ? INDEXED : PLAIN);
    if (event?.name !== 'exchange') return event;
    const [, i, , j] = event.args.map(Number);
    return i === j || i! >= tokens.length || j! >= tokens.length ? null : event;
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    const [amounts = []] = args.filter((value) => typeof value === 'object') as bigint[][];
    const { timestamp } = block;
    const { books } = pool;
    switch (name) {
      case 'exchange':
        return this.exchange(pool, numbers, block, log);
      case 'add': {
        const [, supply, packed] = numbers;
        const after = { ...books, balances: added(books, amounts), supply: supply! };
        pool.books = settled(pool, after, packed!, null, timestamp);
        this.move(pool, block, log, 'mint', amounts);
        return null;
      }
      case 'remove': {
        const burned = books.supply - numbers[0]!;
        const counted = numbers[0] === 0n ? burned : burned - 1n;
        const moves = amounts.map((amount) => -amount);
        const d = pool.isKnown ? books.d - (books.d * counted) / books.supply : 0n;
        pool.books = { ...books, balances: added(books, moves), supply: numbers[0]!, d };
        this.move(pool, block, log, 'burn', moves);
        return null;
      }
      case 'one': {
        const [shares, coin, amount, , packed] = numbers;
        const done = pool.isKnown ? cryptoRemoveOne(books, Number(coin), shares!, timestamp) : null;
        const moves = pool.tokens.map((_, index) => (index === Number(coin) ? -amount! : 0n));
        const after = { ...books, balances: added(books, moves), supply: books.supply - shares! };
        pool.books = settled(pool, after, packed!, done, timestamp);
        this.move(pool, block, log, 'burn', moves);
        return null;
      }
      default:
        this.applyOther(pool, name, numbers, amounts, timestamp);
        this.note(pool, block, log, name in { claim: 1, mint: 1, donate: 1 } ? 'collect' : 'fee');
        return null;
    }
  }

  /** Settings, and fees of the owner: the same part of each balance and of D, or new LP tokens. */
  private applyOther(
    pool: Pool,
    name: string,
    [first, second, third, fourth, fifth, sixth]: readonly bigint[],
    amounts: readonly bigint[],
    timestamp: number,
  ): void {
    const { books, isKnown } = pool;
    const set = (changes: Partial<CryptoBooks>): void => {
      pool.books = { ...books, ...changes };
    };
    switch (name) {
      case 'claim': {
        const largest = amounts.reduce((best, each, index) => (each > amounts[best]! ? index : best), 0);
        const [amount, balance] = [amounts[largest]!, books.balances[largest]!];
        const moves = amounts.map((each) => -each);
        return set({
          balances: added(books, moves),
          d: isKnown ? books.d - (books.d * amount) / balance : 0n,
        });
      }
      case 'mint':
        return set({
          supply: books.supply + first!,
          d: isKnown ? solveD(shapeAt(books, timestamp), scaled(books)) : 0n,
        });
      case 'donate':
        pool.isKnown = false;
        return;
      case 'fees':
        return set({ midFee: first!, outFee: second!, feeGamma: third! });
      case 'stop': {
        const shape = { amp: first!, gamma: second! };
        return set({ ramp: { from: shape, to: shape, begin: third!, end: third! } });
      }
      default: {
        const [from, to] = [
          { amp: first!, gamma: third! },
          { amp: second!, gamma: fourth! },
        ];
        return set({ ramp: { from, to, begin: fifth!, end: sixth! } });
      }
    }
  }

  private exchange(
    pool: Pool,
    [soldId, sold, boughtId, bought, fee, packed]: readonly bigint[],
    block: ChainBlock,
    log: ChainLog,
  ): LegSwap {
    const [i, j] = [Number(soldId), Number(boughtId)];
    const moves = pool.tokens.map((_, index) => (index === i ? sold! : index === j ? -bought! : 0n));
    const after = { ...pool.books, balances: added(pool.books, moves) };
    pool.books = settled(pool, after, packed!, null, block.timestamp);
    this.note(pool, block, log, 'swap');
    const gross = bought! + fee!;
    // Half a pip counts as a whole one.
    const feePips = Number((2n * fee! * PIPS + gross) / (2n * gross));
    return this.swapOf(pool, [i, sold!], [j, bought!], feePips, (lower, higher) =>
      pool.isKnown ? cryptoPriceOf(pool.books, lower, higher, block.timestamp) : null,
    );
  }
}

/** The books at the price scale of the event, in one word: one price, or two of 128 bits. Unknown books stay unknown. */
function settled(
  { isKnown }: Pool,
  books: CryptoBooks,
  packed: bigint,
  done: { readonly d: bigint; readonly xs: readonly bigint[] } | null,
  timestamp: number,
): CryptoBooks {
  if (!isKnown) return books;
  const half = 1n << 128n;
  const prices = books.priceScale.length === 1 ? [packed] : [packed % half, packed / half];
  return atScale(books, prices, done?.xs ?? scaled(books), done?.d ?? null, timestamp);
}
