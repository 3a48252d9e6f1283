/**
 * Tests which prices of swaps become part of bars, highs and lows of a token. Bars, highs and lows use no
 * price of a pool that the token's price leaves out.
 */
import { BlockPricer } from '../../../../src/ingest/price/blockPricer';
import { noFacts, type SwapFact } from '../../../../src/ingest/rows/blockRows';
import type { PoolRow, PoolStateRow } from '../../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { ANCHORS, DAI, NATIVE, poolAddress, token, USDC, USDT } from '../../../support/worlds/pools';

const T = token(50);
const X = token(60);
const ONE = 10n ** 18n;
const SECONDS = 10;

/** Bits of `price_counts`. */
const BARS = 1;
const HIGHS = 4;

/** Sets the balances of a V2 pool to `amounts`, in whole tokens. */
interface Event {
  readonly pool: number;
  readonly tokens: readonly [Hex, Hex];
  readonly amounts: readonly [number, number];
  /** The maker of the swap that sets the balances. If absent, a mint or a burn sets them. */
  readonly maker?: number;
}

/** The events by block number. The first event of a pool creates the pool. */
type Script = Readonly<Record<number, readonly Event[]>>;

/** Bits of `price_counts` of the given token, for each swap of the last block in log order. */
function countsFor(of: Hex, script: Script, anchors = ANCHORS): number[] {
  const pricer = new BlockPricer({ anchors, wrappedNative: NATIVE }, () => 18);
  const last = Math.max(...Object.keys(script).map(Number));
  const made = new Set<number>();
  let counts: number[] = [];
  for (let number = 32; number <= last; number += 1) {
    const hash = `0x${number.toString(16).padStart(64, '0')}` as const;
    const timestamp = 1_000_000 + number * SECONDS;
    const facts = noFacts({ number, hash, parentHash: hash, timestamp });
    (script[number] ?? []).forEach((event, index) => {
      const base = { ...baseOf(event), ord: toOrd(number, 2 * index), timestamp };
      if (!made.has(event.pool)) facts.pools.push(poolOf(base, number));
      made.add(event.pool);
      facts.pool_states.push(stateOf(base, event));
      if (event.maker !== undefined) facts.swaps.push(swapOf(base, event, event.maker));
    });
    counts = pricer.price(facts, false).swaps.map((swap) => bitsFor(of, swap));
  }
  return counts;
}

function bitsFor(of: Hex, swap: { token0: Hex; price_counts: number }): number {
  const bits = swap.token0 === of ? swap.price_counts : swap.price_counts >> 1;
  return bits & (BARS + HIGHS);
}

type Base = ReturnType<typeof baseOf> & { readonly ord: number; readonly timestamp: number };

function baseOf({ pool, tokens: [a, b] }: Event) {
  const [token0, token1] = a < b ? [a, b] : [b, a];
  return { pair: poolAddress(pool), dex: 'test', pool_type: 2, token0, token1, base_is_token0: true };
}

function reservesOf({ tokens: [a, b], amounts: [amountA, amountB] }: Event) {
  const raw = [amountA, amountB].map((amount) => BigInt(Math.round(amount * 1e9)) * (ONE / 10n ** 9n));
  const [reserve0 = 0n, reserve1 = 0n] = a < b ? raw : raw.reverse();
  return { reserve0, reserve1, price: Number(reserve1) / Number(reserve0) };
}

function poolOf({ pair, ord, timestamp, ...base }: Base, number: number): PoolRow {
  const created = { created_block: number, created_at: timestamp, created_tx: null };
  const fixed = {
    factory: ZERO_ADDRESS,
    tokens: [],
    weights: [],
    doubts: 0,
    fee_pips: 3_000,
    tick_spacing: 0,
    scale_decimals: [],
    pool_id: null,
    hooks: null,
    hook_bits: null,
  };
  return { ...base, ...created, ...fixed, ord, address: pair, protocol: 'uniswap_v2' };
}

function txOf(maker: number) {
  const tx_hash = `0x${'0'.repeat(64)}` as const;
  return { tx_hash, tx_index: 0, maker: token(900 + maker) };
}

const NO_V3 = { sqrt_price_x96: 0n, liquidity: 0n, tick: 0 };
const UNWALKED = { doubts: 0, unswapped: [], walked_liquidity: -1, near0: 0, near1: 0 };

function stateOf(base: Base, event: Event): PoolStateRow {
  return {
    ...base,
    ...txOf(event.maker ?? 0),
    ...reservesOf(event),
    ...NO_V3,
    kind: 'sync',
    balances: [],
    params: [],
    ...UNWALKED,
  };
}

function swapOf(base: Base, event: Event, maker: number): SwapFact {
  const amounts = { amount0: ONE, amount1: -ONE, fee_pips: 3_000 };
  const sides = { leg: 1, sender: ZERO_ADDRESS, recipient: ZERO_ADDRESS };
  return { ...base, ...txOf(maker), ...sides, ...amounts, ...reservesOf(event), ...NO_V3 };
}

const at = (pool: number, tokens: Event['tokens'], amounts: Event['amounts'], maker?: number): Event => ({
  pool,
  tokens,
  amounts,
  ...(maker === undefined ? {} : { maker }),
});

/** Creates the pools at block 33, and lets two makers trade them until block 300, long enough for trust. */
function settled(...pools: readonly Event[]): Script {
  const by = (maker: number): Event[] => pools.map((event) => ({ ...event, maker }));
  return { 33: pools, 34: by(1), 35: by(2), 200: by(1), 201: by(2), 300: by(1), 320: [] };
}

/** Makes a swap in each of the pools, all in one later block. */
const swapsIn = (...pools: readonly Event[]): Script => ({
  330: pools.map((event) => ({ ...event, maker: 1 })),
});

