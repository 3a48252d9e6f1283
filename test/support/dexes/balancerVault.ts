/** Balancer V2 on a local node: the published sources of the vault, of weighted and of meta stable pools, compiled as they are. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { AbiCoder, getCreateAddress, Interface } from 'ethers';

import { encodeCall, encodeDeploy, ERC20, readContract, TOKEN_CONSTRUCTOR } from '../../../src/dev/abi';
import { expectAllSucceeded, openBlockMaker } from '../../../src/dev/node/blockMaker';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import { readOwnBytecode } from '../../../src/dev/packageFiles';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import type { MarketToken } from '../protocols/poolMarket';
import { installProject } from '../server/installProject';

const VAULT_SOURCE = '@balancer-labs/v2-vault/contracts/Vault.sol';
const POOL_SOURCE = '@balancer-labs/v2-pool-weighted/contracts/WeightedPool.sol';
const STABLE_SOURCE = '@balancer-labs/v2-pool-stable/contracts/meta/MetaStablePool.sol';
/** A rate provider whose rate anyone sets. */
const RATE_SOURCE = 'Rate.sol';
const RATE_CODE = `pragma solidity 0.7.6; contract Rate {
  uint256 public getRate = 1e18;
  function setRate(uint256 rate) external { getRate = rate; }
}`;
const CREATION_GAS = 30_000_000;
const GAS = 2_000_000;
const LARGEST = 2n ** 256n - 1n;
/** Each token has a supply of 10^20 whole tokens. */
const SUPPLY_DIGITS = 20;
const ONE = 10n ** 18n;
/** The last two numbers of both constructors, `pauseWindow` and `buffer`, in seconds: nobody may pause the contracts. */
const NO_PAUSE = [0, 0] as const;
/** Seconds for which a stable pool uses the rate of each token before it asks again. */
const NO_CACHE = [0, 0] as const;

const VAULT = new Interface([
  'constructor(address authorizer, address weth, uint256 pauseWindow, uint256 buffer)',
  'function getPoolTokens(bytes32 id) view returns (address[] tokens, uint256[] balances, uint256 block)',
  'function swap((bytes32 id, uint8 kind, address assetIn, address assetOut, uint256 amount, bytes data) single, (address sender, bool fromInternal, address recipient, bool toInternal) funds, uint256 limit, uint256 deadline)',
  'function joinPool(bytes32 id, address sender, address recipient, (address[] assets, uint256[] limits, bytes data, bool isInternal) request)',
  'function exitPool(bytes32 id, address sender, address recipient, (address[] assets, uint256[] limits, bytes data, bool isInternal) request)',
  'function queryBatchSwap(uint8 kind, (bytes32 id, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes data)[] swaps, address[] assets, (address sender, bool fromInternal, address recipient, bool toInternal) funds) returns (int256[])',
]);
const POOL = new Interface([
  'constructor(address vault, string name, string symbol, address[] tokens, uint256[] weights, address[] managers, uint256 fee, uint256 pauseWindow, uint256 buffer, address owner)',
  'function getPoolId() view returns (bytes32)',
  'function setSwapFeePercentage(uint256 fee)',
]);
const STABLE_POOL = new Interface([
  'constructor((address vault, string name, string symbol, address[] tokens, address[] rateProviders, uint256[] durations, uint256 amp, uint256 fee, uint256 pauseWindow, uint256 buffer, bool hasOracle, address owner) params)',
]);
const RATE = new Interface(['function setRate(uint256 rate)']);
/** SwapKind of IVault.sol: the trader sets the amount that is paid in. */
const GIVEN_IN = 0;
/** Any amount will do: no other trader is on the node. */
const AMOUNT_OUT_MIN = 0;
/** Kinds of joins and exits in BaseWeightedPool.sol. */
const JOIN = { first: 0, exactTokens: 1 } as const;
const EXIT_EXACT_SHARES = 1;

export interface VaultPool {
  readonly address: Hex;
  readonly id: Hex;
  readonly tokens: readonly MarketToken[];
  /** The contracts that the pool asks for the rates of its tokens, if any. */
  readonly rateProviders: readonly Hex[];
}

