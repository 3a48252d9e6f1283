/** Shared parts of the market's endpoints, which answer from one snapshot of the market chain. */
import type { Burn } from '../domain/chainDescription';
import { AppError } from '../errors';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { MarketTables, MarketChain } from '../query/marketTables';
import type { WalletNode } from '../query/portfolio/walletState';
import { answering, docOf, readParams, type EndpointSpec, type Question, type Refusal } from './answering';
import type { ByteCache } from './byteCache';
import { findListTable } from './formats/listTable';
import type { Params, ParsedOf } from './params';
import type { Route, RouteContext, RouteDoc } from './route';

/**
 * Longest time in ms for which the cache keeps an answer that lacks values from the node, because the node may answer
 * again before the next head.
 */
export const WITHOUT_NODE_MS = 2_000;

/** The part of the chain description that endpoints use. */
export interface ChainFacts extends MarketChain {
  readonly nativeSymbol: string;
  readonly burn: Burn | null;
  /** URL of the chain's logo. */
  readonly logo?: string;
  readonly majors: readonly Hex[];
}

export interface MarketDeps extends MarketTables {
  /** The newest block, which answers describe. Null while the database does not answer or no block is
   * indexed. */
  head(): HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly wallets: WalletNode;
  /** Called with a requested token whose symbol, name or decimals are unknown. */
  onIncomplete?(token: Hex): void;
  readonly chain: ChainFacts;
}

export interface MarketEndpoint<P extends Params, Q extends Params, Answer> extends EndpointSpec<
  P,
  Q,
  Answer
> {
  /** Tag of the route in the OpenAPI document, by default `market`. */
  readonly tag?: RouteDoc['tag'];
  /** Longest time in ms for which the cache keeps the answer. Null (default) means until the head changes. */
  keepMs?(answer: Answer): number | null;
  /** Reads the answer from a snapshot. The same parameters and head version give the same answer. */
  read(params: ParsedOf<P> & ParsedOf<Q>, head: HeadSnapshot): Promise<Answer>;
}

/**
 * Makes a route that answers JSON from the current head. `refuse` translates an error into a dialect's
 * format; null leaves the error to the app.
 */
export function marketRoute<P extends Params, Q extends Params, Answer>(
  deps: MarketDeps,
  endpoint: MarketEndpoint<P, Q, Answer>,
  refuse?: (error: AppError) => Refusal | null,
): Route {
  const { path, keepMs } = endpoint;
  const table = findListTable(endpoint.answer);
  const ask = (ctx: RouteContext): Question<Answer> => {
    const params = readParams(endpoint, ctx);
    const { head } = ctx.state;
    if (head === null)
      throw new AppError('unavailable', 'no block is indexed yet, or the database does not answer');
    return {
      key: `${head.version} ${path} ${JSON.stringify(params)}`,
      read: () => endpoint.read(params, head),
      ...(keepMs === undefined ? {} : { keepMs }),
      ...(table === null ? {} : { asTable: { runner: deps.runner, of: table } }),
    };
  };
  return {
    path,
    doc: docOf(endpoint, endpoint.tag ?? 'market'),
    handle: answering(deps.cache, ask, refuse),
  };
}
