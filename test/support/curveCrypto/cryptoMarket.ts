/**
 * CryptoSwap contracts on a local node: two factories, tokens of many decimals, and a trader that owns all tokens and LP
 * tokens. CryptoSwap.sol emits the events and follows the formulas of the published contracts.
 */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { encodeCall, readContract, toAddress } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import { openCurveTokens, TRADER } from '../curve/curveMarket';
import { compileSolidity } from '../node/compileSolidity';
import type { MarketToken } from '../protocols/poolMarket';

const UNIT = 10n ** 18n;

const FACTORY = new Interface([
  'constructor(bool isRegistry)',
  'function add_pool(address pool, uint256 count)',
  'function deploy_pool((uint8 kind, address[] coins, uint256 ann, uint256 gamma, uint256[3] fees, uint256[3] rebalancing, uint256[] prices) plan)',
  'function latest() view returns (address)',
]);
const POOL = new Interface([
  'function balances(uint256) view returns (uint256)',
  'function price_scale() view returns (uint256)',
  'function price_scale(uint256) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function token() view returns (address)',
  'function D() view returns (uint256)',
  'function currentD() view returns (uint256)',
  'function fee() view returns (uint256)',
  'function get_dy(uint256 i, uint256 j, uint256 dx) view returns (uint256)',
  'function curveY(uint256 j, uint256[] xp, uint256 d) view returns (uint256)',
  'function exchange(uint256 i, uint256 j, uint256 dx)',
  'function add_liquidity(uint256[] amounts)',
  'function remove_liquidity(uint256 shares)',
  'function remove_liquidity_one_coin(uint256 shares, uint256 i)',
  'function remove_liquidity_fixed_out(uint256 shares, uint256 i, uint256 given)',
  'function setFees(uint256 mid, uint256 out, uint256 gamma)',
  'function ramp(uint256 ann, uint256 gamma, uint256 span)',
  'function stopRamp()',
  'function claim_admin_fees()',
  'function disturb(uint256 k)',
]);
interface CryptoPlan {
  /** 0 has three tokens, 1 has two, 2 has two and is of 2025. From before NG: 3 has three tokens, 4 has two. */
  readonly kind: 0 | 1 | 2 | 3 | 4;
  /** In the order of the contract. */
  readonly tokens: readonly MarketToken[];
  readonly ann: bigint;
  readonly gamma: bigint;
  readonly fees: readonly [mid: bigint, out: bigint, gamma: bigint];
  /** allowed_extra_profit, adjustment_step and ma_time. */
  readonly rebalancing: readonly [bigint, bigint, bigint];
  /** Prices of the tokens after the first one, in whole tokens of the first one, where 1e18 means 1. */
  readonly prices: readonly bigint[];
}

export interface CryptoMarketPool extends CryptoPlan {
  readonly address: Hex;
}

export interface CryptoMarket {
  /** The factories of pools of two tokens, and of three, then the factory of 2021 (kind 4), and a registry (kind 3). */
  readonly factories: readonly [two: Hex, three: Hex, old: Hex, registry: Hex];
  readonly tokens: readonly MarketToken[];
  /** Lets the trader call a function of a pool in the next block, by transactions of two accounts in turn. */
  add(pool: Pick<CryptoMarketPool, 'address'>, name: string, values: readonly unknown[]): void;
  /** Mines the next block, ten seconds after the last one. Rejects if a transaction failed. Returns its number. */
  mine(): Promise<number>;
  createPool(plan: CryptoPlan): Promise<CryptoMarketPool>;
  /** Lets the registry list a pool in the next block. */
  register(pool: CryptoMarketPool): void;
}

/** The place of the factory of each kind. */
const FACTORY_OF_KIND = [1, 0, 0, 3, 2] as const;

