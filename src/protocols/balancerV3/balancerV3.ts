/** Balancer V3: weighted and stable pools, and the buffers of wrappers, whose tokens one vault holds. */
import { readNumber } from '../../domain/contractCall';
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { AMP_TOPICS } from '../balancerV2/decodeBalancerEvent';
import { quoteStablePool, stableLegState, stableSpotPrice } from '../balancerV2/stablePool';
import { quoteWeighted, weightedLegState, weightedSpotPrice, withWeights } from '../balancerV2/weightedPool';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol, ManyTokenState } from '../manyTokenProtocol';
import { BUFFER_ADDED, BUFFER_TOPICS } from './bufferEvents';
import { bufferLegState, bufferPrice } from './bufferPool';
import { decodeV3Event, V3_POOL_REGISTERED, V3_SWAP_FEE_CHANGED, V3_VAULT_TOPICS } from './decodeV3Event';
import { idOfV3Log, readV3Creation, readV3Log } from './readV3Log';
import { vaultQuestions } from './vaultQuestions';
import {
  idOfV3Pool,
  isBufferV3,
  isCertainV3,
  isKnownV3,
  isStableV3,
  lacksV3Books,
  toStableState,
  v3PoolOfId,
} from './vaultState';

export const balancerV3 = {
  name: 'balancer_v3',
  hasManyTokens: true,
  isVault: true,
  poolTypes: [POOL_WEIGHTED, POOL_STABLE],
  keptTopics: [V3_SWAP_FEE_CHANGED],
  locksSharesAtZero: true,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: {
    topics: [V3_SWAP_FEE_CHANGED],
    decodeFees: ({ topics, data }) => {
      const fee = topics[0] === V3_SWAP_FEE_CHANGED ? readNumber(data) : null;
      return fee === null ? null : [toFeePips(fee), toFeePips(fee)];
    },
  },
  factoryTopics: new Set([...V3_VAULT_TOPICS, ...BUFFER_TOPICS]),
  creationTopics: new Set([V3_POOL_REGISTERED, BUFFER_ADDED]),
  poolTopics: new Set(AMP_TOPICS),
  idOfLog: idOfV3Log,
  poolOfId: v3PoolOfId,
  idOfPool: idOfV3Pool,
  readCreation: readV3Creation,
  readLog: readV3Log,
  decodeSwap: (log) => {
    const [event, pool] = [decodeV3Event(log), idOfV3Log(log)];
    return event?.kind === 'swap' && pool !== null ? { ...event, pool: v3PoolOfId(pool) } : null;
  },
  // The vault emits the fee, and the params of a state have it.
  decodeSwapFee: () => null,
  fillState: (state, other) =>
    withDoubts(lacksV3Books(state) ? { ...other, doubts: state.doubts } : state, other.doubts),
  restoreState: (state) => {
    const own = isKnownV3(state) ? { ...state, swapFee: state.params[2] ?? 0n } : state;
    return withDoubts(withWeights(own, own.weights), state.doubts);
  },
  isFollowed: (terms) =>
    terms.doubts === 0 &&
    isCertainV3(terms) &&
    (terms.weights.length > 0 || isStableV3(terms) || bufferPrice(terms, 0, 1) !== null),
  exchangesWithoutSwap: isBufferV3,
  spotPrice,
  quote: (state, i, j, amountIn, timestamp) => {
    // The wrapper tells the rate of the next exchange.
    if (!canPrice(state) || isBufferV3(state)) return null;
    return isStableV3(state)
      ? quoteStablePool(toStableState(state), i, j, amountIn, timestamp, 'v3')
      : quoteWeighted(state, i, j, amountIn);
  },
  legState: (state, i, j, decimals) => {
    if (!canPrice(state)) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
    if (isBufferV3(state)) return bufferLegState(state, i, j, decimals);
    return isStableV3(state)
      ? stableLegState(toStableState(state), i, j, decimals)
      : weightedLegState(state, i, j, decimals);
  },
  ...vaultQuestions,
} satisfies ManyTokenProtocol;

function canPrice(state: Pick<ManyTokenState, 'params'>): boolean {
  return isKnownV3(state) && isCertainV3(state);
}

function spotPrice(state: ManyTokenState, i: number, j: number, timestamp: number): number | null {
  if (!canPrice(state)) return null;
  if (isBufferV3(state)) return bufferPrice(state, i, j);
  return isStableV3(state)
    ? stableSpotPrice(toStableState(state), i, j, timestamp)
    : weightedSpotPrice(state, i, j);
}
