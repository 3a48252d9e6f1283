/**
 * The native coin of a chain. Pools that hold the coin itself, without a token contract, name it by the zero address. One
 * coin is always worth one wrapped coin, so prices know only the wrapped coin.
 */
import { ZERO_ADDRESS } from '../hex';

/** How pools name the native coin. */
export const NATIVE_COIN = ZERO_ADDRESS;

/** One coin in wei, on every chain of the EVM. */
export const NATIVE_DECIMALS = 18;

/** The token whose price a token has: the wrapped coin for the native coin, and else the token itself. */
export function pricedAs<Address extends string>(token: Address, wrappedNative: Address | null): Address {
  return token === NATIVE_COIN && wrappedNative !== null ? wrappedNative : token;
}
