/**
 * StableSwap contracts on a local node: factories, tokens of many decimals, and a trader that owns all tokens and LP
 * tokens. Curve.sol emits the events and follows the formulas of the published contracts.
 */
import { join } from 'node:path';

import { getCreateAddress, Interface } from 'ethers';

import { encodeCall, encodeDeploy, readContract, toAddress } from '../../../src/dev/abi';
import { expectAllSucceeded, openBlockMaker, type BlockMaker } from '../../../src/dev/node/blockMaker';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { compileSolidity } from '../node/compileSolidity';

const GAS = 8_000_000;
const UNIT = 10n ** 18n;

/** Each token has a supply of 10^15 whole tokens. */
const SUPPLY_DIGITS = 15;

const TOKEN = new Interface([
  'constructor(string, uint8, uint256, address)',
  'function balanceOf(address) view returns (uint256)',
]);
const FACTORY = new Interface([
  'function createPair(address[] coins, uint256 A, uint256 fee, uint256 adminFee)',
  'function deploy_plain_pool(address[] coins, uint256 A, uint256 fee, uint256 offpeg, uint8[] types)',
  'function latest() view returns (address)',
]);
const POOL = new Interface([
  'function token() view returns (address)',
  'function balances(uint256) view returns (uint256)',
  'function admin_balances(uint256) view returns (uint256)',
  'function amp() view returns (uint256)',
  'function supply() view returns (uint256)',
  'function get_dy(uint256 i, uint256 j, uint256 dx) view returns (uint256)',
  'function scaledOut(uint256 i, uint256 j, uint256 dx, uint256[] xp) view returns (uint256)',
  'function exchange(uint256 i, uint256 j, uint256 dx, uint256 min)',
  'function add_liquidity(uint256[] amounts)',
  'function remove_liquidity(uint256 shares)',
  'function remove_liquidity_imbalance(uint256[] amounts)',
  'function remove_liquidity_one_coin(uint256 shares, uint256 i)',
  'function setFees(uint256 fee, uint256 second)',
  'function ramp_A(uint256 next, uint256 seconds_)',
  'function stop_ramp()',
  'function setKilled(bool killed)',
  'function withdraw_admin_fees()',
  'function donate_admin_fees()',
  'function transfer(address to, uint256 amount)',
]);
const TRADER = new Interface([
  'function approve(address token, address spender)',
  'function run(address to, bytes data)',
]);

export interface CurveToken {
  readonly address: Hex;
  readonly decimals: number;
}

/** A pool on the node. `second` of the plan is the owner's part of the fee, or the multiplier of StableSwap-NG. */
export interface MarketPool {
  readonly address: Hex;
  readonly isNg: boolean;
  /** In the order of the contract. */
  readonly tokens: readonly CurveToken[];
  readonly amp: bigint;
  readonly fee: bigint;
  readonly second: bigint;
}

export interface CurveMarket {
  readonly maker: BlockMaker;
  /** The contract that owns the tokens and LP tokens. */
  readonly trader: Hex;
  /** Two factories, each with the functions of Pancake's factory and of that of StableSwap-NG. */
  readonly factories: readonly [Hex, Hex];
  readonly tokens: readonly CurveToken[];
  /** Lets the trader call a function of a pool in the next block, by transactions of two accounts in turn. */
  add(pool: Pick<MarketPool, 'address'>, name: string, values: readonly unknown[]): void;
  /** Mines the next block, `seconds` after the last one. Rejects if a transaction failed. Returns its number. */
  mine(seconds?: number): Promise<number>;
  /** `types` are the asset types of StableSwap-NG: 1 is a token with a rate of its own. By default the first factory. */
  createPool(
    plan: Omit<MarketPool, 'address'>,
    options?: { readonly types?: readonly number[]; readonly factory?: Hex },
  ): Promise<MarketPool>;
}

