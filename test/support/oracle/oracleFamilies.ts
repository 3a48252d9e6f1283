/**
 * The oracle for pools of Solidly, Slipstream and Algebra: applies every event to plain numbers, with prices and fees as
 * exact fractions. Shares no code with the product. What the contracts answer comes from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { LegSwap } from './oracleVault';
import { PAIR_TOPICS, parsePlain, plainEvents, type PlainEvent } from './plainEvents';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const LARGEST_128 = (1n << 128n) - 1n;
const LARGEST_256 = (1n << 256n) - 1n;
const Q96 = 1n << 96n;
const PIPS = 1_000_000n;
/** The fee of an Algebra pool before its first Fee event. */
const ALGEBRA_FIRST_FEE = 100;

const CREATIONS = plainEvents([
  ['solidly', 'PairCreated(address indexed,address indexed,bool,address,uint256)'],
  ['solidly', 'PoolCreated(address indexed,address indexed,bool indexed,address,uint256)'],
  ['slipstream', 'PoolCreated(address indexed,address indexed,int24 indexed,address)'],
  ['algebra', 'Pool(address indexed,address indexed,address)'],
  ['custom', 'CustomPool(address indexed,address indexed,address indexed,address)'],
]);
/** The place of the pool in the values of each creation event. */
const POOL_PLACES: Readonly<Record<string, number>> = { solidly: 3, slipstream: 3, algebra: 2, custom: 3 };

const RANGE: readonly (readonly [string, string])[] = [
  ['swap', 'Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24)'],
  ['initialize', 'Initialize(uint160,int24)'],
  ['mint', 'Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)'],
  ['burn', 'Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)'],
  ['collect', 'Collect(address indexed,address,int24 indexed,int24 indexed,uint128,uint128)'],
  ['flash', 'Flash(address indexed,address indexed,uint256,uint256,uint256,uint256)'],
];
const EVENTS = {
  solidly: plainEvents([
    ['sync', 'Sync(uint256,uint256)'],
    ['sync', 'Sync(uint112,uint112)'],
    ['firstSwap', 'Swap(address indexed,uint256,uint256,uint256,uint256,address indexed)'],
    ['secondSwap', 'Swap(address indexed,address indexed,uint256,uint256,uint256,uint256)'],
    ['mint', 'Mint(address indexed,uint256,uint256)'],
    ['firstBurn', 'Burn(address indexed,uint256,uint256,address indexed)'],
    ['secondBurn', 'Burn(address indexed,address indexed,uint256,uint256)'],
  ]),
  slipstream: plainEvents([...RANGE, ['collect_protocol', 'CollectFees(address indexed,uint128,uint128)']]),
  algebra: plainEvents([
    ...RANGE,
    ['swap', 'Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24,uint24,uint24)'],
    ['burn', 'Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256,uint24)'],
    ['swapFee', 'SwapFee(address indexed,uint24,uint24)'],
    ['fee', 'Fee(uint16)'],
    ['fee', 'Fee(uint16,uint16)'],
  ]),
};
/** First topics of all events of pools that the ingester reads. */
const POOL_TOPICS = new Set([PAIR_TOPICS, ...Object.values(EVENTS)].flatMap((events) => [...events.keys()]));

export interface FamilyTruth {
  readonly token0: string;
  readonly token1: string;
  readonly isStable: boolean;
  /** Decimals by which a stable pool counts; null if the contract does not tell them. */
  readonly decimals: readonly [number, number] | null;
  readonly spacing: number;
  /** The fee that the contracts answer, in pips. */
  readonly feePips: number;
}

interface Pool extends FamilyTruth {
  readonly family: keyof typeof EVENTS;
  readonly address: string;
  /** Another deployer made the pool, so its factory does not confirm it. */
  readonly isCustom: boolean;
  isListed: boolean;
  reserves: readonly [bigint, bigint];
  root: bigint;
  liquidity: bigint;
  tick: number;
  /** Algebra: fees of swaps that pay in token0 and token1, and those of the next swap alone: override and plugin. */
  fees: readonly [number, number];
  nextFees: readonly [number, number];
  /**
   * `beforeSync`: reserves before the last Sync of `transaction`. `moved`: net amounts of its Transfers since the last
   * event.
   */
  transaction: string;
  beforeSync: readonly [bigint, bigint] | null;
  moved: readonly [bigint, bigint];
}

