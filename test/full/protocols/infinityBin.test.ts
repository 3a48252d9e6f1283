/**
 * Bin pools of PancakeSwap Infinity on a real node, with random trades across bins, deposits, withdrawals, donations, and fees
 * of the protocol, of the pool and of a hook. After each block, our price, reserves, amounts and fees must equal the
 * contract. At the end, the whole program reads the same chain, and its answers must equal the contract too.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { getBlockHead } from '../../../src/dev/node/devRpc';
import { addressOfWord } from '../../../src/domain/hex';
import type { PoolRow } from '../../../src/clickhouse/schema/tables';
import type { PoolState } from '../../../src/domain/pool';
import { readBinParams, UNTOLD_BIN } from '../../../src/domain/pools/binMoves';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { BinBook } from '../../../src/ingest/price/binBook';
import type { StoredBin } from '../../../src/ingest/price/storedTicks';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { NOT_WALKED } from '../../../src/pricing/legState';
import { infinityBin } from '../../../src/protocols/infinity/infinityBin';
import { BIN_MANAGER, middleBin } from '../../support/infinity/binMarket';
import {
  deployInfinity,
  type InfinityMarket,
  type InfinityPool,
} from '../../support/infinity/infinityMarket';
import { decodeNewest } from '../../support/protocols/decodeFrom';
import type { MarketToken } from '../../support/protocols/poolMarket';
import {
  getData,
  listSwaps,
  off,
  openPoolWorld,
  type PairAnswer,
  type PoolWorld,
} from '../../support/protocols/poolWorld';
import { waitForBlock, type Program } from '../../support/server/program';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';
import { DYNAMIC_FEE, NATIVE } from '../../support/uniswapV4/v4Market';

const SEED = 4;
const ROUNDS = 120;
/** Bins with liquidity on each side of the active one at the start. */
const BINS = 40;
const TOKENS_PER_BIN = 1_000n;
/** A pool with its fees in pips, as the test has set them. */
interface Tested {
  readonly pool: InfinityPool;
  readonly step: number;
  readonly startId: number;
  lpFee: number;
  /** Of swaps that pay in token0 and in token1. */
  protocolFees: readonly [number, number];
  /** Units by which our reserves may differ: the contract rounds the protocol's fee in each bin. */
  rounded: bigint;
}

let world: PoolWorld;
let market: InfinityMarket;
let context: DecodeContext;
const tested: Tested[] = [];
let book = new BinBook();
const pools: PoolRow[] = [];
/** Sums of the changes that the states have. */
const bins = new Map<string, StoredBin>();
/** The pool whose hook chooses fees, and one whose hook takes a part of each amount. */
let dynamic: Tested;
let hooked: Tested;

beforeAll(async () => {
  const [usd, native] = [1, 3];
  world = await openPoolWorld('infinity', () => ({
    usd: market.tokens[usd]!,
    native: market.tokens[native]!,
    dexes: [{ name: 'infinity', protocol: 'infinity_bin', factory: market.manager }],
  }));
  market = await deployInfinity(world.anvil.rpc, [0, 6, 8, 18, 30], BIN_MANAGER, (codeOf) =>
    codeOf('BinPoolManager'),
  );
  const dex = {
    name: 'infinity',
    displayName: 'Infinity',
    protocol: 'infinity_bin',
    factory: market.manager,
  };
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes: [dex] },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const [none, six, eight, eighteen, thirty] = market.tokens as [
    MarketToken,
    MarketToken,
    MarketToken,
    MarketToken,
    MarketToken,
  ];
  await open(none, six, 3_000, 25);
  await open(six, eight, 500, 1);
  await open(eight, eighteen, 10_000, 100);
  await open(eighteen, thirty, 100, 10);
  await open(NATIVE, six, 2_500, 10);
  dynamic = await open(NATIVE, thirty, DYNAMIC_FEE, 50, market.hooks.fee);
  hooked = await open(eight, thirty, 3_000, 25, market.hooks.delta);
  // A pool has a price from its creation on.
  for (const each of tested) await checkState(each);
  for (const each of tested) {
    mint(each, each.startId, each.startId - BINS, each.startId + BINS, 1_000n);
    await mine();
  }
});

afterAll(() => world?.stop());

