/**
 * The scope of the explorer's endpoints, and what the dialects share with it: the `chainId` parameter, and the chain's
 * head in the headers. A valid chain that this service does not ingest gives empty answers. A chain whose database
 * does not answer gives a 503.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Hex } from '../domain/hex';
import type { AccountState } from '../domain/accountState';
import type { VerificationQueue } from '../domain/verificationQueue';
import type { SignatureReader, VerifiedReader } from '../domain/verifiedContract';
import { steadyNow } from '../domain/time/steadyTime';
import { AppError } from '../errors';
import type { BlockHashes } from '../query/head/blockHashes';
import type { ContractReader } from '../query/contracts/contracts';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { PoolNameReader } from '../query/pairs/poolNames';
import type { FindLabel } from '../query/holders/holderLabels';
import type { LogCounts } from '../query/logs/logCounts';
import type { LogSource } from '../query/logs/logFilter';
import type { Directory } from '../query/tokens/directory';
import type { TwinArguments } from '../query/contracts/twinArguments';
import type { LogDecoder } from '../query/logs/logDecoder';
import type { NodeCode } from '../query/contracts/nodeCode';
import type { NodeRelay } from '../query/head/nodeRelay';
import type { VerifiedLister } from '../query/contracts/verifiedList';
import type { SearchDeps } from '../query/search/search';
import type { ByteCache } from './byteCache';
import type { Question } from './answering';
import { integerParam, parsedParam, type Param } from './params';
import type { RouteContext } from './route';
import type { Scope } from './scope';

/**
 * Longest time in ms for which the cache keeps an answer. It is short because contracts can be verified between two
 * blocks.
 */
const CACHE_MS = 3_000;
/** Longest wait in ms for the next head, when the node does not have the current one any more. */
const HEAD_WAIT_MS = 1_500;
const HEAD_POLL_MS = 25;
const LIMIT_MAX = 100;
const OFFSET_MAX = 10_000;

/** Access to the stored data of one chain. */
export interface ExplorerChain extends LogSource {
  readonly hashes: BlockHashes;
  readonly logCounts: LogCounts;
  readonly directory: Pick<Directory, 'allTokens'>;
  readonly poolNames: PoolNameReader;
  /** The head of the chain. Null while the database does not answer or no block is indexed. */
  head(): HeadSnapshot | null;
}

export interface ExplorerDeps {
  /** The allowed chain ids. The first id is the default. */
  readonly chainIds: readonly number[];
  /** Display name of a chain; null if the service has no description of the chain. */
  readonly chainNameOf?: (chainId: number) => string | null;
  /** The data of a chain; null if this service does not ingest the chain. */
  findChain(chainId: number): ExplorerChain | null;
  readonly cache: ByteCache;
  readonly contracts: ContractReader;
  readonly verified: VerifiedReader;
  readonly verifiedList: VerifiedLister;
  /** Finds constructor arguments of contracts that have the code of a verified contract. */
  readonly twinArguments?: TwinArguments;
  readonly signatures: SignatureReader;
  readonly decoder: LogDecoder;
  /** Name of the database with the verified contracts: the database of the market chain. */
  readonly verifiedDb: string;
  /** Display names of a chain's DEXes and pairs. */
  namesOf(chainId: number): Pick<SearchDeps, 'dexes' | 'pairs'>;
  /** Reads state of a chain's contracts from the node; null without a node. */
  readonly relayOf?: (chainId: number) => NodeRelay | null;
  /** Reads contract code that is not stored yet; null without a node. */
  readonly nodeCodeOf?: (chainId: number) => NodeCode | null;
  /** Reads chain state that logs do not contain; null without a node. */
  readonly nodeOf?: (chainId: number) => AccountState | null;
  /** Supply of a token that the market shows at that head, raw units; null if it shows none. */
  readonly supplyOf?: (chainId: number, head: HeadSnapshot, token: Hex) => Promise<bigint | null>;
  /** Whether the token is an LP token whose supply includes what its holders sent to the zero address. */
  readonly keepsAtZero?: (chainId: number, head: HeadSnapshot, token: Hex) => Promise<boolean>;
  /** Names of known contracts among the holders of tokens, by address. */
  readonly labelsOf?: (chainId: number, head: HeadSnapshot) => Promise<FindLabel>;
  /** Queue of verification requests; null if this process cannot write. */
  readonly verifications?: () => VerificationQueue | null;
}

/** A chain, and the head that this answer describes. */
export interface ChainAtHead {
  readonly chain: ExplorerChain;
  readonly head: HeadSnapshot;
}

/** What an explorer endpoint reads from. `chainAtHead` is null if the chain is valid but not stored here. */
interface AskedChain {
  readonly chainId: number;
  readonly chainAtHead: ChainAtHead | null;
}

