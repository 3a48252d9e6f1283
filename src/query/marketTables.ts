/**
 * Creates the tables and caches behind the market endpoints. A table of a head version is built on demand and
 * shared by all requests.
 */
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { ActivityCounter } from './activity/activity';
import { createAuditTables, type AuditTables } from './audit/auditTables';
import type { DexFacts } from './dexes/dexItem';
import { createDexTables, type DexTables } from './dexes/dexTable';
import { Directory } from './tokens/directory';
import type { HeadSnapshot } from './head/headSnapshot';
import { perVersion } from './head/perVersion';
import { createProvenParts, type ProvenParts } from './head/provenParts';
import { createHeadSwaps, type HeadSwaps } from './bars/headSwaps';
import { createHolderTables, type HolderTables } from './holders/holders';
import { listWatched } from '../domain/chainDescription';
import { NewestEvents } from './activity/newestEvents';
import { createPairTables, type PairDexes, type PairTables } from './pairs/pairTable';
import { createPoolNames, type PoolNameReader } from './pairs/poolNames';
import { createRebasingTables, type RebasingTables } from './holders/rebasing';
import { createTokenPrices, type PriceSources } from './prices/tokenPrices';
import { createRiskTables, type RiskChain, type RiskTables } from './risks/riskTable';
import { createCreatorTables } from './tokens/creators';
import { createTokenTables, type TokenTables } from './tokens/tokenTable';

export interface MarketTables {
  readonly runner: QueryRunner;
  readonly directory: Directory;
  readonly poolNames: PoolNameReader;
  readonly pairs: PairTables;
  readonly holders: HolderTables;
  readonly tokens: TokenTables;
  readonly risks: RiskTables;
  readonly audits: AuditTables;
  readonly dexes: DexTables;
  readonly headSwaps: HeadSwaps;
  readonly rebasing: RebasingTables;
  readonly newestEvents: NewestEvents;
  readonly activityCounter: ActivityCounter;
  readonly proven: ProvenParts;
}

/** The fields of the chain description that the market endpoints need. */
export interface MarketChain extends PriceSources, RiskChain {
  readonly dexes: readonly (DexFacts & PairDexes[number])[];
}

export function createMarketTables(
  runner: QueryRunner,
  chain: MarketChain,
  directory = new Directory(runner),
  proven = createProvenParts(runner, chain.chainId),
  poolNames = createPoolNames(runner, chain.dexes),
): MarketTables {
  const { chainId, dexes } = chain;
  const pairs = createPairTables(
    runner,
    chainId,
    createTokenPrices(runner, chainId, chain),
    dexes,
    directory,
  );
  const creators = createCreatorTables(runner, pairs);
  const watchedAddresses = listWatched(chain).map(({ address }) => address);
  const holderWatch = perVersion({
    async read(head: HeadSnapshot) {
      const { ofBase } = await creators.at(head);
      return { holders: watchedAddresses, creatorOf: ofBase };
    },
  });
  const holders = createHolderTables(runner, pairs, { watch: holderWatch });
  const risks = createRiskTables(runner, chain, holders, creators);
  return {
    runner,
    directory,
    poolNames,
    pairs,
    holders,
    tokens: createTokenTables(runner, chainId, pairs, holders, risks),
    risks,
    audits: createAuditTables(runner, chainId, pairs),
    dexes: createDexTables(runner, chainId, dexes, pairs),
    headSwaps: createHeadSwaps(runner),
    rebasing: createRebasingTables(runner),
    newestEvents: new NewestEvents(runner, directory),
    activityCounter: new ActivityCounter(runner),
    proven,
  };
}