async function open(
  a: MarketToken,
  b: MarketToken,
  fee: number,
  step: number,
  hook?: InfinityPool['address'],
) {
  const [low, high] = a.address < b.address ? [a, b] : [b, a];
  const startId = middleBin(low, high, step);
  const pool = market.createPool(a, b, fee, step, BigInt(startId), hook);
  const lpFee = fee === DYNAMIC_FEE ? 0 : fee;
  const added: Tested = { pool, step, startId, lpFee, protocolFees: [0, 0], rounded: 0n };
  tested.push(added);
  await mine();
  return added;
}

async function mine(seconds?: number) {
  await market.mine(seconds);
  const facts = await decodeNewest(context, world.anvil.rpc);
  pools.push(...facts.pools);
  for (const { pair, params } of book.apply(facts.ref.number, facts, true))
    for (const { id, amount0, amount1 } of readBinParams(params)) {
      const key = `${pair} ${id}`;
      const bin = bins.get(key) ?? { pair, id, amount0: 0n, amount1: 0n };
      bins.set(key, { ...bin, amount0: bin.amount0 + amount0, amount1: bin.amount1 + amount1 });
    }
  return facts;
}

/** The book as after a restart: from the sums of the stored changes. */
function restart(): BinBook {
  const restarted = new BinBook();
  restarted.load(pools, bins.values());
  return restarted;
}

/** The sums of the changes of bins are the bins of the contract, and no swap is left without changes. */
async function checkBins(): Promise<void> {
  for (const { pair, id, amount0, amount1 } of bins.values()) {
    const { pool } = tested.find((each) => keyOf(each) === pair)!;
    const [x, y] = await market.read(pool, 'getBin', [id]);
    expect([id, amount0, amount1]).toEqual([id, x, y]);
  }
}

const keyOf = ({ pool }: Tested) => addressOfWord(pool.address);
const stateOf = (each: Tested): PoolState => context.registry.stateOf(keyOf(each));
const raw = ({ decimals }: MarketToken): bigint => 10n ** BigInt(decimals);

/** Puts thousandths of TOKENS_PER_BIN into each bin: token1 below the active one, token0 above it, both into it. */
function mint({ pool }: Tested, active: number, from: number, to: number, thousandths: bigint): void {
  const ids = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const partOf = (token: MarketToken): bigint => (TOKENS_PER_BIN * raw(token) * thousandths) / 1_000n;
  const amounts = ids.map((id) => [
    id < active ? 0n : partOf(pool.token0),
    // An uneven deposit into the active bin pays a fee for its composition.
    id > active ? 0n : partOf(pool.token1) / (id === active ? 3n : 1n),
  ]);
  market.act(pool, 'mint', [ids, amounts]);
}

/** One random action of a pool in the next block. */
function act(each: Tested, random: Random): void {
  const { pool } = each;
  const { reserve0, reserve1, tick } = stateOf(each);
  const action = random.next();
  if (action < 0.8) {
    const [whole0, whole1] = [Number(reserve0 / raw(pool.token0)), Number(reserve1 / raw(pool.token1))];
    const swapForY = random.chance(whole0 < whole1 ? 0.7 : 0.3);
    const isExactOut = random.chance(0.3) && each !== hooked;
    // From a part of a bin to several bins.
    const thousandths = BigInt(Math.round(10 ** (1 + 2.6 * random.next())));
    const token = swapForY === isExactOut ? pool.token1 : pool.token0;
    const amount = (TOKENS_PER_BIN * raw(token) * thousandths) / 1_000n;
    market.act(pool, 'swap', [swapForY, isExactOut ? amount : -amount]);
  } else if (action < 0.87) mint(each, tick, tick - random.int(0, 30), tick + random.int(0, 30), 100n);
  else if (action < 0.9) {
    // All shares of one bin, so that swaps skip the bin.
    market.act(pool, 'burn', [[tick + random.pick([-2, -1, 1, 2])], 1_000]);
  } else if (action < 0.92) {
    const ids = Array.from({ length: 9 }, (_, index) => tick - 4 + index);
    market.act(pool, 'burn', [ids, random.int(100, 300)]);
  } else if (action < 0.95) market.act(pool, 'donate', [reserve0 / 1_000n, reserve1 / 2_000n]);
  else if (each === dynamic) {
    each.lpFee = random.pick([0, 100, 2_500, 90_000]);
    market.setHookFee(each.lpFee, random.chance(0.5));
  } else if (each !== tested[0]) {
    each.protocolFees = [random.pick([0, 40, 1_000]), random.pick([0, 250, 4_000])];
    market.setProtocolFee(pool, each.protocolFees[0] + each.protocolFees[1] * 4_096);
  }
}

