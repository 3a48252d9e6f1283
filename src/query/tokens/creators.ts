/**
 * Reads who created the tokens of the pools: the sender of the transaction that deployed each token contract. A known
 * creator never changes, because the address of a contract follows from its creator.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { ADDRESSES_MAX, inChunks } from '../head/inChunks';
import { perVersion, type PerVersion } from '../head/perVersion';
import type { PairTables } from '../pairs/pairTable';
import { tokensOfPool, type StoredPool } from '../pairs/pools';

const creatorRow = rowType({ address, creator: address });
/** The row of count_creations.sql: the number of stored answers of the node. */
const countRow = rowType({ stored: u64 });

/** The creators of tokens. Successive heads share the table until another creator becomes known. */
interface CreatorTable {
  /** The creator of a token's contract; null if unknown. */
  creatorOf(token: string): Hex | null;
  /** The creator of the pool's base token. Null if the creator is unknown. */
  ofBase(pool: StoredPool): Hex | null;
}

export type CreatorTables = PerVersion<CreatorTable>;

/** The table of a head, and what it was made from. */
interface KnownCreators extends CreatorTable {
  readonly creators: ReadonlyMap<string, Hex>;
  /** A number that changes when the ingester has stored more answers of the node. */
  readonly storedMark: number;
  /** Tokens that were asked for under this mark. */
  readonly askedTokens: ReadonlySet<string>;
  readonly pools: readonly StoredPool[];
}

const NO_CREATORS: KnownCreators = {
  ...tableOf(new Map()),
  storedMark: 0,
  askedTokens: new Set(),
  pools: [],
};

/**
 * Each head version asks for the tokens of new pools. Tokens without a known creator are asked for again when the
 * mark changes.
 */
export function createCreatorTables(runner: QueryRunner, pairs: PairTables): CreatorTables {
  const tableAt = async (head: HeadSnapshot, previous: KnownCreators): Promise<KnownCreators> => {
    const [{ pools }, [row]] = await Promise.all([
      pairs.at(head),
      runner.run('tokens/count_creations', {}, countRow),
    ]);
    const storedMark = row?.stored ?? 0;
    if (storedMark === previous.storedMark && pools === previous.pools) return previous;
    const askedTokens = new Set(storedMark === previous.storedMark ? previous.askedTokens : []);
    const poolTokens = new Set(pools.flatMap((pool) => tokensOfPool(pool)));
    const tokensToAsk = [...poolTokens].filter(
      (token) => !previous.creators.has(token) && !askedTokens.has(token),
    );
    const creatorRows = await listCreators(runner, head, tokensToAsk);
    for (const token of tokensToAsk) askedTokens.add(token);
    const newEntries = creatorRows.map(({ address, creator }) => [address, creator] as const);
    const table =
      creatorRows.length === 0 ? previous : tableOf(new Map([...previous.creators, ...newEntries]));
    return { ...table, storedMark, askedTokens, pools };
  };
  return perVersion({
    read: (head) => tableAt(head, NO_CREATORS),
    update: (before, { to }) => tableAt(to, before),
  });
}

function tableOf(creators: ReadonlyMap<string, Hex>): Pick<KnownCreators, 'creators' | keyof CreatorTable> {
  const creatorOf = (token: string): Hex | null => creators.get(token) ?? null;
  return {
    creators,
    creatorOf,
    ofBase: (pool) => creatorOf(pool.base_is_token0 ? pool.token0 : pool.token1),
  };
}

/** The known creators of the tokens, as of a head. */
export function listCreators(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
): Promise<RowOf<typeof creatorRow>[]> {
  return inChunks(tokens, (chunk) => {
    const addresses = chunk.map((token) => token.slice(2));
    const params = { ...snapshotParams(head), addresses, limit: 2 * ADDRESSES_MAX };
    return runner.run('tokens/list_creators', params, creatorRow);
  });
}