type Line = readonly (string | number | null)[];
type Numbers = readonly bigint[];

const capped = (value: bigint, largest: bigint): bigint =>
  value < 0n ? 0n : value > largest ? largest : value;

/** Half a unit counts as a whole one. */
const inPips = (part: bigint, whole: bigint): number => Number((2n * part * PIPS + whole) / (2n * whole));

export class FamilyOracle {
  /** Expected lines, as those of oraclePairs. */
  readonly pools: Line[] = [];
  readonly states: Line[] = [];
  readonly liquidity: Line[] = [];
  private readonly known = new Map<string, Pool>();

  constructor(
    private readonly factories: ReadonlySet<string>,
    private readonly truthOf: (pool: string) => FamilyTruth | undefined,
    private readonly firstBlock: number,
  ) {}

  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null {
    if (this.factories.has(log.address)) this.create(block, log);
    if (block.number < this.firstBlock) return null;
    if (log.topics[0] === TRANSFER) this.transfer(log);
    const pool = this.known.get(log.address);
    if (pool === undefined || !POOL_TOPICS.has(log.topics[0] ?? '')) return null;
    if (!pool.isListed) {
      if (pool.isCustom) return null;
      this.list(pool, ordOf(block, log), null);
    }
    const event = parsePlain(log, EVENTS[pool.family]);
    if (event === null) return null;
    enter(pool, log);
    return pool.family === 'solidly'
      ? this.readSolidly(pool, ordOf(block, log), event)
      : this.readRange(pool, ordOf(block, log), event);
  }

  /** The fee of each listed pool as lists show it, in pips: the larger one, if the fee depends on the direction. */
  feesNow(): [string, number][] {
    const listed = [...this.known.values()].filter(({ isListed }) => isListed);
    return listed.map(({ address, fees }) => [address, Math.max(...fees)]);
  }

  private create(block: ChainBlock, log: ChainLog): void {
    const event = parsePlain(log, CREATIONS);
    if (event === null) return;
    const address = String(event.args[POOL_PLACES[event.name]!]);
    const truth = this.truthOf(address);
    if (truth === undefined || this.known.has(address)) return;
    const isIngested = block.number >= this.firstBlock;
    const isAlgebra = event.name === 'algebra' || event.name === 'custom';
    const fee = isAlgebra && isIngested ? ALGEBRA_FIRST_FEE : truth.feePips;
    const family = isAlgebra ? 'algebra' : event.name === 'slipstream' ? 'slipstream' : 'solidly';
    const pool: Pool = {
      ...truth,
      feePips: fee,
      family,
      address,
      isCustom: event.name === 'custom',
      isListed: false,
      reserves: [0n, 0n],
      root: 0n,
      liquidity: 0n,
      tick: 0,
      fees: [fee, fee],
      nextFees: [0, 0],
      transaction: '',
      beforeSync: null,
      moved: [0n, 0n],
    };
    this.known.set(address, pool);
    if (!isIngested) return;
    this.list(pool, ordOf(block, log), block.number);
    // A factory may give the pool its first price before it emits this event.
    for (const earlier of block.logs.slice(0, log.logIndex))
      if (earlier.address === address && earlier.transactionHash === log.transactionHash)
        this.read(block, earlier);
  }

  private list(pool: Pool, ord: number, created: number | null): void {
    pool.isListed = true;
    this.pools.push([ord, pool.address, pool.token0, pool.token1, created]);
  }

  private transfer({ address: token, topics, data, ...log }: ChainLog): void {
    // An amount is one word: 0x and 64 digits.
    if (topics.length !== 3 || data.length !== 66) return;
    for (const [topic, sign] of [
      [topics[1]!, -1n],
      [topics[2]!, 1n],
    ] as const) {
      const pool = this.known.get(`0x${topic.slice(26)}`);
      if (pool === undefined || (pool.token0 !== token && pool.token1 !== token)) continue;
      enter(pool, log);
      const amount = sign * BigInt(data);
      pool.moved = [
        pool.moved[0] + (pool.token0 === token ? amount : 0n),
        pool.moved[1] + (pool.token1 === token ? amount : 0n),
      ];
    }
  }

