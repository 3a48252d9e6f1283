/**
 * What the node is asked about StableSwap pools. Curve's factories and its registry name the coins of a pool. Pancake's
 * factory names the pool of its coins. A pool that is itself the `factory` of its DEX, as that of PulseX, needs no
 * confirmation.
 */
import { callData, readAddress, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { DOUBTS } from '../../domain/pools/doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { COINS_MAX } from './curveEvents';
import {
  lacksCurveBooks,
  shareOf,
  toCurvePool,
  withCurveFacts,
  withCurvePool,
  withUnknownBooks,
  type CurveFacts,
} from './curveParams';
import type { CurvePool } from './curvePool';

/** Pools of Pancake's port have two or three coins. */
const PANCAKE_COINS = 3;
/** Asset types of StableSwap-NG: the rate comes from an oracle or from an ERC-4626 coin, or balances change without an event. */
const ORACLE = 1n;
const REBASING = 2n;
const ERC4626 = 3n;
const RATE_UNIT = 10n ** 18n;
/** A coin with more decimals is not possible in Curve's contracts. */
const DECIMALS_MAX = 36n;
/** The address that stands for the native coin in a list of coins. */
const NATIVE_COIN: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

export function curvePoolOfId(poolId: Hex): Hex {
  return `0x${poolId.slice(-40)}`;
}

/** The questions of the protocol. */
export const curveQuestions = {
  tokenCalls,
  readTokens,
  factCalls,
  withFacts,
  bookCalls,
  withBooks,
  lacksBooks: lacksCurveBooks,
  rateCalls,
  withRates,
  readsBooksAtCreation: true,
  // Each event makes its pool known.
  feeCall: () => null,
  readFee: () => null,
};

function tokenCalls(factory: Hex, poolId: Hex): ContractCall[] {
  const pool = curvePoolOfId(poolId);
  const coins = Array.from({ length: PANCAKE_COINS }, (_, index) => callData('coins(uint256)', index));
  return [
    { to: factory, data: callData('get_coins(address)', pool) },
    ...coins.map((data) => ({ to: pool, data })),
  ];
}

function readTokens([listed, ...coins]: readonly (Hex | null)[]): readonly Hex[] | null {
  const named = readCoins(listed);
  if (named !== null) return named;
  const tokens = coins.map((coin) => readAddress(coin)).filter((coin) => coin !== null);
  return tokens.length < 2 ? null : tokens;
}

/** The coins that a factory or registry names. Null if it does not know the pool. */
function readCoins(answer: Hex | null | undefined): readonly Hex[] | null {
  const words = readList(answer).filter((word) => word > 0n);
  return words.length >= 2 && words.length <= COINS_MAX ? toAddresses(words) : null;
}

/** A list of words: an array of StableSwap-NG, or one of a fixed size of the older contracts. */
function readList(answer: Hex | null | undefined): readonly bigint[] {
  return answer == null ? [] : (readArrays(answer, 1)?.[0] ?? readWords(answer, COINS_MAX) ?? []);
}

function factCalls(factory: Hex, { poolId, tokens }: ManyTokenState): ContractCall[] {
  const pool = curvePoolOfId(poolId);
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS, third = ZERO_ADDRESS] = tokens;
  const listings = [
    'get_coins',
    'get_pool_asset_types',
    'get_base_pool',
    'get_decimals',
    'get_lp_token',
    'get_rates',
  ];
  const rates = tokens.map((_token, index) => ({ to: pool, data: callData('RATES(uint256)', index) }));
  return [
    ...listings.map((name) => ({ to: factory, data: callData(`${name}(address)`, pool) })),
    { to: pool, data: callData('stored_rates()') },
    { to: pool, data: callData('A_precise()') },
    { to: factory, data: callData('stableSwapPairInfo(address,address,address)', first, second, third) },
    { to: pool, data: callData('token()') },
    ...rates,
  ];
}

/** A pool with the native coin has no price, nor one whose coins have rates or balances that cannot be followed. */
function withFacts(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  factory: Hex,
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const found = readListed(state, answers) ?? readPancake(state, answers.slice(8), factory);
  if (state.tokens.length < 2 || found === null) return null;
  const after = withCurveFacts(state, found.facts);
  const isFollowed = found.isFollowed && !state.tokens.includes(NATIVE_COIN);
  return { state: isFollowed ? after : withDoubts(after, DOUBTS.unfollowed), poolType: POOL_STABLE };
}

interface FoundFacts {
  readonly facts: CurveFacts;
  readonly isFollowed: boolean;
}

