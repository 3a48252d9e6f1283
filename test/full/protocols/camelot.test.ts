/**
 * Camelot V2 pools on a real node, with random trades, liquidity, fees for each direction, referrers and changes of the
 * curve. After each block, our reserves, prices, fees and quotes must equal the contracts and the tokens that moved.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import type { PoolState } from '../../../src/domain/pool';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { camelotV2 } from '../../../src/protocols/camelot/camelotV2';
import {
  CAMELOT_OWNER,
  CAMELOT_PAIR,
  CAMELOT_REFERRER,
  CAMELOT_TRADER,
  deployCamelot,
  REFERRER_SHARE,
  type CamelotMarket,
} from '../../support/camelot/camelotMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { decodeNewest } from '../../support/protocols/decodeFrom';
import { balancesOf, readBigInt, type MarketPool } from '../../support/protocols/poolMarket';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';
import { quotedPrice } from '../../support/solidly/solidlyMarket';

const SEED = 3;
const ROUNDS = 170;
const UNITS = 100_000n;
/** The owner's share of a fee, in units of 1/100,000. */
const OWNER_SHARE = 50_000n;

let anvil: TestAnvil;
let market: CamelotMarket;
let context: DecodeContext;
const pools: MarketPool[] = [];
const stable = new Set<Hex>();

beforeAll(async () => {
  anvil = await startTestAnvil();
  market = await deployCamelot(anvil.rpc, [0, 6, 8, 18, 30]);
  const dex = { name: 'camelot', displayName: 'Camelot', protocol: 'camelot_v2', factory: market.factory };
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes: [dex] },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  for (const [index, a] of market.tokens.entries()) {
    pools.push(await market.createPair(a, market.tokens[(index + 1) % market.tokens.length]!));
    await decodeNewest(context, anvil.rpc);
  }
  for (const pool of pools) {
    // A reserve has at most 112 bits: 5,192 tokens of 30 decimals.
    const tokens = decimalsOf(pool).includes(30) ? 1_000n : 1_000_000n;
    const amounts = decimalsOf(pool).map((decimals) => tokens * 10n ** BigInt(decimals));
    market.add(market.trader, CAMELOT_TRADER, 'mint', [pool.address, ...amounts]);
  }
  await market.mine();
  await decodeNewest(context, anvil.rpc);
});

afterAll(async () => {
  await anvil?.stop();
});

const decimalsOf = ({ token0, token1 }: MarketPool) => [token0.decimals, token1.decimals] as const;
const stateOf = ({ address }: MarketPool): PoolState => context.registry.stateOf(address);
const read = (pool: MarketPool, name: string, values: readonly unknown[] = []) =>
  readBigInt(anvil.rpc, CAMELOT_PAIR, pool.address, name, values);

interface Planned {
  readonly isToken0In: boolean;
  readonly amountIn: bigint;
  readonly referrerShare: bigint;
  readonly before: PoolState;
  /** The contract's own quote, and its fee in units of 1/100,000, before the block. */
  readonly quoted: bigint;
  readonly fee: bigint;
}