/** Deploys the contracts and one token for each number of decimals. The trader gets all tokens. */
export async function deployCrypto(rpc: DevRpc, decimals: readonly number[]): Promise<CryptoMarket> {
  const { trader, deploy, add, mine, tokens } = await openCurveTokens(rpc, decimals);
  const codeOf = compileSolidity(join(__dirname, 'CryptoSwap.sol'));
  const factories = [
    ...([deploy(codeOf('CryptoFactory')), deploy(codeOf('CryptoFactory'))] as const),
    deploy(codeOf('OldCryptoFactory'), FACTORY, [false]),
    deploy(codeOf('OldCryptoFactory'), FACTORY, [true]),
  ] as const;
  await mine();
  return {
    factories,
    tokens,
    add: ({ address }, name, values) => add(trader, TRADER, 'run', [address, encodeCall(POOL, name, values)]),
    mine,
    register: ({ address, tokens: coins }) => add(factories[3], FACTORY, 'add_pool', [address, coins.length]),
    async createPool(plan) {
      const coins = plan.tokens.map(({ address }) => address);
      const factory = factories[FACTORY_OF_KIND[plan.kind]];
      const { kind, ann, gamma, fees, rebalancing, prices } = plan;
      add(factory, FACTORY, 'deploy_pool', [[kind, coins, ann, gamma, fees, rebalancing, prices]]);
      await mine();
      const address = toAddress(await readContract(rpc, FACTORY, factory, 'latest'));
      for (const coin of coins) add(trader, TRADER, 'approve', [coin, address]);
      return { ...plan, address };
    },
  };
}

export async function readCrypto(
  rpc: DevRpc,
  { address }: Pick<CryptoMarketPool, 'address'>,
  name: string,
  ...values: readonly unknown[]
): Promise<bigint> {
  return BigInt(String(await readContract(rpc, POOL, address, name, values)));
}

/** The LP tokens. Those of contracts from before NG are another contract. */
export async function readCryptoSupply(rpc: DevRpc, pool: CryptoMarketPool): Promise<bigint> {
  const address =
    pool.kind > 2 ? toAddress(await readContract(rpc, POOL, pool.address, 'token')) : pool.address;
  return readCrypto(rpc, { address }, 'totalSupply');
}

export function readCryptoBalances(rpc: DevRpc, pool: CryptoMarketPool): Promise<bigint[]> {
  return Promise.all(pool.tokens.map((_token, index) => readCrypto(rpc, pool, 'balances', index)));
}

export function readPriceScale(rpc: DevRpc, pool: CryptoMarketPool): Promise<bigint[]> {
  const reads = pool.prices.map((_price, index) =>
    pool.prices.length > 1
      ? readCrypto(rpc, pool, 'price_scale(uint256)', index)
      : readCrypto(rpc, pool, 'price_scale()'),
  );
  return Promise.all(reads);
}

/** Sum of the scaled balances in quotedCryptoPrice, in units of 18 decimals. The contract's products still fit 256 bits. */
const SCALED_SUM = 10n ** 31n;
/** Part of a balance by which each trade of quotedCryptoPrice is larger than the last one. */
const STEP_PART = 10n ** 5n;

/**
 * The slope of the contract's own curve, by its balances after four small trades: a difference formula of the fourth order. All
 * balances and D are scaled up by one integer first, because the curve has no scale, and a larger pool rounds less. Raw
 * token j per raw token i.
 */
export async function quotedCryptoPrice(
  rpc: DevRpc,
  pool: CryptoMarketPool,
  [i, j]: readonly [number, number],
): Promise<number> {
  const [balances, prices, d] = await Promise.all([
    readCryptoBalances(rpc, pool),
    readPriceScale(rpc, pool),
    readCrypto(rpc, pool, 'currentD'),
  ]);
  // As in the contract: from raw units to 18 decimals at the price scale, where UNIT means 1.
  const scales = pool.tokens.map(
    ({ decimals }, k) => 10n ** BigInt(18 - decimals) * (k === 0 ? UNIT : prices[k - 1]!),
  );
  const xp = balances.map((balance, k) => (balance * scales[k]!) / UNIT);
  const factor = SCALED_SUM / xp.reduce((total, each) => total + each, 0n);
  const large = xp.map((each) => each * factor);
  const step = large[i]! / STEP_PART;
  const leftAfter = async (steps: bigint): Promise<bigint> => {
    const moved = large.map((each, k) => (k === i ? each + steps * step : each));
    return readCrypto(rpc, pool, 'curveY', j, moved, d * factor);
  };
  const lefts = await Promise.all([0n, 1n, 2n, 3n, 4n].map(leftAfter));
  const weights = [25n, -48n, 36n, -16n, 3n];
  const slope = weights.reduce((total, weight, k) => total + weight * lefts[k]!, 0n);
  return (Number(slope) / Number(12n * step)) * (Number(scales[i]) / Number(scales[j]));
}
