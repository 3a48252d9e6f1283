/**
 * Shared parts of the explorer's endpoints and the dialects: the `chainId` parameter, and the chain's head in the
 * headers. A valid chain that is not ingested here gives empty answers; a chain whose database is away gives a 503.
 */
import type { Hex } from '../domain/hex';
import type { NodeState } from '../domain/nodeState';
import type { VerificationQueue } from '../domain/verification';
import type { SignatureReader, VerifiedReader } from '../domain/verifiedContract';
import { AppError } from '../errors';
import type { BlockHashes } from '../query/head/blockHashes';
import type { ContractReader } from '../query/contracts/contracts';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { TokenHolding } from '../query/holders/holderCounts';
import type { LogCounts } from '../query/logs/logCounts';
import type { LogSource } from '../query/logs/logFilter';
import type { Directory } from '../query/tokens/directory';
import type { TwinArguments } from '../query/contracts/twinArguments';
import type { LogDecoder } from '../query/logs/logDecoder';
import type { NodeCode } from '../query/contracts/nodeCode';
import type { NodeReads } from '../query/head/nodeReads';
import type { SearchDeps } from '../query/search/search';
import type { ByteCache } from './byteCache';
import { answering, docOf, readParams, type EndpointSpec, type Question } from './answering';
import { integerParam, parsedParam, parseParams, type Param, type Params, type ParsedOf } from './params';
import type { Route, RouteContext } from './route';

/** Longest time in the cache, because verifications arrive between blocks. */
const KEEP_MS = 3_000;
const LIMIT_MAX = 100;
const OFFSET_MAX = 10_000;

/** The stored data of one chain. */
export interface ExplorerChain extends LogSource {
  readonly hashes: BlockHashes;
  readonly logCounts: LogCounts;
  readonly directory: Pick<Directory, 'allTokens'>;
  /** Null while the database is away or no block is indexed. */
  head(): HeadSnapshot | null;
}

export interface ExplorerDeps {
  /** The allowed chain ids, the default first. */
  readonly chainIds: readonly number[];
  /** Null: the chain is not ingested here. */
  findChain(chainId: number): ExplorerChain | null;
  readonly cache: ByteCache;
  readonly contracts: ContractReader;
  readonly verified: VerifiedReader;
  /** Constructor arguments of contracts that are verified through a twin. */
  readonly twinArguments?: TwinArguments;
  readonly signatures: SignatureReader;
  readonly decoder: LogDecoder;
  /** Name of the database with the verified contracts: the database of the market chain. */
  readonly verifiedDb: string;
  /** Display names of a chain's DEXes and pairs. */
  namesOf(chainId: number): Pick<SearchDeps, 'dexes' | 'pairs'>;
  /** Source of the node reads of a chain; null: none. */
  readonly readsOf?: (chainId: number) => NodeReads | null;
  /** Source of contract code that is not stored yet; null: none. */
  readonly nodeCodeOf?: (chainId: number) => NodeCode | null;
  /** Source of chain state that logs do not contain; null: none. */
  readonly nodeOf?: (chainId: number) => NodeState | null;
  /** Holder count of a token, if it is known as of that head. */
  readonly holdingOf?: (chainId: number, head: HeadSnapshot, token: Hex) => TokenHolding | null;
  /** Queue for verification requests; null: this process cannot write. */
  readonly verifications?: () => VerificationQueue | null;
}

/** A chain and the head that this answer is as of. */
export interface ChainMoment {
  readonly chain: ExplorerChain;
  readonly head: HeadSnapshot;
}

interface ExplorerEndpoint<P extends Params, Q extends Params, Answer> extends EndpointSpec<P, Q, Answer> {
  /** `moment`: null if the chain is valid but not stored here. */
  read(params: ParsedOf<P> & ParsedOf<Q>, chainId: number, moment: ChainMoment | null): Promise<Answer>;
}

/** The `chainId` parameter, limited to these chains. */
export function chainParam(chainIds: readonly number[]): Param<number | null> {
  const allowed = chainIds.join(' or ');
  return parsedParam({
    parse: (text) => chainIds.find((id) => String(id) === text) ?? null,
    allowed,
    doc: { type: 'integer', enum: chainIds.map(String), default: chainIds[0] ?? 0 },
    description: 'Chain id',
  });
}

export const OFFSET_PARAMS = {
  limit: integerParam({ min: 1, max: LIMIT_MAX, absent: 25, description: 'Items per page' }),
  offset: integerParam({ min: 0, max: OFFSET_MAX, absent: 0, description: 'Number of items to skip' }),
} as const;

/** A route that answers JSON as of the head of the requested chain. */
export function explorerRoute<P extends Params, Q extends Params, Answer>(
  deps: ExplorerDeps,
  endpoint: ExplorerEndpoint<P, Q, Answer>,
): Route {
  const chain = { chainId: chainParam(deps.chainIds) };
  const asked = { ...endpoint, query: { ...endpoint.query, ...chain } };
  const ask = (ctx: RouteContext): Question<Answer> => {
    const params = readParams(endpoint, ctx);
    const chainId = parseParams(chain, ctx).chainId ?? deps.chainIds[0] ?? 0;
    const what = `${endpoint.path} ${JSON.stringify(params)}`;
    return questionOf(deps, ctx, chainId, what, (moment) => endpoint.read(params, chainId, moment));
  };
  return { path: endpoint.path, doc: docOf(asked, 'explorer'), handle: answering(deps.cache, ask) };
}

/**
 * A question about a chain as of its head, which the headers name. If `what` is null, the answer is not cached. Throws
 * unavailable.
 */
export function questionOf<Answer>(
  deps: ExplorerDeps,
  ctx: RouteContext,
  chainId: number,
  what: string | null,
  read: (moment: ChainMoment | null) => Promise<Answer>,
): Question<Answer> {
  const moment = momentOf(deps, chainId);
  if (moment === null) {
    ctx.remove('X-Indexed-Block');
    ctx.remove('X-Indexed-Block-Hash');
  } else {
    ctx.set('X-Indexed-Block', String(moment.head.number));
    ctx.set('X-Indexed-Block-Hash', moment.head.hash);
  }
  return {
    key: what === null ? null : `${chainId} ${moment?.head.version ?? ''} ${what}`,
    read: () => read(moment),
    keepMs: () => KEEP_MS,
  };
}

/** The head fields in the `meta` of lists. */
export function asOf(moment: ChainMoment | null): {
  as_of_block: number | null;
  as_of_timestamp: number | null;
} {
  return { as_of_block: moment?.head.number ?? null, as_of_timestamp: moment?.head.timestamp ?? null };
}

/** Null for a chain that is not ingested here. Throws unavailable for an ingested chain that cannot be read now. */
function momentOf(deps: Pick<ExplorerDeps, 'findChain'>, chainId: number): ChainMoment | null {
  const chain = deps.findChain(chainId);
  if (chain === null) return null;
  const head = chain.head();
  if (head === null) throw new AppError('unavailable', 'no block is indexed yet, or the database is away');
  return { chain, head };
}