/** A pool that one of Curve's factories, or its registry, lists. */
function readListed({ poolId, tokens }: ManyTokenState, answers: readonly (Hex | null)[]): FoundFacts | null {
  const [coins, types, basePool, decimalsOf, lpToken, ratesOf, stored, preciseAmp] = answers;
  const count = tokens.length;
  if (readCoins(coins)?.join() !== tokens.join()) return null;
  const base = readAddress(basePool);
  const own = { share: curvePoolOfId(poolId), base };
  const storedRates = readList(stored);
  const hasStored = storedRates.length === count && storedRates.every((rate) => rate > 0n);
  if (types != null) {
    const assets = readList(types);
    const asksRates = base !== null || assets.some((type) => type === ORACLE || type === ERC4626);
    // The factory has no asset types of meta pools.
    const isFollowed = (base !== null || assets.length === count) && !assets.includes(REBASING);
    return hasStored ? { facts: { ...own, kind: 'ng', rates: storedRates, asksRates }, isFollowed } : null;
  }
  const decimals = readList(decimalsOf).slice(0, count);
  if (decimals.length !== count || decimals.some((places) => places > DECIMALS_MAX)) return null;
  const fixed = decimals.map((places, index) =>
    base !== null && index === 1 ? RATE_UNIT : 10n ** (DECIMALS_MAX - places),
  );
  const share = readAddress(lpToken);
  if (share !== null) {
    const kind = readNumber(preciseAmp) === null ? 'registry' : 'factory';
    const rates = readList(ratesOf).slice(0, count);
    const isFollowed = rates.length === count && rates.every((rate) => rate === RATE_UNIT);
    return { facts: { kind, rates: fixed, share, asksRates: false, base: null }, isFollowed };
  }
  const kind = count === 2 && base === null ? 'pair' : 'factory';
  const rates = hasStored ? storedRates : fixed;
  return { facts: { ...own, kind, rates, asksRates: hasStored }, isFollowed: true };
}

/** A pool of Pancake's port, which its factory confirms. A pool that is itself the factory needs no confirmation. */
function readPancake(
  { poolId, tokens }: ManyTokenState,
  [confirmed, token, ...ratesOf]: readonly (Hex | null)[],
  factory: Hex,
): FoundFacts | null {
  const pool = curvePoolOfId(poolId);
  const rates = ratesOf.map(readNumber).filter((rate) => rate !== null);
  const share = readAddress(token);
  const isConfirmed = pool === factory || readAddress(confirmed) === pool;
  if (!isConfirmed || share === null || rates.length !== tokens.length) return null;
  return { facts: { kind: 'pancake', rates, share, asksRates: false, base: null }, isFollowed: true };
}

/** Functions without arguments that tell what changes, beside balances, LP tokens and rates. */
function settingsOf(pool: CurvePool | null): string[] {
  const settings = [
    'initial_A()',
    'future_A()',
    'initial_A_time()',
    'future_A_time()',
    'fee()',
    'admin_fee()',
  ];
  if (pool?.kind === 'ng') settings.push('offpeg_fee_multiplier()');
  if (pool?.kind === 'pancake') settings.push('is_killed()');
  return settings;
}

function bookCalls(factory: Hex, state: ManyTokenState): ContractCall[] {
  const to = curvePoolOfId(state.poolId);
  const pool = toCurvePool(state);
  const base = pool?.base ?? null;
  const basePrice = base === null ? [] : [{ to: base, data: callData('get_virtual_price()') }];
  const rates = rateCalls(factory, state);
  return [
    ...settingsOf(pool).map((name) => ({ to, data: callData(name) })),
    { to: shareOf(state), data: callData('totalSupply()') },
    ...state.tokens.map((_token, index) => ({ to, data: callData('balances(uint256)', index) })),
    ...(rates.length > 0 ? rates : basePrice),
  ];
}

/** All answers or none. A pool that is created in this block starts empty; its other values are those at the block's end. */
function withBooks(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const pool = toCurvePool(state);
  if (pool === null || !lacksCurveBooks(state)) return state;
  const size = settingsOf(pool).length + 1 + state.tokens.length;
  const values = answers
    .slice(0, size)
    .map((answer) => readUint(answer))
    .filter((value) => value !== null);
  const rates = readRates(pool, answers[size]);
  if (values.length !== size || rates === null) return state;
  const [fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n, fee = 0n, adminFee = 0n] = values;
  const [supply = 0n, ...balances] = values.slice(size - state.tokens.length - 1);
  // offpeg_fee_multiplier() of StableSwap-NG, or is_killed() of Pancake's port.
  const [last = 0n] = values.slice(6);
  return withCurvePool(state, {
    ...pool,
    isKilled: pool.kind === 'pancake' && last > 0n,
    ramp: { fromAmp, toAmp, fromTime, toTime },
    fee,
    adminFee,
    offpeg: pool.kind === 'ng' ? last : 0n,
    supply: isCreation ? 0n : supply,
    rates,
    balances: isCreation ? pool.balances : balances,
  });
}

function rateCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  const to = curvePoolOfId(state.poolId);
  return toCurvePool(state)?.asksRates === true ? [{ to, data: callData('stored_rates()') }] : [];
}

/** Without an answer, what changes counts as unknown. */
function withRates(state: ManyTokenState, [answer]: readonly (Hex | null)[]): ManyTokenState {
  const pool = toCurvePool(state);
  if (pool === null || !pool.asksRates) return state;
  const rates = readRates(pool, answer);
  return rates === null ? withUnknownBooks(state, pool) : withCurvePool(state, { ...pool, rates });
}

/** The rates by the answer of stored_rates(), or of get_virtual_price() of the base pool. */
function readRates(
  { asksRates, base, rates }: CurvePool,
  answer: Hex | null | undefined,
): readonly bigint[] | null {
  if (!asksRates && base === null) return rates;
  const price = readNumber(answer);
  const read = asksRates ? readList(answer) : [rates[0] ?? 0n, price ?? 0n];
  return read.length === rates.length && read.every((rate) => rate > 0n) ? read : null;
}
