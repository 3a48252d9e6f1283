/**
 * Balancer V2 on a real node: the published vault, weighted pools of two to four tokens, and stable pools whose rate
 * providers move, with random swaps, joins, exits and fee changes. After each block, our balances and fees must equal the
 * vault's, our quotes what the swaps paid, and our prices the limit of the vault's own quotes. The contracts accept tokens
 * of at most 18 decimals.
 */
import { getBlockHead } from '../../../src/dev/node/devRpc';
import { toFeePips } from '../../../src/domain/swapFee';
import { balancerV2 } from '../../../src/protocols/balancerV2/balancerV2';
import { deployBalancer, type BalancerMarket, type VaultPool } from '../../support/dexes/balancerVault';
import { ALGEBRA_NODE } from '../../support/algebra/algebraMarket';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { openVaultReader } from '../../support/protocols/decodeFrom';
import { limitOfQuotes } from '../../support/protocols/poolMarket';
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
let reader: ReturnType<typeof openVaultReader>;
const pools: VaultPool[] = [];
const random = new Random(SEED);

beforeAll(async () => {
  anvil = await startTestAnvil(ALGEBRA_NODE);
  market = await deployBalancer(anvil.rpc, DECIMALS);
  reader = openVaultReader(anvil.rpc, 'balancer_v2', market.vault);
  for (const [index, parts] of WEIGHTS.entries()) {
    const tokens = parts.map((_, place) => market.tokens[(index + place) % market.tokens.length]!);
    const weights = parts.map((part) => (BigInt(part) * ONE) / 100n);
    // Enough units of each token that the vault's whole units do not hide its price.
    const amounts = tokens.map(({ decimals }) => BigInt(random.int(1, 9)) * 10n ** BigInt(16 + decimals / 2));
    pools.push(await market.createPool(tokens, weights, amounts));
    await reader.follow(await market.mine());
  }
  for (const [index, { decimals, amp }] of STABLE_PLANS.entries()) {
    const tokens = decimals.map((each) => market.tokens.find((token) => token.decimals === each)!);
    const amounts = decimals.map((each) => BigInt(random.int(3, 9)) * 10n ** BigInt(each + 9));
    const before = (await getBlockHead(anvil.rpc)).number;
    pools.push(await market.createStablePool(tokens, amp, amounts));
    const last = await market.mine();
    // The first pool is seen from its creation on. Of the second one, the node is asked.
    for (let number = index === 0 ? before + 1 : last; number <= last; number += 1)
      await reader.follow(number);
  }
});

afterAll(() => anvil?.stop());

/** A rate with 18 digits, from a part of 1,000. */
const rateOf = (part: number): bigint => (BigInt(part) * ONE) / 1_000n + 123_456_789_012_345n;

/** One random action in a pool, so that a block has at most one swap of each pool. */
async function act(pool: VaultPool): Promise<void> {
  const { balances } = reader.stateOf(pool);
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

/** Raw token out per raw token in of infinitely small swaps, without the fee. */
function quotedPrice(pool: VaultPool, indexIn: number, indexOut: number): Promise<number> {
  const { balances, swapFee } = reader.stateOf(pool);
  const quote = (size: bigint): Promise<bigint> => market.quote(pool, indexIn, indexOut, size);
  return limitOfQuotes(balances[indexIn]! / 800n, swapFee, quote);
}

test('prices, balances, fees and quotes equal the vault over random trades', async () => {
  let [trades, worst] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const pool of pools) await act(pool);
    for (const { swap, before } of await reader.follow(await market.mine())) {
      trades += 1;
      const [amountIn, amountOut] =
        swap.amount0 > 0n ? [swap.amount0, -swap.amount1] : [swap.amount1, -swap.amount0];
      const [tokenIn, tokenOut] = swap.amount0 > 0n ? [swap.token0, swap.token1] : [swap.token1, swap.token0];
      const [indexIn, indexOut] = [tokenIn, tokenOut].map((token) => before.tokens.indexOf(token));
      // A rate changes before the swap of its block.
      const { params } = reader.stateOf(pools.find(({ address }) => address === swap.pair)!);
      const quote = balancerV2.quote({ ...before, params }, indexIn!, indexOut!, amountIn, swap.timestamp)!;
      const off = quote > amountOut ? quote - amountOut : amountOut - quote;
      expect(Number(off)).toBeLessThan(2 + 1e-12 * Number(before.balances[indexOut!]));
      expect(swap.fee_pips).toBe(toFeePips(before.swapFee));
    }
    for (const pool of pools) {
      const state = reader.stateOf(pool);
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