/** The fee that the contract takes: of the protocol first, then of what is left (ProtocolFeeLibrary.sol). */
function chargedFee({ lpFee, protocolFees }: Tested, isToken0In: boolean): number {
  const own = protocolFees[isToken0In ? 0 : 1];
  return own + lpFee - Math.floor((own * lpFee) / 1_000_000);
}

/** Largest relative difference of a price. */
let worst = 0;

/** Compares the active bin, its price and the reserves. */
async function checkState(each: Tested): Promise<void> {
  const { reserve0, reserve1, tick } = stateOf(each);
  const [activeId] = await market.read(each.pool, 'getSlot0');
  const [x, y] = await market.read(each.pool, 'getReserves');
  expect([each.step, tick]).toEqual([each.step, Number(activeId)]);
  for (const difference of [reserve0 - x!, reserve1 - y!])
    expect(difference <= each.rounded && -difference <= each.rounded).toBe(true);
  const price = infinityBin.spotPrice(stateOf(each), context.registry.findPool(keyOf(each))!);
  if (each === hooked) return expect(price).toBeNull();
  const [own] = await market.read(each.pool, 'getPrice', [tick]);
  worst = Math.max(worst, Math.abs(price! / (Number(own) / 2 ** 128) - 1));
}

/** The price is the limit of the contract's quote, without the fee, where amounts are large. Returns whether they are. */
async function checkLimit(each: Tested): Promise<boolean> {
  const { tick } = stateOf(each);
  const price = infinityBin.spotPrice(stateOf(each), context.registry.findPool(keyOf(each))!)!;
  const [, y = 0n] = await market.read(each.pool, 'getBin', [tick]);
  const amountIn = BigInt(Math.floor(Number(y) / 3 / price));
  if (y < 10n ** 12n || amountIn < 10n ** 12n) return false;
  const [, out] = await market.ask(each.pool, 'swap', [true, -amountIn]);
  const net = Number(amountIn) * (1 - chargedFee(each, true) / 1e6);
  worst = Math.max(worst, Math.abs(Number(out) / net / price - 1));
  return true;
}

const counts = { swaps: 0, crossing: 0, limits: 0, dynamic: 0 };

test('prices, reserves, amounts and fees equal the contract over random trades', async () => {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = new Map(tested.map((each) => [each, stateOf(each).tick]));
    for (const each of tested) act(each, random);
    if (round % 30 === 0) book = restart();
    const { swaps } = await mine(random.pick([5, 40, 900]));
    for (const swap of swaps) {
      const each = tested.find((one) => keyOf(one) === swap.pair)!;
      const isToken0In = swap.amount0 > 0n;
      expect([each.step, swap.fee_pips]).toEqual([each.step, chargedFee(each, isToken0In)]);
      const crossed = Math.abs(swap.tick - before.get(each)!);
      if (each !== tested[0]) each.rounded += BigInt(crossed + 2);
      counts.swaps += 1;
      if (crossed > 0) counts.crossing += 1;
      if (each === dynamic) counts.dynamic += 1;
    }
    for (const each of tested) {
      await checkState(each);
      if (each !== hooked && round % 4 === 0 && (await checkLimit(each))) counts.limits += 1;
    }
  }
  // The balances of our pools are those of the vault, without the fees of the protocol.
  for (const token of [NATIVE, ...market.tokens]) {
    const own = tested.filter(({ pool }) => pool.token0 === token || pool.token1 === token);
    const held = own.reduce((sum, each) => {
      const { reserve0, reserve1 } = stateOf(each);
      return sum + (each.pool.token0 === token ? reserve0 : reserve1);
    }, 0n);
    const allowed = own.reduce((sum, { rounded }) => sum + rounded, 0n);
    const difference = held - (await market.readHeld(token));
    expect(difference <= allowed && -difference <= allowed).toBe(true);
  }
  await checkBins();
  expect(counts.crossing).toBeGreaterThan(100);
  expect(counts.dynamic).toBeGreaterThan(50);
  expect(counts.limits).toBeGreaterThan(50);
  recordOracle({
    protocol: 'infinity_bin',
    oracle: 'own contracts by the published formulas, `getBin` and swaps by `eth_call`',
    trades: counts.swaps,
    deviation: worst,
  });
});

