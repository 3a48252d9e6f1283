/**
 * Tests prices of tokens whose V3 pools hold liquidity far from the present price, from decoded blocks to stored
 * rows.
 */
import { TRUSTED_MIN } from '../../../../src/pricing/confidence';
import { BlockPricer } from '../../../../src/ingest/price/blockPricer';
import type { StoredPrices } from '../../../../src/ingest/price/storedPrices';
import type { BlockFacts, BlockRows } from '../../../../src/ingest/rows/blockRows';
import { poolAddress, token } from '../../../support/worlds/pools';
import {
  emptyFacts,
  openV2,
  RangePool,
  syncV2,
  tickOf,
  type PoolNames,
} from '../../../support/worlds/rangePool';

// token0 of each pool is T, so a price is in DAI per T.
const T = token(50);
const DAI = token(60);
const FIRST = 32;
const LAST = 290;

const namesOf = (n: number, createdBlock: number | null): PoolNames => ({
  address: poolAddress(n),
  token0: T,
  token1: DAI,
  createdBlock,
});
const HONEST = namesOf(1, 40);

const newPricer = (): BlockPricer =>
  new BlockPricer({ anchors: [{ address: DAI, priceUsd: 1 }], wrappedNative: null }, () => 18);

/** Decodes and prices the blocks FIRST … LAST. The script fills some of the blocks. Returns the rows. */
function run(script: (facts: BlockFacts) => void, pricer = newPricer(), last = LAST): BlockRows[] {
  const rows: BlockRows[] = [];
  for (let number = FIRST; number <= last; number += 1) {
    const facts = emptyFacts(number);
    script(facts);
    rows.push(pricer.price(facts, false));
  }
  return rows;
}

const pricesOf = (rows: readonly BlockRows[]): { usd: number; confidence: number }[] =>
  rows.flatMap(({ token_prices: prices }) =>
    prices.filter((row) => row.token === T).map(({ price_usd: usd, confidence }) => ({ usd, confidence })),
  );

type Price = readonly [tick: number, part: number];

interface Attack {
  /** Opens the pool at a false price. */
  open(pool: RangePool, facts: BlockFacts): void;
  /**
   * The pool alternates between these two prices, so that two makers trade in it. A price is a tick and a part of the
   * way to the next tick.
   */
  readonly between: readonly [Price, Price];
}

/** Ways to give a pool a false price and much liquidity, but almost no depth near the price. */
const attacks: Readonly<Record<string, Attack>> = {
  'a bid at half the price with offers far away': {
    open(pool, facts) {
      const at = tickOf(0.5);
      pool.open(facts, at);
      pool.addTokens(facts, at - 60, at, 14_000);
      pool.addTokens(facts, tickOf(5), tickOf(6), 14_000);
      // A swap adds a little of the token, so the price enters the range of the bid and its liquidity is active.
      pool.swapTo(facts, at - 1, 0.999);
    },
    between: [
      [tickOf(0.5) - 1, 0.999],
      [tickOf(0.5) - 1, 0.998],
    ],
  },
  'an offer at three times the price with bids far away': {
    open(pool, facts) {
      const at = tickOf(3);
      pool.open(facts, at - 1);
      pool.addTokens(facts, at, at + 60, 5_000);
      pool.addTokens(facts, tickOf(0.2), tickOf(0.3), 14_000);
      pool.swapTo(facts, at, 0.001);
    },
    between: [
      [tickOf(3), 0.001],
      [tickOf(3), 0.002],
    ],
  },
  '5 USD of active liquidity with 14,000 USD far away': {
    open(pool, facts) {
      const at = tickOf(3);
      pool.open(facts, at);
      pool.addTokens(facts, at - 2, at - 1, 1.25);
      pool.addTokens(facts, at - 1, at, 1.25);
      pool.addTokens(facts, at + 1, at + 2, 0.8);
      pool.addTokens(facts, tickOf(0.2), tickOf(0.3), 14_000);
      pool.addTokens(facts, tickOf(30), tickOf(40), 4_000);
      pool.swapTo(facts, at - 1);
    },
    between: [
      [tickOf(3) - 1, 0.5],
      [tickOf(3) - 1, 0.6],
    ],
  },
};

function attackWith(name: string, createdBlock: number | null, honest: boolean): BlockRows[] {
  const attack = attacks[name]!;
  const pool = new RangePool(namesOf(2, createdBlock));
  return run((facts) => {
    const { number } = facts.ref;
    if (number === 40 && honest) openV2(facts, HONEST, 350_000, 350_000);
    if (number > 40 && honest) syncV2(facts, HONEST, 350_000, 350_000);
    if (number === 60) attack.open(pool, facts);
    if (number > 60) pool.swapTo(facts, ...attack.between[number % 2]!);
  });
}

describe.each(Object.keys(attacks))('%s', (name) => {
  test('a pool at a false price with narrow or distant liquidity has almost no depth', () => {
    const states = attackWith(name, 60, false).flatMap(({ pool_states: rows }) => rows.at(-1) ?? []);
    for (const { walked_liquidity: liquidity, price } of states.slice(1)) {
      expect(liquidity).toBeGreaterThanOrEqual(0);
      // Liquidity times √price times 1 % is the depth in DAI.
      expect((liquidity * Math.sqrt(price) * 0.01) / 1e18).toBeLessThan(10);
    }
  });

  test('a pool at a false price with narrow or distant liquidity gives a token without another pool no trusted price', () => {
    const prices = pricesOf(attackWith(name, 60, false));
    for (const { confidence } of prices) expect(confidence).toBeLessThan(TRUSTED_MIN);
  });

  test('a pool at a false price with narrow or distant liquidity does not change the price of a token with an honest pool', () => {
    const prices = pricesOf(attackWith(name, 60, true));
    expect(prices.at(-1)).toMatchObject({ usd: 1 });
    for (const { usd } of prices) expect(Math.abs(usd - 1)).toBeLessThan(1e-9);
  });
});

