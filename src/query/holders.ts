/**
 * Who holds the market's tokens: counts, supplies and the largest balances of every token of a pool and of every LP token.
 * Kept from one head version to the next: only tokens that moved in between are counted anew.
 */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { lastOrdOfBlock } from '../domain/ord';
import { isHistoryPartial } from './balances';
import { snapshotParams, type HeadBlock, type HeadSnapshot } from './headSnapshot';
import { ADDRESSES_MAX, inChunks } from './inChunks';
import type { PairTable, PairTables } from './pairTable';
import { perVersion, type PerVersion } from './perVersion';
import { tokensOfPool } from './pools';

/** Rows that one counting query may group: some 150 bytes of memory each, and a reader has 1 GiB. */
const ROWS_PER_QUERY = 500_000;
/** More tokens than any chain has; a bound, not a page. */
const TOKENS_MAX = 20_000_000;
const CONCENTRATED = 3;

const holdersRowShape = z.object({
  token: z.string(),
  holders: z.int().min(0),
  negatives: z.int().min(0),
  addresses: z.int().min(0),
  zero_balance: z.string(),
  dead_balance: z.string(),
  largest: z.array(z.string()),
  ahead: z.boolean(),
});
type HoldersRow = z.infer<typeof holdersRowShape>;
const sizeRowShape = z.object({ token: z.string(), stored: z.int().min(0) });
const headTokensRowShape = z.object({ block_commit: z.string(), tokens: z.array(z.string()) });
const movedRowShape = z.object({ token: z.string() });

/** Who holds one token, in raw units. */
export interface TokenHolding {
  /** Addresses with a balance above zero, the zero address left out. */
  readonly holders: number;
  /** What was minted and not burnt; null where the logs do not add up: somebody sent what it never got. */
  readonly supply: bigint | null;
  /** What lies at 0x…dEaD: out of reach, yet part of the supply. */
  readonly dead: bigint;
  /** The largest balances, at most forty, falling. */
  readonly largest: readonly bigint[];
  /** Addresses that ever held it: what counting it costs. */
  readonly addresses: number;
}

export interface HolderTable {
  /** Null for a token without any transfer in the store, and for one that is not counted (its history is partial). */
  of(token: string): TokenHolding | null;
}

export type HolderTables = PerVersion<HolderTable>;

/** What one head version hands to the next. */
interface Counted {
  readonly head: HeadSnapshot;
  /** Null: no transfer. */
  readonly holdings: ReadonlyMap<string, TokenHolding | null>;
  /** Tokens that moved in each canonical head block, by its commit. */
  readonly headTokens: ReadonlyMap<number, readonly string[]>;
}

export function createHolderTables(runner: QueryRunner, pairs: PairTables): HolderTables {
  let last: Counted | null = null;
  return perVersion(async (head) => {
    const counted = await countHolders(runner, head, await pairs.at(head), last);
    last = counted;
    return { of: (token) => counted.holdings.get(token) ?? null };
  });
}

async function countHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  pairs: PairTable,
  before: Counted | null,
): Promise<Counted> {
  const headTokens = await listHeadTokens(runner, head, before);
  const moved = before === null ? null : await listMovedTokens(runner, head, before, headTokens);
  const holdings = new Map<string, TokenHolding | null>();
  const stale: string[] = [];
  for (const token of wantedTokens(head, pairs)) {
    const kept = moved?.has(token) === false ? before?.holdings.get(token) : undefined;
    if (kept === undefined) stale.push(token);
    holdings.set(token, kept ?? null);
  }
  const sizes = await sizesOf(runner, stale, before);
  for (const tokens of packTokens(stale, sizes)) {
    for (const row of await readHolders(runner, head, tokens)) holdings.set(row.token, toHolding(row));
  }
  return { head, holdings, headTokens };
}

