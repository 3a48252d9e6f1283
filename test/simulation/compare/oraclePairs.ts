/**
 * The oracle (independent recomputation) for facts about pairs other than swaps: which pairs exist, their
 * state after each log, and added or removed liquidity. Applies every event to plain numbers. Shares no code
 * with the product.
 */
import type { ChainBlock } from '../../../src/domain/block';
import { PAIR_TOPICS, parsePlain, type PlainEvent } from '../../support/oracle/plainEvents';

/** Numbers of positions (`ord`) of one block. */
export const ORD_SPAN = 2 ** 20;
/** The position of a log, computed without code of the product. */
export const plainOrd = (block: number, logIndex: number): number => block * ORD_SPAN + logIndex;

const LARGEST_128 = (1n << 128n) - 1n;
const LARGEST_256 = (1n << 256n) - 1n;

export type OracleLine = readonly (string | number | null)[];

interface PairTruth {
  /** Expected pairs as lines of: ord, address, token0, token1, block of creation. */
  readonly pools: OracleLine[];
  /** Expected states as lines of: ord, pair, kind, reserve0, reserve1, sqrtPriceX96, liquidity, tick. */
  readonly states: OracleLine[];
  /** Expected liquidity events as lines of: ord, pair, kind, owner, amount0, amount1, liquidity, lower,
   * upper. */
  readonly liquidity: OracleLine[];
}

interface Pair {
  readonly isV3: boolean;
  readonly token0: string;
  readonly token1: string;
  isCreationSeen: boolean;
  reserves: [bigint, bigint];
  sqrtPrice: bigint;
  /** Liquidity at the current tick. */
  activeLiquidity: bigint;
  tick: bigint;
}

type Numbers = readonly bigint[];

const capped = (value: bigint, largest: bigint): bigint =>
  value < 0n ? 0n : value > largest ? largest : value;

/**
 * The expected rows of these blocks, which must start with the chain's first block. Rows start at
 * `firstBlock`. Ignores pairs of LP tokens.
 */
export function oraclePairs(
  blocks: readonly ChainBlock[],
  factories: ReadonlySet<string>,
  firstBlock: number,
): PairTruth {
  const truth: PairTruth = { pools: [], states: [], liquidity: [] };
  const pairs = new Map<string, Pair>();
  for (const block of blocks) {
    for (const log of block.logs) {
      const ord = plainOrd(block.number, log.logIndex);
      const emitter = pairs.get(log.address);
      // A pair older than `firstBlock` is listed at its first log that looks like a pair's event.
      if (
        emitter?.isCreationSeen === false &&
        block.number >= firstBlock &&
        PAIR_TOPICS.has(log.topics[0] ?? '')
      ) {
        emitter.isCreationSeen = true;
        truth.pools.push([ord, log.address, emitter.token0, emitter.token1, null]);
      }
      const event = parsePlain(log);
      if (event === null) continue;
      if (factories.has(log.address)) {
        const isIngested = block.number >= firstBlock;
        const [address, pair] = create(event, isIngested) ?? [];
        if (address === undefined || pair === undefined || pairs.has(address)) continue;
        pairs.set(address, pair);
        if (isIngested) truth.pools.push([ord, address, pair.token0, pair.token1, block.number]);
      }
      const pair = pairs.get(log.address);
      if (pair !== undefined && block.number >= firstBlock) readEvent(truth, pair, log.address, ord, event);
    }
  }
  return truth;
}

function create({ name, args }: PlainEvent, isCreationSeen: boolean): [string, Pair] | null {
  const isV3 = name === 'PoolCreated';
  if (!isV3 && name !== 'PairCreated') return null;
  const [token0, token1] = [String(args[0]), String(args[1])];
  const reserves: [bigint, bigint] = [0n, 0n];
  const pair = {
    isV3,
    token0,
    token1,
    isCreationSeen,
    reserves,
    sqrtPrice: 0n,
    activeLiquidity: 0n,
    tick: 0n,
  };
  return [String(args[isV3 ? 4 : 2]), pair];
}

/**
 * Numbers of arguments that an event of this name has: first for V2 pairs (0 if they have no such event), then for V3
 * pairs.
 */
const WORDS: Readonly<Record<string, readonly [v2: number, ...v3: number[]]>> = {
  Sync: [2],
  Swap: [6, 7, 9],
  Mint: [3, 7],
  Burn: [4, 6],
  Initialize: [0, 2],
  Collect: [0, 6],
  CollectProtocol: [0, 4],
  Flash: [0, 6],
};

