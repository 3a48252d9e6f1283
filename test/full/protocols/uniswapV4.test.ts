/**
 * Uniswap V4 and the CL pools of PancakeSwap Infinity on a real node: the published PoolManager, and a manager with the
 * events of Infinity. Random trades, liquidity, donations, fees of the protocol, of the pool and of a hook, the native coin,
 * and tokens of 0 to 30 decimals. After each block our price, liquidity, balances and fees must equal the contract.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { addressOfWord } from '../../../src/domain/hex';
import type { PoolState } from '../../../src/domain/pool';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { SwapFact } from '../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { findProtocol } from '../../../src/protocols/registry';
import { quoteInRange } from '../../../src/protocols/uniswapV3/quoteInRange';
import { deployInfinityCl } from '../../support/infinity/clMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { readNodeBlock } from '../../support/node/readNodeBlock';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';
import {
  deployV4,
  DYNAMIC_FEE,
  NATIVE,
  V4_HARDFORK,
  type V4Market,
  type V4Pool,
  type V4Token,
} from '../../support/uniswapV4/v4Market';

const SEED = 9;
const ROUNDS = 120;
const SPACING = 60;
const Q96 = 2n ** 96n;
const PIPS = 1_000_000n;
/** A smaller amount does not give a price to 1e-9. */
const SMALL_MIN = 2n * 10n ** 9n;

/** Fees of a pool in pips, as the test has set them. */
interface Fees {
  lp: number;
  /** Of swaps that pay in token0 and in token1. */
  protocol: [number, number];
}

interface Position {
  readonly lower: number;
  readonly upper: number;
  liquidity: bigint;
}

let anvil: TestAnvil;
let market: V4Market;
let context: DecodeContext;
let hooked: V4Pool;
const pools: V4Pool[] = [];
const fees = new Map<V4Pool, Fees>();
const positions = new Map<V4Pool, Position[]>();
/** Pools whose swap of this round asks for an exact output. */
const exactOut = new Set<V4Pool>();
const NO_COUNTS = { swaps: 0, exact: 0, limits: 0, hooked: 0 };
let counts = { ...NO_COUNTS };
/** Largest relative difference of a price. */
let worst = 0;

async function openPools(deploy: typeof deployInfinityCl): Promise<void> {
  counts = { ...NO_COUNTS };
  worst = 0;
  pools.length = 0;
  anvil = await startTestAnvil([], V4_HARDFORK);
  market = await deploy(anvil.rpc, [0, 6, 8, 18, 30]);
  const dex = { name: 'singleton', displayName: 'Singleton', protocol: market.protocol };
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes: [{ ...dex, factory: market.manager }] },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const [none, six, eight, eighteen, thirty] = market.tokens as [V4Token, V4Token, V4Token, V4Token, V4Token];
  open(none, six, 3_000);
  open(six, eight, 500);
  open(eight, eighteen, 10_000);
  open(eighteen, thirty, 100);
  open(NATIVE, six, 3_000);
  hooked = open(NATIVE, thirty, DYNAMIC_FEE, market.hooks.fee);
  await follow(await market.mine());
  for (const pool of pools) add(pool, -SPACING * 14_000, SPACING * 14_000, firstLiquidity(pool));
  await follow(await market.mine());
}

function open(a: V4Token, b: V4Token, fee: number, hooks?: V4Pool['id']): V4Pool {
  const [low, high] = a.address < b.address ? [a, b] : [b, a];
  const price = BigInt(Math.round(10 ** ((high.decimals - low.decimals) / 2) * 2 ** 96));
  const pool = market.createPool(a, b, fee, SPACING, price, hooks);
  pools.push(pool);
  fees.set(pool, { lp: fee === DYNAMIC_FEE ? 0 : fee, protocol: [0, 0] });
  positions.set(pool, []);
  return pool;
}

const firstLiquidity = ({ token0, token1 }: V4Pool): bigint =>
  10n ** BigInt(Math.ceil((token0.decimals + token1.decimals) / 2) + (token0 === NATIVE ? 2 : 6));
