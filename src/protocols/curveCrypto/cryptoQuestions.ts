/** What the node is asked about CryptoSwap-NG pools. The factory names the tokens of each of its pools. */
import { callData, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { addressOfWord, type Hex } from '../../domain/hex';
import { POOL_CRYPTO, type PoolType } from '../../domain/pools/poolShape';
import { readWords, toAddresses } from '../abiArrays';
import { DOUBTS } from '../../domain/pools/doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { findD } from './cryptoMath';
import { lacksCryptoBooks, toCryptoPool, withCryptoFacts, withCryptoPool } from './cryptoParams';
import { cryptoFee, toCryptoXp, type CryptoPool } from './cryptoPool';
import { isWithinRounding } from './cryptoState';

const TOKENS_MAX = 3;
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
  'totalSupply()',
  'D()',
] as const;
/** D does not follow the raw units that withdrawals round away. A swap or deposit makes it exact again. */
const ROUNDED_UNITS = 16n;
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
};

function tokenCalls(factory: Hex, poolId: Hex): ContractCall[] {
  return [{ to: factory, data: callData('get_coins(address)', addressOfWord(poolId)) }];
}

/** A factory answers zeros for a pool that it does not know. */
function readTokens([listed]: readonly (Hex | null)[]): readonly Hex[] | null {
  const words = wordsOf(listed);
  return words.length < 2 || words.some((word) => word === 0n) ? null : toAddresses(words);
}

function wordsOf(answer: Hex | null | undefined): readonly bigint[] {
  return answer == null ? [] : (readWords(answer, TOKENS_MAX) ?? []);
}

function factCalls(factory: Hex, { poolId }: ManyTokenState): ContractCall[] {
  return [...tokenCalls(factory, poolId), { to: addressOfWord(poolId), data: callData('precisions()') }];
}

function withFacts(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const tokens = readTokens(answers);
  const precisions = wordsOf(answers[1]);
  const isListed = tokens !== null && tokens.every((token, index) => token === state.tokens[index]);
  const isComplete = precisions.length === state.tokens.length && precisions.every((each) => each > 0n);
  if (!isListed || !isComplete) return null;
  return { state: withCryptoFacts(state, precisions), poolType: POOL_CRYPTO };
}

function bookCalls(_factory: Hex, { poolId, tokens }: ManyTokenState): ContractCall[] {
  const to = addressOfWord(poolId);
  const scales =
    tokens.length === 2
      ? [callData('price_scale()')]
      : tokens.slice(1).map((_token, index) => callData('price_scale(uint256)', index));
  const balances = tokens.map((_token, index) => callData('balances(uint256)', index));
  const names = [...EXTRA_BOOKS, ...PLAIN_BOOKS].map((name) => callData(name));
  return [...names, ...scales, ...balances].map((data) => ({ to, data }));
}

/** All answers or none. A pool that is created in this block starts empty; its other values are those at the block's end. */
function withBooks(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const pool = toCryptoPool(state);
  const values = answers.slice(EXTRA_BOOKS.length).flatMap((answer) => readUint(answer) ?? []);
  const isComplete = values.length === PLAIN_BOOKS.length + 2 * state.tokens.length - 1;
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

/** The pool with the answers to PLAIN_BOOKS, then the price scale and the balances. */
function readBooks(pool: CryptoPool, values: readonly bigint[]): CryptoPool {
  const at = (index: number): bigint => values[index] ?? 0n;
  const curveOf = (packed: bigint): CryptoPool['ramp']['to'] => ({
    amp: packed >> BigInt(HALF_BITS),
    gamma: BigInt.asUintN(HALF_BITS, packed),
  });
  const ramp = { from: curveOf(at(0)), to: curveOf(at(1)), fromTime: at(2), toTime: at(3) };
  const fees = { midFee: at(4), outFee: at(5), feeGamma: at(6) };
  const rest = values.slice(PLAIN_BOOKS.length);
  const scales = pool.precisions.length - 1;
  return {
    ...pool,
    ...fees,
    ramp,
    supply: at(7),
    d: at(8),
    priceScale: rest.slice(0, scales),
    balances: rest.slice(scales),
  };
}

/**
 * Whether the contract uses another curve. If the pool was used since A and γ last changed, the contract's D is that of its
 * curve, except for what withdrawals rounded away.
 */
function isOtherCurve(pool: CryptoPool, lastTrade: bigint): boolean {
  if (lastTrade < pool.ramp.toTime) return false;
  const expected = findD(pool.ramp.to, toCryptoXp(pool));
  const units = pool.balances.map(() => ROUNDED_UNITS);
  const rounded = toCryptoXp(pool, units).reduce((total, x) => total + x, 0n);
  return expected !== null && !isWithinRounding(expected, pool.d, pool.d, rounded);
}
