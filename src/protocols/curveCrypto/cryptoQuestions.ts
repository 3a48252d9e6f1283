/** What the node is asked about CryptoSwap pools. A factory or registry names the tokens of each of its pools. */
import { callData, readAddress, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { addressOfWord, type Hex } from '../../domain/hex';
import { POOL_CRYPTO, type PoolType } from '../../domain/pools/poolShape';
import { readWords, toAddresses } from '../abiArrays';
import { DOUBTS } from '../../domain/pools/doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { lacksCryptoBooks, toCryptoPool, withCryptoFacts, withCryptoPool } from './cryptoParams';
import { cryptoFee, toCryptoXp, type CryptoPool, type LegacyPart } from './cryptoPool';
import { fitsCurve } from './cryptoState';

const TOKENS_MAX = 3;
/** Words in an answer of a registry. */
const LIST_MAX = 8;
/** The contracts refuse a token with more. */
const DECIMALS_MAX = 18n;
/** A and γ, and the two times of the last trade, are packed as halves of a word. */
const HALF_BITS = 128;
const PLAIN_BOOKS = [
  'initial_A_gamma()',
  'future_A_gamma()',
  'initial_A_gamma_time()',
  'future_A_gamma_time()',
  'mid_fee()',
  'out_fee()',
  'fee_gamma()',
] as const;
/** Answers that a pool may lack: the fee of an empty pool, and one of two names of the time of the last trade. */
const EXTRA_BOOKS = ['fee()', 'last_timestamp()', 'last_prices_timestamp()'] as const;

/** The questions of the protocol. */
export const cryptoQuestions = {
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
  return [{ to: factory, data: callData('get_coins(address)', addressOfWord(poolId)) }];
}

/** A factory answers zeros for a pool that it does not know. A registry answers a list of a fixed size. */
function readTokens([listed]: readonly (Hex | null)[]): readonly Hex[] | null {
  const words = wordsOf(listed).filter((word) => word > 0n);
  return words.length < 2 || words.length > TOKENS_MAX ? null : toAddresses(words);
}

function wordsOf(answer: Hex | null | undefined): readonly bigint[] {
  return answer == null ? [] : (readWords(answer, LIST_MAX) ?? []);
}

function factCalls(factory: Hex, { poolId }: ManyTokenState): ContractCall[] {
  const pool = addressOfWord(poolId);
  return [
    ...tokenCalls(factory, poolId),
    { to: pool, data: callData('precisions()') },
    { to: factory, data: callData('get_decimals(address)', pool) },
    { to: pool, data: callData('token()') },
  ];
}

/** Only contracts of CryptoSwap-NG tell precisions, and only older ones have an LP token of another contract. */
function withFacts(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const [, precisions, decimals, token] = answers;
  if (readTokens(answers)?.join() !== state.tokens.join()) return null;
  const count = state.tokens.length;
  const units = wordsOf(precisions);
  if (units.length === count && units.every((each) => each > 0n))
    return { state: withCryptoFacts(state, units, null), poolType: POOL_CRYPTO };
  const places = wordsOf(decimals).slice(0, count);
  const share = readAddress(token);
  if (share === null || places.length !== count || places.some((each) => each > DECIMALS_MAX)) return null;
  const powers = places.map((each) => 10n ** (DECIMALS_MAX - each));
  return { state: withCryptoFacts(state, powers, share), poolType: POOL_CRYPTO };
}

function bookCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  const to = addressOfWord(state.poolId);
  const names = [...EXTRA_BOOKS, ...PLAIN_BOOKS];
  return [...names.map((name) => ({ to, data: callData(name) })), ...endCalls(state)];
}

/** Calls for LP tokens, D, price scale and balances. */
function endCalls(state: ManyTokenState): ContractCall[] {
  const { poolId, tokens } = state;
  const scales =
    tokens.length === 2
      ? [callData('price_scale()')]
      : tokens.slice(1).map((_token, index) => callData('price_scale(uint256)', index));
  const balances = tokens.map((_token, index) => callData('balances(uint256)', index));
  const to = addressOfWord(poolId);
  const share = toCryptoPool(state)?.legacy?.share ?? to;
  return [
    { to: share, data: callData('totalSupply()') },
    ...[callData('D()'), ...scales, ...balances].map((data) => ({ to, data })),
  ];
}

/** The values of `endCalls`. */
function readEnd([supply = 0n, d = 0n, ...rest]: readonly bigint[], tokens: number): LegacyPart['end'] {
  return { supply, d, priceScale: rest.slice(0, tokens - 1), balances: rest.slice(tokens - 1) };
}

/** No event of a contract from before NG tells its price scale. */
function rateCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  return (toCryptoPool(state)?.legacy ?? null) === null ? [] : endCalls(state);
}

/** Without all answers, the next events are not explained. */
function withRates(state: ManyTokenState, answers: readonly (Hex | null)[]): ManyTokenState {
  const pool = toCryptoPool(state);
  if (pool === null || pool.legacy === null) return state;
  const count = state.tokens.length;
  const values = answers.flatMap((answer) => readUint(answer) ?? []);
  const end = values.length === 2 * count + 1 ? readEnd(values, count) : { ...pool.legacy.end, d: 0n };
  return withCryptoPool(state, { ...pool, legacy: { ...pool.legacy, end } });
}

/** All answers or none. A pool that is created in this block starts empty; its other values are those at the block's end. */
function withBooks(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const pool = toCryptoPool(state);
  const values = answers.slice(EXTRA_BOOKS.length).flatMap((answer) => readUint(answer) ?? []);
  const isComplete = values.length === PLAIN_BOOKS.length + 1 + 2 * state.tokens.length;
  if (pool === null || !lacksCryptoBooks(state) || !isComplete) return state;
  const read = readBooks(pool, values);
  const known = isCreation ? { ...read, supply: 0n, d: 0n, balances: pool.balances } : read;
  const [fee = null, ...times] = answers.slice(0, EXTRA_BOOKS.length).map(readNumber);
  const xp = toCryptoXp(known);
  const hasNewFee = fee === cryptoFee(known, xp, true) && fee !== cryptoFee(known, xp, false);
  const after = withCryptoPool(state, { ...known, hasNewFee });
  const lastTrade = BigInt.asUintN(HALF_BITS, times.find((time) => time !== null) ?? 0n);
  return isOtherCurve(known, lastTrade) ? withDoubts(after, DOUBTS.unfollowed) : after;
}

/** The pool with the answers to PLAIN_BOOKS, then to `endCalls`. */
function readBooks(pool: CryptoPool, values: readonly bigint[]): CryptoPool {
  const at = (index: number): bigint => values[index] ?? 0n;
  const curveOf = (packed: bigint): CryptoPool['ramp']['to'] => ({
    amp: packed >> BigInt(HALF_BITS),
    gamma: BigInt.asUintN(HALF_BITS, packed),
  });
  const ramp = { from: curveOf(at(0)), to: curveOf(at(1)), fromTime: at(2), toTime: at(3) };
  const fees = { midFee: at(4), outFee: at(5), feeGamma: at(6) };
  const end = readEnd(values.slice(PLAIN_BOOKS.length), pool.precisions.length);
  return { ...pool, ...fees, ...end, ramp };
}

/**
 * Whether the contract uses another curve. If the pool was used since A and γ last changed, the contract's D is that of its
 * curve, except for what withdrawals rounded away.
 */
function isOtherCurve(pool: CryptoPool, lastTrade: bigint): boolean {
  if (lastTrade < pool.ramp.toTime) return false;
  return fitsCurve(pool, pool.ramp.to) === false;
}
