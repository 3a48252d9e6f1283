/**
 * The oracle for Uniswap V4 pools, and for CL pools of PancakeSwap Infinity: applies every event to plain numbers, with
 * amounts as exact fractions. Shares no code with the product. Knows no pool that is older than the first block.
 */
import type { ChainLog } from '../../../src/domain/block';
import type { LegSwap } from './oracleVault';
import { addTo, PairOracle, type LogPlace, type OraclePair, type StateParts } from './pairOracle';
import { plainEvents, type PlainEvent } from './plainEvents';

const MODIFY = 'ModifyLiquidity(bytes32 indexed,address indexed,int24,int24,int256,bytes32)';
const EVENTS = plainEvents([
  [
    'initialize',
    'Initialize(bytes32 indexed,address indexed,address indexed,uint24,int24,address,uint160,int24)',
  ],
  ['swap', 'Swap(bytes32 indexed,address indexed,int128,int128,uint160,uint128,int24,uint24)'],
  ['modify', MODIFY],
]);
const INFINITY_EVENTS = plainEvents([
  [
    'initialize',
    'Initialize(bytes32 indexed,address indexed,address indexed,address,uint24,bytes32,uint160,int24)',
  ],
  ['swap', 'Swap(bytes32 indexed,address indexed,int128,int128,uint160,uint128,int24,uint24,uint16)'],
  ['modify', MODIFY],
]);
const Q96 = 1n << 96n;
const PIPS = 1_000_000n;
const DYNAMIC_FEE = 0x800000n;
/** Bits of a hook's address with which it changes the amounts of swaps. */
const TAKES_PART = 0x000cn;
/** The doubt about a pool with such a hook, as in the table pool_states. */
const UNFOLLOWED = 8;
/** The same bits among the parameters of a pool of Infinity. */
const INFINITY_TAKES_PART = 0x0c00n;
const LARGEST_128 = (1n << 128n) - 1n;

interface Pool extends OraclePair {
  readonly id: string;
  readonly doubts: number;
  readonly feePips: number;
  root: bigint;
  liquidity: bigint;
  tick: number;
}

export class V4Oracle extends PairOracle<Pool> {
  constructor(
    manager: string,
    firstBlock: number,
    private readonly isInfinity = false,
  ) {
    super(manager, firstBlock, isInfinity ? INFINITY_EVENTS : EVENTS);
  }

  /** A pool has the last 20 bytes of its id as key. */
  protected override keyOf({ address, topics }: ChainLog): string {
    return address === this.factory ? `0x${topics[1]?.slice(-40)}` : '';
  }

  protected create({ name, args }: PlainEvent, isIngested: boolean): Pool | null {
    if (name !== 'initialize' || !isIngested) return null;
    const [id, token0, token1] = args.map(String);
    const fee = args[this.isInfinity ? 4 : 3] as bigint;
    const doubts = this.isInfinity ? hookDoubts(args[3], args[5]) : takesPart(args[5], TAKES_PART);
    return {
      id: id!,
      address: `0x${id!.slice(-40)}`,
      token0: token0!,
      token1: token1!,
      isListed: false,
      reserves: [0n, 0n],
      doubts,
      feePips: firstFee(fee),
      root: 0n,
      liquidity: 0n,
      tick: 0,
    };
  }

  protected apply(pool: Pool, { name, args }: PlainEvent, place: LogPlace): LegSwap | null {
    if (args[0] !== pool.id) return null;
    const sender = String(args[1]);
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    if (name === 'swap') return swapOf(pool, numbers, () => this.note(pool, place, name, pool));
    if (name === 'modify') this.modify(pool, sender, numbers, place);
    else if (pool.root === 0n) {
      [pool.root, pool.tick] = [numbers.at(-2)!, Number(numbers.at(-1))];
      this.note(pool, place, name, pool);
    }
    return null;
  }