const keyOf = ({ id }: V4Pool) => addressOfWord(id);
const stateOf = (pool: V4Pool): PoolState => context.registry.stateOf(keyOf(pool));

async function follow(number: number): Promise<{ swap: SwapFact; pool: V4Pool; before: PoolState }[]> {
  const before = new Map(pools.map((pool) => [pool, stateOf(pool)]));
  const { swaps } = decodeBlock(context, await readNodeBlock(anvil.rpc, number), [], false);
  return swaps.map((swap) => {
    const pool = pools.find((each) => keyOf(each) === swap.pair)!;
    return { swap, pool, before: before.get(pool)! };
  });
}

function add(pool: V4Pool, lower: number, upper: number, change: bigint): void {
  market.modify(pool, lower, upper, change);
  const known = positions.get(pool)!.find((each) => each.lower === lower && each.upper === upper);
  if (known === undefined) positions.get(pool)!.push({ lower, upper, liquidity: change });
  else known.liquidity += change;
}

/** One random action in a pool, so that a block has at most one swap of each pool. */
function act(pool: V4Pool, random: Random): void {
  const { sqrtPriceX96, liquidity, tick } = stateOf(pool);
  const action = random.next();
  const held = [(liquidity * Q96) / sqrtPriceX96, (liquidity * sqrtPriceX96) / Q96] as const;
  if (action < 0.75) {
    const zeroForOne = random.chance(0.5);
    const part = BigInt(Math.round(10 ** (1 + 3 * random.next())));
    const isExactOut = random.chance(0.3);
    const amount = held[zeroForOne === isExactOut ? 1 : 0] / part + 2n;
    if (isExactOut) exactOut.add(pool);
    market.swap(pool, zeroForOne, isExactOut ? amount : -amount);
  } else if (action < 0.86) {
    const lower = (Math.floor(tick / SPACING) + random.int(-4, 2)) * SPACING;
    add(pool, lower, lower + random.int(1, 6) * SPACING, liquidity / 5n + 1n);
  } else if (action < 0.92) {
    const position = random.pick(positions.get(pool)!);
    if (position.liquidity > 3n) add(pool, position.lower, position.upper, -position.liquidity / 3n);
  } else if (action < 0.95) market.donate(pool, held[0] / 10_000n, held[1] / 10_000n);
  else if (pool === hooked) {
    const lp = random.pick([0, 100, 2_500, 90_000]);
    fees.get(pool)!.lp = lp;
    market.setHookFee(lp);
  } else {
    const protocol: [number, number] = [random.pick([0, 40, 1_000]), random.pick([0, 250, 1_000])];
    fees.get(pool)!.protocol = protocol;
    market.setProtocolFee(pool, protocol[0] + protocol[1] * 4_096);
  }
}

/** The fee that the contract takes: of the protocol first, then of what is left (ProtocolFeeLibrary.sol). */
function chargedFee(pool: V4Pool, isToken0In: boolean): number {
  const { lp, protocol } = fees.get(pool)!;
  const own = protocol[isToken0In ? 0 : 1];
  return own + lp - Math.floor((own * lp) / 1_000_000);
}

/** Random actions. After each block, our figures must equal those of the contract. */
async function compareRounds(): Promise<void> {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    exactOut.clear();
    for (const pool of pools) act(pool, random);
    for (const { swap, pool, before } of await follow(await market.mine(random.int(2, 900)))) {
      counts.swaps += 1;
      if (pool === hooked) counts.hooked += 1;
      const isToken0In = swap.amount0 > 0n;
      expect([pool.id, swap.fee_pips]).toEqual([pool.id, chargedFee(pool, isToken0In)]);
      const [paid, got] = isToken0In ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
      const quote = (amount: bigint): bigint | null =>
        quoteInRange({ feePips: swap.fee_pips, tickSpacing: SPACING }, before, amount, isToken0In);
      const quoted = quote(paid);
      if (quoted === null) continue;
      counts.exact += 1;
      if (!exactOut.has(pool)) expect([pool.id, got]).toEqual([pool.id, quoted]);
      // The contract rounds what an exact output costs up.
      else expect(got <= quoted && got >= (quote(paid - 2n) ?? 0n)).toBe(true);
    }
    for (const pool of pools) {
      const state = stateOf(pool);
      expect(state).toMatchObject(await market.readState(pool));
      await compareLimit(pool, state, random.chance(0.5));
    }
    if (round % 20 === 19) await compareBalances();
  }
}

