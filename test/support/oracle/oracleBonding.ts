/**
 * The oracle for bonding curves with virtual reserves: applies every event, and every Transfer of a pool's tokens, to plain
 * numbers. Shares no code with the product. The price is that of the exact virtual reserves. The stored state of a curve is
 * √price and liquidity, so its columns follow from those of the state before.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { squareRoot } from './oracleV4';
import type { LegSwap } from './oracleVault';
import { addTo, PairOracle, type LogPlace, type OraclePair, type StateParts } from './pairOracle';
import { plainEvents, type PlainEvent } from './plainEvents';

const EVENTS = plainEvents([
  ['create', 'PairCreated(address indexed,address indexed,address,uint256)'],
  ['mint', 'Mint(uint256,uint256)'],
  ['swap', 'Swap(uint256,uint256,uint256,uint256)'],
]);
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const NOBODY = `0x${'0'.repeat(40)}`;
const LARGEST_128 = (1n << 128n) - 1n;
const TICK_MAX = 887_272;

/** What the contracts of a pool answer. */
interface BondingTruth {
  readonly feePips: number;
  /** Returns the state of an older pool before its first block; null if no node has it. */
  readonly state: { readonly virtual: Amounts; readonly balances: Amounts } | null;
}

type Amounts = readonly [bigint, bigint];

interface Curve {
  readonly root: bigint;
  readonly liquidity: bigint;
  readonly tick: number;
}

interface Pool extends OraclePair {
  readonly feePips: number;
  readonly isTold: boolean;
  virtual: Amounts;
  curve: Curve;
  /** Net amounts of the Transfers of `transaction` since the last event of the pool. */
  transaction: string;
  moved: Amounts;
}

const NO_CURVE: Curve = { root: 0n, liquidity: 0n, tick: 0 };

export class BondingOracle extends PairOracle<Pool> {
  constructor(
    factory: string,
    firstBlock: number,
    private readonly truthOf: (pool: string) => BondingTruth | undefined,
  ) {
    super(factory, firstBlock, EVENTS);
  }

  override read(block: ChainBlock, log: ChainLog): LegSwap | null {
    if (log.topics[0] !== TRANSFER) return super.read(block, log);
    if (block.number >= this.firstBlock) this.transfer(block, log);
    return null;
  }

  protected create({ name, args }: PlainEvent, isIngested: boolean): Pool | null {
    const [token0, token1, address] = args.map(String);
    const truth = this.truthOf(address ?? '');
    if (name !== 'create' || truth === undefined) return null;
    const state = isIngested ? null : truth.state;
    return {
      address: address!,
      token0: token0!,
      token1: token1!,
      isListed: false,
      feePips: truth.feePips,
      isTold: state !== null,
      reserves: state?.balances ?? [0n, 0n],
      virtual: state?.virtual ?? [0n, 0n],
      curve: state === null ? NO_CURVE : curveOf(state.virtual),
      transaction: '',
      moved: [0n, 0n],
    };
  }

  private transfer(block: ChainBlock, log: ChainLog): void {
    const [, from, to] = log.topics;
    if (log.topics.length !== 3) return;
    for (const [topic, sign] of [
      [from!, -1n],
      [to!, 1n],
    ] as const) {
      const pool = this.known.get(`0x${topic.slice(26)}`);
      if (pool === undefined || (pool.token0 !== log.address && pool.token1 !== log.address)) continue;
      enter(pool, log);
      const amount = sign * BigInt(log.data);
      const [moved0, moved1] = pool.moved;
      pool.moved = log.address === pool.token0 ? [moved0 + amount, moved1] : [moved0, moved1 + amount];
      this.end(pool, { block, log, ord: block.number * 2 ** 20 + log.logIndex });
    }
  }

