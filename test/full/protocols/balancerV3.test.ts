/**
 * Balancer V3 on a real node: the published vault with weighted and stable pools of two to four tokens, and random swaps,
 * joins and exits of all kinds, fees of hooks, fee changes, ramps and recovery modes. Some pools have wrappers of ERC-4626 and
 * other tokens with rates that move, also after the swap of a block, and pay fees on yield. After each block, our balances
 * must equal the vault's, our quotes what the swaps paid, and our prices the limit of the vault's own quotes. The vault accepts
 * tokens of at most 18 decimals. The buffers of both wrappers exchange, gain and lose liquidity at random too.
 */
import { getBlockHead } from '../../../src/dev/node/devRpc';
import { toFeePips } from '../../../src/domain/swapFee';
import type { SwapFact } from '../../../src/ingest/rows/blockRows';
import { balancerV3 } from '../../../src/protocols/balancerV3/balancerV3';
import { toStableState } from '../../../src/protocols/balancerV3/vaultState';
import { DOUBTS } from '../../../src/domain/pools/doubts';
import type { Hex } from '../../../src/domain/hex';
import type { ManyTokenState } from '../../../src/protocols/manyTokenProtocol';
import {
  deployV3,
  quotedV3Price,
  V3_ADD,
  V3_NODE,
  V3_REMOVE,
  V3_SWAP,
  type V3Market,
  type V3Pool,
} from '../../support/balancerV3/v3Vault';
import { openBuffers, type Exchange } from '../../support/balancerV3/v3Buffers';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { openVaultReader } from '../../support/protocols/decodeFrom';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';

const SEED = 31;
const ROUNDS = 80;
const DECIMALS = [0, 6, 8, 18];
const ONE = 10n ** 18n;
const DAY = 86_400;
const FEE = (3n * ONE) / 1_000n;
/**
 * Weights in percent, or the amplification of a stable pool. The tokens are taken in turn, in a rated pool after both wrappers.
 */
const PLANS = [
  { weights: [50, 50] },
  { weights: [80, 20], hasHook: true },
  { weights: [20, 30, 50] },
  { weights: [10, 20, 30, 40] },
  { amp: 30, count: 2 },
  { amp: 2_000, count: 2, hasHook: true },
  { amp: 200, count: 4 },
  { amp: 300, count: 2, isRated: true },
  { amp: 1_000, count: 3, isRated: true },
  { weights: [40, 60], isRated: true },
] as const;

let anvil: TestAnvil;
let market: V3Market;
let reader: ReturnType<typeof openVaultReader>;
/** Pools in which the fee of the hook counts, and those with rates that matter. */
const pools: (V3Pool & { readonly hasHook: boolean; readonly isRated: boolean })[] = [];
const random = new Random(SEED);
let hookFee = 0n;

beforeAll(async () => {
  anvil = await startTestAnvil(...V3_NODE);
  market = await deployV3(anvil.rpc, DECIMALS);
  reader = openVaultReader(anvil.rpc, 'balancer_v3', market.vault);
  for (const [index, plan] of PLANS.entries()) {
    const count = 'amp' in plan ? plan.count : plan.weights.length;
    const isRated = 'isRated' in plan;
    const inTurn = PLANS.map((_, at) => market.tokens[(index + at) % DECIMALS.length]!);
    const tokens = [...(isRated ? market.wrappers : []), ...inTurn].slice(0, count);
    // Enough units of each token that the vault's whole units do not hide its price.
    const whole = (): bigint => BigInt(random.int(3, 9)) * 10n ** 15n;
    const amounts = tokens.map(({ decimals }) =>
      'amp' in plan
        ? whole() * 10n ** BigInt(decimals)
        : BigInt(random.int(1, 9)) * 10n ** BigInt(16 + decimals / 2),
    );
    const weights = 'amp' in plan ? plan.amp : plan.weights.map((part) => (BigInt(part) * ONE) / 100n);
    const hasHook = 'hasHook' in plan;
    const hook = hasHook ? { hook: market.hooks.fee } : {};
    // The rates of a weighted pool cancel out of its price.
    const rates = tokens.map((token) => {
      if (market.wrappers.includes(token)) return { provider: token.address, paysYieldFees: true };
      return isRated || index === 2 ? { provider: market.rate, paysYieldFees: false } : null;
    });
    const first = (await getBlockHead(anvil.rpc)).number + 1;
    pools.push({
      ...(await market.createPool({ tokens, amounts, weights, fee: FEE, ...hook, rates })),
      hasHook,
      isRated,
    });
    const last = await market.mine();
    // The ingester sees most pools from their creation on, and asks the node about the others.
    for (let number = index % 3 === 1 ? last : first; number <= last; number += 1)
      await reader.follow(number);
  }
});

