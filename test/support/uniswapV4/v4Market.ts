/**
 * Uniswap V4 on a local node: the published build of the PoolManager with its test routers and hooks, and tokens of many
 * decimals that one account owns.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { AbiCoder, getCreateAddress, Interface, keccak256 } from 'ethers';

import {
  ADDRESS_CONSTRUCTOR,
  encodeCall,
  encodeDeploy,
  ERC20,
  TOKEN_CONSTRUCTOR,
} from '../../../src/dev/abi';
import { expectAllSucceeded, openBlockMaker } from '../../../src/dev/node/blockMaker';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import { readOwnBytecode } from '../../../src/dev/packageFiles';
import { ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../../src/domain/hex';
import { installProject } from '../server/installProject';

/** Rules of the chain: the manager uses transient storage. */
export const V4_HARDFORK = 'cancun';
/** The fee of a pool whose hook sets the fee. */
export const DYNAMIC_FEE = 0x800000;
/** Addresses of hooks. The last bits are their permissions. */
const HOOKS = {
  /** Chooses the fee of each swap: beforeSwap. */
  fee: `0x${'f'.repeat(36)}0080`,
  /** Takes part in the amounts: beforeSwap and afterSwap, with deltas. */
  delta: `0x${'d'.repeat(36)}00cc`,
} as const satisfies Record<string, Hex>;