  private modify(pool: Pool, owner: string, [low, high, change]: readonly bigint[], place: LogPlace): void {
    const [lower, upper] = [Number(low), Number(high)];
    if (lower >= upper) return;
    const kind = change! > 0n ? 'mint' : 'burn';
    const [amount0, amount1] = held(pool, lower, upper, change!);
    const size = change! < 0n ? -change! : change!;
    const sign = kind === 'mint' ? 1n : -1n;
    pool.reserves = addTo(pool.reserves, sign * amount0, sign * amount1);
    if (pool.tick >= lower && pool.tick < upper) {
      const sum = pool.liquidity + change!;
      pool.liquidity = sum < 0n ? 0n : sum > LARGEST_128 ? LARGEST_128 : sum;
    }
    const amounts = [amount0, amount1, size].map(String);
    this.liquidity.push([place.ord, pool.address, kind, owner, ...amounts, lower, upper]);
    this.note(pool, place, kind, pool);
  }

  /** No older pool is known. */
  protected toldState(): StateParts {
    return {};
  }

  protected feeOf({ feePips }: Pool): number {
    return feePips;
  }
}

const takesPart = (word: unknown, bits: bigint): number =>
  (BigInt(String(word)) & bits) === 0n ? 0 : UNFOLLOWED;

/** The doubts about a pool of Infinity with this hook and these parameters. */
export const hookDoubts = (hook: unknown, parameters: unknown): number =>
  BigInt(String(hook)) === 0n ? 0 : takesPart(parameters, INFINITY_TAKES_PART);

/** The fee of a new pool, which is 0 where a hook sets it. */
export const firstFee = (fee: bigint): number => (fee === DYNAMIC_FEE ? 0 : Number(fee));

/** The event names what the trader gets, and the fee in pips of what the trader pays. Fees do not count as balances. */
function swapOf(
  pool: Pool,
  [gets0, gets1, root, liquidity, tick, fee]: readonly bigint[],
  note: () => void,
): LegSwap | null {
  if (fee! > PIPS) return null;
  const kept = (gets: bigint): bigint => (gets < 0n ? (-gets * (PIPS - fee!)) / PIPS : -gets);
  pool.reserves = addTo(pool.reserves, kept(gets0!), kept(gets1!));
  [pool.root, pool.liquidity, pool.tick] = [root!, liquidity!, Number(tick)];
  note();
  const { address: pair, token0, token1, reserves, doubts } = pool;
  const isPriced = doubts === 0 && root! > 0n;
  return {
    pair,
    leg: 1,
    token0,
    token1,
    amount0: -gets0!,
    amount1: -gets1!,
    reserve0: reserves[0],
    reserve1: reserves[1],
    price: isPriced ? ([root! * root!, Q96 * Q96] as const) : null,
    feePips: Number(fee),
  };
}

const roots = new Map<number, bigint>();

/** √(1.0001^tick) · 2^96, rounded up. */
function rootAt(tick: number): bigint {
  const known = roots.get(tick);
  if (known !== undefined) return known;
  const [large, small] = [10_001n, 10_000n].map((base) => base ** BigInt(Math.abs(tick)));
  const [top, bottom] = tick < 0 ? [small!, large!] : [large!, small!];
  const down = squareRoot((top * Q96 * Q96) / bottom);
  const root = down * down * bottom === top * Q96 * Q96 ? down : down + 1n;
  roots.set(tick, root);
  return root;
}

/** The largest whole number whose square is not above `value`, by Newton's method from above. */
export function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (let next = (root + value / root) / 2n; next < root; next = (root + value / root) / 2n) root = next;
  return root;
}

/**
 * The tokens of liquidity L between √P = a and √P = b, where r is the price: L·(1/r − 1/b) of token0 and L·(r − a) of token1.
 * What is added is rounded up, and what is removed down.
 */
function held({ root, tick }: Pool, lower: number, upper: number, change: bigint): [bigint, bigint] {
  if (root === 0n) return [0n, 0n];
  const size = change < 0n ? -change : change;
  const [a, b] = [rootAt(lower), rootAt(upper)];
  const [from, to] = [
    tick < lower ? a : tick >= upper ? b : root,
    tick >= upper ? b : tick < lower ? a : root,
  ];
  const rounded = (top: bigint, bottom: bigint): bigint =>
    change > 0n ? (top + bottom - 1n) / bottom : top / bottom;
  return [rounded(size * Q96 * (b - from), b * from), rounded(size * (to - a), Q96)];
}
