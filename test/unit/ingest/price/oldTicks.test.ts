/**
 * Tests the depth of V3 pools that are older than the first ingested block, whose earlier ticks are read from the node:
 * from decoded blocks to stored rows.
 */
import type { OldTicksRow } from '../../../../src/clickhouse/schema/olderPoolTables';
import { BlockPricer } from '../../../../src/ingest/price/blockPricer';
import type { StoredPrices } from '../../../../src/ingest/price/storedPrices';
import type { BlockFacts, BlockRows } from '../../../../src/ingest/rows/blockRows';
import { TRUSTED_MIN } from '../../../../src/pricing/confidence';
import { Random } from '../../../support/random';
import { poolAddress, token } from '../../../support/worlds/pools';
import { emptyFacts, RangePool, tickOf, type PoolNames } from '../../../support/worlds/rangePool';

const T = token(50);
const DAI = token(60);
const BORN = 33;
/** The first ingested block. */
const START = 45;
/** Prices use the older ticks from this block on. */
const FROM = 52;
const LAST = 140;
const PAIR = poolAddress(2);

const newPricer = (): BlockPricer =>
  new BlockPricer({ anchors: [{ address: DAI, priceUsd: 1 }], wrappedNative: null }, () => 18);

/** Decoded blocks. `script` fills them. */
function factsOf(script: (facts: BlockFacts) => void): BlockFacts[] {
  return Array.from({ length: LAST - BORN + 1 }, (_, i) => {
    const facts = emptyFacts(BORN + i);
    script(facts);
    return facts;
  });
}

/** A pool around 1 DAI in which random liquidity comes and goes. */
function busyBlocks(seed: number): BlockFacts[] {
  const random = new Random(seed);
  const names: PoolNames = { address: PAIR, token0: T, token1: DAI, createdBlock: BORN };
  const pool = new RangePool(names);
  const open: (readonly [number, number, bigint])[] = [];
  return factsOf((facts) => {
    if (facts.ref.number === BORN) pool.open(facts, 0);
    if (random.chance(0.5)) {
      const lower = -60 * random.int(1, 100);
      const position = [lower, 60 * random.int(1, 100), 10n ** 22n + random.big(70)] as const;
      open.push(position);
      pool.add(facts, ...position);
    }
    const [old] = random.chance(0.3) ? open.splice(random.int(0, open.length - 1), 1) : [];
    if (old !== undefined) pool.add(facts, old[0], old[1], -old[2]);
    if (random.chance(0.6)) pool.swapTo(facts, random.int(-200, 200));
  });
}

type Liquidity = Pick<
  BlockRows['liquidity_events'][number],
  'kind' | 'liquidity' | 'tick_lower' | 'tick_upper'
>;

function netsOf(blocks: readonly { readonly liquidity_events: readonly Liquidity[] }[]): [number, bigint][] {
  const nets = new Map<number, bigint>();
  const add = (tick: number, net: bigint): void => void nets.set(tick, (nets.get(tick) ?? 0n) + net);
  for (const { liquidity_events: events } of blocks) {
    for (const { kind, liquidity, tick_lower: lower, tick_upper: upper } of events) {
      const net = kind === 'mint' ? liquidity! : -liquidity!;
      add(lower!, net);
      add(upper!, -net);
    }
  }
  return [...nets].filter(([, net]) => net !== 0n).sort(([a], [b]) => a - b);
}

const isBefore = ({ ref }: { ref: { number: number } }): boolean => ref.number < START;

/** The node's answer about the ticks before the start block. */
function oldOf(blocks: readonly BlockFacts[], low = -887_272, high = 887_272): OldTicksRow {
  const nets = netsOf(blocks.filter(isBefore)).filter(([tick]) => tick >= low && tick <= high);
  return {
    pair: PAIR,
    from_block: FROM,
    low,
    high,
    ticks: nets.map(([t]) => t),
    nets: nets.map(([, n]) => n),
  };
}

/**
 * The decoded blocks of an ingester that starts at block START. They contain the pool without its block of creation.
 */
function lateBlocks(blocks: readonly BlockFacts[]): BlockFacts[] {
  const [row] = blocks[0]!.pools;
  const older = { ...row!, created_block: null, created_at: null, created_tx: null };
  return blocks
    .filter((facts) => !isBefore(facts))
    .map((facts) => (facts.ref.number === START ? { ...facts, pools: [older] } : facts));
}

const priceAll = (pricer: BlockPricer, blocks: readonly BlockFacts[], old: OldTicksRow, reversible = false) =>
  blocks.map((facts) => pricer.price(facts, reversible, facts.ref.number === old.from_block ? [old] : []));

const walksOf = (rows: readonly BlockRows[]): Map<number, (readonly number[])[]> =>
  new Map(
    rows.map(({ ref, pool_states: states }) => [
      ref.number,
      states.map(({ walked_liquidity: liquidity, near0, near1 }) => [liquidity, near0, near1]),
    ]),
  );