afterAll(() => anvil?.stop());

const kinds = new Set<string>();
const inRecovery = new Set<string>();

/** One random action in a pool, so that a block has at most one swap of each pool. Returns its name. */
async function act(pool: (typeof pools)[number]): Promise<string> {
  const { balances } = reader.stateOf(pool);
  const count = balances.length;
  const part = (index: number): bigint =>
    balances[index]! / BigInt(Math.round(10 ** (0.7 + 4 * random.next()))) + 1n;
  const indexIn = random.int(0, count - 1);
  const indexOut = (indexIn + random.int(1, count - 1)) % count;
  const only = (index: number, amount: bigint): bigint[] =>
    balances.map((_, at) => (at === index ? amount : 0n));
  const shares = await market.sharesOf(pool);
  const someShares = shares / BigInt(random.int(20, 3_000));
  const action = random.next();
  if (action < 0.5) {
    market.swap(pool, V3_SWAP.exactIn, indexIn, indexOut, part(indexIn));
    return 'exact in';
  }
  if (action < 0.7) {
    market.swap(pool, V3_SWAP.exactOut, indexIn, indexOut, part(indexOut) / 2n + 1n);
    return 'exact out';
  }
  const isBalanced = pool.hasHook;
  if (action < 0.78) {
    const kind = isBalanced
      ? random.pick([V3_ADD.proportional, V3_ADD.donation])
      : random.pick(Object.values(V3_ADD));
    const amounts =
      kind === V3_ADD.exactOut
        ? only(indexIn, balances[indexIn]!)
        : balances.map((each, at) => (kind === V3_ADD.proportional ? each : part(at) / 8n));
    market.add(pool, kind, amounts, kind === V3_ADD.unbalanced || kind === V3_ADD.donation ? 0n : someShares);
    return `add ${kind}`;
  }
  if (action < 0.86) {
    const kind = isBalanced ? V3_REMOVE.proportional : random.pick(Object.values(V3_REMOVE));
    const amounts = only(indexOut, kind === V3_REMOVE.exactOut ? part(indexOut) / 8n + 1n : 1n);
    market.remove(
      pool,
      kind,
      kind === V3_REMOVE.proportional ? only(0, 0n) : amounts,
      kind === V3_REMOVE.exactOut ? shares : someShares,
    );
    return `remove ${kind}`;
  }
  if (action < 0.9) {
    market.setFee(pool, BigInt(random.pick([10, 500, 3_000, 25_000])) * 10n ** 12n);
    return 'fee';
  }
  if (action < 0.94) {
    market.setProtocolFee(pool, (BigInt(random.pick([0, 10, 25, 50])) * ONE) / 100n);
    market.setYieldFee(pool, (BigInt(random.pick([0, 5, 10, 50])) * ONE) / 100n);
    return 'protocol fee';
  }
  if (action < 0.97) {
    if (inRecovery.has(pool.address) && random.chance(0.5)) {
      market.removeInRecovery(pool, someShares);
      return 'remove in recovery';
    }
    const isOn = !inRecovery.delete(pool.address);
    if (isOn) inRecovery.add(pool.address);
    market.setRecovery(pool, isOn);
    return `recovery ${isOn}`;
  }
  if (!pool.isStable) {
    hookFee = random.pick([0n, ONE / 500n, ONE / 20n]);
    market.setHookFee(hookFee);
    return 'hook';
  }
  return ramp(pool);
}

async function ramp(pool: V3Pool): Promise<string> {
  const { timestamp } = await getBlockHead(anvil.rpc);
  const [from = 0n, to = 0n, , end = 0n] = toStableState(reader.stateOf(pool)).params;
  const isMoving = BigInt(timestamp) + 10n < end;
  const now = Number((to > from ? to : from) / 1_000n);
  market.ramp(pool, isMoving ? 0 : random.chance(0.5) ? now + 3 : Math.ceil(now * 0.7), timestamp + 10 + DAY);
  return isMoving ? 'stop' : 'ramp';
}

const feeOf = (pool: (typeof pools)[number], state: ManyTokenState): bigint =>
  pool.hasHook && hookFee > 0n ? hookFee : state.swapFee;

/** Moves some of the rates, by less than a percent. */
function moveRates(): void {
  for (const wrapper of market.wrappers)
    if (random.chance(0.5)) market.donate(wrapper, random.int(10, 2_000));
  if (random.chance(0.3)) market.setRate(ONE + BigInt(random.int(1, 10 ** 9)) * 10n ** 7n);
}

