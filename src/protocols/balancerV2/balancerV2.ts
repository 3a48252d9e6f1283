/** Balancer V2 and its forks (PHUX): weighted and stable pools, whose tokens one vault holds. */
import { POOL_STABLE, POOL_WEIGHTED } from '../../domain/pools/poolShape';
import type { VaultProtocol } from '../protocol';
import { POOL_TOPICS, VAULT_TOPICS } from './decodeBalancerEvent';
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
  eventTopics,
  spotPrice: weightedSpotPrice,
  quote: quoteWeighted,
} satisfies VaultProtocol;
