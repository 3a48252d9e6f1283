/**
 * Slipstream on a real node: pools of @uniswap/v3-core, created by tick spacing, with random trades and liquidity. Prices,
 * balances, quotes and the fee of each swap must equal the contracts.
 */
import { Interface } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_V3 } from '../../../src/domain/pools/poolShape';
import { createLog } from '../../../src/log';
import { slipstream } from '../../../src/protocols/solidly/slipstream';
import { balancesOf, readBigInt } from '../../support/protocols/poolMarket';
import { Random } from '../../support/random';
import {
  deploySolidly,
  SOLIDLY_TRADER,
  type RangePool,
  type SolidlyMarket,
} from '../../support/solidly/solidlyMarket';

const SEED = 11;
const ROUNDS = 150;
const POOL = new Interface(['function slot0() view returns (uint160)']);
const Q96 = 2n ** 96n;
/** A fee that no pool has, to tell apart swaps whose fee does not follow from the swap. */
const NO_FEE = 999_999;

let anvil: Anvil;
let rpc: DevRpc;
let market: SolidlyMarket;
const pools: RangePool[] = [];
const states = new Map<Hex, PoolState>();

beforeAll(async () => {
  anvil = await startAnvil({ log: createLog('silent', false), timestamp: 1_700_000_000 });
  rpc = openDevRpc(anvil.url);
  market = await deploySolidly(rpc, [6, 8, 18, 30]);
  const plans = [
    { spacing: 1, feePips: 100, price: Q96 },
    { spacing: 50, feePips: 500, price: Q96 * 10n },
    { spacing: 200, feePips: 3_000, price: Q96 / 10n },
    { spacing: 2_000, feePips: 10_000, price: Q96 * 1_000n },
  ];
  for (const [index, plan] of plans.entries()) {
    const [a, b] = [market.tokens[index]!, market.tokens[(index + 1) % plans.length]!];
    pools.push(await market.createRange(plan, a, b));
    await follow(await headNumber());
  }
  for (const pool of pools) {
    const widest = Math.floor(800_000 / pool.spacing) * pool.spacing;
    market.add(market.trader, SOLIDLY_TRADER, 'mintRange', [pool.address, -widest, widest, 10n ** 15n]);
  }
  await follow(await market.mine());
});

afterAll(async () => {
  await rpc?.close();
  await anvil?.stop();
});

const headNumber = async () => Number(await rpc.call('eth_blockNumber'));

interface Swapped {
  readonly pool: RangePool;
  readonly fee: number;
  readonly amountIn: bigint;
  readonly isRight: boolean;
}

/** Reads the logs of a block as the ingester does, and returns its swaps. */
async function follow(block: number): Promise<Swapped[]> {
  const receipts = (await rpc.call('eth_getBlockReceipts', [numberToHex(block)])) as { logs: ChainLog[] }[];
  return receipts
    .flatMap(({ logs }) => logs)
    .flatMap((log) => {
      const pool = pools.find(({ address }) => address === log.address);
      const event = slipstream.decodeEvent(log);
      if (pool === undefined || event === null) return [];
      const before = states.get(pool.address) ?? EMPTY_STATE;
      const after = slipstream.applyEvent(before, event);
      states.set(pool.address, after);
      if (event.kind !== 'swap') return [];
      const asked = { ...pool, token0: pool.token0.address, token1: pool.token1.address };
      const priced = { ...asked, poolType: POOL_V3, tickSpacing: pool.spacing } as const;
      const isToken0In = event.amount0 > 0n;
      const [amountIn, amountOut] = isToken0In
        ? [event.amount0, event.amount1]
        : [event.amount1, event.amount0];
      const quote = slipstream.quote(priced, before, amountIn, isToken0In);
      const fee = slipstream.swapFeePips({ ...priced, feePips: NO_FEE }, event, before);
      return [{ pool, fee, amountIn, isRight: quote === null || quote === -amountOut }];
    });
}

function addAction(pool: RangePool, random: Random): void {
  const { tick, liquidity, sqrtPriceX96 } = states.get(pool.address)!;
  const action = random.next();
  const lower = Math.floor(tick / pool.spacing) * pool.spacing - random.int(0, 3) * pool.spacing;
  const range = [lower, lower + random.int(4, 9) * pool.spacing] as const;
  if (action < 0.85) {
    const zeroForOne = random.chance(0.5);
    // The whole active liquidity at the price, of which a random part comes in.
    const held = zeroForOne ? (liquidity * Q96) / sqrtPriceX96 : (liquidity * sqrtPriceX96) / Q96;
    const amount = held / BigInt(Math.round(10 ** (1.5 + 4 * random.next())));
    const limit = zeroForOne ? 4295128740n : 1461446703485210103287273052203988822378723970341n;
    const values = [pool.address, zeroForOne, amount + 1n, limit];
    market.add(market.trader, SOLIDLY_TRADER, 'swapRange', values);
  } else {
    market.add(market.trader, SOLIDLY_TRADER, 'mintRange', [pool.address, ...range, liquidity / 3n]);
    if (action > 0.95)
      market.add(market.trader, SOLIDLY_TRADER, 'burnRange', [pool.address, ...range, liquidity / 5n]);
  }
}

test('prices, balances, quotes and fees equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  const counts = { swaps: 0, told: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pool of pools) addAction(pool, random);
    for (const { pool, fee, amountIn, isRight } of await follow(await market.mine())) {
      counts.swaps += 1;
      expect(isRight).toBe(true);
      if (fee === NO_FEE) continue;
      counts.told += 1;
      // The contract rounds the fee up, and keeps what does not move the price by one unit.
      const rounding = 2 + 3_000_000 / Number(amountIn);
      expect(Math.abs(fee - pool.feePips)).toBeLessThan(pool.feePips * 0.01 + rounding);
    }
    for (const pool of pools) {
      const state = states.get(pool.address)!;
      const price = Number(await readBigInt(rpc, POOL, pool.address, 'slot0')) / 2 ** 96;
      expect(Math.abs(slipstream.spotPrice(state)! / (price * price) - 1)).toBeLessThan(1e-9);
      expect(await balancesOf(rpc, pool)).toEqual([state.reserve0, state.reserve1]);
    }
  }
  expect(counts.swaps).toBeGreaterThan(480);
  expect(counts.told).toBeGreaterThan(counts.swaps / 3);
});