export interface BalancerMarket {
  readonly vault: Hex;
  readonly tokens: readonly MarketToken[];
  /** Creates a pool of these tokens and weights, and puts the amounts in. Amounts follow the order of `tokens`. */
  createPool(
    tokens: readonly MarketToken[],
    weights: readonly bigint[],
    amounts: readonly bigint[],
  ): Promise<VaultPool>;
  /** The same for a stable pool of two tokens. It asks its rate providers in each block with a swap, join or exit. */
  createStablePool(
    tokens: readonly MarketToken[],
    amp: number,
    amounts: readonly bigint[],
  ): Promise<VaultPool>;
  setRate(provider: Hex, rate: bigint): void;
  swap(pool: VaultPool, indexIn: number, indexOut: number, amount: bigint): void;
  join(pool: VaultPool, amounts: readonly bigint[]): void;
  /** Burns this part of all shares, in thousandths. */
  exit(pool: VaultPool, thousandths: number): Promise<void>;
  setFee(pool: VaultPool, fee: bigint): void;
  /** Raw token out that the vault answers for raw token in. */
  quote(pool: VaultPool, indexIn: number, indexOut: number, amount: bigint): Promise<bigint>;
  balancesOf(pool: VaultPool): Promise<bigint[]>;
  /** Mines the next block. Rejects if a transaction failed. Returns its number. */
  mine(): Promise<number>;
}

type Contracts = Readonly<
  Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
>;
const CONTRACTS = ['Vault', 'WeightedPool', 'MetaStablePool', 'Rate'];
interface Compiler {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
}

async function compile(): Promise<(source: string, contract: string) => Hex> {
  const folder = join(await installProject(__dirname, 'dexes'), 'node_modules');
  const contents = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const published = [VAULT_SOURCE, POOL_SOURCE, STABLE_SOURCE].map((path) => [
    path,
    { content: contents(path) },
  ]);
  const sources = [...published, [RATE_SOURCE, { content: RATE_CODE }]];
  const { compile: run } = createRequire(__filename)('solc-0.7.6') as Compiler;
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    outputSelection: {
      '*': Object.fromEntries(CONTRACTS.map((contract) => [contract, ['evm.bytecode.object']])),
    },
  };
  const input = JSON.stringify({ language: 'Solidity', sources: Object.fromEntries(sources), settings });
  const output = JSON.parse(run(input, { import: (path) => ({ contents: contents(path) }) })) as {
    contracts: Contracts;
  };
  return (source, contract) => {
    const { object } = output.contracts[source]![contract]!.evm.bytecode;
    // Only questions to the price oracle of a stable pool use its library, so no library is linked.
    return `0x${object.replace(/__\$.{34}\$__/g, '0'.repeat(40))}`;
  };
}

