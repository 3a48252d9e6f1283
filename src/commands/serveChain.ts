/** Builds the endpoints of one chain: what they read from, and the state of the chain for /readyz and /chains. */
import type { ByteCache } from '../api/byteCache';
import type { PreviewPainter } from '../api/preview/previewPainter';
import { previewRoutes } from '../api/preview/previewRoutes';
import type { Route, ServedChain } from '../api/route';
import { explorerRoutes, listRoutes } from '../api/routes';
import { chains as chainList } from '../api/service/chains';
import { healthz } from '../api/service/healthz';
import { metrics as metricsRoute } from '../api/service/metrics';
import { rangeHash } from '../api/service/rangeHash';
import { createProblemAges, readyz, type ReadyzDeps } from '../api/service/readyz';
import { activityStream } from '../api/stream/activityStream';
import { webFolder, webRoutes } from '../api/web/webRoutes';
import type { Config } from '../config';
import { chainSlug } from '../domain/chainDescription';
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/time/steadyTime';
import { sumBlocks } from '../ingest/repair/sumBlocks';
import { noteAsked } from '../ingest/session/status';
import type { Metrics } from '../metrics';
import { createHeadProbe } from '../node/head/headProbe';
import { createAccountState } from '../node/rpc/createAccountState';
import { createBalanceSeeds } from '../query/holders/balanceSeeds';
import { createMarketTables, type MarketTables } from '../query/marketTables';
import type { ReadyProblem } from '../wire/ready';
import type { Explorer } from './explorer';
import type { ChainService } from './openChain';

/** A chain, and the tables and facts that its endpoints read. */
export interface ChainParts {
  readonly chain: ChainService;
  readonly tables: MarketTables;
  readonly facts: ReadyzDeps;
}

/** The parts that the endpoints of all chains share. */
interface SharedParts {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly cache: ByteCache;
  readonly explorer: Explorer;
  readonly painter: PreviewPainter;
  /** The chains that this service has data of, the first chain first. */
  listStored(): readonly ChainParts[];
}

/**
 * Opens the tables of a chain. Its readiness report also lists the problems of the engine (`engineProblems`) and of the
 * other chains (`others`).
 */
export function openParts(
  chain: ChainService,
  {
    engineProblems,
    others,
  }: { engineProblems(): readonly ReadyProblem[]; readonly others: readonly ChainService[] },
): ChainParts {
  const { config, log, runner, directory, proven, poolNames, head, tail, rpc, writer, ingester } = chain;
  const facts: ReadyzDeps = {
    head,
    ages: createProblemAges(steadyNow),
    proof: () => proven.newest(head()),
    tail: () => tail.facts(),
    ...(writer === null ? {} : { writer }),
    ...(ingester !== null
      ? { ingest: ingester.facts }
      : rpc === null
        ? {}
        : { node: createHeadProbe({ rpc, log }) }),
    more: () => [...engineProblems(), ...others.flatMap((other) => other.problems())],
    isEngineAway: () => engineProblems().length > 0,
  };
  return { chain, tables: createMarketTables(runner, config.chain, directory, proven, poolNames), facts };
}

/** The endpoints of a chain. The routes are made when they are first needed. */
export function serveChain(parts: ChainParts, shared: SharedParts): ServedChain {
  const { chainId, config, head, tail } = parts.chain;
  let routes: readonly Route[] | null = null;
  return {
    chainId,
    slug: chainSlug(config.chain),
    get routes() {
      return (routes ??= listChainRoutes(parts, shared));
    },
    head,
    onReader: () => tail.demand(),
  };
}

function listChainRoutes({ chain, tables, facts }: ChainParts, shared: SharedParts): Route[] {
  const { metrics, cache, explorer, painter, listStored, config } = shared;
  const { precomputer, head, rpc, ingester, chainId, log, config: own } = chain;
  // The tables of a new head, in the order in which the precomputer builds them before the first request.
  const warm = {
    pairs: precomputer.watch(tables.pairs),
    tokens: precomputer.watch(tables.tokens),
    audits: precomputer.watch(tables.audits),
    dexes: precomputer.watch(tables.dexes),
    holders: precomputer.watch(tables.holders),
  };
  const node = rpc === null ? null : createAccountState({ rpc, log });
  const wallets = { node, seeds: createBalanceSeeds() };
  const onIncomplete = (token: Hex): void => {
    if (ingester !== null) noteAsked(ingester.status, token);
  };
  const deps = { ...tables, ...warm, head, cache, wallets, chain: own.chain, onIncomplete };
  const routes = listRoutes(
    deps,
    [
      ...explorerRoutes(explorer.depsOf(chainId)),
      healthz(),
      readyz(facts),
      chainList(() => listStored().map((each) => ({ ...each.chain.config.chain, ready: each.facts }))),
      rangeHash(deps, async (span) => {
        const sums = await sumBlocks(chain.reads(), chainId, span);
        const sumTexts = [...sums].map(([name, sum]) => ({ name, sum: String(sum) }));
        return sumTexts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      }),
      metricsRoute({ metrics, readers: config.metrics === null ? 'local' : 'none' }),
      activityStream(chain),
    ],
    { hasChains: config.hasChainList },
  );
  const prefix = own.isFirst ? '' : `/${chainSlug(own.chain) || chainId}`;
  const views = webRoutes(webFolder(), { ...deps, publicUrl: config.publicUrl, prefix });
  return [...routes, ...views, ...previewRoutes(deps, painter)];
}
