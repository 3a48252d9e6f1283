/**
 * Uniswap V3, PancakeSwap V3 and Slipstream on a real node, with random trades and liquidity: the published pools of
 * @uniswap/v3-core and @pancakeswap/v3-core. Slipstream has the former, created by tick spacing, with a fee that no event
 * tells. Prices, balances, quotes and the fee of each swap must equal the contracts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Interface, keccak256 } from 'ethers';

import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { POOL_V3 } from '../../../src/domain/pools/poolShape';
import { createLog } from '../../../src/log';
import type { PoolTerms, Protocol } from '../../../src/protocols/protocol';
import { slipstream } from '../../../src/protocols/solidly/slipstream';
import { pancakeV3 } from '../../../src/protocols/uniswapV3/pancakeV3';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { recordOracle } from '../../support/protocols/protocolTable';
import { balancesOf, readBigInt } from '../../support/protocols/poolMarket';
import { Random } from '../../support/random';
import { installProject } from '../../support/server/installProject';
import {
  deploySolidly,
  SOLIDLY_TRADER,
  type RangePool,
  type SolidlyMarket,
} from '../../support/solidly/solidlyMarket';

const SEED = 11;
const ROUNDS = 160;
const POOL = new Interface(['function slot0() view returns (uint160)']);
const Q96 = 2n ** 96n;

/** A fee that no pool has, to tell apart swaps whose fee does not follow from the swap. */
const NO_FEE = 999_999;
/** Hash of the creation code of PancakeSwap's pools, which the contracts on BNB Chain contain (POOL_INIT_CODE_HASH). */
const PANCAKE_CODE_HASH = '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2';

async function readPancakeCode(): Promise<Hex> {
  const folder = await installProject(join(__dirname, '../../support/dexes'), 'dexes');
  const path = 'node_modules/@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json';
  const { bytecode } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as { bytecode: Hex };
  expect(keccak256(bytecode)).toBe(PANCAKE_CODE_HASH);
  return bytecode;
}

const FAMILIES: readonly (readonly [string, Protocol])[] = [uniswapV3, pancakeV3, slipstream].map(
  (protocol) => [protocol.name, protocol],
);

let anvil: Anvil;
let rpc: DevRpc;
let market: SolidlyMarket;
const pools: RangePool[] = [];
const states = new Map<Hex, PoolState>();

const headNumber = async () => Number(await rpc.call('eth_blockNumber'));

interface Swapped {
  readonly pool: RangePool;
  readonly fee: number;
  readonly amountIn: bigint;
  readonly isRight: boolean;
}

/** The pool as the ingester knows it. */
const termsOf = ({ token0, token1, feePips, spacing }: RangePool): PoolTerms => ({
  poolType: POOL_V3,
  token0: token0.address,
  token1: token1.address,
  feePips,
  tickSpacing: spacing,
});

/** Reads the logs of a block as the ingester does, and returns its swaps. */
async function follow(protocol: Protocol, block: number): Promise<Swapped[]> {
  const receipts = (await rpc.call('eth_getBlockReceipts', [numberToHex(block)])) as { logs: ChainLog[] }[];
  return receipts
    .flatMap(({ logs }) => logs)
    .flatMap((log) => {
      const pool = pools.find(({ address }) => address === log.address);
      if (pool === undefined) return [];
      const before = states.get(pool.address) ?? EMPTY_STATE;
      const event = protocol.decodeEvent(log, before);
      if (event === null) return [];
      const after = protocol.applyEvent(before, event);
      states.set(pool.address, after);
      if (event.kind !== 'swap') return [];
      const isToken0In = event.amount0 > 0n;
      const [amountIn, amountOut] = isToken0In
        ? [event.amount0, event.amount1]
        : [event.amount1, event.amount0];
      const quote = protocol.quote(termsOf(pool), before, amountIn, isToken0In);
      const feePips = protocol === slipstream ? NO_FEE : pool.feePips;
      const fee = protocol.swapFeePips({ ...termsOf(pool), feePips }, event, before, after);
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

describe.each(FAMILIES)('%s', (name, protocol) => {
  beforeAll(async () => {
    anvil = await startAnvil({ log: createLog('silent', false), timestamp: 1_700_000_000 });
    rpc = openDevRpc(anvil.url);
    market = await deploySolidly(rpc, [0, 6, 8, 18, 30]);
    pools.length = 0;
    states.clear();
    const code = protocol === pancakeV3 ? { code: await readPancakeCode() } : {};
    const plans = [
      { spacing: 1, feePips: 100, price: Q96 },
      { spacing: 50, feePips: 500, price: Q96 * 10n },
      { spacing: 200, feePips: 3_000, price: Q96 / 10n },
      { spacing: 2_000, feePips: 10_000, price: Q96 * 1_000n },
      { spacing: 60, feePips: 2_500, price: Q96 },
    ];
    for (const [index, plan] of plans.entries()) {
      const [a, b] = [market.tokens[index]!, market.tokens[(index + 1) % plans.length]!];
      pools.push(await market.createRange({ ...plan, ...code }, a, b));
      await follow(protocol, await headNumber());
    }
    for (const pool of pools) {
      const widest = Math.floor(800_000 / pool.spacing) * pool.spacing;
      market.add(market.trader, SOLIDLY_TRADER, 'mintRange', [pool.address, -widest, widest, 10n ** 13n]);
    }
    await follow(protocol, await market.mine());
  });

  afterAll(async () => {
    await rpc?.close();
    await anvil?.stop();
  });

  test('prices, balances, quotes and fees equal the contracts over random trades', async () => {
    const random = new Random(SEED);
    let [trades, told, worst] = [0, 0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const pool of pools) addAction(pool, random);
      for (const { pool, fee, amountIn, isRight } of await follow(protocol, await market.mine())) {
        trades += 1;
        expect(isRight).toBe(true);
        if (fee === NO_FEE) continue;
        told += 1;
        // The contract rounds the fee up, and keeps what does not move the price by one unit.
        const rounding = protocol === slipstream ? 2 + 3_000_000 / Number(amountIn) : 0;
        expect(Math.abs(fee - pool.feePips)).toBeLessThanOrEqual(rounding && pool.feePips * 0.01 + rounding);
      }
      for (const pool of pools) {
        const state = states.get(pool.address)!;
        const root = Number(await readBigInt(rpc, POOL, pool.address, 'slot0')) / 2 ** 96;
        const price = protocol.spotPrice(state, termsOf(pool))!;
        worst = Math.max(worst, Math.abs(price / (root * root) - 1));
        expect(await balancesOf(rpc, pool)).toEqual([state.reserve0, state.reserve1]);
      }
    }
    expect(told).toBeGreaterThan(trades / 3);
    const oracle = `pools of ${protocol === pancakeV3 ? '@pancakeswap' : '@uniswap'}/v3-core`;
    recordOracle({ protocol: name, oracle: `${oracle}, \`slot0\``, trades, deviation: worst });
  });
});
