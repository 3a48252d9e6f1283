/**
 * Bonding curves on a real node, with random trades, donations and ends. Decoded blocks and the answers of the whole
 * program must equal the contracts, for curves seen from their creation and for older ones.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import type { Hex } from '../../../src/domain/hex';
import type { PoolState } from '../../../src/domain/pool';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { bondingCurve } from '../../../src/protocols/bondingCurve/bondingCurve';
import {
  CURVE_PAIR,
  CURVE_TRADER,
  deployBondingCurves,
  type BondingMarket,
} from '../../support/bondingCurve/bondingMarket';
import { eventually } from '../../support/eventually';
import { decodeNewest } from '../../support/protocols/decodeFrom';
import { balancesOf, readBigInt, type MarketPool } from '../../support/protocols/poolMarket';
import { getData, getPair, off, openPoolWorld, type PoolWorld } from '../../support/protocols/poolWorld';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';
import { waitForBlock, type Program } from '../../support/server/program';
import { quotedPrice } from '../../support/solidly/solidlyMarket';

const SEED = 11;
const ROUNDS = 120;
const ASSET_DECIMALS = [18, 6, 0, 8, 30] as const;
/** A pair of the DEX holds at most 2^112 raw units: 5,192 tokens of 30 decimals. */
const VIRTUAL_ASSETS = [6_000n, 6_000n, 6_000_000n, 6_000n, 60n] as const;
const PARTS = 1_000_000n;

let world: PoolWorld;
let market: BondingMarket;
let context: DecodeContext;
let program: Program;
/** The first two stay, one with the native coin and one with the anchor. The others end. */
let curves: readonly MarketPool[];
let head: number;

beforeAll(async () => {
  world = await openPoolWorld('bonding', describeMarket);
  market = await deployBondingCurves(world.anvil.rpc, [18, 18, 18, 18, 18, ...ASSET_DECIMALS]);
  context = createDecodeContext({
    chain: {
      ...findBuiltInChain(369)!,
      dexes: describeMarket().dexes.map((dex) => ({ ...dex, displayName: dex.name })),
    },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const launched: MarketPool[] = [];
  for (const [index, virtualAssets] of VIRTUAL_ASSETS.entries()) {
    launched.push(await market.launch(market.tokens[index]!, market.tokens[index + 5]!, virtualAssets));
    await decodeNewest(context, world.anvil.rpc);
  }
  curves = launched;
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await world?.stop();
});

function describeMarket() {
  const dexes = [
    { name: 'curves', protocol: 'bonding_curve', factory: market.factory },
    { name: 'dex', protocol: 'uniswap_v2', factory: market.dex },
  ];
  return { usd: market.tokens[6]!, native: market.tokens[5]!, dexes };
}

const stateOf = ({ address }: MarketPool): PoolState => context.registry.stateOf(address);
const paidOut = (pool: MarketPool, isToken0In: boolean, amountIn: bigint): Promise<bigint> =>
  readBigInt(world.anvil.rpc, CURVE_PAIR, pool.address, 'amountOut', [isToken0In, amountIn]);

/** The virtual reserves. */
async function reservesOf({ address }: MarketPool): Promise<[bigint, bigint]> {
  const read = (name: string) => readBigInt(world.anvil.rpc, CURVE_PAIR, address, name);
  return [await read('reserve0'), await read('reserve1')];
}

interface Planned {
  readonly isToken0In: boolean;
  readonly amountIn: bigint;
  readonly before: PoolState;
  /** What the contract pays out, without the tax of a sale. */
  readonly out: bigint;
  /** What the trader gets. */
  readonly received: bigint;
}

/** Adds a random trade to the next block. The trader sells at most what it bought. */
async function trade(pool: MarketPool, random: Random): Promise<Planned> {
  const [, virtual1] = await reservesOf(pool);
  const held = await balancesOf(world.anvil.rpc, pool);
  const part = BigInt(random.int(100, 40_000));
  const isToken0In = held[1] > (virtual1 * part) / PARTS && random.chance(0.48);
  const sold = (await paidOut(pool, false, virtual1 / 4n)) / 8n;
  const amountIn = isToken0In ? (sold * part) / PARTS : (virtual1 * part) / PARTS;
  market.add(market.trader, CURVE_TRADER, isToken0In ? 'sell' : 'buy', [
    market.factory,
    pool.address,
    amountIn,
  ]);
  const out = await paidOut(pool, isToken0In, isToken0In ? amountIn : amountIn - amountIn / 100n);
  const received = isToken0In ? out - out / 100n : out;
  return { isToken0In, amountIn, before: stateOf(pool), out, received };
}

/**
 * To the precision of √price and liquidity. The contract divides its first k, which later reserves miss by at most what one
 * raw unit of the asset buys.
 */
function expectClose(amount: bigint | null, { isToken0In, before, received }: Planned): void {
  expect(amount).not.toBeNull();
  const difference = amount! > received ? amount! - received : received - amount!;
  const unit = isToken0In ? 1n : 1n + (1n << 192n) / before.sqrtPriceX96 ** 2n;
  expect(difference).toBeLessThanOrEqual(2n * unit + received / 10n ** 12n);
}

test('prices, balances and quotes equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  let [trades, worst] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const planned = new Map<Hex, Planned>();
    for (const pool of curves) planned.set(pool.address, await trade(pool, random));
    await market.mine();
    const { swaps } = await decodeNewest(context, world.anvil.rpc);
    expect(swaps).toHaveLength(curves.length);
    for (const swap of swaps) {
      const plan = planned.get(swap.pair)!;
      const { isToken0In, amountIn, before, out } = plan;
      const pool = context.registry.findPool(swap.pair)!;
      const paid = isToken0In ? amountIn : amountIn - amountIn / 100n;
      expect([swap.amount0, swap.amount1]).toEqual(isToken0In ? [paid, -out] : [-out, paid]);
      expectClose(bondingCurve.quote(pool, before, amountIn, isToken0In), plan);
      expect(swap).toMatchObject({ pool_type: 3, fee_pips: 10_000 });
      trades += 1;
    }
    for (const pool of curves) {
      const state = stateOf(pool);
      expect([state.reserve0, state.reserve1]).toEqual(await balancesOf(world.anvil.rpc, pool));
      const price = await quotedPrice(world.anvil.rpc, pool, await reservesOf(pool));
      worst = Math.max(worst, Math.abs(bondingCurve.spotPrice(state)! / price - 1));
    }
  }
  recordOracle({
    protocol: 'bonding_curve',
    oracle: 'own contracts by the published formulas, `getAmountsOut`',
    trades,
    deviation: worst,
  });
});