  private readSolidly(pool: Pool, ord: number, { name, args }: PlainEvent): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    const accounts = args.filter((value): value is string => typeof value === 'string');
    switch (name) {
      case 'sync':
        pool.beforeSync = pool.reserves;
        pool.reserves = [numbers[0]!, numbers[1]!];
        this.note(pool, ord, name);
        return null;
      case 'firstSwap':
      case 'secondSwap':
        return solidlySwap(pool, numbers);
      default: {
        const kind = name === 'mint' ? 'mint' : 'burn';
        const amounts = [String(numbers[0]), String(numbers[1])];
        this.liquidity.push([ord, pool.address, kind, accounts.at(-1)!, ...amounts, null, null, null]);
        return null;
      }
    }
  }

  private readRange(pool: Pool, ord: number, { name, args }: PlainEvent): LegSwap | null {
    const numbers = args.filter((value): value is bigint => typeof value === 'bigint');
    if (name === 'fee') pool.fees = [Number(numbers[0]), Number(numbers.at(-1))];
    if (name === 'swapFee') pool.nextFees = [Number(numbers[0]), Number(numbers[1])];
    if (name === 'fee' || name === 'swapFee') return null;
    const before = { root: pool.root, liquidity: pool.liquidity, tick: pool.tick };
    applyRange(pool, name, numbers);
    // The owner of a mint is the second address; all other events name their owner first.
    const owner = String(args[name === 'mint' ? 1 : 0]);
    const [amount0, amount1] = name === 'collect_protocol' ? numbers : numbers.slice(-2);
    if (name !== 'swap' && name !== 'initialize') {
      const isChange = name === 'mint' || name === 'burn';
      const [lower, upper] = isChange || name === 'collect' ? numbers.slice(0, 2).map(Number) : [null, null];
      const paid = name === 'burn' ? numbers.slice(3, 5) : [amount0!, amount1!];
      this.liquidity.push([
        ord,
        pool.address,
        name,
        owner,
        ...paid.map(String),
        isChange ? String(numbers[2]) : null,
        lower!,
        upper!,
      ]);
    }
    this.note(pool, ord, name);
    if (name !== 'swap') return null;
    const feePips =
      pool.family === 'slipstream' ? slipstreamFee(pool, before, numbers) : algebraFee(pool, numbers);
    pool.nextFees = [0, 0];
    const { root } = pool;
    return legOf(pool, [numbers[0]!, numbers[1]!], root === 0n ? null : [root * root, Q96 * Q96], feePips);
  }

  private note({ address, reserves, root, liquidity, tick }: Pool, ord: number, kind: string): void {
    this.states.push([
      ord,
      address,
      kind,
      String(reserves[0]),
      String(reserves[1]),
      String(root),
      String(liquidity),
      tick,
    ]);
  }
}

/** The position of a log in the tables. */
const ordOf = (block: ChainBlock, log: ChainLog): number => block.number * 2 ** 20 + log.logIndex;

/** Forgets what belongs to an earlier transaction. */
function enter(
  pool: Pool,
  { transactionHash, transactionIndex }: Pick<ChainLog, 'transactionHash' | 'transactionIndex'>,
) {
  const transaction = `${transactionHash} ${transactionIndex}`;
  if (pool.transaction === transaction) return;
  pool.transaction = transaction;
  pool.beforeSync = null;
  pool.moved = [0n, 0n];
}

function legOf(
  { address: pair, token0, token1, reserves }: Pool,
  [amount0, amount1]: readonly [bigint, bigint],
  price: readonly [bigint, bigint] | null,
  feePips: number,
): LegSwap {
  const [reserve0, reserve1] = reserves;
  return { pair, leg: 1, token0, token1, amount0, amount1, reserve0, reserve1, price, feePips };
}

/** The fee is what came in and did not stay in the reserves. */
function solidlySwap(pool: Pool, [in0, in1, out0, out1]: Numbers): LegSwap {
  const amounts = [in0! - out0!, in1! - out1!] as const;
  const before = pool.beforeSync;
  if (before === null) return { ...legOf(pool, amounts, null, pool.feePips), reserve0: 0n, reserve1: 0n };
  const side = amounts[0] > 0n ? 0 : 1;
  const fee = amounts[side] - (pool.reserves[side] - before[side]);
  const isTold = before[0] > 0n && before[1] > 0n && amounts[side] > 0n && fee >= 0n && fee <= amounts[side];
  return legOf(pool, amounts, solidlyPrice(pool), isTold ? inPips(fee, amounts[side]) : pool.feePips);
}

