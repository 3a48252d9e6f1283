/**
 * Balancer V2 on a real node: the published vault, weighted pools of two to four tokens, and stable pools whose rate
 * providers move, with random swaps, joins, exits and fee changes. After each block, our balances and fees must equal the
 * vault's, our quotes what the swaps paid, and our prices the limit of the vault's own quotes. The contracts accept tokens
 * of at most 18 decimals.
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
import { balancerV2 } from '../../../src/protocols/balancerV2/balancerV2';
import type { ManyTokenState } from '../../../src/protocols/manyTokenProtocol';
import { deployBalancer, type BalancerMarket, type VaultPool } from '../../support/dexes/balancerVault';
import { ALGEBRA_NODE } from '../../support/algebra/algebraMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { callsOf, readNodeBlock } from '../../support/protocols/decodeFrom';
import { recordOracle } from '../../support/protocols/protocolTable';
import { Random } from '../../support/random';

const SEED = 13;
const ROUNDS = 170;
const DECIMALS = [0, 6, 8, 18];
const ONE = 10n ** 18n;
const WEIGHTS = [
  [50, 50],
  [80, 20],
  [20, 30, 50],
  [10, 20, 30, 40],
] as const;
/** Decimals of the tokens of stable pools, and their amplifications. */
const STABLE_PLANS = [
  { decimals: [6, 18], amp: 20 },
  { decimals: [8, 18], amp: 500 },
] as const;

let anvil: TestAnvil;
let market: BalancerMarket;
let context: DecodeContext;
let discovery: ManyTokenDiscovery;
const pools: VaultPool[] = [];
const random = new Random(SEED);

beforeAll(async () => {
  anvil = await startTestAnvil(ALGEBRA_NODE);
  market = await deployBalancer(anvil.rpc, DECIMALS);
  const log = createLog('silent', false);
  const dexes = [{ name: 'vault', displayName: 'Vault', protocol: 'balancer_v2', factory: market.vault }];
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
  for (const [index, parts] of WEIGHTS.entries()) {
    const tokens = parts.map((_, place) => market.tokens[(index + place) % market.tokens.length]!);
    const weights = parts.map((part) => (BigInt(part) * ONE) / 100n);
    // Enough units of each token that the vault's whole units do not hide its price.
    const amounts = tokens.map(({ decimals }) => BigInt(random.int(1, 9)) * 10n ** BigInt(16 + decimals / 2));
    pools.push(await market.createPool(tokens, weights, amounts));
    await follow(await market.mine());
  }
  for (const [index, { decimals, amp }] of STABLE_PLANS.entries()) {
    const tokens = decimals.map((each) => market.tokens.find((token) => token.decimals === each)!);
    const amounts = decimals.map((each) => BigInt(random.int(3, 9)) * 10n ** BigInt(each + 9));
    const before = (await getBlockHead(anvil.rpc)).number;
    pools.push(await market.createStablePool(tokens, amp, amounts));
    const last = await market.mine();
    // The first pool is seen from its creation on. Of the second one, the node is asked.
    for (let number = index === 0 ? before + 1 : last; number <= last; number += 1) await follow(number);
  }
});

afterAll(() => anvil?.stop());

const stateOf = ({ address }: VaultPool): ManyTokenState =>
  context.registry.findManyTokenPool(address)!.state;

/** Decodes a block as the ingester does. Returns each swap with the state before it. */
async function follow(number: number): Promise<{ swap: SwapFact; before: ManyTokenState }[]> {
  const block = await readNodeBlock(anvil.rpc, number);
  const before = new Map(pools.flatMap((pool) => knownState(pool)));
  const findings = await discovery.discover([block], context.registry, false);
  const { swaps } = decodeBlock(context, block, findings, false);
  return swaps.map((swap) => ({ swap, before: before.get(swap.pair)! }));
}

const knownState = ({ address }: VaultPool): [string, ManyTokenState][] => {
  const known = context.registry.findManyTokenPool(address);
  return known === undefined ? [] : [[address, known.state]];
};

/** A rate with 18 digits, from a part of 1,000. */
const rateOf = (part: number): bigint => (BigInt(part) * ONE) / 1_000n + 123_456_789_012_345n;

