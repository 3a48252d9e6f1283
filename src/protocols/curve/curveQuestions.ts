/**
 * What the node is asked about StableSwap pools. Curve's factories and its registry name the coins of a pool. Pancake's
 * factory names the pool of its coins. A pool that is itself the `factory` of its DEX, as that of PulseX, needs no
 * confirmation.
 */
import { callData, readAddress, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { readArrays, readWords } from '../abiArrays';
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
import { toCoins } from './curveFamily';
import { cachesBasePrice, namesByInt, type CurvePool } from './curvePool';

/** Pools of Pancake's port have two or three coins. */
const PANCAKE_COINS = 3;
/** Asset types of StableSwap-NG: the rate comes from an oracle or from an ERC-4626 coin, or balances change without an event. */
const ORACLE = 1n;
const REBASING = 2n;
const ERC4626 = 3n;
const RATE_UNIT = 10n ** 18n;
/** Number of calls about a pool of Curve's factories and registries. */
const LISTED_CALLS = 14;
/** A coin with more decimals is not possible in Curve's contracts. */
const DECIMALS_MAX = 36n;
/** Contracts with lending tokens count lent tokens with so many decimals. */
const LENT_DECIMALS_MAX = 18n;

/** Functions of cTokens and of yTokens for the lent tokens per lending token. */
const LENDING_RATES = ['exchangeRateCurrent()', 'getPricePerFullShare()'] as const;

/** The questions of the protocol. */
export const curveQuestions = {
  tokenCalls,
  readTokens,
  factCalls,
  withFacts,
  bookCalls,
  withBooks,
  rateCalls,
  withRates,
};

function tokenCalls(factory: Hex, poolId: Hex): ContractCall[] {
  const pool = addressOfWord(poolId);
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
  return words.length >= 2 && words.length <= COINS_MAX ? toCoins(words) : null;
}

/** A list of words: an array of StableSwap-NG, or one of a fixed size of the older contracts. */
function readList(answer: Hex | null | undefined): readonly bigint[] {
  return answer == null ? [] : (readArrays(answer, 1)?.[0] ?? readWords(answer, COINS_MAX) ?? []);
}

function factCalls(factory: Hex, { poolId, tokens }: ManyTokenState): ContractCall[] {
  const pool = addressOfWord(poolId);
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
  const lent = ['get_underlying_coins', 'get_underlying_decimals'];
  return [
    ...listings.map((name) => ({ to: factory, data: callData(`${name}(address)`, pool) })),
    { to: pool, data: callData('stored_rates()') },
    { to: pool, data: callData('A_precise()') },
    { to: pool, data: callData('base_pool()') },
    { to: pool, data: callData('base_virtual_price()') },
    ...lent.map((name) => ({ to: factory, data: callData(`${name}(address)`, pool) })),
    { to: pool, data: callData('balances(int128)', 0) },
    { to: pool, data: callData('initial_A()') },
    { to: factory, data: callData('stableSwapPairInfo(address,address,address)', first, second, third) },
    { to: pool, data: callData('token()') },
    ...rates,
  ];
}

/** A pool has no price if the rates of its coins cannot be followed. */
function withFacts(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  factory: Hex,
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const found = readListed(state, answers) ?? readPancake(state, answers.slice(LISTED_CALLS), factory);
  if (state.tokens.length < 2 || found === null) return null;
  const after = withCurveFacts(state, found.facts);
  return { state: found.isFollowed ? after : withDoubts(after, DOUBTS.unfollowed), poolType: POOL_STABLE };
}

interface FoundFacts {
  readonly facts: CurveFacts;
  readonly isFollowed: boolean;
}

/** A pool that one of Curve's factories, or its registry, lists. */
function readListed({ poolId, tokens }: ManyTokenState, answers: readonly (Hex | null)[]): FoundFacts | null {
  const [coins, types, basePool, decimalsOf, lpToken, , stored] = answers;
  const count = tokens.length;
  if (readCoins(coins)?.join() !== tokens.join()) return null;
  const base = readAddress(basePool);
  const own = { share: addressOfWord(poolId), base, asksBalances: false, lentUnits: [] };
  const storedRates = readList(stored);
  const hasStored = storedRates.length === count && storedRates.every((rate) => rate > 0n);
  if (types != null) {
    const assets = readList(types);
    const asksRates = base !== null || assets.some((type) => type === ORACLE || type === ERC4626);
    // The factory has no asset types of meta pools.
    const isFollowed = base !== null || assets.length === count;
    const asksBalances = assets.includes(REBASING);
    const facts = { ...own, kind: 'ng', rates: storedRates, asksRates, asksBalances } as const;
    return hasStored ? { facts, isFollowed } : null;
  }
  const decimals = readList(decimalsOf).slice(0, count);
  if (decimals.length !== count || decimals.some((places) => places > DECIMALS_MAX)) return null;
  const fixed = decimals.map((places, index) =>
    base !== null && index === 1 ? RATE_UNIT : 10n ** (DECIMALS_MAX - places),
  );
  const share = readAddress(lpToken);
  if (share !== null) {
    const facts = { ...own, share, rates: fixed, asksRates: false, base: null };
    return readRegistered(facts, tokens, decimals, answers);
  }
  const kind = count === 2 && base === null ? 'pair' : 'factory';
  const rates = hasStored ? storedRates : fixed;
  return { facts: { ...own, kind, rates, asksRates: hasStored }, isFollowed: true };
}

/** A pool that a registry lists. */
function readRegistered(
  facts: Omit<CurveFacts, 'kind'>,
  tokens: readonly Hex[],
  decimals: readonly bigint[],
  answers: readonly (Hex | null)[],
): FoundFacts | null {
  const [, , , , , ratesOf, , preciseAmp, ownBase, basePrice, ...lent] = answers;
  const [, , intBalance, firstAmp] = lent;
  if (readNumber(intBalance) !== null)
    return readFirst(facts, tokens, decimals, lent, readNumber(firstAmp) !== null);
  const kind = readNumber(preciseAmp) === null ? 'registry' : 'factory';
  const price = readNumber(basePrice);
  const base = price === null ? null : readAddress(ownBase);
  if (price !== null && base !== null) {
    const meta = { kind, rates: [facts.rates[0] ?? 0n, price], asksRates: true, base } as const;
    return { facts: { ...facts, ...meta }, isFollowed: tokens.length === 2 };
  }
  const rates = readList(ratesOf).slice(0, tokens.length);
  const isFollowed = rates.length === tokens.length && rates.every((rate) => rate === RATE_UNIT);
  return { facts: { ...facts, kind }, isFollowed };
}

/**
 * A pool of the oldest contracts. The registry names the coin for which a lending token stands, and itself for any other coin.
 * It names no coin for renBTC, which has a rate too. Null without its answer.
 */
function readFirst(
  facts: Omit<CurveFacts, 'kind'>,
  tokens: readonly Hex[],
  decimals: readonly bigint[],
  [coins, lentDecimals]: readonly (Hex | null)[],
  hasRamp: boolean,
): FoundFacts | null {
  const lent = toCoins(readList(coins).slice(0, tokens.length));
  const lentPlaces = readList(lentDecimals);
  if (lent?.length !== tokens.length || lentPlaces.length < tokens.length) return null;
  const places = lent.map((coin, index) => (coin === ZERO_ADDRESS ? decimals : lentPlaces)[index] ?? 0n);
  if (places.some((each) => each > LENT_DECIMALS_MAX)) return null;
  const asksRates = lent.some((coin, index) => coin !== tokens[index]);
  const units = tokens.map((token, index) =>
    token === lent[index] ? 0n : 10n ** (LENT_DECIMALS_MAX - (places[index] ?? 0n)),
  );
  const isLending = lent.some((coin, index) => coin !== ZERO_ADDRESS && coin !== tokens[index]);
  const kind = hasRamp ? (isLending ? 'pax' : 'ren') : 'fixed';
  return { facts: { ...facts, kind, asksRates, lentUnits: asksRates ? units : [] }, isFollowed: true };
}

/** A pool of Pancake's port, which its factory confirms. A pool that is itself the factory needs no confirmation. */
function readPancake(
  { poolId, tokens }: ManyTokenState,
  [confirmed, token, ...ratesOf]: readonly (Hex | null)[],
  factory: Hex,
): FoundFacts | null {
  const pool = addressOfWord(poolId);
  const rates = ratesOf.map(readNumber).filter((rate) => rate !== null);
  const share = readAddress(token);
  const isConfirmed = pool === factory || readAddress(confirmed) === pool;
  if (!isConfirmed || share === null || rates.length !== tokens.length) return null;
  return {
    facts: {
      ...{ kind: 'pancake', rates, share, asksRates: false, base: null },
      ...{ asksBalances: false, lentUnits: [] },
    },
    isFollowed: true,
  };
}

/** Functions without arguments that tell what changes, beside balances, LP tokens and rates. */
function settingsOf(pool: CurvePool | null): string[] {
  const ramp = ['initial_A()', 'future_A()', 'initial_A_time()', 'future_A_time()'];
  const settings = [...(pool?.kind === 'fixed' ? ['A()'] : ramp), 'fee()', 'admin_fee()'];
  if (pool?.kind === 'pancake') settings.push('is_killed()');
  return settings;
}

function bookCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  const to = addressOfWord(state.poolId);
  const pool = toCurvePool(state);
  const base = pool?.base ?? null;
  const basePrice = base === null ? [] : [{ to: base, data: callData('get_virtual_price()') }];
  const rates = pool?.asksRates === true ? ratesCalls(pool, state) : basePrice;
  return [
    { to, data: callData('offpeg_fee_multiplier()') },
    ...settingsOf(pool).map((name) => ({ to, data: callData(name) })),
    { to: shareOf(state), data: callData('totalSupply()') },
    ...balanceCalls(state),
    ...rates,
  ];
}

