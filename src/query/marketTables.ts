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
import { createHeadSwaps, type HeadSwaps } from './bars/headSwaps';
import { createHolderTables, type HolderTables } from './holders/holders';
import { NewestEvents } from './activity/newestEvents';
import { createPairTables, type PairDexes, type PairTables } from './pairs/pairTable';
import { createRebasingTables, type RebasingTables } from './holders/rebasing';
import { createTokenPrices, type PriceSources } from './prices/tokenPrices';
import { createTokenTables, type TokenTables } from './tokens/tokenTable';

export interface MarketTables {
  readonly runner: QueryRunner;
  readonly directory: Directory;
  readonly pairs: PairTables;
  readonly holders: HolderTables;
  readonly tokens: TokenTables;
  readonly audits: AuditTables;
  readonly dexes: DexTables;
  readonly headSwaps: HeadSwaps;
  readonly rebasing: RebasingTables;
  readonly newestEvents: NewestEvents;
  readonly activityCounter: ActivityCounter;
}

/** The fields of the chain description that the market endpoints need. */
export interface MarketChain extends PriceSources {
  readonly chainId: number;
  readonly dexes: readonly (DexFacts & PairDexes[number])[];
}

export function createMarketTables(
  runner: QueryRunner,
  chain: MarketChain,
  directory = new Directory(runner),
): MarketTables {
  const { chainId, dexes } = chain;
  const pairs = createPairTables(
    runner,
    chainId,
    createTokenPrices(runner, chainId, chain),
    dexes,
    directory,
  );
  const holders = createHolderTables(runner, pairs);
  return {
    runner,
    directory,
    pairs,
    holders,
    tokens: createTokenTables(runner, chainId, pairs, holders),
    audits: createAuditTables(runner, chainId, pairs),
    dexes: createDexTables(runner, chainId, dexes, pairs),
    headSwaps: createHeadSwaps(runner),
    rebasing: createRebasingTables(runner),
    newestEvents: new NewestEvents(runner, directory),
    activityCounter: new ActivityCounter(runner),
  };
}
