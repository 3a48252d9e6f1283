/**
 * What the node is asked about pools of Balancer V3. The vault must know the pool, so a contract cannot claim to be one.
 * A pool whose amounts or balances change by something that no event tells is listed without a price.
 */
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { ampCall, withAmp } from '../balancerV2/stablePool';
import { readPoolFacts } from '../balancerV2/weightedCalls';
import { ONE, withWeights } from '../balancerV2/weightedPool';
import { DOUBTS } from '../../domain/pools/doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { V3_TOKENS_MAX } from './decodeV3Event';
import { V3_IN_RECOVERY, V3_KNOWN, lacksV3Books, toStableState, v3PoolOfId, withV3Terms } from './vaultState';

const UNKNOWN_RAMP = [0n, 0n, 0n, 0n];
/** Offsets, then four lists: tokens, infos of three words, raw balances, live balances (getPoolTokenInfo). */
const INFO_HEADS = 4;
const INFO_WORDS = 3;

/** The questions of the protocol. */
export const vaultQuestions = {
  tokenCalls: (vault: Hex, poolId: Hex): readonly ContractCall[] => [
    vaultCall(vault, 'getPoolTokens', v3PoolOfId(poolId)),
  ],
  readTokens: ([answer]: readonly (Hex | null)[]): readonly Hex[] | null => {
    const words = answer == null ? [] : (readArrays(answer, 1, 0, V3_TOKENS_MAX)?.[0] ?? []);
    return words.length < 2 ? null : toAddresses(words);
  },
  factCalls,
  withFacts,
  bookCalls: (vault: Hex, { poolId }: ManyTokenState): readonly ContractCall[] => [
    vaultCall(vault, 'getPoolConfig', v3PoolOfId(poolId)),
    vaultCall(vault, 'getPoolTokenInfo', v3PoolOfId(poolId)),
    ampCall(v3PoolOfId(poolId)),
  ],
  withBooks,
  lacksBooks: lacksV3Books,
  readsBooksAtCreation: true,
  // Each event makes its pool known.
  feeCall: () => null,
  readFee: () => null,
};

function vaultCall(vault: Hex, name: string, pool: Hex): ContractCall {
  return { to: vault, data: callData(`${name}(address)`, pool) };
}

function factCalls(vault: Hex, { poolId }: ManyTokenState): readonly ContractCall[] {
  const to = v3PoolOfId(poolId);
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
 * A pool has no price if its hook may change the amounts of swaps. Rates of tokens change without an event. In a weighted
 * pool they cancel out of the price, but the fee on the yield of a token lowers its balance.
 */
function withFacts(
  state: ManyTokenState,
  [info, hooks, rates, weights = null, amp = null, gradual = null, quant]: readonly (Hex | null)[],
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const count = state.tokens.length;
  const infos = readPoolInfo(info, count);
  const facts = readPoolFacts([weights, null, amp, gradual], count);
  if (infos === null || facts === null) return null;
  const isPoolStable = facts.poolType === POOL_STABLE;
  const isUnfollowed = readUint(hooks) !== 0n || (isPoolStable ? infos.hasRates : infos.paysYieldFees);
  const factors = rates == null ? [] : (readArrays(rates, 2, 0, V3_TOKENS_MAX)?.[0] ?? []);
  const areFactors = factors.length === count && factors.every((factor) => factor >= 1n && factor <= ONE);
  const hasCurve = isPoolStable && !isUnfollowed && areFactors;
  const curve = hasCurve ? [...UNKNOWN_RAMP, ...factors.map((factor) => factor * ONE)] : [];
  const listed = withDoubts(withV3Terms(state, { curve }), isUnfollowed ? DOUBTS.unfollowed : 0);
  const ownWeights = readUint(quant) === null ? facts.weights : null;
  return { state: withWeights(listed, ownWeights), poolType: facts.poolType };
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
  [config, info, amp = null]: readonly (Hex | null)[],
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
  return withV3Terms(known, { curve: withAmp(toStableState(known), amp).params });
}
