/**
 * The oracle for StableSwap pools: applies every event to the books of the contract, with prices as exact fractions. Shares
 * no code with the product. Coins, settings and the books at the end of a block come from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { added, BooksOracle, capped, toPips, type BooksPool } from './booksOracle';
import { exchange, moved, removeOne, termsAt, toXp, virtualPrice, type CurveBooks } from './curveContract';
import type { LegSwap } from './oracleVault';
import { parsePlain, plainEvents, type PlainEvent } from './plainEvents';
import { findContractD, stablePriceOf } from './stableSwap';

const CREATIONS = plainEvents([
  ['pancake', 'NewStableSwapPair(address indexed,address,address,address,address)'],
  ['ng', 'PlainPoolDeployed(address[],uint256,uint256,address)'],
  ['factory', 'PlainPoolDeployed(address[4],uint256,uint256,address)'],
  ['meta', 'MetaPoolDeployed(address,address,uint256,uint256,address)'],
]);
/** PoolAdded(address indexed pool, bytes rate_method_id) of a registry. */
const POOL_ADDED = '0xe485c16479ab7092c0b3fc4649843c06be7f072194675261590c84473ab0aea9';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const FIXED = [2, 3, 4].map((coins) => `uint256[${coins}]`);
const EVENTS = plainEvents([
  // Events of all contracts but StableSwap-NG. Their arrays have the length of the pool.
  ...FIXED.flatMap((list): [string, string][] => [
    ['add', `AddLiquidity(address indexed,${list},${list},uint256,uint256)`],
    ['remove', `RemoveLiquidity(address indexed,${list},${list},uint256)`],
    ['imbalance', `RemoveLiquidityImbalance(address indexed,${list},${list},uint256,uint256)`],
  ]),
  ['exchange', 'TokenExchange(address indexed,uint256,uint256,uint256,uint256)'],
  ['exchange', 'TokenExchange(address indexed,int128,uint256,int128,uint256)'],
  ['exchange lent', 'TokenExchangeUnderlying(address indexed,int128,uint256,int128,uint256)'],
  ['one', 'RemoveLiquidityOne(address indexed,uint256,uint256,uint256)'],
  ['one', 'RemoveLiquidityOne(address indexed,int128,uint256,uint256,uint256)'],
  ['one', 'RemoveLiquidityOne(address indexed,uint256,uint256)'],
  ['add', 'AddLiquidity(address indexed,uint256[],uint256[],uint256,uint256)'],
  ['remove', 'RemoveLiquidity(address indexed,uint256[],uint256[],uint256)'],
  ['imbalance', 'RemoveLiquidityImbalance(address indexed,uint256[],uint256[],uint256,uint256)'],
  ['ramp', 'RampA(uint256,uint256,uint256,uint256)'],
  ['stop', 'StopRampA(uint256,uint256)'],
  ['fees', 'NewFee(uint256,uint256)'],
  ['offpeg', 'ApplyNewFee(uint256,uint256)'],
  ['fee', 'ApplyNewFee(uint256)'],
  ['parameters', 'NewParameters(uint256,uint256,uint256)'],
  ['kill', 'Kill()'],
  ['unkill', 'Unkill()'],
  ['donate', 'DonateAdminFees()'],
]);
const STABLE_TYPE = 5;

type Pool = BooksPool<CurveBooks>;

export class CurveOracle extends BooksOracle<CurveBooks> {
  protected isEvent(topic: string): boolean {
    return EVENTS.has(topic);
  }

  protected findCreated(block: ChainBlock, log: ChainLog): string | null {
    if (log.topics[0] === POOL_ADDED) return `0x${log.topics[1]!.slice(26)}`;
    const event = parsePlain(log, CREATIONS);
    if (event === null) return null;
    // Curve's factories do not name the pool, whose constructor logged just before.
    return event.name === 'pancake' ? String(event.args[0]) : block.logs[log.logIndex - 1]!.address;
  }

  /** A pool of a registry is older than the event, and the product does not read the creation of a meta pool. */
  protected override tellsBirth(log: ChainLog): boolean {
    return log.topics[0] !== POOL_ADDED && parsePlain(log, CREATIONS)?.name !== 'meta';
  }

  protected emptied(books: CurveBooks): CurveBooks {
    return { ...books, supply: 0n, balances: books.balances.map(() => 0n) };
  }

  protected typeOf(): number {
    return STABLE_TYPE;
  }