/** The parameter `chainId`, limited to these chains. */
export function chainParam(chainIds: readonly number[]): Param<number | null> {
  const allowed = chainIds.join(' or ');
  return parsedParam({
    parse: (text) => chainIds.find((id) => String(id) === text) ?? null,
    allowed,
    doc: { type: 'integer', enum: chainIds, default: chainIds[0] ?? 0 },
    description: 'Chain id',
  });
}

export const OFFSET_PARAMS = {
  limit: integerParam({ min: 1, max: LIMIT_MAX, absent: 25, description: 'Items per page' }),
  offset: integerParam({ min: 0, max: OFFSET_MAX, absent: 0, description: 'Number of items to skip' }),
} as const;

/** Endpoints that answer from the newest block of the chain that the request names, by default the market chain. */
export const EXPLORER: Scope<ExplorerDeps, { readonly chainId: Param<number | null> }, AskedChain> = {
  tag: 'explorer',
  params: ({ chainIds }) => ({ chainId: chainParam(chainIds) }),
  spell: spellChainId,
  ask(deps, ctx, { chainId: namedChainId }, requestKey, read) {
    const chainId = namedChainId ?? deps.chainIds[0] ?? 0;
    return questionOf(deps, ctx, chainId, requestKey, (chainAtHead) => read({ chainId, chainAtHead }));
  },
  // Parameters stay as they are: a topic of a log may be the id of a pool.
  async names(_deps, { chainAtHead }) {
    if (chainAtHead === null) return {};
    const { show } = await chainAtHead.chain.poolNames.at(chainAtHead.head);
    return { show };
  },
  findRunner: ({ chainIds, findChain }) =>
    chainIds.map(findChain).find((chain) => chain !== null)?.runner ?? null,
};

/** Clients of other explorers write `chainid`, so this name is read in any letter case. */
function spellChainId(querystring: string): string {
  if (!/chainid/i.test(querystring)) return querystring;
  const spelledParams = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(querystring))
    spelledParams.append(name.toLowerCase() === 'chainid' ? 'chainId' : name, value);
  return spelledParams.toString();
}

/**
 * Prepares the answer to a request about a chain at its head. The headers of the answer name this head.
 * `requestKey` is the cache key; if it is null, the answer is not cached. Throws unavailable.
 */
export function questionOf<Answer>(
  deps: ExplorerDeps,
  ctx: RouteContext,
  chainId: number,
  requestKey: string | null,
  read: (chainAtHead: ChainAtHead | null) => Promise<Answer>,
): Question<Answer> {
  const chainAtHead = chainAtHeadOf(deps, chainId);
  if (chainAtHead === null) {
    ctx.remove('X-Indexed-Block');
    ctx.remove('X-Indexed-Block-Hash');
  } else {
    ctx.set('X-Indexed-Block', String(chainAtHead.head.number));
    ctx.set('X-Indexed-Block-Hash', chainAtHead.head.hash);
  }
  return {
    key: requestKey === null ? null : `${chainId} ${chainAtHead?.head.version ?? ''} ${requestKey}`,
    read: () => read(chainAtHead),
    keepMs: () => CACHE_MS,
    renew: async () =>
      (await hasHeadChanged(deps, chainId, chainAtHead))
        ? questionOf(deps, ctx, chainId, requestKey, read)
        : null,
  };
}

/** Waits until the chain has another head than `chainAtHead`. False if it has none after HEAD_WAIT_MS. */
async function hasHeadChanged(
  deps: Pick<ExplorerDeps, 'findChain'>,
  chainId: number,
  chainAtHead: ChainAtHead | null,
): Promise<boolean> {
  const deadline = steadyNow() + HEAD_WAIT_MS;
  while (chainAtHeadOf(deps, chainId)?.head.version === chainAtHead?.head.version) {
    if (steadyNow() >= deadline) return false;
    await delay(HEAD_POLL_MS);
  }
  return true;
}

/** The fields of the head in the `meta` of lists. */
export function asOf(chainAtHead: ChainAtHead | null): {
  as_of_block: number | null;
  as_of_timestamp: number | null;
} {
  return {
    as_of_block: chainAtHead?.head.number ?? null,
    as_of_timestamp: chainAtHead?.head.timestamp ?? null,
  };
}

/** The fields of the number of items in the `meta` of lists. */
export function totalOf(total: number, isExact: boolean): { total: number; total_relation: 'eq' | 'gte' } {
  return { total, total_relation: isExact ? 'eq' : 'gte' };
}

/** The snapshot of a chain; null if this service does not ingest the chain. Throws unavailable if an ingested
 * chain cannot be read now. */
function chainAtHeadOf(deps: Pick<ExplorerDeps, 'findChain'>, chainId: number): ChainAtHead | null {
  const chain = deps.findChain(chainId);
  if (chain === null) return null;
  const head = chain.head();
  if (head === null)
    throw new AppError('unavailable', 'no block is indexed yet, or the database does not answer');
  return { chain, head };
}
