/**
 * The common parts of the Initialize events of both managers of PancakeSwap Infinity (pancakeswap/infinity-core). The word
 * `parameters` holds the permissions of the hook in its lowest 16 bits, and the tick spacing or the bin step above them.
 */
import type { ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { HOOK_PERMISSIONS } from '../hooks';
import type { PoolCreation } from '../protocol';
import { newPoolFee } from '../uniswapV4/v4Pool';
import { addressAt, addressOfTopic, isAddressTopic, isUint160, loadData, uintAt } from '../words';

const STEP_SHIFT = 16n;

interface Layout {
  readonly topic: Hex;
  /** Words of the data. The first three are the hook, the fee and `parameters`. */
  readonly words: number;
  /** Largest fee in pips, and largest tick spacing or bin step. */
  readonly feeMax: bigint;
  readonly stepMax: bigint;
}

/** Leaves the data loaded. */
export function decodeInfinityCreation({ topics, data }: ChainLog, layout: Layout): PoolCreation | null {
  const [topic, id, token0, token1] = topics;
  if (topic !== layout.topic || topics.length !== 4 || id === undefined) return null;
  if (!loadData(data, layout.words) || !isUint160(0)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1)) return null;
  const feePips = newPoolFee(uintAt(1), layout.feeMax);
  const parameters = uintAt(2);
  const step = parameters >> STEP_SHIFT;
  if (feePips === null || step === 0n || step > layout.stepMax) return null;
  const hooks = addressAt(data, 0);
  return {
    pool: addressOfWord(id),
    id,
    ...(hooks === ZERO_ADDRESS
      ? { hooks: null, hookBits: null }
      : { hooks, hookBits: toHookBits(Number(parameters & 0xffffn)) }),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips,
    tickSpacing: Number(step),
  };
}

/** Infinity counts the permissions from the lowest bit on, Uniswap V4 from the highest one. */
function toHookBits(registered: number): number {
  return HOOK_PERMISSIONS.reduce((bits, _, index) => bits * 2 + ((registered >> index) & 1), 0);
}
