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
import { POOL_V3 } from '../../domain/pool';
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

/**
 * Largest number of rows that one counting query may group, about 150 bytes of memory each. A query may use 1 GiB.
 */
const ROWS_PER_QUERY = 500_000;
/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 20_000_000;
/** Number of addresses from which it is cheaper to apply changes than to count a token again. */
const FOLLOW_FROM = 5_000;
/** If more balances than this change between two head versions, every large token is counted again. */
const CHANGES_MAX = 200_000;

const changeRow = rowType({ token: address, holder: address, balance: i256, change: i256 });
const sizeRow = rowType({ token: address, stored: u64 });
const headTokensRow = rowType({ commit: u64, tokens: array(address) });
const movedRow = rowType({ token: address });

export interface HolderTable {
  /** The holders of a token. Null if it has no transfers, or is not counted because its history is partial. */
  of(token: string): TokenHolding | null;
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
  readonly wanted: ReadonlySet<string>;
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

/** For tokens with at least `followFrom` addresses, the changes of a block are applied instead of a new
 * count. */
export function createHolderTables(
  runner: QueryRunner,
  pairs: PairTables,
  { followFrom = FOLLOW_FROM, watch }: { readonly followFrom?: number; readonly watch?: HolderWatch } = {},
): HolderTables {
  const count = async (head: HeadSnapshot, step: Step | null): Promise<Counted> => {
    const [{ pools }, watched, headTokens] = await Promise.all([
      pairs.at(head),
      watch?.at(head) ?? NOBODY,
      listHeadTokens(runner, head, step?.before ?? null),
    ]);
    return countHolders(runner, head, step, { pools, watched, headTokens, followFrom });
  };
  return perVersion({
    read: (head) => count(head, null),
    next: (before, change) => count(change.to, { before, change }),
  });
}
/** The counts of the head before, and what differs. */
interface Step {
  readonly before: Counted;
  readonly change: HeadChange;
}

interface Inputs {
  readonly pools: readonly StoredPool[];
  readonly watched: WatchedAt;
  readonly headTokens: Counted['headTokens'];
  readonly followFrom: number;
}

async function countHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  step: Step | null,
  { pools, watched, headTokens, followFrom }: Inputs,
): Promise<Counted> {
  const before = step?.before ?? null;
  const creators = creatorsOf(pools, watched, before);
  const wanted = wantedTokens(head, pools);
  const moved = step === null ? null : await listMovedTokens(runner, step, headTokens);
  // Usually the counted tokens are those of the previous head. Then only tokens with new transfers are counted.
  const same = moved !== null && before?.wanted === wanted && before.creators === creators;
  const tokens = same ? [...moved].filter((token) => wanted.has(token)) : wanted;
  const { counts, stale, large } = sortTokens(tokens, { before, moved, creators, followFrom });
  const isWatched = (token: string, holder: string): boolean =>
    creators.get(token) === holder || watched.holders.some((one) => one === holder);
  const followed = step === null ? null : await followLarge(runner, step.change, large, isWatched);
  for (const token of large.keys()) {
    const count = followed?.get(token);
    if (count === undefined) stale.push(token);
    else counts.set(token, count);
  }
  const sizes = await sizesOf(runner, stale, before);
  const inHead = new Set([...headTokens.values()].flat());
  const counted = stale.filter((token) => sizes.has(token) || inHead.has(token));
  for (const pack of packTokens(counted, sizes)) {
    for (const row of await readHolders(runner, head, pack, watched.holders, creators))
      counts.set(row.token, countOf(row));
  }
  const holdings = same ? before.holdings.with(counts) : new Holdings(counts);
  const atZero = same
    ? await nextLpBalances(runner, head, before.atZero, moved)
    : await readLpBalances(runner, head, pools, wanted);
  const { creatorOf } = watched;
  return {
    wanted,
    holdings,
    atZero,
    headTokens,
    creators,
    creatorOf,
    pools,
    of: holdingOf(holdings, atZero),
  };
}