test('a curve ends when all its tokens leave, also those that somebody gave to it', async () => {
  const [, , ...ending] = curves;
  for (const { address, token0 } of ending)
    market.add(market.trader, CURVE_TRADER, 'give', [token0.address, address, 10n ** 18n]);
  await market.mine();
  await decodeNewest(context, world.anvil.rpc);
  for (const pool of ending) {
    const [, virtual1] = await reservesOf(pool);
    const values = [market.factory, pool.address, virtual1 / 20n, market.dex];
    market.add(market.trader, CURVE_TRADER, 'buyLast', values);
  }
  await market.mine();
  const {
    swaps,
    liquidity_events: moves,
    pool_states: states,
  } = await decodeNewest(context, world.anvil.rpc);
  for (const pool of ending) {
    const { reserve0, reserve1 } = swaps.find(({ pair }) => pair === pool.address)!;
    const end = moves.find(({ pair, kind }) => pair === pool.address && kind === 'burn')!;
    expect(end).toMatchObject({ amount0: reserve0 + 10n ** 18n, amount1: reserve1, tick_lower: null });
    expect(states.findLast(({ pair }) => pair === pool.address)).toMatchObject({
      kind: 'burn',
      reserve0: 0n,
      reserve1: 0n,
      liquidity: 0n,
      price: 0,
    });
    expect(bondingCurve.quote(context.registry.findPool(pool.address)!, stateOf(pool), 1n, true)).toBeNull();
  }
});

interface CurveAnswer {
  readonly ended: { block_number: number; tx_hash: string; moved_to: string[] } | null;
}

async function expectTruth(from: Program): Promise<void> {
  for (const pool of curves.slice(0, 2)) {
    const pair = await getPair(from, pool);
    expect(pair).toMatchObject({ pool_type: 3, fee_bps: 100, ended: null });
    expect(pair.flags).not.toContain('ended');
    const perRaw = await quotedPrice(world.anvil.rpc, pool, await reservesOf(pool));
    const price = perRaw * 10 ** (pool.token0.decimals - pool.token1.decimals);
    const isBase = pair.base_token.address === pool.token0.address;
    expect(off(pair.price, isBase ? price : 1 / price)).toBeLessThan(1e-9);
    const balances = await balancesOf(world.anvil.rpc, pool);
    expect([pair.reserve0_raw, pair.reserve1_raw]).toEqual(balances.map(String));
  }
}

test('the program shows curves, their ends, and the pools in which they end', async () => {
  await world.grow();
  const random = new Random(SEED + 1);
  for (const pool of curves.slice(0, 2)) await trade(pool, random);
  head = await market.mine();
  program = await world.start(0);
  await expectTruth(program);
  for (const pool of curves.slice(2)) {
    const pair = await getData<CurveAnswer>(program, `/pairs/${pool.address}`);
    expect(pair).toMatchObject({
      price: null,
      price_reason: { text: 'No price: this bonding curve has ended' },
      reserve0_raw: '0',
      reserve1_raw: '0',
      liquidity_usd: 0,
      flags: expect.arrayContaining(['ended']),
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'ended' })]),
    });
    const [opened] = pair.ended!.moved_to;
    expect(pair.ended!.moved_to).toHaveLength(1);
    const next = await getData<{ dex_name: string; token0: string; created_tx: string }>(
      program,
      `/pairs/${opened}`,
    );
    expect(next).toMatchObject({ dex_name: 'dex', created_tx: pair.ended!.tx_hash });
  }
});

test('an older curve has the same facts, and a restart keeps them', async () => {
  const late = await world.start(head);
  try {
    const random = new Random(SEED + 2);
    for (const pool of curves.slice(0, 2)) await trade(pool, random);
    head = await market.mine();
    await eventually(
      async () => (await getData<unknown[]>(late, '/pairs?dex=curves')).length,
      (count) => count === 2,
    );
    await waitForBlock(late.url, head);
    await expectTruth(late);
  } finally {
    await late.end('SIGTERM');
  }
  await program.end('SIGTERM');
  program = await world.start(0);
  await expectTruth(program);
});
