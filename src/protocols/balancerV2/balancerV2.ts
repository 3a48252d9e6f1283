/** Balancer V2 and its forks (PHUX): weighted and stable pools, whose tokens one vault holds. */
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { withBalances, withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol } from '../manyTokenProtocol';
import {
  poolOfId,
  POOL_REGISTERED,
  POOL_TOPICS,
  SWAP_FEE_CHANGED,
  VAULT_TOPICS,
} from './decodeBalancerEvent';
import { decodeFeeChange, idOfLog, readLog, readRegistration } from './readBalancerLog';
import {
  booksCalls,
  decodePoolTokens,
  decodeSwapFee,
  poolFactCalls,
  poolTokensCall,
  readBooks,
  readPoolFacts,
  swapFeeCall,
} from './weightedCalls';
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
  idOfLog,
  poolOfId,
  idOfPool: () => null,
  readCreation: readRegistration,
  readLog,
  decodeSwapFee: decodeFeeChange,
  fillState,
  restoreState: (state) => withDoubts(withWeights(state, state.weights), state.doubts),
  isFollowed: ({ weights, doubts }) => doubts === 0 && weights.length > 0,
  spotPrice: weightedSpotPrice,
  quote: quoteWeighted,
  legState: weightedLegState,
  tokenCalls: (vault, poolId) => [poolTokensCall(vault, poolId)],
  readTokens: ([answer = null]) => decodePoolTokens(answer),
  factCalls: (_, { poolId }) => poolFactCalls(poolOfId(poolId)),
  withFacts: (state, answers) => {
    const facts = readPoolFacts(answers, state.tokens.length);
    return facts && { state: withWeights(state, facts.weights), poolType: facts.poolType };
  },
  bookCalls: (vault, { poolId, tokens }) => [
    swapFeeCall(poolOfId(poolId)),
    ...booksCalls(vault, poolId, tokens),
  ],
  withBooks: (state, [fee = null, ...answers]) => {
    const read = readBooks(answers, state.tokens);
    const answered = read === null ? { ...state, balances: [] } : withBalances(state, read);
    const doubts = state.doubts | (read?.doubts ?? 0);
    return fillState(state, { ...answered, doubts, swapFee: decodeSwapFee(fee) ?? 0n });
  },
  // BasePool.sol forbids a fee of zero.
  lacksBooks: ({ balances, swapFee }) => balances.length === 0 || swapFee === 0n,
  readsBooksAtCreation: false,
  feeCall: swapFeeCall,
  readFee: decodeSwapFee,
} satisfies ManyTokenProtocol;