function holdingOf(holdings: Holdings, atZero: ZeroBalances): HolderTable['of'] {
  return (token) => {
    const [holding, zero] = [holdings.get(token) ?? null, atZero.get(token)];
    return holding === null || zero === undefined ? holding : withZeroBalance(holding, zero);
  };
}

interface Sorted {
  /** The previous count of each token without new transfers. Null for every other token. */
  readonly counts: Map<string, HolderCount | null>;
  /** Tokens that must be counted. */
  readonly stale: string[];
  /** The previous counts of large tokens with new transfers, to which the changes are applied. */
  readonly large: ReadonlyMap<string, HolderCount>;
}

/** Sorts tokens by the way to get their counts. `moved` is null if every token must be counted again. */
function sortTokens(
  tokens: Iterable<string>,
  {
    before,
    moved,
    creators,
    followFrom,
  }: {
    readonly before: Counted | null;
    readonly moved: ReadonlySet<string> | null;
    readonly creators: ReadonlyMap<string, Hex>;
    readonly followFrom: number;
  },
): Sorted {
  const counts = new Map<string, HolderCount | null>();
  const stale: string[] = [];
  const large = new Map<string, HolderCount>();
  for (const token of tokens) {
    const sameWatch = before?.creators.get(token) === creators.get(token);
    const known = sameWatch ? before?.holdings.get(token) : undefined;
    const kept = moved?.has(token) === false ? known : undefined;
    if (kept === undefined && known != null && known.addresses >= followFrom) large.set(token, known);
    else if (kept === undefined) stale.push(token);
    counts.set(token, kept ?? null);
  }
  return { counts, stale, large };
}

/** The creator to watch, by LP token. LP tokens without a known creator are missing. */
function creatorsOf(
  pools: readonly StoredPool[],
  { creatorOf }: WatchedAt,
  before: Counted | null,
): ReadonlyMap<string, Hex> {
  if (before?.pools === pools && before.creatorOf === creatorOf) return before.creators;
  const creators = new Map<string, Hex>();
  for (const pool of pools) {
    const creator = pool.pool_type === POOL_V3 ? null : creatorOf(pool);
    if (creator !== null) creators.set(pool.address, creator);
  }
  return creators;
}

