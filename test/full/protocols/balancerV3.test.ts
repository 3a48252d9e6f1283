/**
 * Balancer V3 on a real node: the published vault with weighted and stable pools of two to four tokens, and random swaps,
 * joins and exits of all kinds, fees of hooks, fee changes, ramps and recovery modes. After each block, our balances must
 * equal the vault's, our quotes what the swaps paid, and our prices the limit of the vault's own quotes. The vault accepts
 * tokens of at most 18 decimals. Pools whose balances or amounts change without an event have no price.
 */
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { getBlockHead } from '../../../src/dev/node/devRpc';
import { toFeePips } from '../../../src/domain/swapFee';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import type { SwapFact } from '../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { balancerV3 } from '../../../src/protocols/balancerV3/balancerV3';
import { DOUBTS } from '../../../src/domain/pools/doubts';
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
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { callsOf, readNodeBlock } from '../../support/protocols/decodeFrom';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';

const SEED = 31;
const ROUNDS = 115;
const DECIMALS = [0, 6, 8, 18];
const ONE = 10n ** 18n;
const DAY = 86_400;
const FEE = (3n * ONE) / 1_000n;
/** Weights in percent, or the amplification of a stable pool. The tokens are taken in turn. */
const PLANS = [
  { weights: [50, 50] },
  { weights: [80, 20], hasHook: true },
  { weights: [20, 30, 50] },
  { weights: [10, 20, 30, 40] },
  { amp: 30, count: 2 },
  { amp: 2_000, count: 2, hasHook: true },
  { amp: 200, count: 4 },
] as const;

let anvil: TestAnvil;
let market: V3Market;
let context: DecodeContext;
let discovery: ManyTokenDiscovery;
/** Followed pools, by which the fee of the hook counts. */
const pools: (V3Pool & { readonly hasHook: boolean })[] = [];
const random = new Random(SEED);
let hookFee = 0n;

beforeAll(async () => {
  anvil = await startTestAnvil(...V3_NODE);
  market = await deployV3(anvil.rpc, DECIMALS);
  const log = createLog('silent', false);
  const dexes = [{ name: 'vault', displayName: 'Vault', protocol: 'balancer_v3', factory: market.vault }];
  context = createDecodeContext({
    chain: { ...findBuiltInChain(369)!, dexes },
    status: newIngestStatus(),
    log,
  });
  const { baseIsToken0 } = context;
  discovery = new ManyTokenDiscovery({
    rpc: callsOf(anvil.rpc),
    dexes,
    baseIsToken0,
    quoteRank: () => Infinity,
    log,
  });
  for (const [index, plan] of PLANS.entries()) {
    const count = 'amp' in plan ? plan.count : plan.weights.length;
    const tokens = Array.from({ length: count }, (_, at) => market.tokens[(index + at) % DECIMALS.length]!);
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
    const rates = index === 2 ? tokens.map(() => ({ provider: market.rate, paysYieldFees: false })) : [];
    const first = (await getBlockHead(anvil.rpc)).number + 1;
    pools.push({
      ...(await market.createPool({ tokens, amounts, weights, fee: FEE, ...hook, rates })),
      hasHook,
    });
    const last = await market.mine();
    // The ingester sees most pools from their creation on, and asks the node about the others.
    for (let number = index % 3 === 1 ? last : first; number <= last; number += 1) await follow(number);
  }
});

afterAll(() => anvil?.stop());

const stateOf = ({ address }: V3Pool): ManyTokenState => context.registry.findManyTokenPool(address)!.state;

/** Decodes a block as the ingester does. Returns each swap with the state before it. */
async function follow(number: number): Promise<{ swap: SwapFact; before: ManyTokenState }[]> {
  const block = await readNodeBlock(anvil.rpc, number);
  const before = new Map(
    pools
      .flatMap(({ address }) => context.registry.findManyTokenPool(address) ?? [])
      .map(({ pool, state }) => [pool.address, state]),
  );
  const findings = await discovery.discover([block], context.registry, false);
  const { swaps } = decodeBlock(context, block, findings, false);
  return swaps.flatMap((swap) => {
    const state = before.get(swap.pair);
    return state === undefined ? [] : [{ swap, before: state }];
  });
}

const kinds = new Set<string>();
const inRecovery = new Set<string>();

/** One random action in a pool, so that a block has at most one swap of each pool. Returns its name. */
async function act(pool: (typeof pools)[number]): Promise<string> {
  const { balances } = stateOf(pool);
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
    market.setRate(ONE + BigInt(random.int(1, 10 ** 9)) * 10n ** 8n);
    return 'hook';
  }
  return ramp(pool);
}

