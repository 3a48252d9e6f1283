/** What the contracts of simulated StableSwap pools answer: the pool, its LP token, and its factory or registry. */
import type { Hex } from '../../../../src/domain/hex';
import { isRegistered, type CurveBooks } from '../../../support/oracle/curveContract';
import { selectorOf } from './movingPool';
import { arrayData, dataOf, digest } from '../../../support/plainLogs';
import { SIM_SYMBOL, simDecimals } from '../simTokens';
import { lendingRate, rateOf } from './simLending';

export interface CurveFacts {
  readonly address: Hex;
  /** The contract of the LP tokens. */
  readonly share: Hex;
  readonly tokens: readonly Hex[];
  /** Whether the node is asked for the rate of the first coin: by StableSwap-NG, or as a lending token. */
  readonly hasRates: boolean;
  readonly bornIn: number;
}

/** Calls of a factory or registry. All but the last one have the address of a pool. */
const CALL = {
  coinsOf: selectorOf('get_coins(address)'),
  typesOf: selectorOf('get_pool_asset_types(address)'),
  baseOf: selectorOf('get_base_pool(address)'),
  decimalsOf: selectorOf('get_decimals(address)'),
  shareOf: selectorOf('get_lp_token(address)'),
  ratesOf: selectorOf('get_rates(address)'),
  lentOf: selectorOf('get_underlying_coins(address)'),
  lentDecimalsOf: selectorOf('get_underlying_decimals(address)'),
  pairInfo: selectorOf('stableSwapPairInfo(address,address,address)'),
};
const POOL_CALL = {
  coins: selectorOf('coins(uint256)'),
  rates: selectorOf('RATES(uint256)'),
  balances: selectorOf('balances(uint256)'),
  balancesOfInt: selectorOf('balances(int128)'),
  supply: selectorOf('totalSupply()'),
  storedRates: selectorOf('stored_rates()'),
  decimals: selectorOf('decimals()'),
  symbol: selectorOf('symbol()'),
  virtualPrice: selectorOf('get_virtual_price()'),
};
const NAMES = new Map(
  ['initial_A()', 'future_A()', 'initial_A_time()', 'future_A_time()', 'fee()', 'admin_fee()']
    .concat('offpeg_fee_multiplier()', 'is_killed()', 'token()', 'A_precise()', 'A()')
    .map((name) => [selectorOf(name), name]),
);

const ZERO: Hex = `0x${'0'.repeat(40)}`;
/** Lists of the registry, and of the factory of 2021, have a fixed length. */
const REGISTRY_LIST = 8;
const FACTORY_LIST = 4;
const ONE = 10n ** 18n;

/** The functions of cTokens and of yTokens. */
const RATES = ['exchangeRateCurrent()', 'getPricePerFullShare()'].map(selectorOf);

/** Null for a question about something else. */
export function answerCurve(
  factory: Hex,
  facts: CurveFacts,
  books: CurveBooks,
  to: Hex,
  data: Hex,
): Hex | 'revert' | null {
  if (to === factory) return answerOfFactory(facts, books, data);
  const isLending = books.kind === 'fixed' && facts.hasRates && to === facts.tokens[0];
  if (isLending && books.lentUnit === undefined && data === RATES[0]) return dataOf(lendingRate(to));
  // The tokens whose rates grow are cTokens and yTokens.
  const isGrowing = isLending && books.lentUnit !== undefined;
  if (isGrowing && data === RATES[Number(BigInt(to) % 2n)]) return dataOf(rateOf(books));
  if (to === facts.share && data === POOL_CALL.supply) return dataOf(books.supply);
  // The LP token may be a coin of a meta pool.
  if (to === facts.share || isGrowing) {
    if (data === POOL_CALL.decimals) return dataOf(BigInt(simDecimals(to)));
    if (data === POOL_CALL.symbol) return SIM_SYMBOL;
  }
  return to === facts.address ? (answerOfPool(facts, books, data) ?? 'revert') : null;
}