/** A pool around 1 DAI in which liquidity comes and goes, with several events in one block. */
function busyScript(pool: RangePool): (facts: BlockFacts) => void {
  return (facts) => {
    const n = facts.ref.number;
    if (n === 33) pool.open(facts, 0);
    if (n < 33) return;
    if (n % 3 === 0) pool.add(facts, -600 - n, 600 + 2 * n, 10n ** 24n + BigInt(n));
    if (n % 5 === 0 && n > 36) pool.add(facts, -600 - (n - (n % 3)), 600 + 2 * (n - (n % 3)), -(10n ** 23n));
    if (n % 2 === 0) pool.swapTo(facts, ((n * 37) % 400) - 200);
  };
}

/** Decoded blocks; pricing does not change them. */
function factsOf(script: (facts: BlockFacts) => void, last: number): BlockFacts[] {
  return Array.from({ length: last - FIRST + 1 }, (_, i) => {
    const facts = emptyFacts(FIRST + i);
    script(facts);
    return facts;
  });
}

test('only the last state of a pool in a block is walked, also after a mint or burn without a swap', () => {
  const rows = run(busyScript(new RangePool(namesOf(2, 33))), newPricer(), 63);
  const states = rows.flatMap(({ pool_states: all }) =>
    all.map((row, i) => ({ row, last: i === all.length - 1 })),
  );
  for (const { row, last } of states) expect(row.walked_liquidity >= 0).toBe(last);
  const kinds = new Set(states.filter(({ last }) => last).map(({ row }) => row.kind));
  expect(kinds).toEqual(new Set(['mint', 'burn', 'swap']));
});

test('a pool that is older than the first block is not walked', () => {
  const rows = run(busyScript(new RangePool(namesOf(2, null))), newPricer(), 63);
  for (const { pool_states: states } of rows)
    for (const state of states) expect(state.walked_liquidity).toBe(-1);
});

/** The state that a restart reads from the store after these rows. All rows are of one epoch. */
function storedOf(rows: readonly BlockRows[]): StoredPrices {
  const nets = new Map<number, bigint>();
  const add = (tick: number, net: bigint): void => void nets.set(tick, (nets.get(tick) ?? 0n) + net);
  for (const { liquidity_events: events } of rows) {
    for (const { kind, liquidity, tick_lower: lower, tick_upper: upper } of events) {
      const net = kind === 'mint' ? liquidity! : -liquidity!;
      add(lower!, net);
      add(upper!, -net);
    }
  }
  return {
    base: null,
    pools: [],
    records: () => [],
    routes: () => [],
    hops: [],
    blocks: rows.map(({ ref, pools, pool_states: states, swaps }) => ({
      number: ref.number,
      timestamp: ref.timestamp,
      pools,
      states,
      swaps,
    })),
    ticks: [...nets].map(([tick, net]) => ({ pair: poolAddress(2), tick, net })),
    bins: [],
  };
}

test('a restarted pricer gives the same rows as a pricer that kept running', () => {
  const facts = factsOf(busyScript(new RangePool(namesOf(2, 33))), 140);
  const live = newPricer();
  const rows = facts.map((block) => live.price(block, false));
  for (const restart of [34, 40, 63]) {
    const pricer = newPricer();
    pricer.load(storedOf(rows.filter(({ ref }) => ref.number < restart)));
    const again = facts.filter(({ ref }) => ref.number >= restart).map((block) => pricer.price(block, false));
    expect(again).toEqual(rows.filter(({ ref }) => ref.number >= restart));
  }
});

test('a reorg that removes mints, burns and the pool gives the same rows as without the removed blocks', () => {
  for (const fork of [32, 33, 40, 50]) {
    const pricer = newPricer();
    const removed = factsOf(busyScript(new RangePool(namesOf(2, 33))), 60);
    for (const block of removed) pricer.price(block, true);
    pricer.finalise(fork);
    pricer.rewindTo(fork);
    // The other branch has the same pool with other liquidity.
    const script = busyScript(new RangePool(namesOf(2, 33)));
    const other = factsOf((facts) => {
      if (facts.ref.number > fork && facts.ref.number % 4 === 0) return;
      script(facts);
    }, 140);
    const straight = newPricer();
    const wanted = other.map((block) => straight.price(block, false));
    const found = other.filter(({ ref }) => ref.number > fork).map((block) => pricer.price(block, true));
    expect(found).toEqual(wanted.filter(({ ref }) => ref.number > fork));
  }
});

test('positions with ticks that no V3 pool can have do not change the tick map', () => {
  const pool = new RangePool(namesOf(2, 33));
  const clean = factsOf(busyScript(pool), 63);
  const spoilt = clean.map((facts) => ({
    ...facts,
    liquidity_events: [
      ...facts.liquidity_events,
      ...facts.liquidity_events.flatMap((event) =>
        [
          [60, 60],
          [60, -60],
          [-8_388_608, 8_388_607],
          [0, 887_273],
        ].map(([lower, upper]) => ({ ...event, tick_lower: lower!, tick_upper: upper! })),
      ),
    ],
  }));
  const [a, b] = [newPricer(), newPricer()];
  const statesOf = (blocks: readonly BlockFacts[], pricer: BlockPricer) =>
    blocks.map((facts) => pricer.price(facts, false).pool_states);
  expect(statesOf(spoilt, b)).toEqual(statesOf(clean, a));
});
