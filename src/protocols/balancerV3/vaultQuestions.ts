/**
 * What the node is asked about pools of Balancer V3. The vault must know the pool, so a contract cannot claim to be one.
 * Rates, and balances that pay a fee on yield, change without an event: the node tells both in each block with an event of
 * the pool. A pool whose hook may change the amounts of swaps is listed without a price. Of a buffer, only the asset is asked.
 */
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { ampCall, withAmp, withRate } from '../balancerV2/stablePool';
import { readPoolFacts } from '../balancerV2/weightedCalls';
import { ONE, withWeights } from '../balancerV2/weightedPool';
import { DOUBTS } from '../../domain/pools/doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { bufferAssetCall, readBufferAsset, withBufferFacts } from './bufferPool';
import { V3_TOKENS_MAX } from './decodeV3Event';
import {
  V3_IN_RECOVERY,
  V3_KNOWN,
  isBufferV3,
  isRatedV3,
  lacksV3Books,
  toStableState,
  v3PoolOfId,
  withTold,
  withV3Terms,
} from './vaultState';

const UNKNOWN_RAMP = [0n, 0n, 0n, 0n];
/** Offsets, then four lists: tokens, infos of three words, raw balances, live balances (getPoolTokenInfo). */
const INFO_HEADS = 4;
const INFO_WORDS = 3;

/** The questions of the protocol. */
export const vaultQuestions = {
  tokenCalls: (vault: Hex, poolId: Hex): readonly ContractCall[] => [
    vaultCall(vault, 'getPoolTokens', v3PoolOfId(poolId)),
    bufferAssetCall(vault, poolId),
  ],
  // A single token is the asset of a buffer.
  readTokens: ([answer, assetAnswer]: readonly (Hex | null)[]): readonly Hex[] | null => {
    const asset = readBufferAsset(assetAnswer);
    if (asset !== null) return [asset];
    const words = answer == null ? [] : (readArrays(answer, 1, 0, V3_TOKENS_MAX)?.[0] ?? []);
    return words.length < 2 ? null : toAddresses(words);
  },
  factCalls,
  withFacts,
  bookCalls,
  withBooks,
  rateCalls: (vault: Hex, state: ManyTokenState): readonly ContractCall[] =>
    ['getPoolTokenInfo', 'getPoolTokenRates'].flatMap((name) =>
      isRatedV3(state) ? [vaultCall(vault, name, v3PoolOfId(state.poolId))] : [],
    ),
  withRates: (state: ManyTokenState, [info, rates]: readonly (Hex | null)[]): ManyTokenState => {
    const books = readPoolInfo(info, state.tokens.length);
    const curve = withAnsweredRates(state, rates);
    if (!isRatedV3(state)) return state;
    return withTold(state, books === null || curve === null ? null : { balances: books.balances, curve });
  },
  lacksBooks: lacksV3Books,
  readsBooksAtCreation: true,
  // Each event makes its pool known.
  feeCall: () => null,
  readFee: () => null,
};

function vaultCall(vault: Hex, name: string, pool: Hex): ContractCall {
  return { to: vault, data: callData(`${name}(address)`, pool) };
}

/** Each event of a buffer tells all that changes. */
function bookCalls(vault: Hex, state: ManyTokenState): readonly ContractCall[] {
  const pool = v3PoolOfId(state.poolId);
  if (isBufferV3(state)) return [];
  const ofVault = (name: string): ContractCall => vaultCall(vault, name, pool);
  return [ofVault('getPoolConfig'), ofVault('getPoolTokenInfo'), ampCall(pool), ofVault('getPoolTokenRates')];
}

function factCalls(vault: Hex, { poolId, tokens }: ManyTokenState): readonly ContractCall[] {
  const to = v3PoolOfId(poolId);
  if (tokens.length < 2) return [bufferAssetCall(vault, poolId)];
  const ofPool = [
    'getNormalizedWeights()',
    'getAmplificationParameter()',
    // Liquidity bootstrapping pools and QuantAMM's pools change their weights in every block.
    'getGradualWeightUpdateParams()',
    'getOracleStalenessThreshold()',
  ];
  return [
    vaultCall(vault, 'getPoolTokenInfo', to),
    vaultCall(vault, 'getHooksConfig', to),
    vaultCall(vault, 'getPoolTokenRates', to),
    ...ofPool.map((name) => ({ to, data: callData(name) })),
  ];
}

/**
 * A pool has no price if its hook may change the amounts of swaps. Rates cancel out of the price of a weighted pool, so there
 * the node is asked only if a token pays a fee on its yield, which lowers the balance.
 */
