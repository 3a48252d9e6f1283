/**
 * Algebra on a local node: the published builds of V1 and Integral, with tokens of many decimals, a trader that owns all
 * tokens, and a plugin whose fees the test sets.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { getCreateAddress, Interface, keccak256, type InterfaceAbi } from 'ethers';

import { readContract } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import {
  inOrder,
  openPoolMarket,
  type MarketPool,
  type MarketToken,
  type PoolMarket,
} from '../protocols/poolMarket';
import { addPosition } from '../protocols/positions';
import { installProject } from '../server/installProject';

const GAS = { call: 3_000_000, creation: 30_000_000 };
/** Arguments of the node: the build of V1 is not optimised, so its code is above the limit of real chains. */
export const ALGEBRA_NODE = ['--disable-code-size-limit'] as const;
/** A plugin runs before swaps and before changes of liquidity. */
const PLUGIN_CONFIG = 1 | 4;
/** The plugin sets the fee. In these builds of 1.2 it does so for each swap, and otherwise the owner sets the fee of the pool. */
const DYNAMIC_FEE = 128;

export const ALGEBRA_VERSIONS = ['v1', '1.0', '1.1', '1.2.1', '1.2.2'] as const;
export type AlgebraVersion = (typeof ALGEBRA_VERSIONS)[number];

export const ALGEBRA_POOL = new Interface([
  'function globalState() view returns (uint160 price)',
  'function liquidity() view returns (uint128)',
]);
const ADMIN = new Interface([
  'function initialize(uint160 price)',
  'function setCommunityFee(uint16 fee)',
  'function setCommunityFee(uint8 fee0, uint8 fee1)',
  'function setFee(uint16 fee)',
  'function setCommunityVault(address vault)',
  'function setPlugin(address plugin)',
  'function setPluginConfig(uint8 config)',
  'function setFactory(address factory)',
  'function createPool(address a, address b)',
  'function createPool(address a, address b, bytes data)',
]);
export const ALGEBRA_TRADER = new Interface([
  'function mint(address pool, int24 lower, int24 upper, uint128 liquidity)',
  'function burn(address pool, bool isFirst, int24 lower, int24 upper, uint128 liquidity)',
  'function swap(address pool, bool zeroForOne, int256 amount, uint160 limit)',
  'function swapPaid(address pool, bool isFirst, bool zeroForOne, int256 amount, uint160 limit)',
  'function flash(address pool, uint256 amount0, uint256 amount1)',
]);
const PLUGIN = new Interface(['function setFees(address pool, uint16 next, uint24 overriding, uint24 own)']);
/** POOL_INIT_CODE_HASH in the factory of V1. */
const V1_POOL_HASH = '6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4';
const POSITIONS = 'NonfungiblePositionManager';
/** POOL_INIT_CODE_HASH in the position managers. */
const POSITIONS_POOL_HASH = {
  v1: V1_POOL_HASH,
  '1.2.2': '62441ebe4e4315cf3d49d5957f94d66b253dbabe7006f34ad7f70947e60bf15c',
} as const;
/** A time, unix seconds, that never comes. */
const NEVER = 2n ** 40n;
/** Where the pools send their fees. */
const VAULT: Hex = `0x${'fa'.repeat(20)}`;

interface Artifact {
  readonly abi: InterfaceAbi;
  readonly bytecode: Hex;
}

export interface AlgebraPool extends MarketPool {
  readonly version: AlgebraVersion;
}

export interface AlgebraMarket extends PoolMarket {
  readonly factories: ReadonlyMap<AlgebraVersion, Hex>;
  /** Deploys the position manager of a version with the next block. */
  deployPositions(version: keyof typeof POSITIONS_POOL_HASH): Promise<Hex>;
  /** Adds a position between two ticks, whose NFT the owner gets. */
  addPosition(
    manager: Hex,
    pool: AlgebraPool,
    ticks: readonly [number, number],
    amounts: readonly [bigint, bigint],
  ): void;
  /** Creates a pool with a first price, a plugin and a vault for the community. */
  createPool(version: AlgebraVersion, a: MarketToken, b: MarketToken, price: bigint): Promise<AlgebraPool>;
  /** Changes the fee from the next swap on, and the fees of single swaps. Not for V1, which chooses its fee. */
  setFees(pool: AlgebraPool, next: number, overriding: number, own: number): void;
  /** Sets the community's part of the fees, in thousandths. */
  setCommunityFee(pool: AlgebraPool, thousandths: number): void;
}

