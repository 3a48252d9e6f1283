/**
 * Balancer V3 on a local node: the published sources of the vault, of weighted and of stable pools, compiled as they are,
 * and a trader that owns all tokens.
 */
import { join } from 'node:path';

import { getCreateAddress, Interface } from 'ethers';

import {
  ADDRESS_CONSTRUCTOR,
  encodeCall,
  encodeDeploy,
  ERC20,
  readContract,
  TOKEN_CONSTRUCTOR,
} from '../../../src/dev/abi';
import { expectAllSucceeded, openBlockMaker } from '../../../src/dev/node/blockMaker';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import { readOwnBytecode } from '../../../src/dev/packageFiles';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { compileSolidity } from '../node/compileSolidity';
import { limitOfQuotes, type MarketToken } from '../protocols/poolMarket';
import { installProject } from '../server/installProject';

const CREATION_GAS = 50_000_000;
const GAS = 3_000_000;
const ONE = 10n ** 18n;
/** Each token has a supply of 10^20 whole tokens, each wrapper a tenth. */
const SUPPLY_DIGITS = 20;
/** Smallest trade, in units of 18 decimals, as on Ethereum. */
const TRADE_MIN = 1_000_000;
/** Parts of swap fees and of yield that the protocol takes at first; 1e18 means 100 %. */
const PROTOCOL_FEES = [ONE / 2n, ONE / 10n];
/** Smallest balance of a token in a weighted pool, in units of 18 decimals. */
const BALANCE_MIN = 1_000_000n;
/** First rate of a wrapper, in millionths. */
const FIRST_RATE = 1_070_000;
/** Values of the enumerations in VaultTypes.sol. */
export const V3_SWAP = { exactIn: 0, exactOut: 1 } as const;
export const V3_ADD = { proportional: 0, unbalanced: 1, exactOut: 2, donation: 3 } as const;
export const V3_REMOVE = { proportional: 0, exactIn: 1, exactOut: 2 } as const;

const SWAP =
  '(uint8 kind, address pool, address tokenIn, address tokenOut, uint256 amount, uint256 limit, bytes data) params';
const TRADER = new Interface([
  'function register(address pool, (address token, uint8 kind, address provider, bool paysYieldFees)[] tokens, uint256 fee, address hook)',
  'function run(bytes data)',
  'function send(address token, address to, uint256 amount)',
  `function quote(${SWAP}) returns (uint256)`,
  'function initialize(address pool, address[] tokens, uint256[] amounts)',
  `function swap(${SWAP})`,
  'function add(address[] tokens, (address pool, address to, uint256[] amounts, uint256 shares, uint8 kind, bytes data) params)',
  'function remove(address[] tokens, (address pool, address from, uint256 shares, uint256[] amounts, uint8 kind, bytes data) params)',
  'function removeInRecovery(address pool, address[] tokens, uint256 shares)',
]);
const VAULT = new Interface([
  'constructor(address extension, address authorizer, address feeController)',
  'function getPoolTokenInfo(address pool) view returns (address[] tokens, (uint8 kind, address provider, bool paysYieldFees)[] infos, uint256[] balances, uint256[] live)',
  'function setStaticSwapFeePercentage(address pool, uint256 fee)',
  'function enableRecoveryMode(address pool)',
  'function disableRecoveryMode(address pool)',
]);
const ADMIN = new Interface([
  'constructor(address vault, uint32 window, uint32 buffer, uint256 trade, uint256 wrap)',
]);
const EXTENSION = new Interface(['constructor(address vault, address admin)']);
const CONTROLLER = new Interface([
  'constructor(address vault, uint256 swapFee, uint256 yieldFee)',
  'function setProtocolSwapFeePercentage(address pool, uint256 fee)',
  'function setProtocolYieldFeePercentage(address pool, uint256 fee)',
]);
const WEIGHTED = new Interface([
  'constructor((string name, string symbol, uint256 count, uint256[] weights, string version, uint256[] minBalances) params, address vault)',
]);
const STABLE = new Interface([
  'constructor((string name, string symbol, uint256 amp, string version) params, address vault)',
  'function startAmplificationParameterUpdate(uint256 amp, uint256 time)',
  'function stopAmplificationParameterUpdate()',
]);
const HOOK = new Interface(['constructor(bool adjusts)', 'function setFee(uint256 fee)']);
const RATE = new Interface(['function setRate(uint256 rate)']);
const WRAPPER = new Interface(['constructor(address asset, address owner, uint256 supply)']);

