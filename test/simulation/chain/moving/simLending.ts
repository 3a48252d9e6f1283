/**
 * Lending tokens of simulated StableSwap pools: a rate that grows with time, and swaps that name the lent token. Shares no code
 * with the product.
 */
import type { Hex } from '../../../../src/domain/hex';
import type { CurveBooks } from '../../../support/oracle/curveContract';
import { digest } from '../../../support/plainLogs';
import { simDecimals } from '../simTokens';

const ONE = 10n ** 18n;
/** A rate grows each second by about this part of its first value. */
const SECOND_PARTS = 10n ** 10n;

/** A token that one pool lends. Like the token behind it, it has at most 18 decimals. */
export function lendingToken(id: string): Hex {
  let token = digest(`lending ${id}`, 20);
  while (simDecimals(token) > 18) token = digest(token, 20);
  return token;
}

/** The rate of a token that grows no more, and the first one of another lending token. */
export function lendingRate(token: Hex): bigint {
  return ONE + BigInt(token.slice(0, 18));
}

/** Lent tokens per lending token. 1e18 means 1. */
export const rateOf = ({ rates, lentUnit = 1n }: CurveBooks): bigint => rates[0]! / lentUnit;

/** The books when the pool is used at this time, unix seconds. A rate never falls. */
export function withInterest(books: CurveBooks, token: Hex, timestamp: number): CurveBooks {
  const grown = (lendingRate(token) * (SECOND_PARTS + BigInt(timestamp))) / SECOND_PARTS;
  return grown > rateOf(books) ? withRate(books, grown) : books;
}

/** The books after another use of the lending token, of which the logs of the pool tell nothing. */
export function usedAgain(books: CurveBooks): CurveBooks {
  const rate = rateOf(books);
  return withRate(books, rate + rate / SECOND_PARTS);
}

function withRate(books: CurveBooks, rate: bigint): CurveBooks {
  return { ...books, rates: [rate * books.lentUnit!, ...books.rates.slice(1)] };
}

/** An amount of the lending token in the lent token. */
export const toLent = (books: CurveBooks, amount: bigint): bigint => (amount * rateOf(books)) / ONE;

/** The amount of the lending token that the contract counts for lent tokens. */
export const fromLent = (books: CurveBooks, lent: bigint): bigint => (lent * ONE) / rateOf(books);
