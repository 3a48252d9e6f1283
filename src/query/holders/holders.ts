/**
 * Counts holders, supplies and the largest balances of every token in a pool and of every LP token. Each head
 * version starts from the previous counts: only tokens with new transfers are counted again, and for tokens
 * with many holders only changes are applied.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, array, i256, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { HeadBlock } from '../../domain/head/foldHead';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { shapeOf } from '../../domain/pools/poolShape';
import { isHistoryPartial } from './balances';
import {
  countedRow,
  countOf,
  moveCount,
  type HolderChange,
  type HolderCount,
  type TokenHolding,
} from './holderCounts';
import { Holdings } from './holdings';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { ADDRESSES_MAX, inChunks } from '../head/inChunks';
import type { PairTables } from '../pairs/pairTable';
import { perVersion, type HeadChange, type PerVersion } from '../head/perVersion';
import { tokensOfPool, type StoredPool } from '../pairs/pools';
import { nextLpBalances, readLpBalances, withZeroBalance, type ZeroBalances } from './zeroBalances';

/** Most rows that one counting query may group, about 150 bytes of memory each. A query may use 1 GiB. */
const ROWS_PER_QUERY = 500_000;
/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 20_000_000;
/** Number of addresses from which it is cheaper to apply changes than to count a token again. */
const FOLLOWED_ADDRESSES_MIN = 5_000;
/** If more balances than this change between two head versions, every large token is counted again. */
const CHANGES_MAX = 200_000;

/** A row of list_changes.sql, in raw units: `balance` after the change. */
const changeRow = rowType({ token: address, holder: address, balance: i256, change: i256 });
/** A row of holders/count_rows.sql: the number of stored balances of a token. */
const sizeRow = rowType({ token: address, stored: u64 });
const headTokensRow = rowType({ commit: u64, tokens: array(address) });
const movedRow = rowType({ token: address });

export interface HolderTable {
  /** The holders of a token. Null if it has no transfers, or is not counted because its history is partial. */
  holdingOf(token: string): TokenHolding | null;
}

export type HolderTables = PerVersion<HolderTable>;

/** The holders whose balances each count of a token also returns. */
interface WatchedAt {
  /** Holders watched for every token. */
  readonly holders: readonly Hex[];
  /** The holder that is watched only for this LP token; null without one. */
  creatorOf(pool: StoredPool): Hex | null;
}
type HolderWatch = PerVersion<WatchedAt>;

const NOBODY: WatchedAt = { holders: [], creatorOf: () => null };

/** The counts of one head version, from which the next version's counts start. */
interface Counted extends HolderTable {
  /** The tokens that are counted. The set stays the same until a pool is added. */
  readonly wantedTokens: ReadonlySet<string>;
  readonly holdings: Holdings;
  /** LP tokens of constant-product pools whose balance at the zero address is known, and these balances. */
  readonly atZero: ZeroBalances;
  /** Tokens with transfers in each canonical head block, by commit. */
  readonly headTokens: ReadonlyMap<number, readonly string[]>;
  /**
   * The holder that the count of a token watches besides those watched for every token. The map stays the same until a
   * creator or a pool is added.
   */
  readonly creators: ReadonlyMap<string, Hex>;
  /** The function from which `creators` was made. While it stays the same, `creators` is reused. */
  readonly creatorOf: WatchedAt['creatorOf'];
  readonly pools: readonly StoredPool[];
}

/** Tokens with at least `followedAddressesMin` addresses are not counted anew: a block changes the previous count. */
export function createHolderTables(
  runner: QueryRunner,
  pairs: PairTables,
  {
    followedAddressesMin = FOLLOWED_ADDRESSES_MIN,
    watch,
  }: { readonly followedAddressesMin?: number; readonly watch?: HolderWatch } = {},
): HolderTables {
  const countAt = async (head: HeadSnapshot, step: Step | null): Promise<Counted> => {
    const [{ pools }, watchedHolders, headTokens] = await Promise.all([
      pairs.at(head),
      watch?.at(head) ?? NOBODY,
      listHeadTokens(runner, head, step?.countedBefore ?? null),
    ]);
    return countHolders(runner, head, step, { pools, watchedHolders, headTokens, followedAddressesMin });
  };
  return perVersion({
    read: (head) => countAt(head, null),
    update: (countedBefore, change) => countAt(change.to, { countedBefore, change }),
  });
}