/** Each token has a supply of 10^15 whole tokens. */
const SUPPLY_DIGITS = 15;
/** Of StateLibrary.sol: the slot of the map of pools, and the place of the liquidity in the state of a pool. */
const POOLS_SLOT = 6;
const LIQUIDITY_OFFSET = 3;
const GAS = 3_000_000;
const CREATION_GAS = 30_000_000;
const KEY = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)';
const ABI = new Interface([
  `function initialize(${KEY} key, uint160 price) returns (int24)`,
  `function modifyLiquidity(${KEY} key, (int24 lower, int24 upper, int256 change, bytes32 salt) params, bytes data) payable returns (int256 delta)`,
  `function swap(${KEY} key, (bool zeroForOne, int256 amount, uint160 limit) params, (bool takeClaims, bool useBurn) how, bytes data) payable returns (int256 delta)`,
  `function donate(${KEY} key, uint256 amount0, uint256 amount1, bytes data) payable`,
  `function setProtocolFee(${KEY} key, uint24 fee)`,
  `function forcePoolFeeUpdate(${KEY} key, uint24 fee)`,
  'function setProtocolFeeController(address controller)',
  'function setManager(address manager)',
  'function setFee(uint24 fee)',
  'function setDeltaUnspecifiedAfterSwap(int128 delta)',
  'function protocolFeesAccrued(address currency) view returns (uint256)',
  'function extsload(bytes32 slot, uint256 count) view returns (bytes32[] words)',
]);
const POSITIONS = new Interface([
  'constructor(address manager, address permit2, uint256 gas, address descriptor, address wrapped)',
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
]);
/** Actions.sol of @uniswap/v4-periphery: steps of the position manager, and the types of their parameters. */
const STEPS = {
  decrease: ['01', ['uint256', 'uint256', 'uint128', 'uint128', 'bytes']],
  mint: ['02', [KEY, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes']],
  settle: ['0b', ['address', 'uint256', 'bool']],
  takePair: ['11', ['address', 'address', 'address']],
} as const;
const UINT128_MAX = 2n ** 128n - 1n;
/** A time, unix seconds, that never comes. */
const NEVER = 2n ** 40n;
/** Limits of √price that never end a swap early: MIN_SQRT_PRICE + 1 and MAX_SQRT_PRICE − 1 of TickMath.sol. */
export const LIMITS = [4295128740n, 1461446703485210103287273052203988822378723970341n] as const;

export interface V4Token {
  readonly address: Hex;
  readonly decimals: number;
}

export interface V4Pool {
  readonly id: Hex;
  readonly key: readonly unknown[];
  readonly token0: V4Token;
  readonly token1: V4Token;
}

/** A singleton that manages pools with V3 state. */
export interface V4Market {
  /** Name of the protocol. */
  readonly protocol: string;
  /** Hooks of pools: one chooses the fee of each swap, one takes part in the amounts. */
  readonly hooks: { readonly fee: Hex; readonly delta: Hex };
  readonly manager: Hex;
  readonly owner: Hex;
  readonly tokens: readonly V4Token[];
  /** Mines the next block. Rejects if a transaction failed. Returns its number. */
  mine(seconds?: number): Promise<number>;
  /** Adds transactions to the next block. */
  createPool(a: V4Token, b: V4Token, fee: number, spacing: number, price: bigint, hooks?: Hex): V4Pool;
  modify(pool: V4Pool, lower: number, upper: number, change: bigint): void;
  swap(pool: V4Pool, zeroForOne: boolean, amount: bigint): void;
  donate(pool: V4Pool, amount0: bigint, amount1: bigint): void;
  /** The protocol's fee in pips, packed: that of token0 in the lower 12 bits. */
  setProtocolFee(pool: V4Pool, packed: number): void;
  /** The fee that the hook chooses for each swap from now on. */
  setHookFee(pips: number): void;
  /** What a swap of the owner would move now: negative for what is paid. Rejects if the contract does. */
  quote(pool: V4Pool, zeroForOne: boolean, amount: bigint): Promise<readonly [bigint, bigint]>;
  /** What a change of the owner's position would pay out now, with the fees of the position. */
  quoteChange(pool: V4Pool, lower: number, upper: number, change: bigint): Promise<readonly [bigint, bigint]>;
  /** √price, tick and active liquidity by extsload. */
  readState(pool: V4Pool): Promise<{ sqrtPriceX96: bigint; tick: number; liquidity: bigint }>;
  /** What the manager holds of a token, less the fees that it keeps for the protocol. */
  readHeld(token: V4Token): Promise<bigint>;
}

/** A market with a position manager. */
export interface PositionMarket extends V4Market {
  /** The position manager of @uniswap/v4-periphery. It pays with its own tokens, so it needs no Permit2. */
  readonly positions: Hex;
  /** Adds a position of the position manager, whose NFT the owner gets. The numbers of the NFTs begin with 1. */
  mintPosition(pool: V4Pool, lower: number, upper: number, liquidity: bigint): void;
  /** Takes liquidity out of a position, and pays it with all fees of the position to an address. */
  takePosition(pool: V4Pool, id: bigint, liquidity: bigint, to: Hex): void;
  /** What an address holds of a token. */
  readBalance(token: V4Token, holder: Hex): Promise<bigint>;
}

/** The native coin, as pools name it. */
export const NATIVE: V4Token = { address: ZERO_ADDRESS, decimals: 18 };

/** Deploys the manager, its routers, hooks, and one token for each number of decimals. */
export async function deployV4(rpc: DevRpc, decimals: readonly number[]): Promise<PositionMarket> {
  const folder = await installProject(__dirname, 'uniswap-v4');
  const codeOf = (name: string, build = 'v4-core/out'): Hex => {
    const file = join(folder, 'node_modules/@uniswap', build, `${name}.sol`, `${name}.json`);
    return (JSON.parse(readFileSync(file, 'utf8')) as { bytecode: { object: Hex } }).bytecode.object;
  };
  const [owner = ZERO_ADDRESS] = (await rpc.call('eth_accounts')) as Hex[];
  const maker = await openBlockMaker(rpc, [owner]);
  const deploy = (bytecode: Hex, abi?: Interface, values: readonly unknown[] = []): Hex => {
    const data = encodeDeploy(bytecode, abi, values);
    const nonce = maker.add({ from: owner, to: null, gas: CREATION_GAS, data });
    return getCreateAddress({ from: owner, nonce }).toLowerCase() as Hex;
  };
  const add = (to: Hex, name: string, values: readonly unknown[], value = 0n): void => {
    maker.add({ from: owner, to, gas: GAS, data: encodeCall(ABI, name, values), value });
  };
  const mine = async (seconds = 10): Promise<number> => {
    const { number, timestamp } = await getBlockHead(rpc);
    await maker.mine(timestamp + seconds);
    await expectAllSucceeded(rpc, number + 1);
    return number + 1;
  };
  const call = async (to: Hex, name: string, values: readonly unknown[], value = 0n): Promise<unknown> => {
    const request = {
      from: owner,
      to,
      data: encodeCall(ABI, name, values),
      value: `0x${value.toString(16)}`,
    };
    const answer = String(await rpc.call('eth_call', [request, 'latest']));
    return ABI.decodeFunctionResult(name, answer)[0] as unknown;
  };
  const manager = deploy(codeOf('PoolManager'), ADDRESS_CONSTRUCTOR, [owner]);
  await mine();
  const positionsCode = codeOf('PositionManager', 'v4-periphery/foundry-out');
  const positions = deploy(positionsCode, POSITIONS, [manager, owner, 300_000, owner, owner]);
  const [swapper, provider, donor, feeHook, deltaHook] = [
    deploy(codeOf('PoolSwapTest'), ADDRESS_CONSTRUCTOR, [manager]),
    deploy(codeOf('PoolModifyLiquidityTest'), ADDRESS_CONSTRUCTOR, [manager]),
    deploy(codeOf('PoolDonateTest'), ADDRESS_CONSTRUCTOR, [manager]),
    deploy(codeOf('DynamicReturnFeeTestHook')),
    deploy(codeOf('DeltaReturningHook'), ADDRESS_CONSTRUCTOR, [manager]),
  ] as const;
  await mine();
  for (const [to, from] of [
    [HOOKS.fee, feeHook],
    [HOOKS.delta, deltaHook],
  ] as const)
    await rpc.call('anvil_setCode', [to, await rpc.call('eth_getCode', [from, 'latest'])]);
  add(HOOKS.fee, 'setManager', [manager]);
  add(manager, 'setProtocolFeeController', [owner]);
  const tokens: V4Token[] = [];
  for (const each of decimals) {
    const values = [`Token ${each}`, `T${each}`, each, 10n ** BigInt(each + SUPPLY_DIGITS), owner, 0];
    const address = deploy(readOwnBytecode('DevToken'), TOKEN_CONSTRUCTOR, values);
    tokens.push({ address, decimals: each });
    await mine();
    const stock = encodeCall(ERC20, 'transfer', [positions, 10n ** BigInt(each + SUPPLY_DIGITS - 3)]);
    maker.add({ from: owner, to: address, gas: GAS, data: stock });
    for (const router of [swapper, provider, donor]) {
      const data = encodeCall(ERC20, 'approve', [router, 2n ** 256n - 1n]);
      maker.add({ from: owner, to: address, gas: GAS, data });
    }
  }
  await mine();
  const readBalance = async ({ address }: V4Token, holder: Hex): Promise<bigint> => {
    const call = { to: address, data: encodeCall(ERC20, 'balanceOf', [holder]) };
    const isCoin = address === ZERO_ADDRESS;
    const method = isCoin ? 'eth_getBalance' : 'eth_call';
    return BigInt(String(await rpc.call(method, [isCoin ? holder : call, 'latest'])));
  };
  const changePosition = (
    steps: readonly (readonly [step: keyof typeof STEPS, values: readonly unknown[]])[],
    value = 0n,
  ): void => {
    const coder = AbiCoder.defaultAbiCoder();
    const actions = `0x${steps.map(([step]) => STEPS[step][0]).join('')}`;
    const params = steps.map(([step, values]) => coder.encode([...STEPS[step][1]], values));
    const unlockData = coder.encode(['bytes', 'bytes[]'], [actions, params]);
    const data = encodeCall(POSITIONS, 'modifyLiquidities', [unlockData, NEVER]);
    maker.add({ from: owner, to: positions, gas: GAS, data, value });
  };
  /** More than any call of a pool with the native coin pays. The routers return the rest. */
  const valueOf = ({ token0 }: V4Pool): bigint => (token0 === NATIVE ? 10n ** 22n : 0n);
  const swapValues = ({ key }: V4Pool, zeroForOne: boolean, amount: bigint): readonly unknown[] => [
    key,
    [zeroForOne, amount, LIMITS[zeroForOne ? 0 : 1]],
    // `takeClaims` and `useBurn` are off: the router moves real tokens, no claims of the manager.
    [false, false],
    '0x',
  ];
  const changeValues = (
    { key }: V4Pool,
    lower: number,
    upper: number,
    change: bigint,
  ): readonly unknown[] => [key, [lower, upper, change, ZERO_HASH], '0x'];
  return {
    protocol: 'uniswap_v4',
    manager,
    hooks: HOOKS,
    owner,
    positions,
    tokens,
    mine,
    createPool(a, b, fee, spacing, price, hooks = ZERO_ADDRESS) {
      const [token0, token1] = a.address < b.address ? [a, b] : [b, a];
      const key = [token0.address, token1.address, fee, spacing, hooks] as const;
      const types = ['address', 'address', 'uint24', 'int24', 'address'];
      add(manager, 'initialize', [key, price]);
      return { id: keccak256(AbiCoder.defaultAbiCoder().encode(types, key)) as Hex, key, token0, token1 };
    },
    modify: (pool, lower, upper, change) =>
      add(provider, 'modifyLiquidity', changeValues(pool, lower, upper, change), valueOf(pool)),
    swap: (pool, zeroForOne, amount) =>
      add(swapper, 'swap', swapValues(pool, zeroForOne, amount), valueOf(pool)),
    donate: (pool, amount0, amount1) =>
      add(donor, 'donate', [pool.key, amount0, amount1, '0x'], valueOf(pool)),
    mintPosition(pool, lower, upper, liquidity) {
      const { key, token0, token1 } = pool;
      const limits = [UINT128_MAX, UINT128_MAX];
      changePosition(
        [
          ['mint', [key, lower, upper, liquidity, ...limits, owner, '0x']],
          // An amount of 0 means all that is open.
          ['settle', [token0.address, 0, false]],
          ['settle', [token1.address, 0, false]],
        ],
        valueOf(pool),
      );
    },
    takePosition({ token0, token1 }, id, liquidity, to) {
      changePosition([
        ['decrease', [id, liquidity, 0, 0, '0x']],
        ['takePair', [token0.address, token1.address, to]],
      ]);
    },
    setProtocolFee: ({ key }, packed) => add(manager, 'setProtocolFee', [key, packed]),
    setHookFee: (pips) => add(HOOKS.fee, 'setFee', [pips]),
    quote: async (pool, zeroForOne, amount) =>
      amountsOf(await call(swapper, 'swap', swapValues(pool, zeroForOne, amount), valueOf(pool))),
    quoteChange: async (pool, lower, upper, change) =>
      amountsOf(
        await call(provider, 'modifyLiquidity', changeValues(pool, lower, upper, change), valueOf(pool)),
      ),
    async readState({ id }) {
      const slot = keccak256(`${id}${POOLS_SLOT.toString(16).padStart(64, '0')}`);
      const words = (await call(manager, 'extsload', [slot, LIQUIDITY_OFFSET + 1])) as readonly string[];
      const slot0 = BigInt(words[0]!);
      return {
        sqrtPriceX96: BigInt.asUintN(160, slot0),
        tick: Number(BigInt.asIntN(24, slot0 >> 160n)),
        liquidity: BigInt(words[LIQUIDITY_OFFSET]!),
      };
    },
    readBalance,
    async readHeld(token) {
      const kept = (await call(manager, 'protocolFeesAccrued', [token.address])) as bigint;
      return (await readBalance(token, manager)) - kept;
    },
  };
}

/** The two amounts of a BalanceDelta. */
function amountsOf(delta: unknown): readonly [bigint, bigint] {
  const packed = BigInt(String(delta));
  return [packed >> 128n, BigInt.asIntN(128, packed)];
}
