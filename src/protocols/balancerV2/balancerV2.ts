/** Balancer V2 and its forks (PHUX): weighted and stable pools, whose tokens one vault holds. */
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { withBalances, withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol } from '../manyTokenProtocol';
import {
  decodeBalancerEvent,
  poolOfId,
  POOL_REGISTERED,
  POOL_TOPICS,
  SWAP_FEE_CHANGED,
  VAULT_TOPICS,
} from './decodeBalancerEvent';
import { decodeFeeChange, idOfBalancerLog, readBalancerLog, readRegistration } from './readBalancerLog';
import {
  booksCalls,
  decodePoolTokens,
  decodeSwapFee,
  POOL_FACT_CALLS,
  poolFactCalls,
  poolTokensCall,
  readBooks,
  readPoolFacts,
  swapFeeCall,
} from './weightedCalls';
import {
  isStable,
  lacksTerms,
  quoteStablePool,
  scaleCalls,
  stableLegState,
  stableSpotPrice,
  termCalls,
  withScales,
  withTerms,
} from './stablePool';
import { fillState, quoteWeighted, weightedLegState, weightedSpotPrice, withWeights } from './weightedPool';

export const balancerV2 = {
  name: 'balancer_v2',
  hasManyTokens: true,
  isVault: true,
  poolTypes: [POOL_WEIGHTED, POOL_STABLE],
  keptTopics: [...VAULT_TOPICS, ...POOL_TOPICS],
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: {
    topics: [SWAP_FEE_CHANGED],
    decodeFees: (log) => {
      const fee = decodeFeeChange(log);
      return fee === null ? null : [toFeePips(fee), toFeePips(fee)];
    },
  },
  factoryTopics: VAULT_TOPICS,
  creationTopics: new Set([POOL_REGISTERED]),
  poolTopics: POOL_TOPICS,
  idOfLog: idOfBalancerLog,
  poolOfId,
  idOfPool: () => null,
  readCreation: readRegistration,
  readLog: readBalancerLog,
  decodeSwap: (log) => {
    const event = decodeBalancerEvent(log);
    return event?.kind === 'swap' ? event : null;
  },
  decodeSwapFee: decodeFeeChange,
  fillState,
  restoreState: (state) => withDoubts(withWeights(state, state.weights), state.doubts),
  isFollowed: (terms) => terms.doubts === 0 && (terms.weights.length > 0 || isStable(terms)),
  spotPrice: (state, i, j, timestamp) =>
    isStable(state) ? stableSpotPrice(state, i, j, timestamp) : weightedSpotPrice(state, i, j),
  quote: (state, i, j, amountIn, timestamp) =>
    isStable(state)
      ? quoteStablePool(state, i, j, amountIn, timestamp)
      : quoteWeighted(state, i, j, amountIn),
  legState: (state, i, j, decimals) =>
    isStable(state) ? stableLegState(state, i, j, decimals) : weightedLegState(state, i, j, decimals),
  tokenCalls: (vault, poolId) => [poolTokensCall(vault, poolId)],
  readTokens: ([answer = null]) => decodePoolTokens(answer),
  factCalls: (_, { poolId, tokens }) => [
    ...poolFactCalls(poolOfId(poolId)),
    ...scaleCalls(poolOfId(poolId), tokens),
  ],
  withFacts: (state, answers) => {
    const facts = readPoolFacts(answers, state.tokens.length);
    if (facts === null) return null;
    const isWeighted = facts.poolType === POOL_WEIGHTED;
    const scaled = isWeighted ? { ...state, params: [] } : withScales(state, answers.slice(POOL_FACT_CALLS));
    return { state: withWeights(scaled, facts.weights), poolType: facts.poolType };
  },
  bookCalls: (vault, state) => [
    swapFeeCall(poolOfId(state.poolId)),
    ...termCalls(state),
    ...booksCalls(vault, state.poolId, state.tokens),
  ],
  withBooks: (state, [fee = null, ...others]) => {
    const termCount = termCalls(state).length;
    const read = readBooks(others.slice(termCount), state.tokens);
    const answered = read === null ? { ...state, balances: [] } : withBalances(state, read);
    const doubts = state.doubts | (read?.doubts ?? 0);
    return fillState(withTerms(state, others.slice(0, termCount)), {
      ...answered,
      doubts,
      swapFee: decodeSwapFee(fee) ?? 0n,
    });
  },
  // BasePool.sol forbids a fee of zero.
  lacksBooks: (state) => state.balances.length === 0 || state.swapFee === 0n || lacksTerms(state),
  readsBooksAtCreation: false,
  feeCall: swapFeeCall,
  readFee: decodeSwapFee,
} satisfies ManyTokenProtocol;