/** The counts of the head before, and what differs. */
interface Step {
  readonly countedBefore: Counted;
  readonly change: HeadChange;
}

interface Inputs {
  readonly pools: readonly StoredPool[];
  readonly watchedHolders: WatchedAt;
  readonly headTokens: Counted['headTokens'];
  readonly followedAddressesMin: number;
}

async function countHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  step: Step | null,
  { pools, watchedHolders, headTokens, followedAddressesMin }: Inputs,
): Promise<Counted> {
  const countedBefore = step?.countedBefore ?? null;
  const creators = creatorsOf(pools, watchedHolders, countedBefore);
  const wantedTokens = wantedTokensOf(head, pools);
  const movedTokens = step === null ? null : await listMovedTokens(runner, step, headTokens);
  // Usually the counted tokens are those of the previous head. Then only tokens with new transfers are counted.
  const isSameSet =
    movedTokens !== null &&
    countedBefore?.wantedTokens === wantedTokens &&
    countedBefore.creators === creators;
  const tokensToSort = isSameSet ? [...movedTokens].filter((token) => wantedTokens.has(token)) : wantedTokens;
  const { counts, tokensToCount, largeCounts } = sortTokens(tokensToSort, {
    countedBefore,
    movedTokens,
    creators,
    followedAddressesMin,
  });
  const isWatched = (token: string, holder: string): boolean =>
    creators.get(token) === holder ||
    watchedHolders.holders.some((watchedHolder) => watchedHolder === holder);
  const followedCounts =
    step === null ? null : await followLarge(runner, step.change, largeCounts, isWatched);
  for (const token of largeCounts.keys()) {
    const count = followedCounts?.get(token);
    if (count === undefined) tokensToCount.push(token);
    else counts.set(token, count);
  }
  const rowsByToken = await readRowCounts(runner, tokensToCount, countedBefore);
  const tokensInHead = new Set([...headTokens.values()].flat());
  const tokensWithRows = tokensToCount.filter((token) => rowsByToken.has(token) || tokensInHead.has(token));
  for (const tokenGroup of groupTokens(tokensWithRows, rowsByToken)) {
    for (const row of await readHolders(runner, head, tokenGroup, watchedHolders.holders, creators))
      counts.set(row.token, countOf(row));
  }
  const holdings = isSameSet ? countedBefore.holdings.with(counts) : new Holdings(counts);
  const atZero = isSameSet
    ? await nextLpBalances(runner, head, countedBefore.atZero, movedTokens)
    : await readLpBalances(runner, head, pools, wantedTokens);
  const { creatorOf } = watchedHolders;
  return {
    wantedTokens,
    holdings,
    atZero,
    headTokens,
    creators,
    creatorOf,
    pools,
    holdingOf: holdingOf(holdings, atZero),
  };
}

function holdingOf(holdings: Holdings, atZero: ZeroBalances): HolderTable['holdingOf'] {
  return (token) => {
    const [holding, zeroBalance] = [holdings.get(token) ?? null, atZero.get(token)];
    return holding === null || zeroBalance === undefined ? holding : withZeroBalance(holding, zeroBalance);
  };
}

interface SortedTokens {
  /** The previous count of each token without new transfers. Null for every other token. */
  readonly counts: Map<string, HolderCount | null>;
  /** Tokens that must be counted. */
  readonly tokensToCount: string[];
  /** The previous counts of large tokens with new transfers, to which the changes are applied. */
  readonly largeCounts: ReadonlyMap<string, HolderCount>;
}

/** Sorts tokens by the way to get their counts. `movedTokens` is null if every token must be counted again. */
function sortTokens(
  tokens: Iterable<string>,
  {
    countedBefore,
    movedTokens,
    creators,
    followedAddressesMin,
  }: {
    readonly countedBefore: Counted | null;
    readonly movedTokens: ReadonlySet<string> | null;
    readonly creators: ReadonlyMap<string, Hex>;
    readonly followedAddressesMin: number;
  },
): SortedTokens {
  const counts = new Map<string, HolderCount | null>();
  const tokensToCount: string[] = [];
  const largeCounts = new Map<string, HolderCount>();
  for (const token of tokens) {
    const isSameWatch = countedBefore?.creators.get(token) === creators.get(token);
    const previousCount = isSameWatch ? countedBefore?.holdings.get(token) : undefined;
    const keptCount = movedTokens?.has(token) === false ? previousCount : undefined;
    if (keptCount === undefined && previousCount != null && previousCount.addresses >= followedAddressesMin)
      largeCounts.set(token, previousCount);
    else if (keptCount === undefined) tokensToCount.push(token);
    counts.set(token, keptCount ?? null);
  }
  return { counts, tokensToCount, largeCounts };
}

