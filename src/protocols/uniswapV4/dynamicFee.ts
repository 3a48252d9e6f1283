/** The fee in the key of a V4 pool. */

/** LPFeeLibrary.DYNAMIC_FEE_FLAG: the fee of a pool whose hook sets the fee. Its fee is 0 until then. */
export const DYNAMIC_FEE = 0x800000n;

/** In pips; 0 if a hook sets the fee. */
export function feePipsOf(fee: bigint): number {
  return fee === DYNAMIC_FEE ? 0 : Number(fee);
}