function readEvent(truth: PairTruth, pair: Pair, address: string, ord: number, event: PlainEvent): void {
  const [v2, ...v3] = WORDS[event.name] ?? [0];
  if (!(pair.isV3 ? v3 : [v2]).includes(event.args.length)) return;
  const kind = { Sync: 'sync', CollectProtocol: 'collect_protocol' }[event.name] ?? event.name.toLowerCase();
  if (pair.isV3) readConcentrated(truth, pair, address, ord, kind, event);
  else if (kind === 'sync') {
    pair.reserves = event.args as unknown as [bigint, bigint];
    truth.states.push(stateLine(ord, address, kind, pair));
  } else if (kind !== 'swap') {
    // A mint names its sender first, a burn names the recipient last.
    const [sender, amount0, amount1, recipient] = event.args.map(String);
    const owner = kind === 'mint' ? sender : recipient;
    truth.liquidity.push([ord, address, kind, owner!, amount0!, amount1!, null, null, null]);
  }
}

function stateLine(ord: number, address: string, kind: string, pair: Pair): OracleLine {
  const { reserves, sqrtPrice, activeLiquidity, tick } = pair;
  return [
    ord,
    address,
    kind,
    String(reserves[0]),
    String(reserves[1]),
    String(sqrtPrice),
    String(activeLiquidity),
    Number(tick),
  ];
}

function readConcentrated(
  truth: PairTruth,
  pair: Pair,
  address: string,
  ord: number,
  kind: string,
  { args }: PlainEvent,
): void {
  const numbers = args as Numbers;
  const moveBalances = (delta0: bigint, delta1: bigint): void => {
    pair.reserves = [
      capped(pair.reserves[0] + delta0, LARGEST_256),
      capped(pair.reserves[1] + delta1, LARGEST_256),
    ];
  };
  const addLiquidity = (lower: bigint, upper: bigint, liquidity: bigint): void => {
    if (pair.tick >= lower && pair.tick < upper)
      pair.activeLiquidity = capped(pair.activeLiquidity + liquidity, LARGEST_128);
  };
  const pushLiquidity = (
    owner: unknown,
    amounts: Numbers,
    liquidity: bigint | null,
    ticks: Numbers | null,
  ): void => {
    const bounds = ticks === null ? [null, null] : ticks.map(Number);
    truth.liquidity.push([
      ord,
      address,
      kind,
      String(owner),
      String(amounts[0]),
      String(amounts[1]),
      liquidity === null ? null : String(liquidity),
      ...bounds,
    ]);
  };
  // Before each case stand the arguments of the event, as in IUniswapV3PoolEvents.sol.
  switch (kind) {
    // sender, recipient, amount0, amount1, sqrtPriceX96, liquidity, tick
    case 'swap':
      moveBalances(numbers[2]!, numbers[3]!);
      [pair.sqrtPrice, pair.activeLiquidity, pair.tick] = [numbers[4]!, numbers[5]!, numbers[6]!];
      break;
    // sqrtPriceX96, tick
    case 'initialize':
      [pair.sqrtPrice, pair.tick] = [numbers[0]!, numbers[1]!];
      break;
    // sender, owner, tickLower, tickUpper, liquidity, amount0, amount1
    case 'mint':
      moveBalances(numbers[5]!, numbers[6]!);
      addLiquidity(numbers[2]!, numbers[3]!, numbers[4]!);
      pushLiquidity(args[1], numbers.slice(5, 7), numbers[4]!, numbers.slice(2, 4));
      break;
    // owner, tickLower, tickUpper, liquidity, amount0, amount1
    case 'burn':
      addLiquidity(numbers[1]!, numbers[2]!, -numbers[3]!);
      pushLiquidity(args[0], numbers.slice(4, 6), numbers[3]!, numbers.slice(1, 3));
      break;
    // owner, recipient, tickLower, tickUpper, amount0, amount1
    case 'collect':
      moveBalances(-numbers[4]!, -numbers[5]!);
      pushLiquidity(args[0], numbers.slice(4, 6), null, numbers.slice(2, 4));
      break;
    // sender, recipient, amount0, amount1
    case 'collect_protocol':
      moveBalances(-numbers[2]!, -numbers[3]!);
      pushLiquidity(args[0], numbers.slice(2, 4), null, null);
      break;
    // sender, recipient, amount0, amount1, paid0, paid1
    case 'flash':
      moveBalances(numbers[4]!, numbers[5]!);
      pushLiquidity(args[0], numbers.slice(4, 6), null, null);
      break;
  }
  truth.states.push(stateLine(ord, address, kind, pair));
}
