/**
 * The oracle for StableSwap pools: applies every event to the books of the contract, with prices as exact fractions. Shares
 * no code with the product. Coins, settings and the books at the end of a block come from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { exchange, moved, removeOne, termsAt, toXp, type CurveBooks } from './curveContract';
import type { LegSwap } from './oracleVault';
import type { Line } from './pairOracle';
import { parsePlain, plainEvents, type PlainEvent } from './plainEvents';
import { findContractD, stablePriceOf } from './stableSwap';

const CREATIONS = plainEvents([
  ['pancake', 'NewStableSwapPair(address indexed,address,address,address,address)'],
  ['ng', 'PlainPoolDeployed(address[],uint256,uint256,address)'],
]);
const EVENTS = plainEvents([
  ['exchange', 'TokenExchange(address indexed,uint256,uint256,uint256,uint256)'],
  ['exchange', 'TokenExchange(address indexed,int128,uint256,int128,uint256)'],
  ['one', 'RemoveLiquidityOne(address indexed,uint256,uint256,uint256)'],
  ['one', 'RemoveLiquidityOne(address indexed,int128,uint256,uint256,uint256)'],
  ['add', 'AddLiquidity(address indexed,uint256[],uint256[],uint256,uint256)'],
  ['remove', 'RemoveLiquidity(address indexed,uint256[],uint256[],uint256)'],
  ['imbalance', 'RemoveLiquidityImbalance(address indexed,uint256[],uint256[],uint256,uint256)'],
  ['ramp', 'RampA(uint256,uint256,uint256,uint256)'],
  ['stop', 'StopRampA(uint256,uint256)'],
  ['fees', 'NewFee(uint256,uint256)'],
  ['offpeg', 'ApplyNewFee(uint256,uint256)'],
  ['kill', 'Kill()'],
  ['unkill', 'Unkill()'],
  ['donate', 'DonateAdminFees()'],
]);
/** Events of Pancake's port, whose arrays have the length of the pool: by the topics of two and three coins. */
const FIXED: ReadonlyMap<string, string> = new Map(
  [2, 3].flatMap((coins) =>
    plainFixed(coins).map(([name, topic]): [string, string] => [topic, `${name} ${coins}`]),
  ),
);

const STABLE_TYPE = 5;
const UNITS_PER_PIP = 10_000n;
const LARGEST = (1n << 256n) - 1n;

interface CurveTruth {
  readonly tokens: readonly string[];
  readonly books: CurveBooks;
}

interface Pool {
  readonly address: string;
  readonly tokens: readonly string[];
  /** Block of the creation. */
  readonly born: number;
  books: CurveBooks;
  isListed: boolean;
  /** Whether the product knows the books. An event that its contract does not explain makes them unknown. */
  isKnown: boolean;
  /** The last block with a log of the pool. */
  lastBlock: number;
}

export class CurveOracle {
  /** Lines of block, log index, and the columns of compareOracle.ts for pools of many tokens. */
  readonly pools: Line[] = [];
  readonly states: Line[] = [];
  readonly liquidity: Line[] = [];
  private readonly byAddress = new Map<string, Pool>();

  constructor(
    private readonly factory: string,
    private readonly firstBlock: number,
    /** The pool at the end of the block with this hash. */
    private readonly truthAt: (hash: string, pool: string) => CurveTruth | undefined,
    private readonly ranked: readonly string[],
  ) {}

  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null {
    if (log.address === this.factory) this.create(block, log);
    const pool = this.byAddress.get(log.address);
    const topic = log.topics[0] ?? '';
    if (pool === undefined || block.number < this.firstBlock) return null;
    if (!EVENTS.has(topic) && !FIXED.has(topic)) return null;
    const isNewBlock = pool.lastBlock !== block.number && pool.born !== block.number;
    pool.lastBlock = block.number;
    if (isNewBlock && !pool.isKnown) {
      pool.books = this.truthAt(block.parentHash, pool.address)!.books;
      pool.isKnown = true;
    }
    if (!pool.isListed) this.list(pool, block, log, null);
    const event = readEvent(log, pool);
    return event === null ? null : this.apply(pool, event, block, log);
  }

  /** The current fee of each listed pool, in pips. */
  feesNow(): [string, number][] {
    const listed = [...this.byAddress.values()].filter(({ isListed }) => isListed);
    return listed.map(({ address, books }) => [address, toPips(books.fee)]);
  }

  private create(block: ChainBlock, log: ChainLog): void {
    const event = parsePlain(log, CREATIONS);
    if (event === null) return;
    // The factory of StableSwap-NG does not name the pool, whose constructor logged just before.
    const address = event.name === 'pancake' ? String(event.args[0]) : block.logs[log.logIndex - 1]!.address;
    const truth = this.truthAt(block.hash, address);
    if (truth === undefined || this.byAddress.has(address)) return;
    const isIngested = block.number >= this.firstBlock;
    const { tokens, books } = truth;
    const pool: Pool = {
      address,
      tokens,
      born: block.number,
      books: { ...books, supply: 0n, balances: tokens.map(() => 0n) },
      isListed: false,
      isKnown: isIngested,
      lastBlock: -1,
    };
    this.byAddress.set(address, pool);
    if (!isIngested) return;
    this.list(pool, block, log, block.number);
    this.note(pool, block, log, 'register');
  }