test('a swap that its bins do not explain leaves the depth of the pool unknown', async () => {
  const [each] = tested as [Tested];
  const { pool } = each;
  market.act(pool, 'swap', [true, -raw(pool.token0) * 10n]);
  const before = restart();
  const facts = await mine();
  const swaps = facts.swaps.map((swap) => ({ ...swap, amount1: swap.amount1 - 1n }));
  const walkedAt = (number: number) =>
    before.apply(number, facts, true).map(({ walked_liquidity }) => walked_liquidity);
  const [row] = before.apply(1, { ...facts, swaps }, true);
  expect([row!.params[0], row!.walked_liquidity]).toEqual([BigInt(UNTOLD_BIN), NOT_WALKED]);
  // The next swap of the pool has no depth, either, until a reorg removes the first one.
  expect(walkedAt(2)).toEqual([NOT_WALKED]);
  before.rewindTo(0);
  expect(walkedAt(1)[0]).toBeGreaterThan(0);
});

type HookedPair = PairAnswer & {
  readonly depth_2pct_usd: { readonly up: number | null; readonly down: number | null };
  readonly flags: readonly string[];
  readonly hooks: { readonly address: string; readonly permissions: readonly string[] } | null;
};

/** A program that begins later learns of the pools at their first events, with the same state and depth. */
async function expectOlder(program: Program): Promise<void> {
  const late = await world.start((await getBlockHead(world.anvil.rpc)).number);
  try {
    for (const _ of [1, 2]) {
      for (const { pool, startId } of tested) {
        const isToken0In = stateOf(tested.find((each) => each.pool === pool)!).tick > startId;
        const amount = raw(isToken0In ? pool.token0 : pool.token1) * 1_500n;
        market.act(pool, 'swap', [isToken0In, -amount]);
      }
      await mine();
    }
    const { number } = await getBlockHead(world.anvil.rpc);
    for (const from of [program, late]) await waitForBlock(from.url, number);
    let deep = 0;
    for (const { pool } of tested) {
      const [whole, part] = await Promise.all(
        [program, late].map((from) => getData<HookedPair>(from, `/pairs/${pool.address}`)),
      );
      expect(part).toMatchObject({ price: whole!.price, hooks: whole!.hooks });
      for (const side of ['up', 'down'] as const) {
        const [depth, own] = [whole!.depth_2pct_usd[side], part!.depth_2pct_usd[side]];
        if (depth === null || own === null || depth === 0) continue;
        // The storage of the manager does not list bins that hold single units, which are whole tokens of the first pool.
        expect(off(own, depth)).toBeLessThan(pool === tested[0]!.pool ? 1e-3 : 1e-6);
        deep += 1;
      }
    }
    expect(deep).toBeGreaterThan(3);
  } finally {
    await late.end('SIGTERM');
  }
}

test('the program answers with the prices, reserves, fees and hooks of the contract', async () => {
  const program = await world.start(0);
  try {
    for (const each of tested) {
      const { pool } = each;
      const pair = await getData<HookedPair>(program, `/pairs/${pool.address}`);
      const { reserve0, reserve1, tick } = stateOf(each);
      expect(pair).toMatchObject({
        ...{ address: pool.address, pool_type: 7 },
        ...{ reserve0_raw: String(reserve0), reserve1_raw: String(reserve1) },
      });
      if (each === hooked) {
        const permissions = ['before_swap', 'before_swap_returns_delta'];
        expect(pair.hooks).toEqual({ address: market.hooks.delta, permissions });
        expect([pair.price, pair.flags]).toEqual([null, expect.arrayContaining(['price_not_followed'])]);
        continue;
      }
      expect(pair.hooks?.permissions).toEqual(each === dynamic ? ['before_swap'] : undefined);
      const [own] = await market.read(pool, 'getPrice', [tick]);
      const price = (Number(own) / 2 ** 128) * 10 ** (pool.token0.decimals - pool.token1.decimals);
      expect(
        off(pair.price, pair.base_token.address === pool.token0.address ? price : 1 / price),
      ).toBeLessThan(1e-9);
      const [newest] = await listSwaps(program, pool);
      expect(newest!.price).not.toBeNull();
    }
    const filtered = async (filter: string): Promise<string[]> =>
      (await getData<PairAnswer[]>(program, `/pairs?hooks=${filter}`)).map(({ address }) => address).sort();
    expect(await filtered('before_swap')).toEqual([dynamic.pool.address, hooked.pool.address].sort());
    expect(await filtered('after_swap_returns_delta')).toEqual([]);
    expect(await filtered('before_swap_returns_delta')).toEqual([hooked.pool.address]);
    await expectOlder(program);
  } finally {
    await program.end('SIGTERM');
  }
});
