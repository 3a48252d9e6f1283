/** Bin pools of PancakeSwap Infinity, and the manager of shares in their bins. See Infinity.sol. */
import { AbiCoder, Interface, keccak256 } from 'ethers';

import { ADDRESS_CONSTRUCTOR, encodeCall, ERC20 } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { readBigInt, type MarketToken } from '../protocols/poolMarket';
import { keyed, type InfinityMarket, type InfinityPool } from './infinityMarket';

export const BIN_MANAGER = new Interface([
  ...keyed(
    'initialize(uint24 activeId)',
    'mint(uint256[] ids, tuple(uint256 x, uint256 y)[] amounts) payable',
    'burn(uint256[] ids, uint256 part)',
    'swap(bool swapForY, int128 amount) payable returns (int256, int256)',
    'donate(uint128 amount0, uint128 amount1) payable',
  ),
  'function getSlot0(bytes32 id) view returns (uint24 activeId, uint24 protocolFee, uint24 lpFee)',
  'function getBin(bytes32 id, uint24 binId) view returns (uint256 x, uint256 y, uint256 liquidity, uint256 shares)',
  'function getPrice(bytes32 id, uint24 binId) view returns (uint256)',
  'function getReserves(bytes32 id) view returns (uint256 x, uint256 y)',
]);
const POSITIONS = new Interface([
  ...keyed(
    'add(uint256[] bins, tuple(uint256 x, uint256 y)[] amounts, address to) payable',
    'remove(address from, uint256[] bins, uint256[] shares) returns (uint256, uint256)',
  ),
  'function approve(address token)',
  'function balanceOf(address owner, uint256 id) view returns (uint256)',
  'function batchTransferFrom(address from, address to, uint256[] ids, uint256[] shares)',
]);
const MIDDLE_ID = 2 ** 23;
/** Native coins for a deposit; those that are left over stay in the manager. */
const COINS = 10n ** 23n;

/** The bin whose price is nearest to 1 in whole tokens. */
export function middleBin(token0: MarketToken, token1: MarketToken, step: number): number {
  const digits = token1.decimals - token0.decimals;
  return MIDDLE_ID + Math.round((digits * Math.log(10)) / Math.log1p(step / 10_000));
}

/** The BinPositionManager. Its actions come with the next block. */
export interface BinPositions {
  readonly address: Hex;
  /** `amounts`: of both tokens in each bin. */
  add(pool: InfinityPool, bins: readonly number[], amounts: readonly (readonly bigint[])[], to: Hex): void;
  send(pool: InfinityPool, from: Hex, to: Hex, bins: readonly number[], shares: bigint): void;
  /** Takes all shares of these bins out. */
  remove(pool: InfinityPool, owner: Hex, bins: readonly number[]): Promise<void>;
  readShares(pool: InfinityPool, owner: Hex, bins: readonly number[]): Promise<bigint[]>;
  /** What `remove` would pay now. */
  askPaid(pool: InfinityPool, owner: Hex, bins: readonly number[]): Promise<bigint[]>;
}

export async function deployBinPositions(rpc: DevRpc, market: InfinityMarket): Promise<BinPositions> {
  const address = market.deploy(market.codeOf('BinPositionManager'), ADDRESS_CONSTRUCTOR, [market.manager]);
  await market.mine();
  for (const { address: token, decimals } of market.tokens) {
    market.run(token, ERC20, 'transfer', [address, 10n ** BigInt(decimals + 12)]);
    market.run(address, POSITIONS, 'approve', [token]);
  }
  await market.mine();
  const numberOf = ({ address: id }: InfinityPool, bin: number): string =>
    keccak256(AbiCoder.defaultAbiCoder().encode(['bytes32', 'uint256'], [id, bin]));
  const readShares: BinPositions['readShares'] = (pool, owner, bins) =>
    Promise.all(
      bins.map((bin) => readBigInt(rpc, POSITIONS, address, 'balanceOf', [owner, numberOf(pool, bin)])),
    );
  return {
    address,
    add: ({ key, token0 }, bins, amounts, to) =>
      market.run(
        address,
        POSITIONS,
        'add',
        [key, bins, amounts, to],
        token0.address === ZERO_ADDRESS ? COINS : 0n,
      ),
    send(pool, from, to, bins, shares) {
      const ids = bins.map((bin) => numberOf(pool, bin));
      const values = [from, to, ids, bins.map(() => shares)];
      market.run(address, POSITIONS, 'batchTransferFrom', values);
    },
    async remove(pool, owner, bins) {
      const shares = await readShares(pool, owner, bins);
      market.run(address, POSITIONS, 'remove', [pool.key, owner, bins, shares]);
    },
    readShares,
    async askPaid(pool, owner, bins) {
      const values = [pool.key, owner, bins, await readShares(pool, owner, bins)];
      const call = { to: address, data: encodeCall(POSITIONS, 'remove', values) };
      const answer = String(await rpc.call('eth_call', [call, 'latest']));
      return [...POSITIONS.decodeFunctionResult('remove', answer)].map((value) => BigInt(value as bigint));
    },
  };
}