/** Deploys the contracts and one token for each number of decimals. The trader gets all tokens. */
export async function deployCurve(rpc: DevRpc, decimals: readonly number[]): Promise<CurveMarket> {
  const accounts = ((await rpc.call('eth_accounts')) as Hex[]).slice(0, 2);
  const [from = ZERO_ADDRESS] = accounts;
  const maker = await openBlockMaker(rpc, accounts);
  const codeOf = compileSolidity(join(__dirname, 'Curve.sol'));
  const deploy = (contract: string, abi?: Interface, values: readonly unknown[] = []): Hex => {
    const data = encodeDeploy(codeOf(contract), abi, values);
    const nonce = maker.add({ from, to: null, gas: GAS, data });
    return getCreateAddress({ from, nonce }).toLowerCase() as Hex;
  };
  const mine = async (seconds = 10): Promise<number> => {
    const { number, timestamp } = await getBlockHead(rpc);
    await maker.mine(timestamp + seconds);
    await expectAllSucceeded(rpc, number + 1);
    return number + 1;
  };
  let sent = 0;
  const send = (to: Hex, abi: Interface, name: string, values: readonly unknown[]): void => {
    const sender = accounts[(sent += 1) % accounts.length] ?? from;
    maker.add({ from: sender, to, gas: GAS, data: encodeCall(abi, name, values) });
  };
  const trader = deploy('Trader');
  const factories: CurveMarket['factories'] = [deploy('StableFactory'), deploy('StableFactory')];
  const tokens = decimals
    .map((places) => ({
      address: deploy('Token', TOKEN, [`T${places}`, places, 10n ** BigInt(places + SUPPLY_DIGITS), trader]),
      decimals: places,
    }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  await mine();
  return {
    maker,
    trader,
    factories,
    tokens,
    add: ({ address }, name, values) =>
      send(trader, TRADER, 'run', [address, encodeCall(POOL, name, values)]),
    mine,
    async createPool(plan, { types = plan.tokens.map(() => 0), factory = factories[0] } = {}) {
      const coins = plan.tokens.map(({ address }) => address);
      const values = [coins, plan.amp, plan.fee, plan.second];
      if (plan.isNg) send(factory, FACTORY, 'deploy_plain_pool', [...values, types]);
      else send(factory, FACTORY, 'createPair', values);
      await mine();
      const address = toAddress(await readContract(rpc, FACTORY, factory, 'latest'));
      for (const coin of coins) send(trader, TRADER, 'approve', [coin, address]);
      return { ...plan, address };
    },
  };
}

export async function readPool(
  rpc: DevRpc,
  { address }: Pick<MarketPool, 'address'>,
  name: string,
  ...values: readonly unknown[]
): Promise<bigint> {
  return BigInt(String(await readContract(rpc, POOL, address, name, values)));
}

/** The token of the pool's shares. */
export async function readShareToken(rpc: DevRpc, { address, isNg }: MarketPool): Promise<Hex> {
  return isNg ? address : toAddress(await readContract(rpc, POOL, address, 'token'));
}

/** What an address holds of a token. */
export async function readHeld(rpc: DevRpc, token: Hex, holder: Hex): Promise<bigint> {
  return BigInt(String(await readContract(rpc, TOKEN, token, 'balanceOf', [holder])));
}

/** The balances of the pool without the owner's fees. */
export function readBalances(rpc: DevRpc, pool: MarketPool): Promise<bigint[]> {
  return Promise.all(pool.tokens.map((_token, index) => readPool(rpc, pool, 'balances', index)));
}

/** Sum of the scaled balances in quotedPrice, in units of 18 decimals. Its square times A still fits 256 bits. */
const SCALED_SUM = 10n ** 32n;

/**
 * The slope of the contract's own curve at these balances, from two small trades: (4·q(d) − q(2d)) / 2d. All balances are
 * scaled up by one factor first, because the curve has no scale, and a larger pool rounds less. Raw token j per raw
 * token i.
 */
export async function quotedPrice(
  rpc: DevRpc,
  pool: MarketPool,
  balances: readonly bigint[],
  [i, j]: readonly [number, number],
): Promise<number> {
  // As in the contract: a rate converts raw units to 18 decimals, where UNIT means 1.
  const rates = pool.tokens.map(({ decimals }) => 10n ** BigInt(36 - decimals));
  const whole = balances.map((balance, index) => (balance * rates[index]!) / UNIT);
  const sum = whole.reduce((total, each) => total + each, 0n);
  const xp = whole.map((each) => (each * SCALED_SUM) / sum);
  const step = xp[i]! / 10n ** 9n;
  const quote = (amount: bigint): Promise<bigint> => readPool(rpc, pool, 'scaledOut', i, j, amount, xp);
  const [once, twice] = [await quote(step), await quote(2n * step)];
  const places = pool.tokens[j]!.decimals - pool.tokens[i]!.decimals;
  return (Number(4n * once - twice) / Number(2n * step)) * 10 ** places;
}