/** Arguments of the node and its rules: the vault is larger than other contracts may be, and uses transient storage. */
export const V3_NODE = [['--disable-code-size-limit'], 'cancun'] as const;

export interface V3Pool {
  readonly address: Hex;
  /** In the order of the vault. */
  readonly tokens: readonly MarketToken[];
  readonly isStable: boolean;
}

/** A pool to create. Amounts and weights follow the order of `tokens`. */
interface V3PoolPlan {
  readonly tokens: readonly MarketToken[];
  readonly amounts: readonly bigint[];
  /** 1e18 means 1; of a stable pool the amplification instead. */
  readonly weights: readonly bigint[] | number;
  readonly fee: bigint;
  readonly hook?: Hex;
  /** Rate provider of each token, and whether its yield pays a fee. Null without a rate. */
  readonly rates?: readonly ({ readonly provider: Hex; readonly paysYieldFees: boolean } | null)[];
}

export interface V3Market {
  readonly vault: Hex;
  readonly trader: Hex;
  readonly tokens: readonly MarketToken[];
  /** An ERC-4626 wrapper of each token with 6 or 18 decimals, which is its own rate provider. */
  readonly wrappers: readonly MarketToken[];
  /** A hook that sets the fee of swaps, and one that may change their amounts. */
  readonly hooks: { readonly fee: Hex; readonly amounts: Hex };
  readonly rate: Hex;
  /** Creates a pool and registers it in the next block. Its first amounts come with the block after that. */
  createPool(plan: V3PoolPlan): Promise<V3Pool>;
  /** `amount` is paid in or out, by the kind. */
  swap(pool: V3Pool, kind: number, indexIn: number, indexOut: number, amount: bigint): void;
  /** The amounts are limits, or paid exactly, by the kind. */
  add(pool: V3Pool, kind: number, amounts: readonly bigint[], shares: bigint): void;
  remove(pool: V3Pool, kind: number, amounts: readonly bigint[], shares: bigint): void;
  removeInRecovery(pool: V3Pool, shares: bigint): void;
  setFee(pool: V3Pool, fee: bigint): void;
  /** The fee of all swaps from now on with the hook; 0 for the fee of the pool. */
  setHookFee(fee: bigint): void;
  setProtocolFee(pool: V3Pool, part: bigint): void;
  /** The part of the yield of the tokens of the pool that the protocol takes. */
  setYieldFee(pool: V3Pool, part: bigint): void;
  setRecovery(pool: V3Pool, isOn: boolean): void;
  /** An amplification of 0 stops the change. */
  ramp(pool: V3Pool, amp: number, time: number): void;
  setRate(rate: bigint): void;
  /** Raises the rate of a wrapper by about this part of a million. */
  donate(wrapper: MarketToken, part: number): void;
  /** Raw token out that the vault answers for raw token in. */
  quote(pool: V3Pool, indexIn: number, indexOut: number, amount: bigint): Promise<bigint>;
  balancesOf(pool: V3Pool): Promise<bigint[]>;
  /** Calls a function of the trader with the next block: as the vault, or as its owner. */
  callTrader(as: 'vault' | 'owner', data: Hex): void;
  /** The account that sends the next trades, 0 or 1. The blocks of a test must not have trades of both. */
  sendAs(account: 0 | 1): void;
  sharesOf(pool: V3Pool): Promise<bigint>;
  /** Mines the next block. Rejects if a transaction failed. Returns its number. */
  mine(): Promise<number>;
}

