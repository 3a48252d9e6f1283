/**
 * The protocol's part of the swap fee in V3 pools. The fee of a swap is paid in the token that goes in, and each token
 * has its own part. Uniswap keeps N in a uint8 (4 bits for each token): the protocol gets 1/N of the fee, N = 4 to 10,
 * 0 = nothing (UniswapV3Pool.sol, swap and setFeeProtocol). PancakeSwap keeps ten-thousandths of the fee in a uint32
 * (16 bits for each token; PancakeV3Pool.sol), and its pools start with 32 to 34 %.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { readWords } from '../abiArrays';
import type { FirstShares, ProtocolShares, SharesChange } from '../protocol';

/** Topic of Uniswap's SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 0New, uint8 1New). */
const SET_FEE_PROTOCOL: Hex = '0x973d8d92bb299f4af6ce49b52a8adb85ae46b9f214c4c4fc06ac77401237b133';
/** Topic of PancakeSwap's SetFeeProtocol(uint32 feeProtocol0Old, uint32 feeProtocol1Old, uint32 0New, uint32 1New). */
const PANCAKE_SET_FEE_PROTOCOL: Hex = '0xb3159fed3ddfba67bae294599eafe2d0ec98c08bb38e0e5fb87d33154b6e05aa';
/** topic0 of the events that change the protocol's part. */
export const FEE_PROTOCOL_TOPICS: readonly Hex[] = [SET_FEE_PROTOCOL, PANCAKE_SET_FEE_PROTOCOL];

const FEE_DENOMINATOR = 10_000n;
const [UNISWAP_MIN, UNISWAP_MAX] = [4n, 10n];
const SLOT0_WORDS = 7;
const SLOT0_FEE_WORD = 5;

/** Decodes SetFeeProtocol of either layout. Null for another topic or a malformed layout. */
export function decodeSetFeeProtocol({
  topics,
  data,
}: Pick<ChainLog, 'topics' | 'data'>): SharesChange | null {
  const [topic] = topics;
  const shareOf = topic === SET_FEE_PROTOCOL ? uniswapShare : pancakeShare;
  if (topics.length !== 1 || !FEE_PROTOCOL_TOPICS.some((known) => known === topic)) return null;
  const [old0, old1, new0, new1, ...rest] = readWords(data, 4) ?? [];
  if (old0 === undefined || old1 === undefined || new0 === undefined || new1 === undefined) return null;
  if (rest.length > 0) return null;
  return { before: toShares(shareOf(old0), shareOf(old1)), after: toShares(shareOf(new0), shareOf(new1)) };
}

/**
 * Decodes the parts in an answer of slot0(). PancakeSwap allows no part below 10 %, so its values are above the uint8 of
 * Uniswap. `isReady` is false for a pool without a first price: initialize() sets the parts. Null if the answer is no
 * slot0, or if the parts are out of range.
 */
export function decodeSlot0Shares(answer: Hex): FirstShares | null {
  const words = readWords(answer, SLOT0_WORDS);
  const [price, packed] = [words?.[0], words?.[SLOT0_FEE_WORD]];
  if (words?.length !== SLOT0_WORDS || price === undefined || packed === undefined) return null;
  const shares =
    packed <= 0xffn
      ? toShares(uniswapShare(packed & 0xfn), uniswapShare(packed >> 4n))
      : toShares(pancakeShare(packed & 0xffffn), pancakeShare(packed >> 16n));
  return { isReady: price > 0n, shares };
}

function uniswapShare(n: bigint): number | null {
  if (n === 0n) return 0;
  return n < UNISWAP_MIN || n > UNISWAP_MAX ? null : 1 / Number(n);
}

function pancakeShare(parts: bigint): number | null {
  return parts > FEE_DENOMINATOR ? null : Number(parts) / Number(FEE_DENOMINATOR);
}

function toShares(share0: number | null, share1: number | null): ProtocolShares | null {
  return share0 === null || share1 === null ? null : { share0, share1 };
}
