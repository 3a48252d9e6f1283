/**
 * Contract calls for facts of a Balancer V2 pool that no event contains: its weights, its fee, its type, and
 * the balances of a pool older than the first stored block. Builds call data and decodes answers; the
 * ingester sends the calls.
 *
 * A pool that answers getNormalizedWeights is weighted (type 4). A pool that answers only
 * getAmplificationParameter is stable (type 5; see stablePool.ts). Any other pool is ignored.
 */
import { callData, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { DOUBTS } from '../../domain/pools/doubts';
import { areWeights, ONE } from './weightedPool';

/** Words of the shortest answer to getGradualWeightUpdateParams: start, end, and an array of end weights. */
const GRADUAL_WORDS_MIN = 4;
const WORD_DIGITS = 64;
const DATA_START = 2;

/** Facts from a pool's contract. */
interface PoolFacts {
  readonly poolType: 4 | 5;
  /**
   * Weights in units where 1e18 means 1, in the order of the pool's tokens. Null for a stable pool, or if the
   * weights change with time (see `readPoolFacts`).
   */
  readonly weights: readonly bigint[] | null;
  /** Fee in units where 1e18 means 100 %; null if unknown. */
  readonly swapFee: bigint | null;
}

/** The vault's record of a pool. */
interface VaultPoolTokens {
  readonly tokens: readonly Hex[];
  /** Raw units that the vault holds, without managed balances. */
  readonly balances: readonly bigint[];
  /** Bits of DOUBTS. */
  readonly doubts: number;
}

/** Number of calls in `poolFactCalls`. */
export const POOL_FACT_CALLS = 4;

/** The calls whose answers `readPoolFacts` reads, in this order. */
export function poolFactCalls(pool: Hex): readonly ContractCall[] {
  return [
    { to: pool, data: callData('getNormalizedWeights()') },
    swapFeeCall(pool),
    { to: pool, data: callData('getAmplificationParameter()') },
    { to: pool, data: callData('getGradualWeightUpdateParams()') },
  ];
}

export function swapFeeCall(pool: Hex): ContractCall {
  return { to: pool, data: callData('getSwapFeePercentage()') };
}

/**
 * Decodes the answers to `poolFactCalls`. Null if the pool is neither weighted nor stable. An answer is null
 * if the call reverted. Pools that answer getGradualWeightUpdateParams (liquidity bootstrapping and managed
 * pools) change their weights every second without a log. They keep the pool type 4 (weighted) but get no weights
 * and so no price, because a stored price would be wrong.
 */
export function readPoolFacts(answers: readonly (Hex | null)[], tokenCount: number): PoolFacts | null {
  const [weightsAnswer = null, feeAnswer = null, amplificationAnswer = null, gradualAnswer = null] = answers;
  const weights = decodeWeights(weightsAnswer, tokenCount);
  const swapFee = decodeSwapFee(feeAnswer);
  if (weights !== null) {
    return { poolType: POOL_WEIGHTED, weights: isGradual(gradualAnswer) ? null : weights, swapFee };
  }
  return isAmplification(amplificationAnswer) ? { poolType: POOL_STABLE, weights: null, swapFee } : null;
}

function isGradual(answer: Hex | null): boolean {
  return answer !== null && answer.length >= DATA_START + GRADUAL_WORDS_MIN * WORD_DIGITS;
}

/**
 * Decodes getNormalizedWeights() returns (uint256[]). Null if the answer cannot be the weights of `tokenCount` tokens.
 */
export function decodeWeights(answer: Hex | null, tokenCount: number): readonly bigint[] | null {
  const weights = answer === null ? undefined : readArrays(answer, 1)?.[0];
  return weights !== undefined && areWeights(weights, tokenCount) ? weights : null;
}

/** Decodes getSwapFeePercentage() returns (uint256). Null above 100 %. */
export function decodeSwapFee(answer: Hex | null): bigint | null {
  const [swapFee, ...rest] = (answer === null ? null : readWords(answer, 1)) ?? [];
  return swapFee !== undefined && rest.length === 0 && swapFee <= ONE ? swapFee : null;
}

/** Whether getAmplificationParameter() returned (uint256 value, bool isUpdating, uint256 precision), A = value / precision. */
export function isAmplification(answer: Hex | null): boolean {
  const [value = 0n, updating = 2n, precision = 0n] = (answer === null ? null : readWords(answer, 3)) ?? [];
  return value > 0n && precision > 0n && updating <= 1n;
}

/** The vault's getPoolTokens(bytes32 poolId): the tokens of a pool whose registration was not indexed. */
export function poolTokensCall(vault: Hex, poolId: Hex): ContractCall {
  return { to: vault, data: callData('getPoolTokens(bytes32)', poolId) };
}

/** The first array of the answer (address[] tokens, uint256[] balances, uint256 lastChangeBlock). */
export function decodePoolTokens(answer: Hex | null): readonly Hex[] | null {
  const [tokenWords, balances] = (answer === null ? null : readArrays(answer, 2, 1)) ?? [];
  const tokens = tokenWords === undefined ? null : toAddresses(tokenWords);
  return tokens === null || tokens.length !== balances?.length ? null : tokens;
}

/**
 * Builds the calls whose answers `readBooks` decodes. The first call reads the tokens of the pool. The others
 * call the vault's getPoolTokenInfo(bytes32 poolId, address token) for each known token. It returns the asset
 * manager, and the cash (tokens in the vault) separately from the managed balance.
 */
export function booksCalls(vault: Hex, poolId: Hex, tokens: readonly Hex[]): readonly ContractCall[] {
  const infos = tokens.map((token) => {
    return { to: vault, data: callData('getPoolTokenInfo(bytes32,address)', poolId, token) };
  });
  return [poolTokensCall(vault, poolId), ...infos];
}

/**
 * Decodes the answers to `booksCalls`. A token that is not registered yet has a balance of 0. Null if the
 * answer about the pool, or about one of its registered tokens, is malformed.
 */
export function readBooks(answers: readonly (Hex | null)[], tokens: readonly Hex[]): VaultPoolTokens | null {
  const [first = null, ...infos] = answers;
  const registered = decodePoolTokens(first);
  if (registered === null) return null;
  let doubts = 0;
  const balances: bigint[] = [];
  for (const [index, token] of tokens.entries()) {
    const info = registered.includes(token) ? decodeTokenInfo(infos[index] ?? null) : UNREGISTERED;
    if (info === null) return null;
    balances.push(info.cash);
    if (info.isManaged) doubts = DOUBTS.managed;
  }
  return { tokens, balances, doubts };
}

interface TokenInfo {
  readonly cash: bigint;
  readonly isManaged: boolean;
}

const UNREGISTERED: TokenInfo = { cash: 0n, isManaged: false };

/** getPoolTokenInfo returns (uint256 cash, uint256 managed, uint256 lastChangeBlock, address assetManager). */
function decodeTokenInfo(answer: Hex | null): TokenInfo | null {
  const [cash, managed, , manager, ...rest] = (answer === null ? null : readWords(answer, 4)) ?? [];
  if (cash === undefined || managed === undefined || manager === undefined || rest.length > 0) return null;
  return { cash, isManaged: managed > 0n || manager > 0n };
}
