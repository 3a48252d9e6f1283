/**
 * StableSwap pools on a real node (Pancake's port and StableSwap-NG), with random trades, deposits, withdrawals of all
 * kinds, fee changes and ramps of A. After each block, our balances, prices, fees and quotes must equal the answers of
 * the contracts.
 */
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { getBlockHead, openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { decodeCurveEvent, type CurveEvent } from '../../../src/protocols/curve/curveEvents';
import { curveAt, curvePrice, getDy, type CurvePool } from '../../../src/protocols/curve/curvePool';
import { applyCurveEvent } from '../../../src/protocols/curve/curveState';
import {
  deployCurve,
  quotedPrice,
  readBalances,
  readPool,
  type CurveMarket,
  type MarketPool,
} from '../../support/curve/curveMarket';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';

const SEED = 11;
const ROUNDS = 140;
const DECIMALS = [0, 6, 8, 18, 30] as const;
/** Seconds of a ramp; a block takes 10. */
const RAMP_SECONDS = 200;
const UNIT = 10n ** 18n;

let anvil: Anvil;
let rpc: DevRpc;
let market: CurveMarket;
const pools: MarketPool[] = [];
const states = new Map<Hex, CurvePool>();

/** Numbers of tokens, amplifications and fees of the pools; the tokens are taken in turn. */
const PLANS = [
  { isNg: false, count: 2, amp: 1n, fee: 50_000_000n, second: 3_000_000_000n },
  { isNg: false, count: 2, amp: 2_000n, fee: 1_000_000n, second: 10n ** 10n },
  { isNg: false, count: 3, amp: 300n, fee: 4_000_000n, second: 5_000_000_000n },
  { isNg: true, count: 2, amp: 100n, fee: 4_000_000n, second: 20_000_000_000n },
  { isNg: true, count: 3, amp: 5n, fee: 1_000_000n, second: 0n },
  { isNg: true, count: 5, amp: 1_500n, fee: 10_000_000n, second: 50_000_000_000n },
] as const;

beforeAll(async () => {
  anvil = await startAnvil({ log: createLog('silent', false), timestamp: 1_700_000_000 });
  rpc = openDevRpc(anvil.url);
  market = await deployCurve(rpc, DECIMALS);
  for (const [index, { count, ...plan }] of PLANS.entries()) {
    const places = Array.from({ length: count }, (_, at) => (index * 2 + at) % market.tokens.length);
    const tokens = places.sort((a, b) => a - b).map((place) => market.tokens[place]!);
    pools.push(await market.createPool({ ...plan, tokens }));
  }
  const random = new Random(SEED);
  for (const pool of pools) {
    states.set(pool.address, firstState(pool));
    const amounts = pool.tokens.map(
      ({ decimals }) => BigInt(random.int(400_000, 2_500_000)) * 10n ** BigInt(decimals),
    );
    market.add(pool, 'add_liquidity', [amounts]);
  }
  await follow(await market.mine());
});

afterAll(async () => {
  await rpc?.close();
  await anvil?.stop();
});

function firstState({ isNg, tokens, amp, fee, second }: MarketPool): CurvePool {
  const unit = isNg ? amp * 100n : amp;
  return {
    kind: isNg ? 'ng' : 'pancake',
    isKilled: false,
    ramp: { fromAmp: unit, toAmp: unit, fromTime: 0n, toTime: 0n },
    fee,
    adminFee: isNg ? 5_000_000_000n : second,
    offpeg: isNg ? second : 0n,
    supply: 0n,
    rates: tokens.map(({ decimals }) => 10n ** BigInt(36 - decimals)),
    balances: tokens.map(() => 0n),
  };
}

interface Seen {
  readonly pool: MarketPool;
  readonly event: CurveEvent;
  readonly before: CurvePool;
  readonly feePips: number | null;
}

/** Applies the logs of a block. Every event must be explained to the last unit. */
async function follow(block: number): Promise<Seen[]> {
  const { timestamp } = await getBlockHead(rpc);
  const receipts = (await rpc.call('eth_getBlockReceipts', [numberToHex(block)])) as { logs: ChainLog[] }[];
  return receipts.flatMap(({ logs }) =>
    logs.flatMap((log): Seen[] => {
      const pool = pools.find(({ address }) => address === log.address);
      const event = decodeCurveEvent(log);
      if (pool === undefined || event === null) return [];
      const before = states.get(pool.address)!;
      const step = applyCurveEvent(before, event, timestamp);

      expect([event, step.isExplained]).toEqual([event, true]);
      states.set(pool.address, step.pool);
      return [{ pool, event, before, feePips: step.feePips }];
    }),
  );
}

/** Adds a random action to the next block. */
function addAction(pool: MarketPool, random: Random): void {
  const { balances, supply, ramp } = states.get(pool.address)!;
  const part = (from: number): bigint => BigInt(Math.round(10 ** -(from + 3 * random.next()) * 1e9));
  const partOf = (amount: bigint, from = 0.5): bigint => (amount * part(from)) / 1_000_000_000n;
  const [i, j] = pickTwo(pool, random);
  const action = random.next();
  if (action < 0.7) return market.add(pool, 'exchange', [i, j, partOf(balances[i]!) + 1n, 0]);
  if (action < 0.78) {
    const amounts = balances.map((each, index) =>
      index !== i && random.chance(0.3) ? 0n : partOf(each) + 1n,
    );
    return market.add(pool, 'add_liquidity', [amounts]);
  }
  if (action < 0.82) return market.add(pool, 'remove_liquidity', [partOf(supply)]);
  if (action < 0.87) return market.add(pool, 'remove_liquidity_one_coin', [partOf(supply, 1), i]);
  if (action < 0.92)
    return market.add(pool, 'remove_liquidity_imbalance', [balances.map((each) => partOf(each, 1) + 1n)]);
  if (action < 0.95) {
    const second = pool.isNg
      ? random.pick([0n, 15_000_000_000n, 40_000_000_000n])
      : random.pick([0n, 10n ** 10n]);
    return market.add(pool, 'setFees', [random.pick([0n, 4_000_000n, 100_000_000n]), second]);
  }
  if (action < 0.96) return market.add(pool, 'stop_ramp', []);
  if (action < 0.97) return market.add(pool, 'withdraw_admin_fees', []);
  const amp = ramp.toAmp / (pool.isNg ? 100n : 1n);
  return market.add(pool, 'ramp_A', [random.chance(0.5) ? amp * 7n : amp / 6n + 1n, RAMP_SECONDS]);
}

function pickTwo(pool: MarketPool, random: Random): [number, number] {
  const i = random.int(0, pool.tokens.length - 1);
  return [i, (i + random.int(1, pool.tokens.length - 1)) % pool.tokens.length];
}

/** Compares our fee of a swap with what the contract kept, within the rounding of the token that went out. */
async function checkFee({ pool, event, before, feePips }: Seen): Promise<void> {
  if (event.kind !== 'exchange') return;
  const { soldId, boughtId, sold, bought } = event;
  const scaled = (raw: bigint, index: number): bigint => (raw * before.rates[index]!) / UNIT;
  const values = [soldId, boughtId, scaled(sold, soldId), before.balances.map(scaled)];
  const gross = await readPool(rpc, pool, 'scaledOut', ...values);
  const kept = gross - scaled(bought, boughtId);
  const unit = Number(before.rates[boughtId]!) / 1e18;
  expect(Math.abs(Number(kept) / Number(gross) - feePips! / 1e6)).toBeLessThanOrEqual(
    5.1e-7 + (2 * unit + 2) / Number(gross),
  );
}

test('balances, prices, fees and quotes equal the contracts over random trades', async () => {
  const random = new Random(SEED);
  let [swaps, worst] = [0, 0];
  const kinds = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pool of pools) addAction(pool, random);
    const seen = await follow(await market.mine());
    const { timestamp } = await getBlockHead(rpc);
    for (const each of seen) {
      kinds.add(`${each.pool.isNg} ${each.event.kind}`);
      await checkFee(each);
      swaps += Number(each.event.kind === 'exchange');
    }
    for (const pool of pools) {
      const state = states.get(pool.address)!;
      expect(await readBalances(rpc, pool)).toEqual(state.balances);
      expect(await readPool(rpc, pool, 'supply')).toBe(state.supply);
      expect(await readPool(rpc, pool, 'amp')).toBe(curveAt(state, timestamp).amp);
      const [i, j] = pickTwo(pool, random);
      const amount = (state.balances[i]! * BigInt(random.int(1, 2_000_000))) / 10n ** 6n;
      expect(getDy(state, i, j, amount, timestamp)).toBe(await readPool(rpc, pool, 'get_dy', i, j, amount));
      const price = curvePrice(state, i, j, timestamp)!;
      worst = Math.max(worst, Math.abs(price / (await quotedPrice(rpc, pool, state.balances, [i, j])) - 1));
    }
  }
  expect(swaps).toBeGreaterThan(500);
  expect(kinds.size).toBe(14);
  recordOracle({
    protocol: 'curve_stable',
    oracle: 'own contracts by the published formulas, `get_dy`',
    trades: swaps,
    deviation: worst,
  });
});