test.each([1, 2, 3, 4])(
  'from the block on that uses its older ticks, a pool has the depth of an index of the whole chain (seed %i)',
  (seed) => {
    const blocks = busyBlocks(seed);
    const whole = walksOf(priceAll(newPricer(), blocks, { ...oldOf([]), from_block: 0 }));
    const late = walksOf(priceAll(newPricer(), lateBlocks(blocks), oldOf(blocks)));
    let walked = 0;
    for (const [number, states] of late) {
      if (number >= FROM) {
        expect(states).toEqual(whole.get(number));
        walked += states.filter(([liquidity]) => liquidity! > 0).length;
      } else for (const state of states) expect(state).toEqual([-1, 0, 0]);
    }
    expect(walked).toBeGreaterThan(20);
  },
);

/** The state that a restart reads from the store after these rows. All rows are of one epoch. */
function storedOf(rows: readonly BlockRows[]): StoredPrices {
  return {
    base: null,
    pools: [],
    records: () => [],
    routes: () => [],
    hops: [],
    blocks: rows.map(({ ref, pools, pool_states: states, swaps }) => {
      return { number: ref.number, timestamp: ref.timestamp, pools, states, swaps };
    }),
    ticks: netsOf(rows).map(([tick, net]) => ({ pair: PAIR, tick, net })),
    bins: [],
  };
}

test('after a restart before or after the block from which older ticks are used, the rows are those of an ingester that kept running', () => {
  const blocks = busyBlocks(5);
  const old = oldOf(blocks);
  const late = lateBlocks(blocks);
  const rows = priceAll(newPricer(), late, old);
  for (const restart of [47, FROM, FROM + 1, 63]) {
    const pricer = newPricer();
    const stored = storedOf(rows.filter(({ ref }) => ref.number < restart));
    pricer.load(stored, FROM < restart ? [old] : []);
    const rest = late.filter(({ ref }) => ref.number >= restart);
    expect(priceAll(pricer, rest, old)).toEqual(rows.filter(({ ref }) => ref.number >= restart));
  }
});

test('after a reorg across the block from which older ticks are used, the rows are those of an ingester that saw only the last branch', () => {
  const blocks = busyBlocks(6);
  const old = oldOf(blocks);
  const late = lateBlocks(blocks);
  const rows = priceAll(newPricer(), late, old);
  for (const fork of [46, FROM - 1, FROM, FROM + 3]) {
    const pricer = newPricer();
    // The removed branch has other liquidity after the fork.
    const removed = late
      .slice(0, 20)
      .map((facts) => (facts.ref.number > fork ? { ...facts, liquidity_events: [] } : facts));
    priceAll(pricer, removed, old, true);
    pricer.finalise(fork);
    pricer.rewindTo(fork);
    const rest = late.filter(({ ref }) => ref.number > fork);
    expect(priceAll(pricer, rest, old, true)).toEqual(rows.filter(({ ref }) => ref.number > fork));
  }
});

test('ticks outside of the range that was read give no depth', () => {
  const blocks = busyBlocks(7);
  const wide = walksOf(priceAll(newPricer(), lateBlocks(blocks), oldOf(blocks)));
  const narrow = walksOf(priceAll(newPricer(), lateBlocks(blocks), oldOf(blocks, -100, 100)));
  const states = [...narrow]
    .filter(([number]) => number >= FROM)
    .flatMap(([number, own]) => own.map((state, i) => [state, wide.get(number)![i]!] as const));
  for (const [[liquidity, near0, near1], [most, most0, most1]] of states) {
    expect(liquidity).toBeLessThanOrEqual(most!);
    expect([near0! <= most0!, near1! <= most1!]).toEqual([true, true]);
  }
  expect(states.filter(([own, all]) => all[0]! > 0 && own[0] === 0).length).toBeGreaterThan(5);
  expect(states.filter(([own, all]) => own[1]! < all[1]!).length).toBeGreaterThan(5);
});

test('an offer at three times the price with bids far away, older than the first block, gives no trusted price', () => {
  const at = tickOf(3);
  const names: PoolNames = { address: PAIR, token0: T, token1: DAI, createdBlock: BORN };
  const pool = new RangePool(names);
  const blocks = factsOf((facts) => {
    const { number } = facts.ref;
    if (number === BORN) {
      pool.open(facts, at);
      pool.addTokens(facts, at, at + 2, 4);
      pool.addTokens(facts, tickOf(0.2), tickOf(0.3), 14_000);
      pool.addTokens(facts, at + 3, at + 4, 5_000);
    } else pool.swapTo(facts, at, number % 2 === 0 ? 0.5 : 0.6);
  });
  const old = oldOf(blocks);
  const trusted = (rows: readonly BlockRows[]): boolean =>
    rows.some(({ token_prices: prices }) =>
      prices.some((row) => row.token === T && row.confidence >= TRUSTED_MIN),
    );
  const after = (rows: readonly BlockRows[]): BlockRows[] => rows.filter(({ ref }) => ref.number >= FROM);
  const late = lateBlocks(blocks);
  expect(trusted(after(priceAll(newPricer(), late, old)))).toBe(false);
  // Without the ticks from before the start block, the active liquidity and the balances would make the price
  // trusted.
  expect(trusted(after(priceAll(newPricer(), late, { ...old, low: 1, high: 0 })))).toBe(true);
});
