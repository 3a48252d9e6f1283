/**
 * Algebra on a real node: the published contracts of V1 and Integral 1.0 to 1.2.2, with random trades, liquidity, fees of
 * the pool, of plugins and of the community. After each block our price, liquidity, balances and fees must equal the
 * contracts.
 */
import { Interface } from 'ethers';

import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { getBlockHead } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import type { PoolState } from '../../../src/domain/pool';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { SwapFact } from '../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { algebra } from '../../../src/protocols/algebra/algebra';
import { quoteInRange } from '../../../src/protocols/uniswapV3/quoteInRange';
import {
  ALGEBRA_NODE,
  ALGEBRA_POOL,
  ALGEBRA_TRADER,
  ALGEBRA_VERSIONS,
  deployAlgebra,
  type AlgebraMarket,
  type AlgebraPool,
  type AlgebraVersion,
} from '../../support/algebra/algebraMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { recordOracle } from '../../support/protocols/protocolTable';
import { decodeNumber } from '../../support/protocols/decodeFrom';
import { balancesOf, readBigInt } from '../../support/protocols/poolMarket';
import { Random } from '../../support/random';

const SEED = 5;
const ROUNDS = 140;
const SPACING = 60;
const Q96 = 2n ** 96n;
const LIMITS = [4295128740n, 1461446703485210103287273052203988822378723970341n] as const;

let anvil: TestAnvil;
let market: AlgebraMarket;
let context: DecodeContext;
const pools: AlgebraPool[] = [];
/** The fee that the plugin has set for the next swaps, by pool: a new fee of the pool, an override and its own fee. */
const pluginFees = new Map<Hex, { next: number; overriding: number; own: number }>();
const counts = { swaps: 0, exact: 0, worst: 0, byVersion: new Map<AlgebraVersion, number>() };

beforeAll(async () => {
  anvil = await startTestAnvil(ALGEBRA_NODE);
  market = await deployAlgebra(anvil.rpc, [0, 6, 8, 18, 30]);
  const dexes = ALGEBRA_VERSIONS.map((version) => ({
    name: `algebra_${version.replaceAll('.', '_')}`,
    displayName: version,
    protocol: 'algebra',
    factory: market.factories.get(version)!,
  }));
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const { tokens } = market;
  for (const [index, version] of ALGEBRA_VERSIONS.entries()) {
    const [a, b] = [tokens[index]!, tokens[(index + 1) % tokens.length]!];
    const [low, high] = a.address < b.address ? [a, b] : [b, a];
    const price = BigInt(Math.round(10 ** ((high.decimals - low.decimals) / 2) * 2 ** 96));
    const from = (await getBlockHead(anvil.rpc)).number + 1;
    pools.push(await market.createPool(version, a, b, price));
    const to = (await getBlockHead(anvil.rpc)).number;
    for (let block = from; block <= to; block += 1) await follow(block);
  }
  for (const pool of pools) mint(pool, -SPACING * 14_000, SPACING * 14_000, 10n ** 17n);
  await follow(await market.mine());
});

afterAll(async () => {
  await anvil?.stop();
});

const stateOf = ({ address }: AlgebraPool): PoolState => context.registry.stateOf(address);

/** Decodes a block as the ingester does, and returns each swap with the state before it. */
async function follow(number: number): Promise<{ swap: SwapFact; before: PoolState }[]> {
  const before = new Map(pools.map((pool) => [pool.address, stateOf(pool)]));
  const { swaps } = await decodeNumber(context, anvil.rpc, number);
  return swaps.map((swap) => ({ swap, before: before.get(swap.pair)! }));
}

function mint(pool: AlgebraPool, lower: number, upper: number, liquidity: bigint): void {
  market.add(market.trader, ALGEBRA_TRADER, 'mint', [pool.address, lower, upper, liquidity]);
}

