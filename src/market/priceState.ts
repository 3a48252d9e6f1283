/**
 * Reads the stored facts that prices are computed from, as of one block: the newest routes and hops of tokens, and the
 * newest epoch records of legs. A restarted ingester reads those of all tokens, an audit those on the path of its token.
 */
import type { QueryParams } from '../clickhouse/client/database';
import { array, wordOf } from '../clickhouse/rows/columns';
import { pick, rowType, type RowOf, type RowType } from '../clickhouse/rows/rowType';
import { poolEpochsTable, tokenPricesTable, tokenRoutesTable } from '../clickhouse/schema/tables';
import type { Hex } from '../domain/hex';
import type { LegRecord } from '../pricing/epoch';
import { legKey, type Leg, type LegKey } from '../pricing/leg';
import { ROUTE_WARNINGS, type RoutePool } from '../pricing/priceRoute';

export const routeRow = rowType({
  ...tokenRoutesTable.types,
  warnings: array(wordOf(...ROUTE_WARNINGS)),
});
export type RouteRow = RowOf<typeof routeRow>;

const hopRow = rowType(
  pick(tokenPricesTable.types, ['token', 'next_token', 'hop_price', 'hop_confidence', 'hop_cap']),
);
export type TokenHopRow = RowOf<typeof hopRow>;

/** One leg of a pool at the end of an epoch. The row was written with the first block after the epoch. */
export const epochRow = rowType(poolEpochsTable.types);
export type EpochRow = RowOf<typeof epochRow>;

interface PriceMoment {
  /** The last position (`ord`) at which routes and hops are read. */
  readonly toOrd: number;
  /** The last position of the epoch records: those of the first block of the epoch. */
  readonly epochOrd: number;
}

/** Rows of a named query as of a snapshot. */
export type ReadRows = <Row>(name: string, params: QueryParams, row: RowType<Row>) => Promise<Row[]>;

/** Addresses; null for all. Rows at `fromOrd` or before are left out. */
interface PriceState {
  listRoutes(tokens: readonly Hex[] | null): Promise<RouteRow[]>;
  listHops(tokens: readonly Hex[] | null, fromOrd?: number): Promise<TokenHopRow[]>;
  listEpochs(pairs: readonly Hex[] | null, fromOrd?: number): Promise<EpochRow[]>;
}

export function readPriceState(read: ReadRows, { toOrd: to_ord, epochOrd }: PriceMoment): PriceState {
  return {
    listRoutes: async (tokens) =>
      tokens?.length === 0
        ? []
        : read('prices/list_routes', { tokens: bare(tokens), from_ord: 0, to_ord }, routeRow),
    listHops: async (tokens, from_ord = 0) =>
      tokens?.length === 0
        ? []
        : read('prices/list_newest_hops', { tokens: bare(tokens), from_ord, to_ord }, hopRow),
    listEpochs: async (pairs, from_ord = 0) =>
      pairs?.length === 0
        ? []
        : read('prices/list_epochs', { pairs: bare(pairs), from_ord, to_ord: epochOrd }, epochRow),
  };
}

/** Different addresses without 0x, as queries take them. */
export function bare(addresses: readonly Hex[] | null): string[] {
  return [...new Set(addresses)].map((address) => address.slice(2));
}

/** The leg of a key; undefined for a pool that is not known. */
type LegOf = (key: LegKey) => Leg | undefined;

/** The records of the known legs. */
export function toRecords(rows: readonly EpochRow[], legOf: LegOf): LegRecord[] {
  return rows.flatMap((row) => {
    const leg = legOf(legKey(row.pair, row.leg));
    if (leg === undefined) return [];
    const { price, liquidity, reserve0, reserve1 } = row;
    return {
      leg,
      state: { price, liquidity, reserve0, reserve1 },
      depthLiquidity: row.depth_liquidity,
      depthWeight: row.depth_weight,
      meanLog: row.mean_log,
      traded: row.traded,
      at: row.timestamp,
      movedAt: row.moved_at,
      unswapped: row.unswapped,
      makers: row.makers,
      bornBlock: row.born_block,
    };
  });
}

/** The pools of a stored route whose legs are known. */
export function poolsOfRoute({ pairs, legs, weights }: RouteRow, legOf: LegOf): RoutePool[] {
  return pairs.flatMap((pair, i) => {
    const leg = legOf(legKey(pair, legs[i] ?? 1));
    return leg === undefined ? [] : { leg, weight: weights[i] ?? 0 };
  });
}