describe.each([
  ['uniswap_v4', 'PoolManager of @uniswap/v4-core, its state and swaps by `eth_call`', deployV4],
  [
    'infinity_cl',
    'manager with the events of Infinity and the library of @uniswap/v4-core, its state and swaps by `eth_call`',
    deployInfinityCl,
  ],
] as const)('pools of %s', (protocol, oracle, deploy) => {
  beforeAll(() => openPools(deploy));
  afterAll(() => anvil?.stop());

  test('prices, liquidity, fees and quotes equal the contract over random trades', async () => {
    await compareRounds();
    expect(counts.hooked).toBeGreaterThan(50);
    expect(counts.exact).toBeGreaterThan(counts.swaps / 3);
    expect(counts.limits).toBeGreaterThan(200);
    recordOracle({ protocol, oracle, trades: counts.swaps, deviation: worst });
  });
});

/** The marginal price is the limit of the contract's quote of a small swap, without the fee. */
async function compareLimit(pool: V4Pool, state: PoolState, zeroForOne: boolean): Promise<void> {
  const { liquidity, sqrtPriceX96 } = state;
  const amount =
    (zeroForOne ? (liquidity * Q96) / sqrtPriceX96 : (liquidity * sqrtPriceX96) / Q96) / 10n ** 10n;
  if (amount < SMALL_MIN) return;
  const [delta0, delta1] = await market.quote(pool, zeroForOne, -amount);
  const got = zeroForOne ? delta1 : delta0;
  if (got < SMALL_MIN) return;
  const net = (amount * (PIPS - BigInt(chargedFee(pool, zeroForOne)))) / PIPS;
  const price = findProtocol(market.protocol)!.spotPrice(state, context.registry.findPool(keyOf(pool))!)!;
  const limit = Number(got) / Number(net);
  worst = Math.max(worst, Math.abs(limit / (zeroForOne ? price : 1 / price) - 1));
  counts.limits += 1;
}

/**
 * The balances of our pools and the fees that the contract owes to positions are together what the manager holds, but for
 * the units that were rounded. The contract tells what a position would get: the fees alone for a change of 0.
 */
async function compareBalances(): Promise<void> {
  const left = new Map<V4Token, bigint>();
  for (const pool of pools) {
    const { reserve0, reserve1 } = stateOf(pool);
    const principal = [0n, 0n] as [bigint, bigint];
    const owed = [0n, 0n] as [bigint, bigint];
    for (const { lower, upper, liquidity } of positions.get(pool)!) {
      const alone = await market.quoteChange(pool, lower, upper, 0n);
      const all = await market.quoteChange(pool, lower, upper, -liquidity);
      for (const side of [0, 1] as const) {
        principal[side] += all[side] - alone[side];
        owed[side] += alone[side];
      }
    }
    // What providers can take out is never more than what we count.
    expect(reserve0 >= principal[0] && reserve1 >= principal[1]).toBe(true);
    left.set(pool.token0, (left.get(pool.token0) ?? 0n) - reserve0 - owed[0]);
    left.set(pool.token1, (left.get(pool.token1) ?? 0n) - reserve1 - owed[1]);
  }
  for (const [token, counted] of left) {
    const rounded = Number((await market.readHeld(token)) + counted);
    expect(Math.abs(rounded)).toBeLessThan(counts.swaps);
  }
}