  protected feeOf({ fee }: CurveBooks): number {
    return toPips(fee);
  }

  protected readEvent(log: ChainLog, { tokens }: Pool): PlainEvent | null {
    const event = parsePlain(log, EVENTS);
    if (event?.name !== 'exchange' && event?.name !== 'exchange lent') return event;
    const [, i, , j] = event.args.map(Number);
    return i === j || i! >= tokens.length || j! >= tokens.length ? null : event;
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    const [amounts = [], fees = []] = args.filter((value) => typeof value === 'object') as bigint[][];
    const { timestamp } = block;
    const base = pool.books.base === null ? undefined : this.find(pool.books.base);
    if (base !== undefined)
      pool.books = { ...pool.books, rates: [pool.books.rates[0]!, virtualPrice(base.books, timestamp)!] };
    // The product asks for the rate of a lending token at the end of the block.
    if (pool.books.lentUnit !== undefined) {
      const { rates } = this.truthAt(block.hash, pool.address)!.books;
      pool.books = { ...pool.books, rates };
    }
    switch (name) {
      case 'exchange':
        return this.exchange(pool, numbers, block, log);
      case 'exchange lent':
        return this.exchangeLent(pool, numbers, block, log);
      case 'one': {
        const isNamed = pool.books.kind === 'pancake' || pool.books.kind === 'ng';
        const [shares, out] = isNamed ? [numbers[1]!, numbers[2]!] : [numbers[0]!, numbers[1]!];
        const coin = isNamed ? Number(numbers[0]) : paidCoin(pool, out, block, log);
        const done = pool.isKnown ? removeOne(pool.books, coin, shares, timestamp) : null;
        const lost = pool.tokens.map((_, index) => (index === coin ? -out : 0n));
        const owned = lost.map((each) => (each === 0n ? 0n : each - (done?.adminFee ?? 0n)));
        pool.books = {
          ...pool.books,
          balances: added(pool.books, owned),
          supply: pool.books.supply - shares,
        };
        this.move(pool, block, log, 'burn', lost);
        return null;
      }
      case 'add':
      case 'remove':
      case 'imbalance': {
        const signed = amounts.map((amount) => (name === 'add' ? amount : -amount));
        if (pool.books.lentUnit !== undefined && pool.isKnown)
          pool.isKnown = explains(pool, name, signed, numbers, timestamp);
        const balances = moved(pool.books, signed, fees).map(capped);
        pool.books = { ...pool.books, balances, supply: numbers.at(-1)! };
        this.move(pool, block, log, name === 'add' ? 'mint' : 'burn', signed);
        return null;
      }
      case 'donate':
        pool.isKnown = false;
        this.note(pool, block, log, 'collect');
        return null;
      default:
        pool.books = { ...pool.books, ...settingOf(name, numbers) };
        this.note(pool, block, log, 'fee');
        return null;
    }
  }

  /** The amounts of the lending token are in its Transfers, and the contract counts the lent tokens that it got. */
  private exchangeLent(
    pool: Pool,
    [soldId, named, boughtId, out]: readonly bigint[],
    block: ChainBlock,
    log: ChainLog,
  ): LegSwap {
    const { rates, lentUnit } = pool.books;
    const [isSold, isBought] = [soldId === 0n, boughtId === 0n];
    const sold = isSold ? lastTransfer(pool, 2, block, log) : named!;
    const bought = isBought ? lastTransfer(pool, 1, block, log) : out!;
    const counted = isSold ? (named! * 10n ** 18n) / (rates[0]! / lentUnit!) : sold;
    return this.exchange(pool, [soldId!, sold, boughtId!, bought], block, log, counted);
  }

  private exchange(
    pool: Pool,
    [soldId, sold, boughtId, bought]: readonly bigint[],
    block: ChainBlock,
    log: ChainLog,
    paid = sold!,
  ): LegSwap {
    const [i, j] = [Number(soldId), Number(boughtId)];
    const done = pool.isKnown ? exchange(pool.books, i, j, paid, block.timestamp) : null;
    // The rate at the end of the block is not the one of the event.
    if (pool.books.lentUnit !== undefined && done?.out !== bought) pool.isKnown = false;
    const out = bought! + (done?.adminFee ?? 0n);
    const feePips = toPips(done?.fee ?? pool.books.fee);
    const into = done?.counted ?? paid;
    const moves = pool.tokens.map((_, index) => (index === i ? into : index === j ? -out : 0n));
    pool.books = { ...pool.books, balances: added(pool.books, moves) };
    this.note(pool, block, log, 'swap');
    return this.swapOf(pool, [i, sold!], [j, bought!], feePips, (lower, higher) =>
      priceOf(pool, lower, higher, block.timestamp),
    );
  }
}

