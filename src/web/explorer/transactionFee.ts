/** What a transaction paid. */

interface Payment {
  readonly gasUsed: bigint | null;
  /** In wei. */
  readonly gasPrice: bigint | null;
  /**
   * What the data of the transaction cost on layer 1, in wei: on the OP Stack and Scroll, beside the gas. Null on other
   * chains; on Arbitrum, `gasUsed` contains this cost.
   */
  readonly layer1Fee: bigint | null;
}

/** In wei. Null if it is unknown. */
export function transactionFee({ gasUsed, gasPrice, layer1Fee }: Payment): bigint | null {
  return gasUsed === null || gasPrice === null ? null : gasUsed * gasPrice + (layer1Fee ?? 0n);
}