/** Deploys the vault, its trader, hooks, and one token for each number of decimals. */
export async function deployV3(rpc: DevRpc, decimals: readonly number[]): Promise<V3Market> {
  const folder = await installProject(__dirname, 'balancer-v3');
  const codeOf = compileSolidity(join(__dirname, 'BalancerV3.sol'), folder);
  const accounts = ((await rpc.call('eth_accounts')) as Hex[]).slice(0, 2);
  const [from = ZERO_ADDRESS] = accounts;
  let sender = from;
  const maker = await openBlockMaker(rpc, accounts);
  const deploy = (code: Hex, abi?: Interface, values: readonly unknown[] = []): Hex => {
    const nonce = maker.add({ from, to: null, gas: CREATION_GAS, data: encodeDeploy(code, abi, values) });
    return getCreateAddress({ from, nonce }).toLowerCase() as Hex;
  };
  const send = (to: Hex, abi: Interface, name: string, values: readonly unknown[]): void =>
    void maker.add({ from, to, gas: GAS, data: encodeCall(abi, name, values) });
  const mine = async (): Promise<number> => {
    const { number, timestamp } = await getBlockHead(rpc);
    await maker.mine(timestamp + 10);
    await expectAllSucceeded(rpc, number + 1);
    return number + 1;
  };
  const authorizer = deploy(codeOf('Authorizer'));
  await mine();
  // The contracts name each other, so the address of the vault must be known: three contracts come before it.
  const next = Number(await rpc.call('eth_getTransactionCount', [from, 'latest']));
  const vault = getCreateAddress({ from, nonce: next + 3 }).toLowerCase() as Hex;
  const admin = deploy(codeOf('VaultAdmin'), ADMIN, [vault, 0, 0, TRADE_MIN, TRADE_MIN]);
  await mine();
  const extension = deploy(codeOf('VaultExtension'), EXTENSION, [vault, admin]);
  await mine();
  const controller = deploy(codeOf('ProtocolFeeController'), CONTROLLER, [vault, ...PROTOCOL_FEES]);
  await mine();
  deploy(codeOf('Vault'), VAULT, [extension, authorizer, controller]);
  await mine();
  const trader = deploy(codeOf('Trader'), ADDRESS_CONSTRUCTOR, [vault]);
  const hooks = { fee: deploy(codeOf('Hook'), HOOK, [false]), amounts: deploy(codeOf('Hook'), HOOK, [true]) };
  const rate = deploy(codeOf('Rate'));
  const tokens = decimals.map((each): MarketToken => {
    const values = [`Token ${each}`, `T${each}`, each, 10n ** BigInt(each + SUPPLY_DIGITS), trader, 0];
    return { address: deploy(readOwnBytecode('DevToken'), TOKEN_CONSTRUCTOR, values), decimals: each };
  });
  const wrappers = tokens.flatMap((token): MarketToken[] => {
    const { address, decimals: places } = token;
    const values = [address, trader, 10n ** BigInt(places + SUPPLY_DIGITS - 1)];
    return [6, 18].includes(places)
      ? [{ ...token, address: deploy(codeOf('Wrapper'), WRAPPER, values) }]
      : [];
  });
  const donate = (wrapper: MarketToken, part: number): void => {
    const asset = tokens.find(({ decimals: places }) => places === wrapper.decimals)!.address;
    const amount = BigInt(part) * 10n ** BigInt(wrapper.decimals + SUPPLY_DIGITS - 7);
    send(trader, TRADER, 'send', [asset, wrapper.address, amount]);
  };
  for (const wrapper of wrappers) donate(wrapper, FIRST_RATE);
  await mine();
  const addressesOf = (pool: V3Pool): Hex[] => pool.tokens.map(({ address }) => address);
  const callTrader: V3Market['callTrader'] = (as, data) => {
    const asVault = as === 'vault' ? encodeCall(TRADER, 'run', [data]) : data;
    void maker.add({ from: sender, to: trader, gas: GAS, data: asVault });
  };
  const run = (name: string, values: readonly unknown[]): void =>
    callTrader('vault', encodeCall(TRADER, name, values));
  const swapOf = (pool: V3Pool, kind: number, indexIn: number, indexOut: number, amount: bigint) => {
    const [tokenIn, tokenOut] = [pool.tokens[indexIn]!.address, pool.tokens[indexOut]!.address];
    const limit = kind === V3_SWAP.exactIn ? 0n : 2n ** 127n;
    return { kind, pool: pool.address, tokenIn, tokenOut, amount, limit, data: '0x' };
  };
  const infoOf = async (pool: V3Pool) => {
    const data = encodeCall(VAULT, 'getPoolTokenInfo', [pool.address]);
    return VAULT.decodeFunctionResult(
      'getPoolTokenInfo',
      String(await rpc.call('eth_call', [{ to: vault, data }, 'latest'])),
    );
  };
  return {
    vault,
    trader,
    tokens,
    wrappers,
    hooks,
    rate,
    mine,
    callTrader,
    sendAs: (account) => void (sender = accounts[account] ?? from),
    async createPool({ tokens: chosen, amounts, weights, fee, hook = ZERO_ADDRESS, rates = [] }) {
      const places = chosen.map((token, index) => ({ token, amount: amounts[index]!, index }));
      places.sort((a, b) => (a.token.address < b.token.address ? -1 : 1));
      const isStable = typeof weights === 'number';
      const address = isStable
        ? deploy(codeOf('StablePool'), STABLE, [['Stable', 'STABLE', weights, '1'], vault])
        : deploy(codeOf('WeightedPool'), WEIGHTED, [
            [
              'Weighted',
              'WEIGHTED',
              places.length,
              places.map(({ index }) => weights[index]!),
              '1',
              places.map(() => BALANCE_MIN),
            ],
            vault,
          ]);
      const configs = places.map(({ token, index }) => {
        const own = rates[index];
        return [
          token.address,
          own == null ? 0 : 1,
          own?.provider ?? ZERO_ADDRESS,
          own?.paysYieldFees ?? false,
        ];
      });
      send(trader, TRADER, 'register', [address, configs, fee, hook]);
      await mine();
      const pool = { address, tokens: places.map(({ token }) => token), isStable };
      run('initialize', [address, addressesOf(pool), places.map(({ amount }) => amount)]);
      return pool;
    },
    swap: (...values) => run('swap', [swapOf(...values)]),
    add(pool, kind, amounts, shares) {
      const params = [pool.address, trader, amounts, shares, kind, '0x'];
      run('add', [addressesOf(pool), params]);
    },
    remove(pool, kind, amounts, shares) {
      const params = [pool.address, trader, shares, amounts, kind, '0x'];
      run('remove', [addressesOf(pool), params]);
    },
    removeInRecovery: (pool, shares) => run('removeInRecovery', [pool.address, addressesOf(pool), shares]),
    setFee: ({ address }, fee) => send(vault, VAULT, 'setStaticSwapFeePercentage', [address, fee]),
    setHookFee: (fee) => send(hooks.fee, HOOK, 'setFee', [fee]),
    setProtocolFee: ({ address }, part) =>
      send(controller, CONTROLLER, 'setProtocolSwapFeePercentage', [address, part]),
    setYieldFee: ({ address }, part) =>
      send(controller, CONTROLLER, 'setProtocolYieldFeePercentage', [address, part]),
    setRecovery: ({ address }, isOn) =>
      send(vault, VAULT, isOn ? 'enableRecoveryMode' : 'disableRecoveryMode', [address]),
    ramp({ address }, amp, time) {
      if (amp === 0) send(address, STABLE, 'stopAmplificationParameterUpdate', []);
      else send(address, STABLE, 'startAmplificationParameterUpdate', [amp, time]);
    },
    setRate: (value) => send(rate, RATE, 'setRate', [value]),
    donate,
    async quote(pool, indexIn, indexOut, amount) {
      const data = encodeCall(TRADER, 'quote', [swapOf(pool, V3_SWAP.exactIn, indexIn, indexOut, amount)]);
      // The vault answers questions only if they come from the zero address.
      return BigInt(String(await rpc.call('eth_call', [{ from: ZERO_ADDRESS, to: trader, data }, 'latest'])));
    },
    balancesOf: async (pool) => [...((await infoOf(pool))[2] as bigint[])],
    sharesOf: async ({ address }) =>
      BigInt(String(await readContract(rpc, ERC20, address, 'balanceOf', [trader]))),
  };
}

/** Raw token out per raw token in of infinitely small swaps, without the fee. */
export async function quotedV3Price(
  market: V3Market,
  pool: V3Pool,
  [indexIn, indexOut]: readonly [number, number],
  fee: bigint,
): Promise<number> {
  const balances = await market.balancesOf(pool);
  // The curve of a stable pool bends within a small part of its balances, and is computed without powers.
  const unit = balances[indexIn]! / (pool.isStable ? 20_000n : 800n);
  return limitOfQuotes(unit, fee, (size) => market.quote(pool, indexIn, indexOut, size));
}