/** Deploys the vault and one token for each number of decimals. */
export async function deployBalancer(rpc: DevRpc, decimals: readonly number[]): Promise<BalancerMarket> {
  const accounts = ((await rpc.call('eth_accounts')) as Hex[]).slice(0, 1);
  const [from = ZERO_ADDRESS] = accounts;
  const maker = await openBlockMaker(rpc, accounts);
  const codeOf = await compile();
  const poolCode = codeOf(POOL_SOURCE, 'WeightedPool');
  const deploy = (code: Hex, abi: Interface, values: readonly unknown[]): Hex => {
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
  const vault = deploy(codeOf(VAULT_SOURCE, 'Vault'), VAULT, [from, from, ...NO_PAUSE]);
  await mine();
  const tokens: MarketToken[] = [];
  for (const each of decimals) {
    const values = [`Token ${each}`, `T${each}`, each, 10n ** BigInt(each + SUPPLY_DIGITS), from, 0];
    const address = deploy(readOwnBytecode('DevToken'), TOKEN_CONSTRUCTOR, values);
    send(address, ERC20, 'approve', [vault, LARGEST]);
    tokens.push({ address, decimals: each });
    await mine();
  }
  const funds = { sender: from, fromInternal: false, recipient: from, toInternal: false };
  const encode = (types: readonly string[], values: readonly unknown[]): string =>
    AbiCoder.defaultAbiCoder().encode(types, values);
  const addressesOf = (pool: VaultPool): Hex[] => pool.tokens.map(({ address }) => address);
  const join = (pool: VaultPool, kind: number, amounts: readonly bigint[]): void => {
    const minimum = kind === JOIN.first ? [] : [0];
    const types = ['uint256', 'uint256[]', ...minimum.map(() => 'uint256')];
    const data = encode(types, [kind, amounts, ...minimum]);
    const request = { assets: addressesOf(pool), limits: amounts, data, isInternal: false };
    send(vault, VAULT, 'joinPool', [pool.id, from, from, request]);
  };
  /** Puts the first amounts into a pool that the next block creates. */
  const open = async (pool: Omit<VaultPool, 'id'>, amounts: readonly bigint[]): Promise<VaultPool> => {
    await mine();
    const id = String(await readContract(rpc, POOL, pool.address, 'getPoolId')) as Hex;
    join({ ...pool, id }, JOIN.first, amounts);
    return { ...pool, id };
  };
  return {
    vault,
    tokens,
    mine,
    async createPool(chosen, weights, amounts) {
      const places = chosen.map((token, index) => ({
        token,
        weight: weights[index],
        amount: amounts[index]!,
      }));
      places.sort((a, b) => (a.token.address < b.token.address ? -1 : 1));
      const ordered = places.map(({ token }) => token);
      const addresses = ordered.map(({ address: token }) => token);
      const sortedWeights = places.map(({ weight }) => weight);
      const managers = ordered.map(() => ZERO_ADDRESS);
      const fee = (3n * ONE) / 1_000n;
      const values = [vault, 'Pool', 'POOL', addresses, sortedWeights, managers, fee, ...NO_PAUSE, from];
      const address = deploy(poolCode, POOL, values);
      const amountsIn = places.map(({ amount }) => amount);
      return open({ address, tokens: ordered, rateProviders: [] }, amountsIn);
    },
    async createStablePool(chosen, amp, amounts) {
      const places = chosen.map((token, index) => ({ token, amount: amounts[index]! }));
      places.sort((a, b) => (a.token.address < b.token.address ? -1 : 1));
      const tokensInOrder = places.map(({ token }) => token);
      const rateProviders = tokensInOrder.map(() => deploy(codeOf(RATE_SOURCE, 'Rate'), RATE, []));
      await mine();
      const addresses = tokensInOrder.map(({ address: token }) => token);
      const terms = [amp, ONE / 1_000n, ...NO_PAUSE, false, from];
      const values = [vault, 'Stable', 'STABLE', addresses, rateProviders, NO_CACHE, ...terms];
      const address = deploy(codeOf(STABLE_SOURCE, 'MetaStablePool'), STABLE_POOL, [values]);
      const amountsIn = places.map(({ amount }) => amount);
      return open({ address, tokens: tokensInOrder, rateProviders }, amountsIn);
    },
    setRate: (provider, rate) => send(provider, RATE, 'setRate', [rate]),
    swap({ id, tokens: own }, indexIn, indexOut, amount) {
      const [assetIn, assetOut] = [own[indexIn]!.address, own[indexOut]!.address];
      const single = { id, kind: GIVEN_IN, assetIn, assetOut, amount, data: '0x' };
      send(vault, VAULT, 'swap', [single, funds, AMOUNT_OUT_MIN, LARGEST]);
    },
    join: (pool, amounts) => join(pool, JOIN.exactTokens, amounts),
    async exit(pool, thousandths) {
      const shares = BigInt(String(await readContract(rpc, ERC20, pool.address, 'balanceOf', [from])));
      const burned = (shares * BigInt(thousandths)) / 1_000n;
      const data = encode(['uint256', 'uint256'], [EXIT_EXACT_SHARES, burned]);
      const request = {
        assets: addressesOf(pool),
        limits: pool.tokens.map(() => 0),
        data,
        isInternal: false,
      };
      send(vault, VAULT, 'exitPool', [pool.id, from, from, request]);
    },
    setFee: ({ address }, fee) => send(address, POOL, 'setSwapFeePercentage', [fee]),
    async quote(pool, assetInIndex, assetOutIndex, amount) {
      const swaps = [{ id: pool.id, assetInIndex, assetOutIndex, amount, data: '0x' }];
      const values = [GIVEN_IN, swaps, addressesOf(pool), funds];
      const deltas = await readContract(rpc, VAULT, vault, 'queryBatchSwap', values);
      return -(deltas as bigint[])[assetOutIndex]!;
    },
    async balancesOf({ id }) {
      const data = encodeCall(VAULT, 'getPoolTokens', [id]);
      const answer = String(await rpc.call('eth_call', [{ to: vault, data }, 'latest']));
      return [...(VAULT.decodeFunctionResult('getPoolTokens', answer)[1] as bigint[])];
    },
  };
}