/** y / x, or for x³y + y³x = k the ratio of the derivatives: (3x²y + y³) / (x³ + 3y²x). */
function solidlyPrice({ reserves: [r0, r1], isStable, decimals }: Pool): readonly [bigint, bigint] | null {
  if (r0 === 0n || r1 === 0n) return null;
  if (!isStable) return [r1, r0];
  if (decimals === null) return null;
  const [unit0, unit1] = [10n ** BigInt(decimals[0]), 10n ** BigInt(decimals[1])];
  const [x, y] = [r0 * unit1, r1 * unit0];
  return [(3n * x * x * y + y ** 3n) * unit1, (x ** 3n + 3n * y * y * x) * unit0];
}

/** `numbers` are the values of the event that are no addresses, as in its signature. */
function applyRange(pool: Pool, name: string, numbers: Numbers): void {
  const moveBalances = (delta0: bigint, delta1: bigint): void => {
    const moves = pool.family === 'algebra' ? pool.moved : [delta0, delta1];
    pool.reserves = [
      capped(pool.reserves[0] + moves[0]!, LARGEST_256),
      capped(pool.reserves[1] + moves[1]!, LARGEST_256),
    ];
    pool.moved = [0n, 0n];
  };
  const addLiquidity = (amount: bigint): void => {
    const [lower, upper] = [Number(numbers[0]), Number(numbers[1])];
    if (pool.tick >= lower && pool.tick < upper)
      pool.liquidity = capped(pool.liquidity + amount, LARGEST_128);
  };
  switch (name) {
    case 'initialize':
      moveBalances(0n, 0n);
      [pool.root, pool.tick] = [numbers[0]!, Number(numbers[1])];
      break;
    case 'swap':
      moveBalances(numbers[0]!, numbers[1]!);
      [pool.root, pool.liquidity, pool.tick] = [numbers[2]!, numbers[3]!, Number(numbers[4])];
      break;
    case 'mint':
      moveBalances(numbers[3]!, numbers[4]!);
      addLiquidity(numbers[2]!);
      break;
    case 'burn':
      moveBalances(0n, 0n);
      addLiquidity(-numbers[2]!);
      break;
    case 'flash':
      moveBalances(numbers[2]!, numbers[3]!);
      break;
    default:
      moveBalances(-numbers.at(-2)!, -numbers.at(-1)!);
  }
}

/**
 * Inside one range of ticks, liquidity L at √P = r takes in L·Δr of token1 or L·Δ(1/r) of token0, rounded up. The rest
 * of what came in is the fee.
 */
function slipstreamFee(
  { root: end, liquidity, tick, spacing, feePips }: Pool,
  before: { readonly root: bigint; readonly liquidity: bigint; readonly tick: number },
  [amount0, amount1]: Numbers,
): number {
  const { root: start } = before;
  const isToken0In = amount0! > 0n;
  const amountIn = isToken0In ? amount0! : amount1!;
  const isInside = Math.floor(before.tick / spacing) === Math.floor(tick / spacing);
  if (!isInside || liquidity === 0n || liquidity !== before.liquidity || start === 0n || amountIn <= 0n)
    return feePips;
  if (isToken0In ? end >= start : end <= start) return feePips;
  // In units of 1 / 2^96: Δ(1/r) = (start − end)·2^96·2^96 / (start·end) and Δr = end − start.
  const [top, bottom] = isToken0In
    ? [liquidity * (start - end) * Q96, start * end]
    : [liquidity * (end - start), Q96];
  const taken = top / bottom + (top % bottom === 0n ? 0n : 1n);
  return taken > amountIn ? feePips : inPips(amountIn - taken, amountIn);
}

/** The Swap may have its own fees; otherwise a SwapFee event before it, or the pool, says the fee. */
function algebraFee({ fees, nextFees }: Pool, numbers: Numbers): number {
  const [override, plugin] = numbers.length > 5 ? numbers.slice(5).map(Number) : nextFees;
  return (override === 0 ? fees[numbers[0]! > 0n ? 0 : 1] : override!) + plugin!;
}
