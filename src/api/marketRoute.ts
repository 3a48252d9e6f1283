/** What the market's endpoints have in common: they answer as of the head of the market's chain. */
import type { Burn } from '../domain/chainDescription';
import { AppError } from '../errors';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { Market, MarketChain } from '../query/market';
import type { WalletNode } from '../query/portfolio/walletState';
import { answering, docOf, readParams, type Endpoint, type Question, type Refusal } from './answering';
import type { ByteCache } from './byteCache';
import type { Table } from './formats';
import type { Params, ParsedOf } from './params';
import type { Route, RouteContext, RouteDoc } from './route';

/** What the endpoints need to know of the chain description. */
export interface ChainFacts extends MarketChain {
  readonly nativeSymbol: string;
  readonly burn: Burn | null;
  readonly majors: readonly Hex[];
}

export interface MarketDeps extends Market {
  /** The block that answers are as of; null while the database is away or nothing is indexed. */
  head(): HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly wallets: WalletNode;
  readonly chain: ChainFacts;
}

export interface MarketEndpoint<P extends Params, Q extends Params, Answer> extends Endpoint<P, Q, Answer> {
  /** Default `market`. */
  readonly tag?: RouteDoc['tag'];
  /** How long an answer may be given again, ms; null, and by default: until the head changes. */
  keepMs?(answer: Answer): number | null;
  /** The answer as a table, for those who accept one. */
  table?(answer: Answer): Table;
  /** Makes the answer as of a snapshot. The same parameters and the same head version give the same answer. */
  read(params: ParsedOf<P> & ParsedOf<Q>, head: HeadSnapshot): Promise<Answer>;
}

/** A route that answers JSON as of the head of the moment. `refuse`: as of `answering`. */
export function marketRoute<P extends Params, Q extends Params, Answer>(
  deps: MarketDeps,
  endpoint: MarketEndpoint<P, Q, Answer>,
  refuse?: (error: AppError) => Refusal | null,
): Route {
  const { path, table, keepMs } = endpoint;
  const ask = (ctx: RouteContext): Question<Answer> => {
    const params = readParams(endpoint, ctx);
    const { head } = ctx.state;
    if (head === null) throw new AppError('unavailable', 'no block is indexed yet, or the database is away');
    return {
      key: `${head.version} ${path} ${JSON.stringify(params)}`,
      read: () => endpoint.read(params, head),
      ...(keepMs === undefined ? {} : { keepMs }),
      ...(table === undefined ? {} : { asTable: { runner: deps.runner, of: table } }),
    };
  };
  return {
    path,
    doc: docOf(endpoint, endpoint.tag ?? 'market', table !== undefined),
    handle: answering(deps.cache, ask, refuse),
  };
}
