/**
 * Decodes the events of Solidly pools. Two generations differ in the layouts of creations, swaps and burns. Solidly and
 * Velodrome V1 have the swaps, mints and burns of Uniswap V2 (velodrome-finance/v1, Pair.sol). Velodrome V2 and Aerodrome
 * have their own (aerodrome-finance/contracts, Pool.sol). Forks mix both, so the topic tells the layout.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { POOL_STABLE, POOL_V2 } from '../../domain/pools/poolShape';
import type { PoolCreation, PoolEvent, SyncEvent } from '../protocol';
import { uniswapV2 } from '../uniswapV2/uniswapV2';
import { addressAt, addressOfTopic, isAddressTopic, isUint160, loadData, uintAt } from '../words';

/** Topic of PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256). */
const PAIR_CREATED: Hex = '0xc4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9';
/** Topic of PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256). */
const POOL_CREATED: Hex = '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e';
/** Topic of Sync(uint256 reserve0, uint256 reserve1). */
const SYNC: Hex = '0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a';
/** Topic of Swap(address indexed sender, address indexed to, uint256 amount0In, amount1In, amount0Out, amount1Out). */
const SWAP: Hex = '0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b';
/** Topic of Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1). */
const BURN: Hex = '0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2';
/** Topics of Swap and Burn in Uniswap V2, whose `to` is the last argument. */
const V2_SWAP: Hex = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';
const V2_BURN: Hex = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496';

export const SOLIDLY_CREATIONS: ReadonlySet<Hex> = new Set([PAIR_CREATED, POOL_CREATED]);
export const SOLIDLY_EVENTS: ReadonlySet<Hex> = new Set([SYNC, SWAP, BURN, ...uniswapV2.eventTopics]);

export function decodeSolidlyCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1, stableTopic] = topics;
  const isIndexed = topic === POOL_CREATED;
  if (!isIndexed && topic !== PAIR_CREATED) return null;
  if (topics.length !== (isIndexed ? 4 : 3) || !loadData(data, isIndexed ? 2 : 3)) return null;
  const poolWord = isIndexed ? 0 : 1;
  const stable = isIndexed ? BigInt(stableTopic ?? -1) : uintAt(0);
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isUint160(poolWord) || stable > 1n) return null;
  return {
    pool: addressAt(data, poolWord),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: null,
    tickSpacing: 0,
    poolType: stable === 1n ? POOL_STABLE : POOL_V2,
  };
}

/** Both layouts have the same data, so a log of the newer one is read as the Uniswap V2 log with the same words. */
export function decodeSolidlyEvent(log: ChainLog): PoolEvent | null {
  const { topics } = log;
  const [topic, sender, recipient] = topics;
  if (topic === SYNC) return decodeSync(log);
  if (topic !== SWAP && topic !== BURN) return uniswapV2.decodeEvent(log);
  if (sender === undefined || recipient === undefined || topics.length !== 3) return null;
  return uniswapV2.decodeEvent({ ...log, topics: [topic === SWAP ? V2_SWAP : V2_BURN, sender, recipient] });
}

function decodeSync({ topics, data }: ChainLog): SyncEvent | null {
  if (topics.length !== 1 || !loadData(data, 2)) return null;
  return { kind: 'sync', reserve0: uintAt(0), reserve1: uintAt(1) };
}
