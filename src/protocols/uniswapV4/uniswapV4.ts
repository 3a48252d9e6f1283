/** Uniswap V4 (Uniswap/v4-core): the manager is the PoolManager. */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { PoolCreation, Protocol } from '../protocol';
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
import { v4OwedQuestions, v4TickQuestions } from './poolSlots';
import { createV4Protocol, newPoolFee } from './v4Pool';
import { v4IdQuestions } from './v4Questions';

/** Topic of Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24
 * tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0xdd466e674ea557f56295e2d0218a125ea4b4f0f6f3307b95f85e6110838d6438';
/** Topic of Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96,
 * uint128 liquidity, int24 tick, uint24 fee). */
const SWAP: Hex = '0x40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f';

const events = { initialize: INITIALIZE, swap: SWAP, swapWords: 6, decodeCreation } as const;

export const uniswapV4 = {
  ...createV4Protocol('uniswap_v4', events),
  idQuestions: v4IdQuestions,
  tickQuestions: v4TickQuestions,
  owedQuestions: v4OwedQuestions,
} satisfies Protocol;

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
