/**
 * Creations of pools of both managers of PancakeSwap Infinity (pancakeswap/infinity-core): the common parts of their
 * Initialize events, and the keys that the managers keep. The word `parameters` holds the permissions of the hook in its
 * lowest 16 bits, and the tick spacing or the bin step above them.
 */
import { keccak256 } from 'ethers';

import type { ChainLog } from '../../domain/block';
import { callData, readAddress, readUint } from '../../domain/contractCall';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { HOOK_PERMISSIONS } from '../hooks';
import type { IdQuestions, PoolCreation } from '../protocol';
import { newPoolFee } from '../uniswapV4/v4Pool';
import { addressAt, addressOfTopic, isAddressTopic, isUint160, loadData, uintAt } from '../words';

const STEP_SHIFT = 16n;
/** Number of hex digits of a key: six words and 0x. */
const KEY_LENGTH = 2 + 6 * 64;

interface Limits {
  /** Largest fee in pips, and largest tick spacing or bin step. */
  readonly feeMax: bigint;
  readonly stepMax: bigint;
}

interface Layout extends Limits {
  readonly topic: Hex;
  /** Number of words in the data of the event. The first three are the hook, the fee and `parameters`. */
  readonly words: number;
}

/** Leaves the data loaded. */
export function decodeInfinityCreation({ topics, data }: ChainLog, layout: Layout): PoolCreation | null {
  const [topic, id, token0, token1] = topics;
  if (topic !== layout.topic || topics.length !== 4 || id === undefined) return null;
  if (!loadData(data, layout.words) || !isUint160(0)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1)) return null;
  const tokens = [addressOfTopic(token0), addressOfTopic(token1)] as const;
  return toCreation(id, tokens, { hooks: addressAt(data, 0), fee: uintAt(1), parameters: uintAt(2) }, layout);
}

/**
 * A manager keeps the keys of its pools: currency0, currency1, hooks, manager, fee and parameters. The id of a pool is the
 * hash of its key.
 */
export function createKeyQuestions(limits: Limits): Pick<IdQuestions, 'describeCall' | 'readCreation'> {
  return {
    describeCall: ({ factory: to }, id) => ({ to, data: callData('poolIdToPoolKey(bytes32)', id) }),
    readCreation(id, answer) {
      if (answer?.length !== KEY_LENGTH || keccak256(answer) !== id) return null;
      const [fee, parameters, token1] = [readUint(answer, 4), readUint(answer, 5), readAddress(answer, 1)];
      if (fee === null || parameters === null || token1 === null) return null;
      const tokens = [readAddress(answer) ?? ZERO_ADDRESS, token1] as const;
      return toCreation(
        id,
        tokens,
        { hooks: readAddress(answer, 2) ?? ZERO_ADDRESS, fee, parameters },
        limits,
      );
    },
  };
}

/** Null for a fee or step that the manager refuses. */
function toCreation(
  id: Hex,
  [token0, token1]: readonly [Hex, Hex],
  { hooks, fee, parameters }: { readonly hooks: Hex; readonly fee: bigint; readonly parameters: bigint },
  { feeMax, stepMax }: Limits,
): PoolCreation | null {
  const feePips = newPoolFee(fee, feeMax);
  const step = parameters >> STEP_SHIFT;
  if (feePips === null || step === 0n || step > stepMax) return null;
  return {
    pool: addressOfWord(id),
    id,
    ...(hooks === ZERO_ADDRESS
      ? { hooks: null, hookBits: null }
      : { hooks, hookBits: toHookBits(Number(parameters & 0xffffn)) }),
    token0,
    token1,
    feePips,
    tickSpacing: Number(step),
  };
}

/** Infinity counts the permissions from the lowest bit on, Uniswap V4 from the highest one. */
function toHookBits(registered: number): number {
  return HOOK_PERMISSIONS.reduce((bits, _, index) => bits * 2 + ((registered >> index) & 1), 0);
}
