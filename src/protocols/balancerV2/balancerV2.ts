/** Balancer V2 and its forks (PHUX): weighted and stable pools, whose tokens one vault holds. */
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { readWords } from '../abiArrays';
import type { VaultProtocol } from '../protocol';
import { POOL_TOPICS, SWAP_FEE_CHANGED, VAULT_TOPICS } from './decodeBalancerEvent';
import { quoteWeighted, weightedSpotPrice } from './weightedPool';

const eventTopics = new Set([...VAULT_TOPICS, ...POOL_TOPICS]);

export const balancerV2 = {
  name: 'balancer_v2',
  emitter: 'vault',
  poolTypes: [POOL_WEIGHTED, POOL_STABLE],
  keptTopics: [...eventTopics],
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: {
    topics: [SWAP_FEE_CHANGED],
    decodeFees: ({ topics, data }) => {
      const [fee] = topics[0] === SWAP_FEE_CHANGED && topics.length === 1 ? (readWords(data, 1) ?? []) : [];
      return fee === undefined ? null : [toFeePips(fee), toFeePips(fee)];
    },
  },
  eventTopics,
  spotPrice: weightedSpotPrice,
  quote: quoteWeighted,
} satisfies VaultProtocol;