/** One random action in a pool, so that a block has at most one swap of each pool. */
function act(pool: AlgebraPool, random: Random): void {
  const { sqrtPriceX96, liquidity, tick } = stateOf(pool);
  const isFirst = pool.version === 'v1';
  const action = random.next();
  const lower = (Math.floor(tick / SPACING) - random.int(1, 4)) * SPACING;
  const range = [lower, lower + random.int(5, 12) * SPACING] as const;
  if (action < 0.78) {
    const zeroForOne = random.chance(0.5);
    const held = zeroForOne ? (liquidity * Q96) / sqrtPriceX96 : (liquidity * sqrtPriceX96) / Q96;
    const amount = held / BigInt(Math.round(10 ** (1.7 + 3 * random.next()))) + 2n;
    const limit = LIMITS[zeroForOne ? 0 : 1];
    if (random.chance(0.3))
      market.add(market.trader, ALGEBRA_TRADER, 'swapPaid', [
        pool.address,
        isFirst,
        zeroForOne,
        amount,
        limit,
      ]);
    else market.add(market.trader, ALGEBRA_TRADER, 'swap', [pool.address, zeroForOne, amount, limit]);
  } else if (action < 0.88) {
    mint(pool, ...range, liquidity / 5n);
    if (random.chance(0.6))
      market.add(market.trader, ALGEBRA_TRADER, 'burn', [pool.address, isFirst, ...range, liquidity / 9n]);
  } else if (action < 0.92) {
    const amounts = [(liquidity * Q96) / sqrtPriceX96, (liquidity * sqrtPriceX96) / Q96].map(
      (each) => each / 1_000n + 1n,
    );
    market.add(market.trader, ALGEBRA_TRADER, 'flash', [pool.address, ...amounts]);
  } else if (action < 0.95) market.setCommunityFee(pool, random.pick([20, 100, 240]) + random.int(0, 9));
  else if (!isFirst) {
    const fees = {
      next: random.pick([100, 500, 3_000, 15_000]),
      overriding: random.pick([0, 0, 700, 9_000]),
      own: random.pick([0, 0, 40, 2_500]),
    };
    pluginFees.set(pool.address, fees);
    market.setFees(pool, fees.next, fees.overriding, fees.own);
  }
}

const read = (to: Hex, name: string) => readBigInt(anvil.rpc, ALGEBRA_POOL, to, name);

/** The fee in pips that globalState() shows, of V1 and Integral. */
const GLOBAL_FEE = new Interface([
  'function globalState() view returns (uint160 price, int24 tick, uint16 fee)',
]);

async function poolFee({ address }: AlgebraPool): Promise<number> {
  const data = GLOBAL_FEE.encodeFunctionData('globalState');
  const answer = await anvil.rpc.call('eth_call', [{ to: address, data }, 'latest']);
  return Number(GLOBAL_FEE.decodeFunctionResult('globalState', String(answer))[2]);
}

/** The fee that the contract charges for a swap: that of the pool, or what its plugin says. */
async function chargedFee(pool: AlgebraPool): Promise<number> {
  const fee = await poolFee(pool);
  const plugin = pluginFees.get(pool.address);
  if (plugin === undefined || !pool.version.startsWith('1.2')) return fee;
  return (plugin.overriding === 0 ? fee : plugin.overriding) + plugin.own;
}

test('prices, balances and fees equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pool of pools) act(pool, random);
    // After 8 hours, Integral pays out the fees that wait for the community and the plugin.
    const swaps = await follow(await market.mine(random.chance(0.05) ? 30_000 : random.int(2, 900)));
    for (const { swap, before } of swaps) {
      const pool = pools.find(({ address }) => address === swap.pair)!;
      counts.swaps += 1;
      counts.byVersion.set(pool.version, (counts.byVersion.get(pool.version) ?? 0) + 1);
      expect([pool.version, swap.fee_pips]).toEqual([pool.version, await chargedFee(pool)]);
      const isToken0In = swap.amount0 > 0n;
      const [amountIn, amountOut] = isToken0In
        ? [swap.amount0, -swap.amount1]
        : [swap.amount1, -swap.amount0];
      const facts = { feePips: swap.fee_pips, tickSpacing: SPACING };
      const paid = quoteInRange(facts, before, amountIn, isToken0In);
      if (paid === null) continue;
      counts.exact += 1;
      // The amount of a swap in one range follows from the fee to the last unit.
      expect([pool.version, paid]).toEqual([pool.version, amountOut]);
    }
    for (const pool of pools) {
      const { address } = pool;
      const state = stateOf(pool);
      const price = await read(address, 'globalState');
      expect(state.sqrtPriceX96).toBe(price);
      expect(state.liquidity).toBe(await read(address, 'liquidity'));
      const marginal = (Number(price) / 2 ** 96) ** 2;
      counts.worst = Math.max(counts.worst, Math.abs(algebra.spotPrice(state)! / marginal - 1));
      const balances = await balancesOf(anvil.rpc, pool);
      expect([pool.version, state.reserve0, state.reserve1]).toEqual([pool.version, ...balances]);
    }
  }
  expect(counts.exact).toBeGreaterThan(counts.swaps / 3);
  for (const version of ALGEBRA_VERSIONS) expect(counts.byVersion.get(version)).toBeGreaterThan(80);
  recordOracle({
    protocol: 'algebra',
    oracle: 'pools of @cryptoalgebra (V1, 1.0, 1.1, 1.2.1, 1.2.2), `globalState`',
    trades: counts.swaps,
    deviation: counts.worst,
  });
});