/** Adds a random action to the next block, and returns it if it is a swap. */
async function act(pool: MarketPool, random: Random): Promise<Planned | null> {
  const before = stateOf(pool);
  const { reserve0, reserve1 } = before;
  const [decimals0, decimals1] = decimalsOf(pool);
  const action = random.next();
  const part = BigInt(Math.round(10 ** -(0.9 + 1.4 * random.next()) * 1e9));
  const [share0, share1] = [reserve0, reserve1].map((reserve) => (reserve * part) / 1_000_000_000n) as [
    bigint,
    bigint,
  ];
  if (action < 0.76) {
    // Mostly the side with fewer tokens comes in, so that no side runs out.
    const [whole0, whole1] = [Number(reserve0) / 10 ** decimals0, Number(reserve1) / 10 ** decimals1];
    const isToken0In = random.chance(whole0 < whole1 ? 0.75 : 0.25);
    const referrer = random.chance(0.3) ? CAMELOT_REFERRER : ZERO_ADDRESS;
    const [tokenIn, amountIn] = isToken0In ? [pool.token0, share0] : [pool.token1, share1];
    market.add(market.trader, CAMELOT_TRADER, 'swap', [pool.address, isToken0In, amountIn, referrer]);
    return {
      isToken0In,
      amountIn,
      before,
      referrerShare: referrer === ZERO_ADDRESS ? 0n : REFERRER_SHARE,
      quoted: await read(pool, 'getAmountOut', [amountIn, tokenIn.address]),
      fee: await read(pool, isToken0In ? 'token0FeePercent' : 'token1FeePercent'),
    };
  }
  if (action < 0.82) market.add(market.trader, CAMELOT_TRADER, 'mint', [pool.address, share0, share1]);
  else if (action < 0.88)
    market.add(market.trader, CAMELOT_TRADER, 'burn', [pool.address, part, 1_000_000_000n]);
  else if (action < 0.95)
    market.add(pool.address, CAMELOT_PAIR, 'setFeePercent', [random.int(1, 2_000), random.int(1, 2_000)]);
  else {
    const isStable = !stable.delete(pool.address);
    if (isStable) stable.add(pool.address);
    market.add(pool.address, CAMELOT_PAIR, 'setStableSwap', [isStable]);
  }
  return null;
}

test('prices, reserves, fees and quotes equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  const counts = { stable: 0, volatile: 0 };
  let worst = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const planned = new Map<Hex, Planned | null>();
    for (const pool of pools) planned.set(pool.address, await act(pool, random));
    await market.mine();
    const { swaps } = await decodeNewest(context, anvil.rpc);
    expect(swaps).toHaveLength([...planned.values()].filter((each) => each !== null).length);
    for (const swap of swaps) {
      const { isToken0In, amountIn, referrerShare, before, quoted, fee } = planned.get(swap.pair)!;
      const pool = context.registry.findPool(swap.pair)!;
      const isStable = stable.has(swap.pair);
      expect(swap.pool_type).toBe(isStable ? 5 : 2);
      expect(camelotV2.quote(pool, before, amountIn, isToken0In)).toBe(quoted);
      expect(swap.fee_pips).toBe(Number(fee) * 10);
      const [moved, out] = isToken0In ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
      expect(moved).toBe(amountIn);
      expect(quoted - out).toBeGreaterThanOrEqual(0n);
      expect(quoted - out).toBeLessThanOrEqual(isStable ? 1n : 0n);
      // The parts of the fee that left the pool.
      const toReferrer = (amountIn * referrerShare * fee) / UNITS ** 2n;
      const toOwner = isStable ? (amountIn * (UNITS - referrerShare) * OWNER_SHARE * fee) / UNITS ** 3n : 0n;
      const [reserveBefore, reserveAfter] = isToken0In
        ? [before.reserve0, swap.reserve0]
        : [before.reserve1, swap.reserve1];
      expect(reserveAfter - reserveBefore).toBe(amountIn - toReferrer - toOwner);
      counts[isStable ? 'stable' : 'volatile'] += 1;
    }
    for (const pool of pools) {
      const { reserve0, reserve1 } = stateOf(pool);
      expect([reserve0, reserve1]).toEqual(await balancesOf(anvil.rpc, pool));
      const price = camelotV2.spotPrice(stateOf(pool), context.registry.findPool(pool.address)!)!;
      worst = Math.max(
        worst,
        Math.abs(price / (await quotedPrice(anvil.rpc, pool, [reserve0, reserve1])) - 1),
      );
    }
  }
  expect(counts.stable).toBeGreaterThan(200);
  expect(counts.volatile).toBeGreaterThan(200);
  recordOracle({
    protocol: 'camelot_v2',
    oracle: 'own contracts by the published formulas, `getAmountOut`',
    trades: counts.stable + counts.volatile,
    deviation: worst,
  });
  const [owned] = await balancesOf(anvil.rpc, pools[0]!, CAMELOT_OWNER);
  expect(owned).toBeGreaterThan(0n);
});