function balanceCalls(state: ManyTokenState): ContractCall[] {
  const to = addressOfWord(state.poolId);
  const pool = toCurvePool(state);
  const name = pool !== null && namesByInt(pool) ? 'balances(int128)' : 'balances(uint256)';
  return state.tokens.map((_token, index) => ({ to, data: callData(name, index) }));
}

/**
 * A cToken is asked for its rate with the interest up to this block, as the pool does before each swap. A yToken has the other
 * function.
 */
function ratesCalls(pool: CurvePool, { poolId, tokens }: ManyTokenState): ContractCall[] {
  const to = addressOfWord(poolId);
  if (pool.lentUnits.length === 0)
    return [{ to, data: callData(cachesBasePrice(pool) ? 'base_virtual_price()' : 'stored_rates()') }];
  const lending = tokens.filter((_token, index) => (pool.lentUnits[index] ?? 0n) > 0n);
  return lending.flatMap((token) => LENDING_RATES.map((name) => ({ to: token, data: callData(name) })));
}

/** All answers or none. A pool that is created in this block starts empty; its other values are those at the block's end. */
function withBooks(
  state: ManyTokenState,
  [multiplier = null, ...answers]: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const pool = toCurvePool(state);
  if (pool === null || !lacksCurveBooks(state)) return state;
  const size = settingsOf(pool).length + 1 + state.tokens.length;
  const values = answers
    .slice(0, size)
    .map((answer) => readUint(answer))
    .filter((value) => value !== null);
  const rates = readRates(pool, answers.slice(size));
  const offpeg = readUint(multiplier);
  if (values.length !== size || rates === null || (pool.kind === 'ng' && offpeg === null)) return state;
  const [supply = 0n, ...balances] = values.slice(size - state.tokens.length - 1);
  return withCurvePool(state, {
    ...pool,
    ...readSettings(pool, values),
    offpeg: offpeg ?? 0n,
    supply: isCreation ? 0n : supply,
    rates,
    balances: isCreation ? pool.balances : balances,
  });
}

