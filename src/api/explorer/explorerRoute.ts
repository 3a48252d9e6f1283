/**
 * What the explorer's endpoints and those of the dialects have in common: the chain they are asked about, and its head in the
 * headers. A chain that is valid and not ingested here is empty; one whose database is away is a 503.
 */
import type { Hex } from '../../domain/hex';
import type { NodeState } from '../../domain/nodeState';
import type { VerificationQueue } from '../../domain/verification';
import type { SignatureReader, VerifiedReader } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import type { BlockHashes } from '../../query/head/blockHashes';
import type { ContractReader } from '../../query/contracts/contracts';
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import type { TokenHolding } from '../../query/holders/holderCounts';
import type { LogCounts } from '../../query/logs/logCounts';
import type { LogSource } from '../../query/logs/logFilter';
import type { Directory } from '../../query/tokens/directory';
import type { TwinArguments } from '../../query/contracts/twinArguments';
import type { LogDecoder } from '../../query/logs/logDecoder';
import type { NodeCode } from '../../query/contracts/nodeCode';
import type { NodeReads } from '../../query/head/nodeReads';
import type { SearchDeps } from '../../query/search/search';
import type { ByteCache } from '../byteCache';
import { answering, docOf, readParams, type Endpoint, type Question } from '../answering';
import { integerParam, parsedParam, parseParams, type Param, type Params, type ParsedOf } from '../params';
import type { Route, RouteContext } from '../route';

/** Verifications arrive between blocks: an answer is not given again for longer. */
const KEEP_MS = 3_000;
const LIMIT_MAX = 100;
const OFFSET_MAX = 10_000;

/** What is stored of a chain. */
export interface ExplorerChain extends LogSource {
  readonly hashes: BlockHashes;
  readonly logCounts: LogCounts;
  readonly directory: Pick<Directory, 'allTokens'>;
  /** Null while the database is away or nothing is indexed. */
  head(): HeadSnapshot | null;
}

export interface ExplorerDeps {
  /** The chains that may be asked about, the default first. */
  readonly chainIds: readonly number[];
  /** Null: the chain is not ingested here. */
  findChain(chainId: number): ExplorerChain | null;
  readonly cache: ByteCache;
  readonly contracts: ContractReader;
  readonly verified: VerifiedReader;
  /** Constructor arguments of contracts that are known by a twin; absent: nobody tells. */
  readonly twinArguments?: TwinArguments;
  readonly signatures: SignatureReader;
  readonly decoder: LogDecoder;
  /** Name of the database with the verified contracts, the market chain's. */
  readonly verifiedDb: string;
  /** What people call a chain's DEXes and pairs. */
  namesOf(chainId: number): Pick<SearchDeps, 'dexes' | 'pairs'>;
  /** Who answers reads of a chain as its node does; null: nobody. */
  readonly readsOf?: (chainId: number) => NodeReads | null;
  /** Who can say of a chain's contracts what nobody asked yet; null: nobody. */
  readonly nodeCodeOf?: (chainId: number) => NodeCode | null;
  /** Who can say of a chain's state what logs do not tell; null: nobody. */
  readonly nodeOf?: (chainId: number) => NodeState | null;
  /** Holders of a token where they were counted as of that head. */
  readonly holdingOf?: (chainId: number, head: HeadSnapshot, token: Hex) => TokenHolding | null;
  /** Where sources are handed in to be verified; null: this process may not write. */
  readonly verifications?: () => VerificationQueue | null;
}

/** A chain as of the block of this answer. */
export interface ChainMoment {
  readonly chain: ExplorerChain;
  readonly head: HeadSnapshot;
}

interface ExplorerEndpoint<P extends Params, Q extends Params, Answer> extends Endpoint<P, Q, Answer> {
  /** `moment`: null where the chain is valid and not stored here. */
  read(params: ParsedOf<P> & ParsedOf<Q>, chainId: number, moment: ChainMoment | null): Promise<Answer>;
}

/** `chainId` of these. */
export function chainParam(chainIds: readonly number[]): Param<number | null> {
  const allowed = chainIds.join(' or ');
  return parsedParam({
    parse: (text) => chainIds.find((id) => String(id) === text) ?? null,
    allowed,
    doc: { type: 'integer', enum: chainIds.map(String), default: chainIds[0] ?? 0 },
    description: 'Chain',
  });
}

export const OFFSET_PARAMS = {
  limit: integerParam({ min: 1, max: LIMIT_MAX, absent: 25, description: 'Items a page' }),
  offset: integerParam({ min: 0, max: OFFSET_MAX, absent: 0, description: 'Items left out' }),
} as const;

/** A route that answers JSON as of the head of the asked chain. */
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

/** A question about a chain as of its head, which the headers name. `what` of null is not kept. Throws unavailable. */
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

/** For the `meta` of lists. */
export function asOf(moment: ChainMoment | null): {
  as_of_block: number | null;
  as_of_timestamp: number | null;
} {
  return { as_of_block: moment?.head.number ?? null, as_of_timestamp: moment?.head.timestamp ?? null };
}

/** Throws unavailable for a chain that is ingested here and cannot be read now. */
export function momentOf(deps: Pick<ExplorerDeps, 'findChain'>, chainId: number): ChainMoment | null {
  const chain = deps.findChain(chainId);
  if (chain === null) return null;
  const head = chain.head();
  if (head === null) throw new AppError('unavailable', 'no block is indexed yet, or the database is away');
  return { chain, head };
}
