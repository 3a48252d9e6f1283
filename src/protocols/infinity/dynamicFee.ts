/** The fee that a hook sets for a pool of PancakeSwap Infinity (IPoolManager.sol of pancakeswap/infinity-core). */
import type { ChainLog } from '../../domain/block';
import { readNumber } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { SwapFees } from '../protocol';

/** Topic of DynamicLPFeeUpdated(bytes32 indexed id, uint24 dynamicLPFee). */
export const DYNAMIC_FEE_UPDATED: Hex = '0x14b2b80e0d62303dc85494859f35a84579160aafbd650180ddf526b1ab547bd6';
const PIPS = 1_000_000n;

export const dynamicFee = {
  keptTopics: [DYNAMIC_FEE_UPDATED],
  feeChange: { topics: [DYNAMIC_FEE_UPDATED], decodeFees },
} as const;

function decodeFees({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): SwapFees | null {
  const fee = topics[0] === DYNAMIC_FEE_UPDATED ? readNumber(data) : null;
  return fee === null || fee > PIPS ? null : [Number(fee), Number(fee)];
}