function withFacts(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const [info, hooks, rates, weights = null, amp = null, gradual = null, quant] = answers;
  const count = state.tokens.length;
  if (count < 2) return withBufferFacts(state, info);
  const infos = readPoolInfo(info, count);
  const facts = readPoolFacts([weights, null, amp, gradual], count);
  if (infos === null || facts === null) return null;
  const isPoolStable = facts.poolType === POOL_STABLE;
  const isUnfollowed = readUint(hooks) !== 0n;
  const isRated = isPoolStable ? infos.hasRates : infos.paysYieldFees;
  const factors = readRates(rates)?.[0] ?? [];
  const areFactors = factors.length === count && factors.every((factor) => factor >= 1n && factor <= ONE);
  const hasCurve = isPoolStable && !isUnfollowed && areFactors;
  const unknownRates = isRated ? factors.map(() => 0n) : [];
  const curve = hasCurve ? [...UNKNOWN_RAMP, ...factors.map((factor) => factor * ONE), ...unknownRates] : [];
  const known = withV3Terms(state, { curve, rated: BigInt(isRated) });
  const listed = withDoubts(known, isUnfollowed ? DOUBTS.unfollowed : 0);
  const ownWeights = readUint(quant) === null ? facts.weights : null;
  return { state: withWeights(listed, ownWeights), poolType: facts.poolType };
}

/** Decodes getPoolTokenRates returns (uint256[] scalingFactors, uint256[] rates). */
function readRates(answer: Hex | null | undefined): readonly (readonly bigint[])[] | null {
  return answer == null ? null : readArrays(answer, 2, 0, V3_TOKENS_MAX);
}

/** The params of the pool's curve with the rates of this answer. Null without one rate for each token. */
function withAnsweredRates(state: ManyTokenState, answer: Hex | null | undefined): readonly bigint[] | null {
  const rates = readRates(answer)?.[1] ?? [];
  if (rates.length !== state.tokens.length || rates.includes(0n)) return null;
  const rated = rates.reduce((pool, rate, index) => withRate(pool, index, rate), toStableState(state));
  return rated.params;
}

interface PoolInfo {
  readonly hasRates: boolean;
  readonly paysYieldFees: boolean;
  readonly balances: readonly bigint[];
}

/**
 * Decodes getPoolTokenInfo returns (address[] tokens, (uint8 type, address rateProvider, bool paysYieldFees)[], uint256[]
 * balances, uint256[] liveBalances). Null for another number of tokens.
 */
function readPoolInfo(answer: Hex | null | undefined, count: number): PoolInfo | null {
  const words = (answer == null ? null : readWords(answer, INFO_HEADS + 4 + V3_TOKENS_MAX * 6)) ?? [];
  const infosAt = INFO_HEADS + 1 + count;
  const balancesAt = infosAt + 1 + INFO_WORDS * count;
  if (count < 2 || words.length !== balancesAt + 2 * (1 + count)) return null;
  const lengths = [INFO_HEADS, infosAt, balancesAt, balancesAt + 1 + count].map((at) => words[at]);
  if (lengths.some((length) => length !== BigInt(count))) return null;
  const infos = words.slice(infosAt + 1, balancesAt);
  const hasAny = (offset: number): boolean =>
    infos.some((word, index) => index % INFO_WORDS === offset && word > 0n);
  const balances = words.slice(balancesAt + 1, balancesAt + 1 + count);
  return { hasRates: hasAny(0), paysYieldFees: hasAny(2), balances };
}

/**
 * All answers or none. getPoolConfig returns 13 words, among them the fee (4), the kept part (5) and the recovery mode (12).
 * A pool that is created in this block starts with the fee of its event and without balances.
 */
function withBooks(
  state: ManyTokenState,
  [config, info, amp = null, rates]: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const books = readPoolInfo(info, state.tokens.length);
  const [swapFee, aggregateFee, recovery] = [4, 5, 12].map((at) => readUint(config, at));
  if (!lacksV3Books(state) || books === null) return state;
  if (swapFee == null || aggregateFee == null || recovery == null) return state;
  const status = recovery > 0n && !isCreation ? V3_IN_RECOVERY : V3_KNOWN;
  const known = isCreation
    ? withV3Terms(state, { status, aggregateFee })
    : { ...withV3Terms(state, { status, aggregateFee, swapFee }), balances: books.balances };
  const rated = withV3Terms(known, { curve: withAnsweredRates(known, rates) ?? toStableState(known).params });
  return withV3Terms(rated, { curve: withAmp(toStableState(rated), amp).params });
}