async function ramp(pool: V3Pool): Promise<string> {
  const { timestamp } = await getBlockHead(anvil.rpc);
  const [from = 0n, to = 0n, , end = 0n] = stateOf(pool).params.slice(3);
  const isMoving = BigInt(timestamp) + 10n < end;
  const now = Number((to > from ? to : from) / 1_000n);
  market.ramp(pool, isMoving ? 0 : random.chance(0.5) ? now + 3 : Math.ceil(now * 0.7), timestamp + 10 + DAY);
  return isMoving ? 'stop' : 'ramp';
}

const feeOf = (pool: (typeof pools)[number], state: ManyTokenState): bigint =>
  pool.hasHook && hookFee > 0n ? hookFee : state.swapFee;

test('prices, balances, fees and quotes equal the vault over random trades', async () => {
  let [trades, worst] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const actions = new Map<string, string>();
    for (const pool of pools) actions.set(pool.address, await act(pool));
    for (const kind of actions.values()) kinds.add(kind);
    for (const { swap, before } of await follow(await market.mine())) {
      trades += 1;
      const pool = pools.find(({ address }) => address === swap.pair)!;
      const [amountIn, amountOut] =
        swap.amount0 > 0n ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
      const [tokenIn, tokenOut] = swap.amount0 > 0n ? [swap.token0, swap.token1] : [swap.token1, swap.token0];
      const [indexIn = 0, indexOut = 0] = [tokenIn, tokenOut].map((token) => before.tokens.indexOf(token));
      // The fee of the hook may be new in this block, before or after the swap.
      const swapFee = pool.hasHook ? BigInt(swap.fee_pips) * 10n ** 12n : before.swapFee;
      expect(swap.fee_pips).toBe(toFeePips(swapFee));
      const quote = balancerV3.quote({ ...before, swapFee }, indexIn, indexOut, amountIn, swap.timestamp)!;
      const off = Number(quote > amountOut ? quote - amountOut : amountOut - quote);
      // The vault rounds what is paid in for an exact amount up to whole units.
      const unit =
        actions.get(swap.pair) === 'exact out'
          ? balancerV3.spotPrice(before, indexIn, indexOut, swap.timestamp)!
          : 0;
      expect(off).toBeLessThanOrEqual(
        pool.isStable ? Math.ceil(4 * unit) : 2 + unit + 1e-12 * Number(before.balances[indexOut]),
      );
    }
    const { timestamp } = await getBlockHead(anvil.rpc);
    for (const pool of pools) {
      const state = stateOf(pool);
      expect([actions.get(pool.address), state.doubts, state.balances]).toEqual([
        actions.get(pool.address),
        0,
        await market.balancesOf(pool),
      ]);
      const indexIn = round % state.tokens.length;
      const indexOut = (indexIn + 1) % state.tokens.length;
      const price = balancerV3.spotPrice(state, indexIn, indexOut, timestamp)!;
      worst = Math.max(
        worst,
        Math.abs(price / (await quotedV3Price(market, pool, [indexIn, indexOut], feeOf(pool, state))) - 1),
      );
    }
  }
  expect([...kinds].sort()).toHaveLength(17);
  recordOracle({
    protocol: 'balancer_v3',
    oracle: 'vault, weighted and stable pools of @balancer-labs/v3-vault, `quote`',
    trades,
    deviation: worst,
  });
});

test('a pool has no price if a hook takes part in its amounts, or if rates of its tokens matter', async () => {
  const tokens = market.tokens.slice(0, 2);
  const amounts = tokens.map(({ decimals }) => 10n ** BigInt(decimals + 12));
  const half = [ONE / 2n, ONE / 2n];
  const rates = (paysYieldFees: boolean) => tokens.map(() => ({ provider: market.rate, paysYieldFees }));
  const plans = [
    { weights: half, hook: market.hooks.amounts },
    { weights: half, rates: rates(true) },
    { weights: 100, rates: rates(false) },
  ];
  for (const plan of plans) {
    const first = (await getBlockHead(anvil.rpc)).number + 1;
    const pool = await market.createPool({ tokens, amounts, fee: FEE, ...plan });
    const last = await market.mine();
    for (let number = first; number <= last; number += 1) await follow(number);
    const state = stateOf(pool);
    expect([state.doubts, balancerV3.spotPrice(state, 0, 1, 0)]).toEqual([DOUBTS.unfollowed, null]);
    expect(state.balances).toEqual(await market.balancesOf(pool));
  }
});