/** The quote before a swap must be what the swap paid. */
function expectQuoted(
  pool: (typeof pools)[number],
  action: string | undefined,
  { swap, before }: { readonly swap: SwapFact; readonly before: ManyTokenState },
): void {
  const isToken0In = swap.amount0 > 0n;
  const [amountIn, amountOut] = isToken0In ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
  const [tokenIn, tokenOut] = isToken0In ? [swap.token0, swap.token1] : [swap.token1, swap.token0];
  const [indexIn = 0, indexOut = 0] = [tokenIn, tokenOut].map((token) => before.tokens.indexOf(token));
  // The fee of the hook may be new in this block, before or after the swap.
  const swapFee = pool.hasHook ? BigInt(swap.fee_pips) * 10n ** 12n : before.swapFee;
  expect(swap.fee_pips).toBe(toFeePips(swapFee));
  // Rates may have moved since.
  if (pool.isRated) return;
  const quote = balancerV3.quote({ ...before, swapFee }, indexIn, indexOut, amountIn, swap.timestamp)!;
  const off = Number(quote > amountOut ? quote - amountOut : amountOut - quote);
  // The vault rounds what is paid in for an exact amount up to whole units.
  const unit = action === 'exact out' ? balancerV3.spotPrice(before, indexIn, indexOut, swap.timestamp)! : 0;
  expect(off).toBeLessThanOrEqual(
    pool.isStable ? Math.ceil(4 * unit) : 2 + unit + 1e-12 * Number(before.balances[indexOut]),
  );
}

test('prices, balances, fees and quotes equal the vault over random trades', async () => {
  let [trades, worst] = [0, 0];
  /** Stable pools whose rates moved after their last swap, in the same block. */
  const doubtful = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    moveRates();
    const actions = new Map<string, string>();
    for (const pool of pools) actions.set(pool.address, await act(pool));
    for (const kind of actions.values()) kinds.add(kind);
    const isLate = random.chance(0.15);
    if (isLate) market.donate(market.wrappers[0]!, random.int(10, 2_000));
    for (const seen of await reader.follow(await market.mine())) {
      const pool = pools.find(({ address }) => address === seen.swap.pair)!;
      expectQuoted(pool, actions.get(pool.address), seen);
      if (!pool.isRated || !isLate) trades += 1;
      if (pool.isRated && pool.isStable && isLate) doubtful.add(pool.address);
      else doubtful.delete(pool.address);
    }
    const { timestamp } = await getBlockHead(anvil.rpc);
    for (const pool of pools) {
      const state = reader.stateOf(pool);
      const action = actions.get(pool.address)!;
      expect([action, state.doubts, state.balances]).toEqual([action, 0, await market.balancesOf(pool)]);
      const indexIn = round % state.tokens.length;
      const indexOut = (indexIn + 1) % state.tokens.length;
      const price = balancerV3.spotPrice(state, indexIn, indexOut, timestamp);
      expect([action, price === null]).toEqual([action, doubtful.has(pool.address)]);
      // The vault would take fees on yield, and ask for rates, before its next swap.
      const isQuoted = !pool.isRated || (!isLate && /^(exact|add|remove)/.test(action));
      if (price === null || !isQuoted) continue;
      const quoted = await quotedV3Price(market, pool, [indexIn, indexOut], feeOf(pool, state));
      worst = Math.max(worst, Math.abs(price / quoted - 1));
      if (!pool.isRated || !pool.isStable) continue;
      const amount = state.balances[indexIn]! / 1_000n;
      const quote = balancerV3.quote(state, indexIn, indexOut, amount, timestamp);
      expect([action, quote]).toEqual([action, await market.quote(pool, indexIn, indexOut, amount)]);
    }
  }
  expect([...kinds].sort()).toHaveLength(17);
  recordOracle({
    protocol: 'balancer_v3',
    oracle: 'vault, weighted and stable pools of @balancer-labs/v3-vault with moving rates, `quote`',
    trades,
    deviation: worst,
  });
});