/** Deploys the factories and one token for each number of decimals. The trader gets all tokens. */
export async function deployAlgebra(rpc: DevRpc, decimals: readonly number[]): Promise<AlgebraMarket> {
  const folder = await installProject(__dirname, 'algebra');
  const market = await openPoolMarket(rpc, join(__dirname, 'Algebra.sol'), decimals, GAS);
  const { owner, maker, codeOf, deploy, add, mine } = market;
  const artifactOf = (of: AlgebraVersion | `positions-${AlgebraVersion}`, name: string): Artifact => {
    const file = `node_modules/algebra-${of}/artifacts/contracts/${name}.sol/${name}.json`;
    return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Artifact;
  };
  const deployFactory = (version: AlgebraVersion): Hex => {
    const [poolDeployer, factory] = [
      artifactOf(version, 'AlgebraPoolDeployer'),
      artifactOf(version, 'AlgebraFactory'),
    ];
    const factoryAbi = new Interface(factory.abi);
    if (version === 'v1') {
      const deployer = deploy(poolDeployer.bytecode);
      // The package has another build of the pool than the one whose hash its factory contains.
      const poolHash = keccak256(artifactOf(version, 'AlgebraPool').bytecode).slice(2);
      const code = factory.bytecode.replaceAll(V1_POOL_HASH, poolHash) as Hex;
      const address = deploy(code, factoryAbi, [deployer, VAULT]);
      add(deployer, ADMIN, 'setFactory', [address]);
      return address;
    }
    // The deployer and the factory name each other, so the factory's address is computed first.
    const probe = maker.add({ from: owner, to: VAULT, gas: 30_000, data: '0x' });
    const address = getCreateAddress({ from: owner, nonce: probe + 2 }).toLowerCase() as Hex;
    const deployer = deploy(poolDeployer.bytecode, new Interface(poolDeployer.abi), [address]);
    return deploy(factory.bytecode, factoryAbi, [deployer]);
  };
  const plugin = deploy(codeOf('Plugin'));
  await mine();
  const factories = new Map<AlgebraVersion, Hex>();
  for (const version of ALGEBRA_VERSIONS) {
    factories.set(version, deployFactory(version));
    await mine();
  }
  return {
    ...market,
    factories,
    async deployPositions(version) {
      const { abi, bytecode } = artifactOf(`positions-${version}`, POSITIONS);
      const factory = factories.get(version) ?? ZERO_ADDRESS;
      const factoryAbi = new Interface(artifactOf(version, 'AlgebraFactory').abi);
      const poolDeployer = await readContract(rpc, factoryAbi, factory, 'poolDeployer');
      // The packages have other builds of the pool than those whose hashes the managers contain.
      const poolHash = keccak256(artifactOf(version, 'AlgebraPool').bytecode).slice(2);
      const code = bytecode.replaceAll(POSITIONS_POOL_HASH[version], poolHash) as Hex;
      return deploy(code, new Interface(abi), [factory, VAULT, VAULT, poolDeployer]);
    },
    addPosition(manager, pool, ticks, amounts) {
      const { abi } = artifactOf(`positions-${pool.version}`, POSITIONS);
      const deployer = pool.version === 'v1' ? [] : [ZERO_ADDRESS];
      const params = [
        pool.token0.address,
        pool.token1.address,
        ...deployer,
        ...ticks,
        ...amounts,
        0,
        0,
        owner,
        NEVER,
      ];
      addPosition(market, manager, pool, { abi: new Interface(abi), params });
    },
    async createPool(version, a, b, price) {
      const [token0, token1] = inOrder(a, b);
      const factory = factories.get(version) ?? ZERO_ADDRESS;
      const withData = version.startsWith('1.2');
      const name = withData ? 'createPool(address,address,bytes)' : 'createPool(address,address)';
      add(factory, ADMIN, name, [a.address, b.address, ...(withData ? ['0x'] : [])]);
      await mine();
      const { abi } = artifactOf(version, 'AlgebraFactory');
      const pair = [token0.address, token1.address];
      const found = await readContract(rpc, new Interface(abi), factory, 'poolByPair', pair);
      const address = String(found).toLowerCase() as Hex;
      add(address, ADMIN, 'initialize', [price]);
      if (version !== 'v1') {
        add(address, ADMIN, 'setCommunityVault', [VAULT]);
        add(address, ADMIN, 'setPlugin', [plugin]);
        add(address, ADMIN, 'setPluginConfig', [
          PLUGIN_CONFIG | (version.startsWith('1.2') ? 0 : DYNAMIC_FEE),
        ]);
      }
      await mine();
      return { address, version, token0, token1 };
    },
    setFees({ address, version }, next, overriding, own) {
      if (!version.startsWith('1.2')) return add(plugin, PLUGIN, 'setFees', [address, next, overriding, own]);
      const isDynamic = overriding + own > 0;
      add(address, ADMIN, 'setPluginConfig', [PLUGIN_CONFIG | (isDynamic ? DYNAMIC_FEE : 0)]);
      if (!isDynamic) add(address, ADMIN, 'setFee', [next]);
      add(plugin, PLUGIN, 'setFees', [address, 0, overriding, own]);
    },
    setCommunityFee({ address, version }, thousandths) {
      if (version === 'v1')
        add(address, ADMIN, 'setCommunityFee(uint8,uint8)', [thousandths, Math.floor(thousandths / 2)]);
      else add(address, ADMIN, 'setCommunityFee(uint16)', [thousandths]);
    },
  };
}