/** Null if the contract makes no trade, or if a part of the books or the rates is unknown. */
function priceOf(
  { books, isKnown }: Pool,
  i: number,
  j: number,
  timestamp: number,
): readonly [bigint, bigint] | null {
  if (books.isKilled || !isKnown) return null;
  const [xp, terms] = [toXp(books, books.balances), termsAt(books, timestamp)];
  if (xp.some((x) => x === 0n)) return null;
  // No function tells how a pool of two coins of the factory of 2021 rounds, so it has a price if D is found in one of the ways.
  const isUnsure = books.kind === 'pair' || (books.kind === 'factory' && xp.length === 2);
  const ways = isUnsure ? [true, false] : [terms.dividesEach];
  if (ways.every((dividesEach) => findContractD(xp, { ...terms, dividesEach }) === null)) return null;
  const price = stablePriceOf(xp, terms, i, j);
  return price === null ? null : [price[0] * books.rates[i]!, price[1] * books.rates[j]!];
}

function settingOf(name: string, numbers: readonly bigint[]): Partial<CurveBooks> {
  const [first, second, third, fourth] = [numbers[0]!, numbers[1]!, numbers[2]!, numbers[3]!];
  switch (name) {
    case 'ramp':
      return { ramp: [first, second, third, fourth] };
    case 'stop':
      return { ramp: [first, first, second, second] };
    case 'fees':
      return { fee: first, adminFee: second };
    case 'fee':
      return { fee: first };
    case 'parameters':
      return { ramp: [first, first, 0n, 0n], fee: second, adminFee: third };
    case 'offpeg':
      return { fee: first, offpeg: second };
    default:
      return { isKilled: name === 'kill' };
  }
}

/** Whether a deposit or withdrawal follows from the books of a pool of a lending token. */
function explains(
  pool: Pool,
  name: string,
  moves: readonly bigint[],
  numbers: readonly bigint[],
  timestamp: number,
): boolean {
  return name === 'remove'
    ? explainsPart(pool, moves, numbers.at(-1)!)
    : explainsD(pool, moves, numbers[0]!, timestamp);
}

/** Whether the D of the event fits the rate of a lending token at the end of the block, which later mints may round. */
function explainsD({ books }: Pool, moves: readonly bigint[], logged: bigint, timestamp: number): boolean {
  const xp = toXp(
    books,
    books.balances.map((balance, index) => balance + moves[index]!),
  );
  const d = xp.some((x) => x <= 0n) ? null : findContractD(xp, termsAt(books, timestamp));
  return d !== null && (d > logged ? d - logged : logged - d) <= logged / 2n ** 50n;
}

/**
 * Whether the amounts are the same part of each balance. They are not if a small swap followed although the rate had moved, so
 * that some units of the balance are wrong.
 */
function explainsPart({ books }: Pool, moves: readonly bigint[], supply: bigint): boolean {
  const burned = books.supply - supply;
  const partOf = (balance: bigint): bigint => (balance * burned) / books.supply;
  return books.supply > 0n && books.balances.every((balance, index) => partOf(balance) === -moves[index]!);
}

/** The last Transfer of the first coin from (topic 1) or to (topic 2) the pool before the log, in the same transaction. */
function lastTransfer({ address, tokens }: Pool, topic: 1 | 2, block: ChainBlock, log: ChainLog): bigint {
  const found = block.logs.findLast(
    (each) =>
      each.address === tokens[0] &&
      each.logIndex < log.logIndex &&
      each.transactionHash === log.transactionHash &&
      each.topics[0] === TRANSFER &&
      each.topics[topic]?.slice(26) === address.slice(2),
  );
  return BigInt(found!.data);
}

/** The coin that the pool sent just before the log, in the same transaction. */
function paidCoin({ address, tokens }: Pool, amount: bigint, block: ChainBlock, log: ChainLog): number {
  const paid = block.logs.findLast(
    (each) =>
      each.logIndex < log.logIndex &&
      each.transactionHash === log.transactionHash &&
      each.topics[0] === TRANSFER &&
      each.topics[1]?.slice(26) === address.slice(2) &&
      BigInt(each.data) === amount,
  );
  return tokens.indexOf(paid?.address ?? '');
}