/** The answers to `settingsOf`. */
function readSettings(
  { kind }: CurvePool,
  values: readonly bigint[],
): Pick<CurvePool, 'isKilled' | 'ramp' | 'fee' | 'adminFee'> {
  const [amp = 0n] = values;
  const settings = kind === 'fixed' ? [amp, amp, 0n, 0n, ...values.slice(1)] : values;
  const [fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n, fee = 0n, adminFee = 0n] = settings;
  const isKilled = kind === 'pancake' && (settings[6] ?? 0n) > 0n;
  return { isKilled, ramp: { fromAmp, toAmp, fromTime, toTime }, fee, adminFee };
}

function rateCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  const pool = toCurvePool(state);
  if (pool === null) return [];
  const rates = pool.asksRates ? ratesCalls(pool, state) : [];
  return [...rates, ...(pool.asksBalances ? balanceCalls(state) : [])];
}

/** Without an answer, what changes counts as unknown. The balances are those after all events of the block. */
function withRates(state: ManyTokenState, answers: readonly (Hex | null)[]): ManyTokenState {
  const pool = toCurvePool(state);
  if (pool === null || answers.length === 0) return state;
  const rates = pool.asksRates ? readRates(pool, answers) : pool.rates;
  const asked = pool.asksRates ? ratesCalls(pool, state).length : 0;
  const held = answers.slice(asked).flatMap((answer) => readUint(answer) ?? []);
  const balances = pool.asksBalances ? held : pool.balances;
  if (rates === null || balances.length !== state.tokens.length) return withUnknownBooks(state, pool);
  return withCurvePool(state, { ...pool, rates, balances });
}

/** The rates by the answer of stored_rates(), by a virtual price of the base pool, or by the answers of lending tokens. */
function readRates(pool: CurvePool, answers: readonly (Hex | null)[]): readonly bigint[] | null {
  const { rates, lentUnits } = pool;
  if (lentUnits.length > 0) return readLendingRates(pool, answers);
  const [answer] = answers;
  if (!pool.asksRates && pool.base === null) return rates;
  const price = readNumber(answer) ?? 0n;
  const isPrice = !pool.asksRates || cachesBasePrice(pool);
  const read = isPrice ? [rates[0] ?? 0n, price] : readList(answer);
  return read.length === rates.length && read.every((rate) => rate > 0n) ? read : null;
}

/** Null if a lending token has no answer. */
function readLendingRates(
  { rates, lentUnits }: CurvePool,
  answers: readonly (Hex | null)[],
): readonly bigint[] | null {
  let place = 0;
  const read = rates.map((rate, index) => {
    const unit = lentUnits[index] ?? 0n;
    if (unit === 0n) return rate;
    const own = answers.slice(place, (place += LENDING_RATES.length));
    return unit * (own.flatMap((answer) => readNumber(answer) ?? [])[0] ?? 0n);
  });
  return read.every((rate) => rate > 0n) ? read : null;
}