/** One random action in a pool, so that a block has at most one swap of each pool. */
async function act(pool: VaultPool): Promise<void> {
  const { balances } = stateOf(pool);
  const part = (index: number): bigint =>
    balances[index]! / BigInt(Math.round(10 ** (0.6 + 4 * random.next()))) + 1n;
  const action = random.next();
  if (action < 0.8) {
    // The pool asks its rate providers before the swap.
    for (const provider of pool.rateProviders)
      if (random.chance(0.3)) market.setRate(provider, rateOf(random.int(900, 1_200)));
    // Far from its balance, the old stable formula does not converge.
    const whole = balances.map((balance, index) => Number(balance) / 10 ** pool.tokens[index]!.decimals);
    const scarce = whole.indexOf(Math.min(...whole));
    const isSteered = pool.rateProviders.length > 0 && random.chance(0.8);
    const indexIn = isSteered ? scarce : random.int(0, balances.length - 1);
    const indexOut = (indexIn + random.int(1, balances.length - 1)) % balances.length;
    market.swap(pool, indexIn, indexOut, part(indexIn));
  } else if (action < 0.88)
    market.join(
      pool,
      balances.map((_, index) => (index === 0 || random.chance(0.7) ? part(index) / 4n : 0n)),
    );
  else if (action < 0.94) await market.exit(pool, random.int(1, 60));
  else market.setFee(pool, BigInt(random.pick([10, 500, 3_000, 25_000])) * 10n ** 12n);
}

/**
 * Raw token out per raw token in of infinitely small swaps: the quotes of five sizes, divided by their size, continued to
 * the size 0 (Neville). The vault rounds powers to about 1e-14, so smaller sizes would be less exact.
 */
async function quotedPrice(pool: VaultPool, indexIn: number, indexOut: number): Promise<number> {
  const { balances, swapFee } = stateOf(pool);
  const sizes = [16, 8, 4, 2, 1].map((times) => (balances[indexIn]! * BigInt(times)) / 800n);
  const kept = 1 - Number(swapFee) / 1e18;
  const rates: number[] = [];
  for (const size of sizes)
    rates.push(Number(await market.quote(pool, indexIn, indexOut, size)) / (Number(size) * kept));
  for (let level = 1; level < sizes.length; level += 1)
    for (let index = sizes.length - 1; index >= level; index -= 1) {
      const [far, near] = [Number(sizes[index - level]), Number(sizes[index])];
      rates[index] = (far * rates[index]! - near * rates[index - 1]!) / (far - near);
    }
  return rates.at(-1)!;
}

test('prices, balances, fees and quotes equal the vault over random trades', async () => {
  let [trades, worst] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pool of pools) await act(pool);
    for (const { swap, before } of await follow(await market.mine())) {
      trades += 1;
      const [amountIn, amountOut] =
        swap.amount0 > 0n ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
      const [tokenIn, tokenOut] = swap.amount0 > 0n ? [swap.token0, swap.token1] : [swap.token1, swap.token0];
      const [indexIn, indexOut] = [tokenIn, tokenOut].map((token) => before.tokens.indexOf(token));
      // A rate changes before the swap of its block.
      const { params } = stateOf(pools.find(({ address }) => address === swap.pair)!);
      const quote = balancerV2.quote({ ...before, params }, indexIn!, indexOut!, amountIn, swap.timestamp)!;
      const off = quote > amountOut ? quote - amountOut : amountOut - quote;
      expect(Number(off)).toBeLessThan(2 + 1e-12 * Number(before.balances[indexOut!]));
      expect(swap.fee_pips).toBe(toFeePips(before.swapFee));
    }
    for (const pool of pools) {
      const state = stateOf(pool);
      expect([state.doubts, state.balances]).toEqual([0, await market.balancesOf(pool)]);
      const indexIn = round % state.tokens.length;
      const indexOut = (indexIn + 1) % state.tokens.length;
      const price = balancerV2.spotPrice(state, indexIn, indexOut, 0)!;
      worst = Math.max(worst, Math.abs(price / (await quotedPrice(pool, indexIn, indexOut)) - 1));
    }
  }
  recordOracle({
    protocol: 'balancer_v2',
    oracle: 'vault, weighted and stable pools with rate providers, `queryBatchSwap`',
    trades,
    deviation: worst,
  });
});
