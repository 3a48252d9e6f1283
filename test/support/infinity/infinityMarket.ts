/** PancakeSwap Infinity on a local node: the vault, a manager, hooks and a trader. See Infinity.sol. */
import { join } from 'node:path';

import { AbiCoder, Interface, keccak256 } from 'ethers';

import { ADDRESS_CONSTRUCTOR, encodeCall, ERC20 } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import {
  inOrder,
  openPoolMarket,
  readBigInt,
  type MarketPool,
  type MarketToken,
  type PoolMarket,
} from '../protocols/poolMarket';
import { DYNAMIC_FEE } from '../uniswapV4/v4Market';

const GAS = { call: 15_000_000, creation: 15_000_000 };
const KEY =
  '(address currency0, address currency1, address hooks, address poolManager, uint24 fee, bytes32 parameters)';
const MANAGER = new Interface([
  `function setProtocolFee(${KEY} key, uint24 fee)`,
  'function protocolFeesAccrued(address) view returns (uint256)',
]);
const HOOK = new Interface([
  'function choose(uint24 fee)',
  `function update(address manager, ${KEY} key, uint24 fee)`,
]);
const TRADER = new Interface(['function run(address to, uint256 value, bytes data)']);
/** Permissions in `parameters`: beforeSwap, and beforeSwap that takes a part of the amount. */
const HOOK_BITS = { fee: 1n << 6n, delta: (1n << 6n) | (1n << 10n) };
/** Flag of a fee that a hook chooses for one swap. */
const OVERRIDE_FEE = 0x400000;
/** More native coins than any call pays. The vault returns the rest. */
const OFFER = 10n ** 23n;

/** `address` is the id. */
export interface InfinityPool extends MarketPool {
  readonly key: readonly unknown[];
}

export interface InfinityMarket extends PoolMarket {
  readonly manager: Hex;
  /** The first hook chooses fees, the second one takes a part of each amount. */
  readonly hooks: { readonly fee: Hex; readonly delta: Hex };
  /** Adds transactions to the next block. `start` is the last argument of `initialize`. */
  createPool(
    a: MarketToken,
    b: MarketToken,
    fee: number,
    step: number,
    start: bigint,
    hooks?: Hex,
  ): InfinityPool;
  act(pool: InfinityPool, name: string, values: readonly unknown[]): void;
  setProtocolFee(pool: InfinityPool, packed: number): void;
  /** The fee from now on of pools with the first hook, which sets it for good or for each swap. */
  setHookFee(pips: number, isForGood: boolean): void;
  /** The trader calls any contract with the next block. */
  run(to: Hex, abi: Interface, name: string, values: readonly unknown[], value?: bigint): void;
  /** What the manager would return to the trader now. */
  ask(pool: InfinityPool, name: string, values: readonly unknown[]): Promise<readonly bigint[]>;
  /** The answer of the manager about the pool. */
  read(pool: InfinityPool, name: string, values?: readonly unknown[]): Promise<readonly bigint[]>;
  /** What the vault holds of a token, less the fees that it keeps for the protocol. */
  readHeld(token: MarketToken): Promise<bigint>;
}

/** `abi` has the functions of the manager. Each function of the trader takes the key of the pool first. */
export async function deployInfinity(
  rpc: DevRpc,
  decimals: readonly number[],
  abi: Interface,
  codeOfManager: (codeOf: (contract: string) => Hex) => Hex,
): Promise<InfinityMarket> {
  const market = await openPoolMarket(rpc, join(__dirname, 'Infinity.sol'), decimals, GAS);
  const { trader, tokens, codeOf, deploy, add, mine } = market;
  const vault = deploy(codeOf('Vault'));
  const hooks = { fee: deploy(codeOf('Hook')), delta: deploy(codeOf('Hook')) };
  const manager = deploy(codeOfManager(codeOf), ADDRESS_CONSTRUCTOR, [vault]);
  await rpc.call('anvil_setBalance', [trader, `0x${(10n ** 30n).toString(16)}`]);
  await mine();
  const run: InfinityMarket['run'] = (to, own, name, values, value = 0n) =>
    add(trader, TRADER, 'run', [to, value, encodeCall(own, name, values)]);
  for (const { address } of tokens) run(address, ERC20, 'approve', [vault, 2n ** 256n - 1n]);
  await mine();
  let dynamic: InfinityPool | undefined;
  const runOf = ({ key, token0 }: InfinityPool, name: string, values: readonly unknown[]) => {
    const isPaid = token0.address === ZERO_ADDRESS && abi.getFunction(name)?.payable === true;
    return [manager, isPaid ? OFFER : 0n, encodeCall(abi, name, [key, ...values])];
  };
  const decode = (name: string, answer: unknown): readonly bigint[] =>
    [...abi.decodeFunctionResult(name, String(answer))].map((value) => BigInt(value as bigint));
  return {
    ...market,
    manager,
    hooks,
    createPool(a, b, fee, step, start, hook = ZERO_ADDRESS) {
      const [token0, token1] = inOrder(a, b);
      const bits = hook === hooks.fee ? HOOK_BITS.fee : hook === hooks.delta ? HOOK_BITS.delta : 0n;
      const parameters: Hex = `0x${((BigInt(step) << 16n) | bits).toString(16).padStart(64, '0')}`;
      const key = [token0.address, token1.address, hook, manager, fee, parameters] as const;
      add(manager, abi, 'initialize', [key, start]);
      const types = ['address', 'address', 'address', 'address', 'uint24', 'bytes32'];
      const id = keccak256(AbiCoder.defaultAbiCoder().encode(types, key)) as Hex;
      const pool = { address: id, key, token0, token1 };
      if (fee === DYNAMIC_FEE) dynamic = pool;
      return pool;
    },
    run,
    act: (pool, name, values) => add(trader, TRADER, 'run', runOf(pool, name, values)),
    setProtocolFee: ({ key }, packed) => add(manager, MANAGER, 'setProtocolFee', [key, packed]),
    setHookFee(pips, isForGood) {
      add(hooks.fee, HOOK, 'choose', [isForGood ? 0 : pips + OVERRIDE_FEE]);
      if (isForGood) add(hooks.fee, HOOK, 'update', [manager, dynamic?.key, pips]);
    },
    async ask(pool, name, values) {
      const data = encodeCall(TRADER, 'run', runOf(pool, name, values));
      return decode(name, await rpc.call('eth_call', [{ to: trader, data }, 'latest']));
    },
    async read({ address }, name, values = []) {
      const data = encodeCall(abi, name, [address, ...values]);
      return decode(name, await rpc.call('eth_call', [{ to: manager, data }, 'latest']));
    },
    async readHeld({ address }) {
      const kept = await readBigInt(rpc, MANAGER, manager, 'protocolFeesAccrued', [address]);
      return (await readHolding(rpc, address, vault)) - kept;
    },
  };
}

/** What an address holds of a token, or of the native coin. */
export async function readHolding(rpc: DevRpc, token: Hex, holder: Hex): Promise<bigint> {
  return token === ZERO_ADDRESS
    ? BigInt(String(await rpc.call('eth_getBalance', [holder, 'latest'])))
    : readBigInt(rpc, ERC20, token, 'balanceOf', [holder]);
}

/** Functions of a manager that take the key of a pool, by their other parameters. */
export function keyed(...functions: readonly string[]): string[] {
  return functions.map((each) => `function ${each.replace('(', `(${KEY} key, `)}`);
}