/** Counts of large tokens, after the changes between two heads. Tokens that must be counted again are missing. */
async function followLarge(
  runner: QueryRunner,
  { to, come, gone, fork }: HeadChange,
  large: ReadonlyMap<string, HolderCount>,
  isWatched: (token: string, holder: string) => boolean,
): Promise<ReadonlyMap<string, HolderCount>> {
  const followed = new Map<string, HolderCount>();
  if (fork === null || large.size === 0) return followed;
  const changes = new Map<string, HolderChange[]>([...large.keys()].map((token) => [token, []]));
  const rows = await inChunks([...large.keys()], (chunk) => {
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
  if (rows.length >= CHANGES_MAX) return followed;
  for (const { token, holder, balance: after, change } of rows)
    changes.get(token)?.push({ holder, before: BigInt.asIntN(256, after - change), after });
  for (const [token, count] of large) {
    const own = changes.get(token);
    const next = own === undefined ? null : moveCount(count, own, (holder) => isWatched(token, holder));
    if (next !== null) followed.set(token, next);
  }
  return followed;
}

/** The tokens to count, remembered for each array of pools, which stays the same until a pool is added. */
const wantedOf = new WeakMap<
  readonly StoredPool[],
  { readonly partial: boolean; readonly wanted: ReadonlySet<string> }
>();

/**
 * Tokens whose holders are counted: tokens of pools, and LP tokens. With a partial history, only LP tokens of pools
 * whose creation is indexed.
 */
function wantedTokens(head: HeadSnapshot, pools: readonly StoredPool[]): ReadonlySet<string> {
  const partial = isHistoryPartial(head);
  const known = wantedOf.get(pools);
  if (known?.partial === partial) return known.wanted;
  const wanted = new Set<string>();
  wantedOf.set(pools, { partial, wanted });
  for (const pool of pools) {
    const isWhole = !partial || pool.created_block !== null;
    if (pool.pool_type !== POOL_V3 && isWhole) wanted.add(pool.address);
    if (!partial) for (const token of tokensOfPool(pool)) wanted.add(token);
  }
  return wanted;
}

/** Tokens with transfers in each head block. Reads only new blocks. */
async function listHeadTokens(
  runner: QueryRunner,
  head: HeadSnapshot,
  before: Counted | null,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  for (const { commit } of head.blocks) found.set(commit, before?.headTokens.get(commit) ?? []);
  const fresh = [...found.keys()].filter((commit) => before?.headTokens.has(commit) !== true);
  if (fresh.length === 0) return found;
  const params = { commits: fresh, limit: fresh.length };
  const rows = await runner.run('holders/list_head_tokens', params, headTokensRow);
  for (const { commit, tokens } of rows) found.set(commit, tokens);
  return found;
}

const commitsOf = (blocks: readonly HeadBlock[]): number[] => blocks.map(({ commit }) => commit);

/** Tokens whose balances may differ between the two heads. */
async function listMovedTokens(
  runner: QueryRunner,
  { before, change: { from, to, fork, gone, come } }: Step,
  headTokens: Counted['headTokens'],
): Promise<ReadonlySet<string>> {
  const moved = new Set([
    ...gone.flatMap(({ commit }) => before.headTokens.get(commit) ?? []),
    ...come.flatMap(({ commit }) => headTokens.get(commit) ?? []),
  ]);
  if (fork !== null) return moved;
  const params = { after_ord: lastOrdOfBlock(Math.min(from.finalTo, to.finalTo)), limit: TOKENS_MAX };
  for (const { token } of await runner.run('holders/list_moved_tokens', params, movedRow)) moved.add(token);
  return moved;
}

/**
 * The number of rows that counting each token reads: known from the previous count, otherwise from the database. A token
 * without stored rows is missing from the result: it has no holders unless a head block has transfers of it.
 */
async function sizesOf(
  runner: QueryRunner,
  tokens: readonly string[],
  before: Counted | null,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const token of tokens) {
    const known = before?.holdings.get(token);
    if (known !== undefined) sizes.set(token, known?.addresses ?? 0);
  }
  const unknown = tokens.filter((token) => !sizes.has(token));
  if (unknown.length === 0) return sizes;
  const asked = unknown.length > ADDRESSES_MAX ? [] : unknown.map((token) => token.slice(2));
  const rows = await runner.run('holders/count_rows', { tokens: asked, limit: TOKENS_MAX }, sizeRow);
  const stored = new Map<string, number>(rows.map((row) => [row.token, row.stored]));
  for (const token of unknown) {
    const size = stored.get(token);
    if (size !== undefined) sizes.set(token, size);
  }
  return sizes;
}

/** Tokens by address, in groups that one query can count. A larger token has a group of its own. */
function packTokens(tokens: readonly string[], sizes: ReadonlyMap<string, number>): string[][] {
  const packs: string[][] = [];
  let pack: string[] = [];
  let rows = 0;
  for (const token of [...tokens].sort()) {
    const size = sizes.get(token) ?? 0;
    if (pack.length > 0 && (pack.length === ADDRESSES_MAX || rows + size > ROWS_PER_QUERY)) {
      packs.push(pack);
      pack = [];
      rows = 0;
    }
    pack.push(token);
    rows += size;
  }
  if (pack.length > 0) packs.push(pack);
  return packs;
}

async function readHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
  holders: readonly Hex[],
  creators: ReadonlyMap<string, Hex>,
): Promise<RowOf<typeof countedRow>[]> {
  const asked = tokens.map((token) => token.slice(2));
  const created = tokens.filter((token) => creators.has(token));
  const params = {
    ...snapshotParams(head),
    tokens: asked,
    holders: holders.map((holder) => holder.slice(2)),
    created: created.map((token) => token.slice(2)),
    creators: created.map((token) => creators.get(token)?.slice(2) ?? ''),
    limit: asked.length,
  };
  return runner.run('holders/count_holders', params, countedRow);
}