/** The creator to watch, by LP token. LP tokens without a known creator are missing. */
function creatorsOf(
  pools: readonly StoredPool[],
  { creatorOf }: WatchedAt,
  countedBefore: Counted | null,
): ReadonlyMap<string, Hex> {
  if (countedBefore?.pools === pools && countedBefore.creatorOf === creatorOf) return countedBefore.creators;
  const creators = new Map<string, Hex>();
  for (const pool of pools) {
    const creator = shapeOf(pool.pool_type).hasLpToken ? creatorOf(pool) : null;
    if (creator !== null) creators.set(pool.address, creator);
  }
  return creators;
}

/** Counts of large tokens, after the changes between two heads. Tokens that must be counted again are missing. */
async function followLarge(
  runner: QueryRunner,
  { to, come, gone, fork }: HeadChange,
  largeCounts: ReadonlyMap<string, HolderCount>,
  isWatched: (token: string, holder: string) => boolean,
): Promise<ReadonlyMap<string, HolderCount>> {
  const followedCounts = new Map<string, HolderCount>();
  if (fork === null || largeCounts.size === 0) return followedCounts;
  const changesByToken = new Map<string, HolderChange[]>([...largeCounts.keys()].map((token) => [token, []]));
  const rows = await inChunks([...largeCounts.keys()], (chunk) => {
    const tokens = chunk.map((token) => token.slice(2));
    const params = {
      ...snapshotParams(to),
      come: commitsOf(come),
      gone: commitsOf(gone),
      tokens,
      limit: CHANGES_MAX,
    };
    return runner.run('holders/list_changes', params, changeRow);
  });
  if (rows.length >= CHANGES_MAX) return followedCounts;
  for (const { token, holder, balance: after, change } of rows)
    changesByToken.get(token)?.push({ holder, before: BigInt.asIntN(256, after - change), after });
  for (const [token, count] of largeCounts) {
    const tokenChanges = changesByToken.get(token);
    const nextCount =
      tokenChanges === undefined
        ? null
        : moveCount(count, tokenChanges, (holder) => isWatched(token, holder));
    if (nextCount !== null) followedCounts.set(token, nextCount);
  }
  return followedCounts;
}

/** The tokens to count, remembered for each array of pools, which stays the same until a pool is added. */
const wantedByPools = new WeakMap<
  readonly StoredPool[],
  { readonly isPartial: boolean; readonly wanted: ReadonlySet<string> }
>();

/**
 * Tokens whose holders are counted: tokens of pools, and LP tokens. With a partial history, only LP tokens of pools
 * whose creation is indexed.
 */
function wantedTokensOf(head: HeadSnapshot, pools: readonly StoredPool[]): ReadonlySet<string> {
  const isPartial = isHistoryPartial(head);
  const remembered = wantedByPools.get(pools);
  if (remembered?.isPartial === isPartial) return remembered.wanted;
  const wantedTokens = new Set<string>();
  wantedByPools.set(pools, { isPartial, wanted: wantedTokens });
  for (const pool of pools) {
    const isCreationIndexed = !isPartial || pool.created_block !== null;
    if (shapeOf(pool.pool_type).hasLpToken && isCreationIndexed) wantedTokens.add(pool.address);
    if (!isPartial) for (const token of tokensOfPool(pool)) wantedTokens.add(token);
  }
  return wantedTokens;
}

