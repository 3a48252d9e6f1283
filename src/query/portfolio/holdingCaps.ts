/**
 * Caps the value of a wallet's holdings. All its holdings of one token together are worth at most the token's cap,
 * because nobody could sell more of the token.
 */
import { countSides } from '../../pricing/cap';
import type { TokenPrice } from '../prices/priceByHops';

/** An amount of one token. */
interface HeldValue {
  readonly token: string;
  readonly price: TokenPrice;
  /** USD by any price; null if unknown. */
  readonly usd: number | null;
  /**
   * Value of the token in the position by the pool's own price, in any unit that all tokens of the position
   * share.
   */
  readonly poolValue: number;
}

interface CountedValues {
  /** Value of each amount after the caps, in USD; null if unknown. */
  readonly usd: readonly (number | null)[];
  readonly capped: boolean;
}

/**
 * Limits the values of one holding or one position. Only the parts of the caps that earlier calls did not use are
 * left.
 */
export type CountHolding = (values: readonly HeldValue[]) => CountedValues;

/** Makes the caps of one wallet. Each call uses up a part of the caps of its tokens. */
export function createHoldingCaps(): CountHolding {
  const usedCapUsd = new Map<string, number>();
  return (values) => {
    const countedUsd = countSides(
      values.map(({ token, price, usd, poolValue }) => ({
        usd: usd ?? 0,
        capUsd: Math.max(0, price.capUsd - (usedCapUsd.get(token) ?? 0)),
        poolWorth: poolValue,
      })),
    );
    let isCapped = false;
    const usd = values.map((value, i) => {
      if (value.usd === null) return null;
      const countedValueUsd = countedUsd[i] ?? 0;
      if (countedValueUsd < value.usd) isCapped = true;
      usedCapUsd.set(value.token, (usedCapUsd.get(value.token) ?? 0) + countedValueUsd);
      return countedValueUsd;
    });
    return { usd, capped: isCapped };
  };
}