describe('bars of a token priced by several pools use the prices of these pools only', () => {
  const deep = at(1, [T, DAI], [300_000, 300_000]);
  const other = at(2, [T, DAI], [200_000, 200_000]);
  const outlier = at(3, [T, DAI], [1_000, 3_000]);

  test('bars and highs take no price from an outlier pool, but take the prices of the other pools', () => {
    const script = { ...settled(deep, other, outlier), ...swapsIn(deep, other, outlier) };
    expect(countsFor(T, script)).toEqual([BARS + HIGHS, BARS + HIGHS, 0]);
  });

  test('bars take no price from a pool that differs by more than 5 % from the only other, deeper pool', () => {
    const script = { ...settled(deep, outlier), ...swapsIn(deep, outlier) };
    expect(countsFor(T, script)).toEqual([BARS + HIGHS, 0]);
  });

  test('bars take no price from a pool that is not on the route of the token', () => {
    const beside = at(4, [T, X], [100, 900]);
    const ownOfX = at(5, [X, DAI], [400_000, 400_000]);
    const pools = [deep, beside, ownOfX];
    const script = { ...settled(...pools), ...swapsIn(...pools) };
    expect(countsFor(T, script).slice(0, 2)).toEqual([BARS + HIGHS, 0]);
    expect(countsFor(X, script).slice(1)).toEqual([0, BARS + HIGHS]);
  });

  test('bars take the price of a swap that moves its pool back to the market price within the block', () => {
    const pushed = at(1, [T, DAI], [290_000, 310_344], 1);
    const script = { ...settled(deep), 330: [pushed, { ...deep, maker: 1 }] };
    expect(countsFor(T, script)).toEqual([BARS + HIGHS, BARS + HIGHS]);
  });

  test('a push that is undone within its block leaves a bar, but no high', () => {
    const pushed = at(1, [T, DAI], [30_000, 3_000_000], 1);
    const script = { ...settled(deep), 330: [pushed, { ...deep, maker: 1 }] };
    expect(countsFor(T, script)).toEqual([BARS, BARS + HIGHS]);
  });

  test('bars take no price from a pool whose spot price is held to its mean after a donation', () => {
    const donated = at(1, [T, DAI], [300_000, 1_800_000]);
    const dust = at(1, [T, DAI], [299_999.9, 1_800_000.6], 1);
    const script = { ...settled(deep), 330: [donated, dust] };
    expect(countsFor(T, script)).toEqual([0]);
  });
});

test('a token with pools of little depth has bars, and no highs', () => {
  const thin = at(1, [T, DAI], [800, 800]);
  expect(countsFor(T, { ...settled(thin), ...swapsIn(thin) })).toEqual([BARS]);
});

test('a new token has bars from its first block, and no highs', () => {
  const pool = at(1, [T, DAI], [50_000, 50_000], 1);
  expect(countsFor(T, { ...settled(at(9, [X, DAI], [1, 1])), 330: [pool] })).toEqual([BARS]);
});

test('a pool of 60 USD that prices a token at 1e9 USD before an honest launch at 1 USD leaves no high', () => {
  const trap = at(1, [T, DAI], [60e-9, 60]);
  const launch = at(2, [T, DAI], [300_000, 300_000]);
  const script = { ...settled(trap), 330: [{ ...trap, maker: 1 }] };
  expect(countsFor(T, script).map((bits) => bits & HIGHS)).toEqual([0]);
  const later = { ...settled(launch, trap), ...swapsIn(trap, launch) };
  expect(countsFor(T, later)).toEqual([0, BARS + HIGHS]);
});

describe('bars of an anchor use only prices near its given price', () => {
  const pool = at(1, [T, DAI], [300_000, 300_000]);

  test('an anchor has bars from the pools that set the price of their other token', () => {
    const outlier = at(2, [T, DAI], [1_000, 3_000]);
    const script = { ...settled(pool, outlier), ...swapsIn(pool, outlier) };
    expect(countsFor(DAI, script)).toEqual([BARS + HIGHS, 0]);
  });

  test('an anchor has no bars from prices more than 2 % away from its given price', () => {
    const pushed = at(1, [T, DAI], [280_000, 321_429], 1);
    const script = { ...settled(pool), 330: [pushed, { ...pool, maker: 1 }] };
    expect(countsFor(DAI, script)).toEqual([0, BARS + HIGHS]);
    expect(countsFor(T, script)).toEqual([BARS + HIGHS, BARS + HIGHS]);
  });

  test('an anchor that lost its role has no bars from prices above 1.02 USD', () => {
    const native = [at(6, [NATIVE, DAI], [600_000, 600_000]), at(7, [NATIVE, USDC], [600_000, 600_000])];
    const peg = at(3, [DAI, USDC], [300_000, 300_000]);
    // DAI trades 10 % below the other anchors.
    const lost = at(8, [USDT, DAI], [400_000, 360_000]);
    const above = at(8, [USDT, DAI], [370_000, 389_190], 1);
    const below = { ...lost, maker: 1 };
    const script = { ...settled(...native, peg, lost), 330: [above, below] };
    const anchors = [...ANCHORS, { address: USDT, priceUsd: 1 }];
    expect(countsFor(USDT, script, anchors)).toEqual([0, BARS + HIGHS]);
  });

  test('an anchor has bars from a pool of two anchors whose price is near its given price', () => {
    const direct = at(3, [DAI, USDC], [10_000, 10_050]);
    const dust = at(4, [DAI, USDC], [10, 30]);
    const script = { ...settled(pool, direct, dust), ...swapsIn(direct, dust) };
    expect(countsFor(DAI, script)).toEqual([BARS + HIGHS, 0]);
    expect(countsFor(USDC, script)).toEqual([BARS + HIGHS, 0]);
  });
});