test.each([true, false])(
  'if a rate moves between two swaps of a block, only the second one has a price (stable: %s)',
  async (isStable) => {
    const pool = pools.find((each) => each.isRated && each.isStable === isStable)!;
    const [amountIn = 0n, amountOut = 0n] = reader.stateOf(pool).balances.map((balance) => balance / 1_000n);
    market.setYieldFee(pool, ONE / 10n);
    await reader.follow(await market.mine());
    market.swap(pool, V3_SWAP.exactIn, 0, 1, amountIn);
    market.donate(market.wrappers[1]!, 500);
    market.swap(pool, V3_SWAP.exactOut, 0, 1, amountOut);
    const swaps = await reader.follow(await market.mine());
    const price = swaps[1]!.swap.price;
    expect([swaps.length, swaps[0]!.swap.price, price > 0]).toEqual([2, 0, true]);
    expect(reader.stateOf(pool).balances).toEqual(await market.balancesOf(pool));
    const quoted = await quotedV3Price(market, pool, [0, 1], reader.stateOf(pool).swapFee);
    expect(Math.abs(price / quoted - 1)).toBeLessThan(1e-9);
  },
);

test('a pool has no price if a hook takes part in its amounts', async () => {
  const tokens = market.tokens.slice(0, 2);
  const amounts = tokens.map(({ decimals }) => 10n ** BigInt(decimals + 12));
  const first = (await getBlockHead(anvil.rpc)).number + 1;
  const weights = [ONE / 2n, ONE / 2n];
  const pool = await market.createPool({ tokens, amounts, fee: FEE, weights, hook: market.hooks.amounts });
  const last = await market.mine();
  for (let number = first; number <= last; number += 1) await reader.follow(number);
  const state = reader.stateOf(pool);
  expect([state.doubts, balancerV3.spotPrice(state, 0, 1, 0)]).toEqual([DOUBTS.unfollowed, null]);
  expect(state.balances).toEqual(await market.balancesOf(pool));
});

/** The address of the buffer of a wrapper: all bits are flipped. */
const bufferOf = (wrapper: Hex) => ({
  address: `0x${(2n ** 160n - 1n - BigInt(wrapper)).toString(16).padStart(40, '0')}` as Hex,
});

test('buffers have the balances of the vault, and the rate of its quotes after each exchange', async () => {
  const buffers = openBuffers(anvil.rpc, market);
  const unitOf = new Map(market.wrappers.map(({ address, decimals }) => [address, 10n ** BigInt(decimals)]));
  for (const [wrapper, unit] of unitOf)
    buffers.initialize(wrapper, 7n * 10n ** 6n * unit, 4n * 10n ** 6n * unit);
  expect(await reader.follow(await market.mine())).toEqual([]);
  const seen = new Set<string>();
  let worst = 0;
  /** Exchanges within the balances, beyond them, and of a few units. */
  const exchange = async (wrapper: Hex, unit: bigint): Promise<bigint> => {
    const [underlying = 0n, wrapped = 0n] = await buffers.balancesOf(wrapper);
    const isDust = random.chance(0.1);
    const most = 2n * (underlying > wrapped ? underlying : wrapped);
    const amount = isDust ? 2_000_000n : (most * BigInt(random.int(1, 1_000))) / 1_000n + 10n ** 5n * unit;
    const [direction, kind] = [
      random.pick<Exchange>(['wrap', 'unwrap']),
      random.pick(['exactIn', 'exactOut'] as const),
    ];
    buffers.exchange(wrapper, direction, kind, amount);
    seen.add(`${direction} ${kind}`);
    return isDust ? 0n : amount;
  };
  for (let round = 0; round < 60; round += 1) {
    moveRates();
    const exchanged = new Set<Hex>();
    for (const [wrapper, unit] of unitOf) {
      const action = random.next();
      if (action < 0.1) buffers.add(wrapper, (await buffers.sharesOf(wrapper)) / BigInt(random.int(2, 50)));
      else if (action < 0.2)
        buffers.remove(wrapper, (await buffers.sharesOf(wrapper)) / BigInt(random.int(2, 50)));
      else if ((await exchange(wrapper, unit)) > 0n) exchanged.add(wrapper);
    }
    expect(await reader.follow(await market.mine())).toEqual([]);
    for (const [wrapper, unit] of unitOf) {
      const state = reader.stateOf(bufferOf(wrapper));
      expect(state.balances).toEqual(await buffers.balancesOf(wrapper));
      if (!exchanged.has(wrapper)) continue;
      const amount = 10n ** 12n * unit;
      const quoted = Number(await buffers.quote(wrapper, 'unwrap', amount)) / Number(amount);
      worst = Math.max(worst, Math.abs(balancerV3.spotPrice(state, 1, 0, 0)! / quoted - 1));
    }
  }
  expect([...seen].sort()).toEqual(['unwrap exactIn', 'unwrap exactOut', 'wrap exactIn', 'wrap exactOut']);
  expect(worst).toBeLessThan(1e-9);
});