  /** The curve ends when the last of the token that it sells leaves the pool. */
  private end(pool: Pool, place: LogPlace): void {
    const [moved0, moved1] = pool.moved;
    if (pool.curve.liquidity === 0n || moved0 >= 0n || pool.reserves[0] + moved0 > 0n) return;
    const paid = [-moved0, moved1 < 0n ? -moved1 : 0n].map(String);
    settle(pool);
    pool.curve = { ...pool.curve, liquidity: 0n };
    this.liquidity.push([place.ord, pool.address, 'burn', NOBODY, ...paid, null, null, null]);
    this.note(pool, place, 'burn', pool.curve);
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, place: LogPlace): LegSwap | null {
    const numbers = args as readonly bigint[];
    if (numbers.some((value) => value > LARGEST_128)) return null;
    enter(pool, place.log);
    return name === 'swap' ? this.swap(pool, numbers, place) : this.mint(pool, numbers, place);
  }

  private mint(pool: Pool, [virtual0, virtual1]: readonly bigint[], place: LogPlace): null {
    const virtual = [virtual0!, virtual1!] as const;
    const curve = curveOf(virtual);
    if (pool.curve.liquidity > 0n || curve.liquidity === 0n) return null;
    settle(pool);
    Object.assign(pool, { virtual, curve });
    const { liquidity, tick } = curve;
    const amounts = [String(virtual0), '0', String(liquidity)];
    this.liquidity.push([place.ord, pool.address, 'mint', NOBODY, ...amounts, tick, TICK_MAX]);
    this.note(pool, place, 'mint', curve);
    return null;
  }

  private swap(pool: Pool, [in0, out0, in1, out1]: readonly bigint[], place: LogPlace): LegSwap {
    const [amount0, amount1] = [in0! - out0!, in1! - out1!];
    const { address: pair, token0, token1, feePips, virtual } = pool;
    const plus = ([first, second]: Amounts): Amounts => [first + amount0, second + amount1];
    settle(pool);
    pool.curve = pool.curve.liquidity === 0n ? NO_CURVE : curveOf(plus(reservesOf(pool.curve)));
    pool.virtual = plus(virtual);
    this.note(pool, place, 'swap', pool.curve);
    const [reserve0, reserve1] = pool.reserves;
    const hasPrice = pool.curve.liquidity > 0n;
    const price = hasPrice ? ([pool.virtual[1], pool.virtual[0]] as const) : null;
    return { pair, leg: 1, token0, token1, amount0, amount1, reserve0, reserve1, price, feePips };
  }

  protected toldState({ isTold, curve }: Pool): StateParts | null {
    return isTold ? curve : null;
  }

  protected feeOf({ feePips }: Pool): number {
    return feePips;
  }
}

/** Forgets what belongs to an earlier transaction. */
function enter(pool: Pool, { transactionHash, transactionIndex }: ChainLog): void {
  const transaction = `${transactionHash} ${transactionIndex}`;
  if (pool.transaction !== transaction) Object.assign(pool, { transaction, moved: [0n, 0n] });
}

/** The balances follow the Transfers. */
function settle(pool: Pool): void {
  pool.reserves = addTo(pool.reserves, ...pool.moved);
  pool.moved = [0n, 0n];
}

/** L = √(x·y) and √(y/x)·2^96, both rounded down. */
function curveOf([x, y]: Amounts): Curve {
  if (x <= 0n || y <= 0n) return NO_CURVE;
  const root = squareRoot((y << 192n) / x);
  const tick = Math.floor((2 * Math.log(Number(root) / 2 ** 96)) / Math.log(1.0001));
  const liquidity = squareRoot(x * y);
  return Math.abs(tick) >= TICK_MAX || liquidity > LARGEST_128 ? NO_CURVE : { root, liquidity, tick };
}

/** L / √P and L · √P. Half a unit counts as a whole one. */
function reservesOf({ root, liquidity }: Curve): Amounts {
  const rounded = (top: bigint, bottom: bigint): bigint => (2n * top + bottom) / (2n * bottom);
  return [rounded(liquidity << 96n, root), rounded(liquidity * root, 1n << 96n)];
}