/** Tokens of pools, and pools that are tokens; where the history is partial only those whose creation was seen. */
function wantedTokens(head: HeadSnapshot, { entries }: PairTable): ReadonlySet<string> {
  const partial = isHistoryPartial(head);
  const wanted = new Set<string>();
  for (const { pool } of entries) {
    const known = !partial || pool.created_block !== null;
    if (pool.pool_type !== CONCENTRATED && known) wanted.add(pool.address);
    if (!partial) for (const token of tokensOfPool(pool)) wanted.add(token);
  }
  return wanted;
}

/** Tokens that moved in each head block; those of blocks that were there before are known. */
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
  const rows = await runner.run('balances/list_head_tokens', params, headTokensRowShape);
  for (const { block_commit, tokens } of rows) found.set(Number(block_commit), tokens);
  return found;
}

/** Tokens whose balances may differ between the version before and this one. */
async function listMovedTokens(
  runner: QueryRunner,
  head: HeadSnapshot,
  before: Counted,
  headTokens: Counted['headTokens'],
): Promise<ReadonlySet<string>> {
  const sharedTo = sharedUpTo(before.head, head);
  const above = (blocks: readonly HeadBlock[]): number[] =>
    blocks.filter(({ number }) => number > (sharedTo ?? -1)).map(({ commit }) => commit);
  const [then, now] = [above(before.head.blocks), above(head.blocks)];
  const gone = then.filter((commit) => !headTokens.has(commit));
  const come = now.filter((commit) => !before.headTokens.has(commit));
  const moved = new Set<string>();
  for (const commit of gone) for (const token of before.headTokens.get(commit) ?? []) moved.add(token);
  for (const commit of come) for (const token of headTokens.get(commit) ?? []) moved.add(token);
  if (sharedTo !== null) return moved;
  const params = {
    after_ord: lastOrdOfBlock(Math.min(before.head.finalTo, head.finalTo)),
    limit: TOKENS_MAX,
  };
  for (const { token } of await runner.run('balances/list_moved_tokens', params, movedRowShape))
    moved.add(token);
  return moved;
}

/**
 * The block up to which both snapshots have the same chain for certain: the later final cursor, when it is a block of the
 * other's head. Null when the cursors are too far apart to tell.
 */
export function sharedUpTo(one: HeadSnapshot, other: HeadSnapshot): number | null {
  if (one.finalTo === other.finalTo) return one.finalTo;
  const [low, high] = one.finalTo < other.finalTo ? [one, other] : [other, one];
  const cursorHash = high.blocks[0]?.parentHash ?? high.hash;
  const same = low.blocks.some(({ number, hash }) => number === high.finalTo && hash === cursorHash);
  return same ? high.finalTo : null;
}

/** What counting each token costs, in rows: as it was the last time, or as the store says. */
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
  const rows = await runner.run('balances/count_rows', { tokens: asked, limit: TOKENS_MAX }, sizeRowShape);
  const stored = new Map(rows.map((row) => [row.token, row.stored]));
  for (const token of unknown) sizes.set(token, stored.get(token) ?? 0);
  return sizes;
}

/** Tokens in the order of their addresses, in packs that one query can count; a larger token is a pack of its own. */
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
): Promise<HoldersRow[]> {
  const read = async (name: string, asked: readonly string[]): Promise<HoldersRow[]> => {
    const params = {
      ...snapshotParams(head),
      tokens: asked.map((token) => token.slice(2)),
      limit: asked.length,
    };
    return runner.run(name, params, holdersRowShape);
  };
  const rows = await read('balances/count_holders', tokens);
  const ahead = rows.filter((row) => row.ahead).map(({ token }) => token);
  if (ahead.length === 0) return rows;
  const exact = await inChunks(ahead, (chunk) => read('balances/recount_holders', chunk));
  return [...rows.filter((row) => !row.ahead), ...exact];
}

function toHolding(row: HoldersRow): TokenHolding {
  const supply = -BigInt(row.zero_balance);
  return {
    holders: row.holders,
    supply: row.negatives > 0 || supply < 0n ? null : supply,
    dead: BigInt(row.dead_balance),
    largest: row.largest.map(BigInt),
    addresses: row.addresses,
  };
}
