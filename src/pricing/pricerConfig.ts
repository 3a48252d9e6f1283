/** What the prices of a chain follow from, beside its blocks. */
import type { Hex } from '../domain/hex';
import type { PriceAnchor } from './priceRoute';

export interface PricerConfig {
  readonly anchors: readonly PriceAnchor[];
  /** Null if it is not configured. */
  readonly wrappedNative: Hex | null;
  /** Mean time between two blocks. */
  readonly blockSeconds?: number | undefined;
}