  private list(pool: Pool, block: ChainBlock, log: ChainLog, created: number | null): void {
    pool.isListed = true;
    const { address, tokens, books } = pool;
    const [token0, token1] = this.mainLeg(tokens);
    const fee = toPips(books.fee);
    this.pools.push([
      ...[block.number, log.logIndex, address, STABLE_TYPE, tokens.join(' '), ''],
      ...[token0, token1, fee, created],
    ]);
  }

  /** The first leg with the best quote token, or the first leg. */
  private mainLeg(tokens: readonly string[]): readonly [string, string] {
    const quote = tokens.indexOf(this.ranked.find((token) => tokens.includes(token)) ?? '');
    return [tokens[0]!, tokens[quote > 0 ? quote : 1]!];
  }

  private note({ address, books }: Pool, block: ChainBlock, log: ChainLog, kind: string): void {
    this.states.push([block.number, log.logIndex, address, kind, books.balances.join(' '), 0]);
  }

  private apply(pool: Pool, { name, args }: PlainEvent, block: ChainBlock, log: ChainLog): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    const [amounts = [], fees = []] = args.filter((value) => typeof value === 'object') as bigint[][];
    const { timestamp } = block;
    switch (name) {
      case 'exchange':
        return this.exchange(pool, numbers, block, log);
      case 'one': {
        const [coin, shares, out] = [Number(numbers[0]), numbers[1]!, numbers[2]!];
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

  private move(pool: Pool, block: ChainBlock, log: ChainLog, kind: string, amounts: readonly bigint[]): void {
    this.note(pool, block, log, kind);
    const shown = this.mainLeg(pool.tokens).map((token) =>
      String(amounts[pool.tokens.indexOf(token)]!).replace('-', ''),
    );
    this.liquidity.push([block.number, log.logIndex, pool.address, kind, ...shown]);
  }

  private exchange(
    pool: Pool,
    [soldId, sold, boughtId, bought]: readonly bigint[],
    block: ChainBlock,
    log: ChainLog,
  ): LegSwap {
    const [i, j] = [Number(soldId), Number(boughtId)];
    const done = pool.isKnown ? exchange(pool.books, i, j, sold!, block.timestamp) : null;
    const out = bought! + (done?.adminFee ?? 0n);
    const feePips = toPips(done?.fee ?? pool.books.fee);
    const moves = pool.tokens.map((_, index) => (index === i ? sold! : index === j ? -out : 0n));
    pool.books = { ...pool.books, balances: added(pool.books, moves) };
    this.note(pool, block, log, 'swap');
    const [lower, higher] = i < j ? [i, j] : [j, i];
    const { books, tokens } = pool;
    return {
      pair: pool.address,
      leg: 256 * lower + higher,
      token0: tokens[lower]!,
      token1: tokens[higher]!,
      amount0: i < j ? sold! : -bought!,
      amount1: i < j ? -bought! : sold!,
      reserve0: books.balances[lower]!,
      reserve1: books.balances[higher]!,
      price: priceOf(pool, lower, higher, block.timestamp),
      feePips,
    };
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
  if (xp.some((x) => x === 0n) || findContractD(xp, terms) === null) return null;
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
    case 'offpeg':
      return { fee: first, offpeg: second };
    default:
      return { isKilled: name === 'kill' };
  }
}

/** The event of a pool; null if it is malformed. Arrays of a fixed size become lists. */
function readEvent(log: ChainLog, { tokens }: Pool): PlainEvent | null {
  const fixed = FIXED.get(log.topics[0] ?? '');
  if (fixed === undefined) {
    const event = parsePlain(log, EVENTS);
    if (event?.name !== 'exchange') return event;
    const [, i, , j] = event.args.map(Number);
    return i === j || i! >= tokens.length || j! >= tokens.length ? null : event;
  }
  const [name, coins] = fixed.split(' ');
  const words =
    /^0x((?:[0-9a-f]{64})*)$/
      .exec(log.data)?.[1]
      ?.match(/.{64}/g)
      ?.map((word) => BigInt(`0x${word}`)) ?? [];
  const size = 2 * Number(coins);
  if (words.length !== size + (name === 'remove' ? 1 : 2)) return null;
  return {
    name: name!,
    args: [log.topics[1]!, words.slice(0, size / 2), words.slice(size / 2, size), ...words.slice(size)],
  };
}

function plainFixed(coins: number): [name: string, topic: string][] {
  const list = `uint256[${coins}]`;
  const events = plainEvents([
    ['add', `AddLiquidity(address indexed,${list},${list},uint256,uint256)`],
    ['remove', `RemoveLiquidity(address indexed,${list},${list},uint256)`],
    ['imbalance', `RemoveLiquidityImbalance(address indexed,${list},${list},uint256,uint256)`],
  ]);
  return [...events].map(([topic, { name }]) => [name, topic]);
}

const capped = (value: bigint): bigint => (value < 0n ? 0n : value > LARGEST ? LARGEST : value);

const added = ({ balances }: CurveBooks, moves: readonly bigint[]): bigint[] =>
  balances.map((balance, index) => capped(balance + moves[index]!));

/** Half a pip counts as a whole one. */
const toPips = (fee: bigint): number => Number((fee + UNITS_PER_PIP / 2n) / UNITS_PER_PIP);
