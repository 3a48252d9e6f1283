/**
 * StableSwap contracts on a local node: factories, tokens of many decimals, and a trader that owns all tokens and LP
 * tokens. Curve.sol emits the events and follows the formulas of the published contracts.
 */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { encodeCall, readContract, toAddress } from '../../../src/dev/abi';
import type { BlockMaker } from '../../../src/dev/node/blockMaker';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { openPoolMarket, type MarketToken, type PoolMarket } from '../protocols/poolMarket';

const GAS = 12_000_000;
/** The factories contain the code of all kinds of pools, which is more than a chain allows. */
export const CURVE_NODE = ['--disable-code-size-limit'];
const UNIT = 10n ** 18n;

/** Each token has a supply of 10^15 whole tokens. */
const SUPPLY_DIGITS = 15;

const TOKEN = new Interface([
  'constructor(string, uint8, uint256, address)',
  'function setRate(uint256 rate, uint256 growth)',
  'function grow(address holder, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
]);
const FACTORY = new Interface([
  'constructor(bool isRegistry)',
  `function deploy(tuple(uint8 kind, address[] coins, uint256 A, uint256 fee, uint256 second, bool[] oracles, address base) plan,
    uint8[] types)`,
  'function add_pool(address pool)',
  'function latest() view returns (address)',
]);
const POOL = new Interface([
  'function token() view returns (address)',
  'function balances(uint256) view returns (uint256)',
  'function balances(int128) view returns (uint256)',
  'function admin_balances(uint256) view returns (uint256)',
  'function amp() view returns (uint256)',
  'function supply() view returns (uint256)',
  'function rates() view returns (uint256[])',
  'function get_dy(uint256 i, uint256 j, uint256 dx) view returns (uint256)',
  'function scaledOut(uint256 i, uint256 j, uint256 dx, uint256[] xp) view returns (uint256)',
  'function exchange(uint256 i, uint256 j, uint256 dx, uint256 min)',
  'function exchange_underlying(uint256 i, uint256 j, uint256 dx, uint256 min)',
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
const LENDING = new Interface([
  'constructor(address underlying)',
  'function mint(uint256 amount)',
  'function deposit(uint256 amount)',
  'function rebalance(uint256 amount)',
  'function borrow(uint256 amount, uint256 rate)',
  'function accrue()',
]);
const REN = new Interface(['constructor(uint256 supply, address owner)']);
/** Whole tokens in a new cToken or yToken. */
const LENT = 10n ** 9n;
/** Interest per block of what is borrowed, where 1e18 means 1. */
const BORROW_RATE = 10n ** 12n;

export const TRADER = new Interface([
  'function approve(address token, address spender)',
  'function run(address to, bytes data)',
  'function pay(address to, uint256 value, bytes data)',
]);

/** The kinds of contracts, in the order of Curve.sol. */
const KINDS = ['pancake', 'ng', 'registry', 'factory', 'held', 'cached', 'fixed', 'pax', 'ren'] as const;
/** Kinds that a registry lists, whose LP tokens are another contract. */
export const REGISTERED: readonly string[] = ['registry', 'held', 'cached', 'fixed', 'pax', 'ren'];
/** Kinds whose functions take ids as int128. */
const OLDEST: readonly string[] = ['fixed', 'pax', 'ren'];

/** The native coin as a token of a pool. */
export const NATIVE: MarketToken = { address: ZERO_ADDRESS, decimals: 18 };
/** How the contracts name it. */
const NATIVE_IN_LISTS: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

/** A pool on the node. `second` of the plan is the owner's part of the fee, or the multiplier of StableSwap-NG. */
export interface MarketPool {
  readonly address: Hex;
  readonly kind: (typeof KINDS)[number];
  /** In the order of the contract. */
  readonly tokens: readonly MarketToken[];
  readonly amp: bigint;
  readonly fee: bigint;
  readonly second: bigint;
  /** Indexes of the coins with a rate of their own: of an oracle, or as lending tokens. */
  readonly oracles?: readonly number[];
  /** The pool whose LP token is the second coin. */
  readonly base?: MarketPool;
}

interface LendingMarket {
  /**
   * Deploys a cToken of a token, or a yToken that lends to a cToken. The trader gets some. Half of what a cToken holds is
   * borrowed with interest.
   */
  createLending(token: MarketToken): Promise<MarketToken>;
  createRen(): Promise<MarketToken>;
  /** Lets a cToken charge the interest in the next block, as each use of it does. */
  accrue(token: MarketToken): void;
  /** The token that a cToken or a yToken lends; another token itself. */
  lentOf(token: MarketToken): MarketToken;
}

export interface CurveMarket extends LendingMarket {
  readonly maker: BlockMaker;
  /** The contract that owns the tokens and LP tokens. */
  readonly trader: Hex;
  /** Two factories, each with the functions of Pancake's factory and of that of StableSwap-NG. */
  readonly factories: readonly [Hex, Hex];
  /** The factory of 2021, and a registry. */
  readonly oldFactory: Hex;
  readonly registry: Hex;
  readonly tokens: readonly MarketToken[];
  /** Lets the trader call a function of a pool in the next block, by transactions of two accounts in turn. */
  add(
    pool: { readonly address: Hex; readonly tokens?: readonly MarketToken[] },
    name: string,
    values: readonly unknown[],
  ): void;
  /** Mines the next block, `seconds` after the last one. Rejects if a transaction failed. Returns its number. */
  mine(seconds?: number): Promise<number>;
  /** Sets the rate of a token in the next block. It grows by `growth` per second. */
  setRate(token: MarketToken, rate: bigint, growth: bigint): void;
  /** Adds to what a pool holds of a token in the next block, without an event. */
  grow(pool: MarketPool, token: MarketToken, amount: bigint): void;
  /** Lets the registry list a pool in the next block. */
  register(pool: MarketPool): void;
  /** The LP token of a pool as a coin of others. */
  shareOf(pool: MarketPool): Promise<MarketToken>;
  /** `types` are the asset types of StableSwap-NG: 2 is a rebasing token. By default the first factory of its kind. */
  createPool(
    plan: Omit<MarketPool, 'address'>,
    options?: { readonly types?: readonly number[]; readonly factory?: Hex },
  ): Promise<MarketPool>;
}

/** Deploys the contracts and one token for each number of decimals. The trader gets all tokens. */
export async function deployCurve(rpc: DevRpc, decimals: readonly number[]): Promise<CurveMarket> {
  const market = await openCurveTokens(rpc, decimals);
  const { trader, maker, codeOf, deploy, add, mine } = market;
  const tokens = market.tokens.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const factories: CurveMarket['factories'] = [
    deploy(codeOf('StableFactory')),
    deploy(codeOf('StableFactory')),
  ];
  const oldFactory = deploy(codeOf('OldFactory'), FACTORY, [false]);
  const registry = deploy(codeOf('OldFactory'), FACTORY, [true]);
  await mine();
  const lending = openLending(market);
  const factoryOf = (kind: MarketPool['kind']): Hex =>
    kind === 'factory' ? oldFactory : REGISTERED.includes(kind) ? registry : factories[0];
  return {
    maker,
    trader,
    factories,
    oldFactory,
    registry,
    tokens,
    add: ({ address, tokens: coins = [] }, name, values) => {
      const native = coins.indexOf(NATIVE);
      const [first, , amount] = values;
      const value =
        name === 'add_liquidity' && native >= 0
          ? (first as bigint[])[native]
          : name.startsWith('exchange') && first === native
            ? amount
            : 0n;
      add(trader, TRADER, 'pay', [address, value, encodeCall(POOL, name, values)]);
    },
    setRate: ({ address }, rate, growth) => add(address, TOKEN, 'setRate', [rate, growth]),
    grow: (pool, { address }, amount) => add(address, TOKEN, 'grow', [pool.address, amount]),
    register: ({ address }) => add(registry, FACTORY, 'add_pool', [address]),
    mine,
    ...lending,
    async shareOf({ address, kind }) {
      const isOwn = kind === 'ng' || kind === 'factory';
      return {
        address: isOwn ? address : toAddress(await readContract(rpc, POOL, address, 'token')),
        decimals: 18,
      };
    },
    async createPool(plan, { types = [], factory = factoryOf(plan.kind) } = {}) {
      const { kind, tokens: coins, amp, fee, second, oracles = [], base } = plan;
      const list = coins.map(({ address }) => (address === ZERO_ADDRESS ? NATIVE_IN_LISTS : address));
      const isOracle = coins.map((_coin, index) => oracles.includes(index));
      const kindNumber = KINDS.indexOf(kind);
      const values = [kindNumber, list, amp, fee, second, isOracle, base?.address ?? ZERO_ADDRESS];
      const assets = coins.map((_coin, index) => types[index] ?? Number(oracles.includes(index)));
      add(factory, FACTORY, 'deploy', [values, assets]);
      await mine();
      const address = toAddress(await readContract(rpc, FACTORY, factory, 'latest'));
      const used = [...coins, ...coins.map(lending.lentOf), ...(base?.tokens ?? [])];
      for (const { address: coin } of new Set(used.filter((token) => token !== NATIVE)))
        add(trader, TRADER, 'approve', [coin, address]);
      return { ...plan, address };
    },
  };
}

/** Lending tokens. A yToken is made of a cToken. */
function openLending({ trader, codeOf, deploy, add, mine }: PoolMarket): LendingMarket {
  const lentOf = new Map<MarketToken, MarketToken>();
  const call = (to: Hex, name: string, values: readonly unknown[]): void =>
    add(trader, TRADER, 'run', [to, encodeCall(LENDING, name, values)]);
  return {
    async createLending(token) {
      const lent = lentOf.get(token) ?? token;
      const isCompound = lent === token;
      const address = deploy(codeOf(isCompound ? 'CToken' : 'YToken'), LENDING, [token.address]);
      await mine();
      const amount = LENT * 10n ** BigInt(lent.decimals);
      add(trader, TRADER, 'approve', [lent.address, address]);
      call(address, isCompound ? 'mint' : 'deposit', [amount]);
      if (isCompound) call(address, 'borrow', [amount / 2n, BORROW_RATE]);
      else call(address, 'rebalance', [(amount * 99n) / 100n]);
      await mine();
      const lending = { address, decimals: isCompound ? 8 : lent.decimals };
      lentOf.set(lending, lent);
      return lending;
    },
    async createRen() {
      const address = deploy(codeOf('RenToken'), REN, [10n ** BigInt(8 + SUPPLY_DIGITS), trader]);
      await mine();
      return { address, decimals: 8 };
    },
    accrue: ({ address }) => call(address, 'accrue', []),
    lentOf: (token) => lentOf.get(token) ?? token,
  };
}

/** A market with the tokens of Curve.sol in the order of their addresses. */
export async function openCurveTokens(rpc: DevRpc, decimals: readonly number[]): Promise<PoolMarket> {
  const gas = { call: GAS, creation: GAS };
  const market = await openPoolMarket(rpc, join(__dirname, 'Curve.sol'), [], gas);
  const tokens = decimals.map((places) => {
    const values = [`T${places}`, places, 10n ** BigInt(places + SUPPLY_DIGITS), market.trader];
    return { address: market.deploy(market.codeOf('Token'), TOKEN, values), decimals: places };
  });
  await market.mine();
  await rpc.call('anvil_setBalance', [market.trader, `0x${(10n ** 33n).toString(16)}`]);
  return { ...market, tokens };
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
export async function readShareToken(rpc: DevRpc, { address, kind }: MarketPool): Promise<Hex> {
  return kind === 'ng' || kind === 'factory'
    ? address
    : toAddress(await readContract(rpc, POOL, address, 'token'));
}

/** What an address holds of a token. */
export async function readHeld(rpc: DevRpc, token: Hex, holder: Hex): Promise<bigint> {
  return BigInt(String(await readContract(rpc, TOKEN, token, 'balanceOf', [holder])));
}

/** Factors from raw units to 18 decimals, where UNIT means 1. */
export async function readRates(
  rpc: DevRpc,
  { address }: Pick<MarketPool, 'address'>,
): Promise<readonly bigint[]> {
  return [...((await readContract(rpc, POOL, address, 'rates')) as Iterable<bigint>)];
}

/** The balances of the pool without the owner's fees. */
export function readBalances(rpc: DevRpc, pool: MarketPool): Promise<bigint[]> {
  const name = `balances(${OLDEST.includes(pool.kind) ? 'int128' : 'uint256'})`;
  return Promise.all(pool.tokens.map((_token, index) => readPool(rpc, pool, name, index)));
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
  const rates = await readRates(rpc, pool);
  const whole = balances.map((balance, index) => (balance * rates[index]!) / UNIT);
  const sum = whole.reduce((total, each) => total + each, 0n);
  const xp = whole.map((each) => (each * SCALED_SUM) / sum);
  const step = xp[i]! / 10n ** 9n;
  const quote = (amount: bigint): Promise<bigint> => readPool(rpc, pool, 'scaledOut', i, j, amount, xp);
  const [once, twice] = [await quote(step), await quote(2n * step)];
  return (Number(4n * once - twice) / Number(2n * step)) * (Number(rates[i]) / Number(rates[j]));
}