/** Tokens with transfers in each head block. Reads only new blocks. */
async function listHeadTokens(
  runner: QueryRunner,
  head: HeadSnapshot,
  countedBefore: Counted | null,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const tokensByCommit = new Map<number, readonly string[]>();
  for (const { commit } of head.blocks)
    tokensByCommit.set(commit, countedBefore?.headTokens.get(commit) ?? []);
  const newCommits = [...tokensByCommit.keys()].filter(
    (commit) => countedBefore?.headTokens.has(commit) !== true,
  );
  if (newCommits.length === 0) return tokensByCommit;
  const params = { commits: newCommits, limit: newCommits.length };
  const rows = await runner.run('holders/list_head_tokens', params, headTokensRow);
  for (const { commit, tokens } of rows) tokensByCommit.set(commit, tokens);
  return tokensByCommit;
}

const commitsOf = (blocks: readonly HeadBlock[]): number[] => blocks.map(({ commit }) => commit);

/** Tokens whose balances may differ between the two heads. */
async function listMovedTokens(
  runner: QueryRunner,
  { countedBefore, change: { from, to, fork, gone, come } }: Step,
  headTokens: Counted['headTokens'],
): Promise<ReadonlySet<string>> {
  const movedTokens = new Set([
    ...gone.flatMap(({ commit }) => countedBefore.headTokens.get(commit) ?? []),
    ...come.flatMap(({ commit }) => headTokens.get(commit) ?? []),
  ]);
  if (fork !== null) return movedTokens;
  const params = { after_ord: lastOrdOfBlock(Math.min(from.finalTo, to.finalTo)), limit: TOKENS_MAX };
  for (const { token } of await runner.run('holders/list_moved_tokens', params, movedRow))
    movedTokens.add(token);
  return movedTokens;
}

/**
 * The number of rows that counting each token reads: known from the previous count, otherwise from the database. A token
 * without stored rows is missing from the result: it has no holders unless a head block has transfers of it.
 */
async function readRowCounts(
  runner: QueryRunner,
  tokens: readonly string[],
  countedBefore: Counted | null,
): Promise<ReadonlyMap<string, number>> {
  const rowsByToken = new Map<string, number>();
  for (const token of tokens) {
    const previousCount = countedBefore?.holdings.get(token);
    if (previousCount !== undefined) rowsByToken.set(token, previousCount?.addresses ?? 0);
  }
  const unknownTokens = tokens.filter((token) => !rowsByToken.has(token));
  if (unknownTokens.length === 0) return rowsByToken;
  const askedTokens =
    unknownTokens.length > ADDRESSES_MAX ? [] : unknownTokens.map((token) => token.slice(2));
  const rows = await runner.run('holders/count_rows', { tokens: askedTokens, limit: TOKENS_MAX }, sizeRow);
  const storedRows = new Map<string, number>(rows.map((row) => [row.token, row.stored]));
  for (const token of unknownTokens) {
    const rowCount = storedRows.get(token);
    if (rowCount !== undefined) rowsByToken.set(token, rowCount);
  }
  return rowsByToken;
}

/** Tokens by address, in groups that one query can count. A larger token has a group of its own. */
function groupTokens(tokens: readonly string[], rowsByToken: ReadonlyMap<string, number>): string[][] {
  const tokenGroups: string[][] = [];
  let tokenGroup: string[] = [];
  let groupRows = 0;
  for (const token of [...tokens].sort()) {
    const rowCount = rowsByToken.get(token) ?? 0;
    if (
      tokenGroup.length > 0 &&
      (tokenGroup.length === ADDRESSES_MAX || groupRows + rowCount > ROWS_PER_QUERY)
    ) {
      tokenGroups.push(tokenGroup);
      tokenGroup = [];
      groupRows = 0;
    }
    tokenGroup.push(token);
    groupRows += rowCount;
  }
  if (tokenGroup.length > 0) tokenGroups.push(tokenGroup);
  return tokenGroups;
}

async function readHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
  holders: readonly Hex[],
  creators: ReadonlyMap<string, Hex>,
): Promise<RowOf<typeof countedRow>[]> {
  const askedTokens = tokens.map((token) => token.slice(2));
  const createdTokens = tokens.filter((token) => creators.has(token));
  const params = {
    ...snapshotParams(head),
    tokens: askedTokens,
    holders: holders.map((holder) => holder.slice(2)),
    created: createdTokens.map((token) => token.slice(2)),
    creators: createdTokens.map((token) => creators.get(token)?.slice(2) ?? ''),
    limit: askedTokens.length,
  };
  return runner.run('holders/count_holders', params, countedRow);
}
