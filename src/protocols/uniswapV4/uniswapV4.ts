/**
 * Uniswap V4 (Uniswap/v4-core): the manager is the PoolManager. The position manager knows the keys of the pools in which
 * it has positions, and the id of a pool proves its key.
 */
import { keccak256 } from 'ethers';

import type { ChainLog } from '../../domain/block';
import { callData, readAddress, readInt, readUint, type ContractCall } from '../../domain/contractCall';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { PoolCreation } from '../protocol';
import {
  addressAt,
  addressOfTopic,
  int24At,
  isAddressTopic,
  isInt24,
  isUint160,
  loadData,
  uintAt,
} from '../words';
import { feePipsOf } from './dynamicFee';
import { createV4Protocol, newPoolFee } from './v4Pool';

/** Topic of Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24
 * tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438';
/** Topic of Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee). */
const SWAP: Hex = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f';

/** The slot of the map of all pools (StateLibrary.sol). */
const POOLS = 6n;
/** Number of hex digits of a key: five words and 0x. */
const KEY_LENGTH = 2 + 5 * 64;
/** The position manager keeps keys by the first 25 bytes of the id. */
const ID_TAIL_BITS = 56n;

export const uniswapV4 = createV4Protocol('uniswap_v4', {
  ...{ initialize: INITIALIZE, swap: SWAP, swapWords: 6, decodeCreation },
  ...{ pools: POOLS, describeCall, readCreation },
});

function describeCall({ positionManager: to }: Pick<Dex, 'positionManager'>, id: Hex): ContractCall | null {
  const head = (BigInt(id) >> ID_TAIL_BITS) << ID_TAIL_BITS;
  return to === undefined ? null : { to, data: callData('poolKeys(bytes25)', head) };
}

/** The id is the hash of the key: currency0, currency1, fee, tick spacing and hooks. */
function readCreation(id: Hex, answer: Hex | null): PoolCreation | null {
  if (answer?.length !== KEY_LENGTH || keccak256(answer) !== id) return null;
  const [fee, spacing] = [readUint(answer, 2), readInt(answer, 3, 24)];
  const token1 = readAddress(answer, 1);
  if (fee === null || spacing === null || spacing <= 0n || token1 === null) return null;
  return {
    pool: addressOfWord(id),
    id,
    hooks: readAddress(answer, 4),
    token0: readAddress(answer) ?? ZERO_ADDRESS,
    token1,
    feePips: feePipsOf(fee),
    tickSpacing: Number(spacing),
  };
}

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, id, token0, token1] = topics;
  if (topic !== INITIALIZE || topics.length !== 4 || id === undefined || !loadData(data, 5)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isInt24(1) || !isUint160(2)) return null;
  const hooks = addressAt(data, 2);
  const feePips = newPoolFee(uintAt(0));
  if (feePips === null) return null;
  return {
    pool: addressOfWord(id),
    id,
    hooks: hooks === ZERO_ADDRESS ? null : hooks,
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips,
    tickSpacing: int24At(1),
  };
}