function answerOfFactory(
  { address, tokens, hasRates, share }: CurveFacts,
  { kind, base }: CurveBooks,
  data: Hex,
): Hex | null {
  const asks = (selector: string, ...values: readonly Hex[]): boolean =>
    data === `${selector}${dataOf(...values).slice(2)}`;
  if (kind === 'pancake') {
    const coins = [...tokens, ZERO, ZERO].slice(0, 3);
    return asks(CALL.pairInfo, ...coins) ? dataOf(address, ...coins, share) : null;
  }
  if (kind === 'ng') {
    if (asks(CALL.coinsOf, address)) return arrayData([tokens]);
    return asks(CALL.typesOf, address)
      ? arrayData([tokens.map((_, index) => (hasRates && index === 0 ? 1n : 0n))])
      : null;
  }
  const isRegistry = isRegistered(kind);
  const listed = (values: readonly (Hex | bigint)[]): Hex => {
    const length = isRegistry ? REGISTRY_LIST : FACTORY_LIST;
    return dataOf(...values, ...Array.from({ length: length - values.length }, () => 0n));
  };
  if (asks(CALL.coinsOf, address)) return listed(tokens);
  if (asks(CALL.decimalsOf, address)) return listed(tokens.map((token) => BigInt(simDecimals(token))));
  if (base !== null && asks(CALL.baseOf, address)) return dataOf(base);
  if (!isRegistry) return null;
  if (asks(CALL.shareOf, address)) return dataOf(share);
  const lent = hasRates ? [digest(`lent ${tokens[0]}`, 20), ...tokens.slice(1)] : tokens;
  if (asks(CALL.lentOf, address)) return listed(lent);
  if (asks(CALL.lentDecimalsOf, address)) return listed(tokens.map((token) => BigInt(simDecimals(token))));
  return asks(CALL.ratesOf, address) ? listed(tokens.map(() => ONE)) : null;
}

function answerOfPool(facts: CurveFacts, books: CurveBooks, data: Hex): Hex | null {
  const { kind } = books;
  const [called, index] = [data.slice(0, 10), Number(`0x${data.slice(10, 74) || '0'}`)];
  const at = (values: readonly (Hex | bigint)[]): Hex | null => {
    const value = values[index];
    return value === undefined ? null : dataOf(value);
  };
  // An event of a meta pool makes it count by the price that the program computes.
  if (data === POOL_CALL.virtualPrice) return dataOf(ONE);
  if (called === POOL_CALL.coins) return at(facts.tokens);
  if (called === POOL_CALL.balances) return kind === 'fixed' ? null : at(books.balances);
  if (called === POOL_CALL.balancesOfInt) return kind === 'fixed' ? at(books.balances) : null;
  if (called === POOL_CALL.rates) return kind === 'pancake' ? at(books.rates) : null;
  if (kind === 'ng' && data === POOL_CALL.storedRates) return arrayData([books.rates]);
  const value = settingsOf(facts, books)[NAMES.get(called) ?? ''];
  return value === undefined ? null : dataOf(value);
}

/** The answers of functions without arguments. */
function settingsOf(
  { share }: CurveFacts,
  { kind, ramp, ...books }: CurveBooks,
): Readonly<Record<string, Hex | bigint>> {
  const [from, to, begin, end] = ramp;
  const ramping = {
    'initial_A()': from,
    'future_A()': to,
    'initial_A_time()': begin,
    'future_A_time()': end,
  };
  return {
    ...(kind === 'fixed' ? { 'A()': to } : ramping),
    'fee()': books.fee,
    'admin_fee()': books.adminFee,
    ...(kind === 'ng' && { 'offpeg_fee_multiplier()': books.offpeg }),
    ...(kind === 'pancake' && { 'is_killed()': books.isKilled ? 1n : 0n, 'token()': share }),
    ...((kind === 'factory' || kind === 'pair') && { 'A_precise()': to }),
  };
}
