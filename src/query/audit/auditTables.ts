/**
 * Keeps all routes and epoch records in memory for audits of the newest block. Each head version adds only the new
 * rows. Audits of older blocks read by key (auditRows.ts).
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { isAddress, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { epochRow, routeRow, type EpochRow, type RouteRow } from '../../market/priceState';
import { EPOCH_BLOCKS, epochStart } from '../../pricing/epoch';
import {
  createAuditReader,
  getAuditBlock,
  type AuditBlock,
  type AuditReader,
  type AuditStateRow,
} from './auditRows';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { PairTable, PairTables } from '../pairs/pairTable';
import { perVersion, type PerVersion } from '../head/perVersion';

/** More tokens and legs than any chain has. This is a safety bound, not a page size. */
const ROWS_MAX = 5_000_000;

export interface AuditTable {
  readonly block: AuditBlock;
  readonly reader: AuditReader;
}

export type AuditTables = PerVersion<AuditTable>;

interface Rows {
  /** The route of each token. */
  readonly routes: ReadonlyMap<string, RouteRow>;
  /** The newest record of each leg, by pair. */
  readonly epochs: ReadonlyMap<string, readonly EpochRow[]>;
}

const NO_ROWS: Rows = { routes: new Map(), epochs: new Map() };

export function createAuditTables(runner: QueryRunner, chainId: number, pairs: PairTables): AuditTables {
  const finalRows = perVersion<Rows>({
    read: (head) => readFinal(runner, head, 0, NO_ROWS),
    update: async (earlierRows, { from, to }) =>
      to.finalTo < from.finalTo ? null : readFinal(runner, to, lastOrdOfBlock(from.finalTo), earlierRows),
  });
  return perVersion({
    async read(head) {
      const [final, headRows, table, block] = await Promise.all([
        finalRows.at(head),
        readHead(runner, head),
        pairs.at(head),
        getAuditBlock(runner, chainId, head, head.number),
      ]);
      const storedReader = createAuditReader(runner, head, head.number);
      return { block, reader: createTableReader(storedReader, [final, headRows], table, head) };
    },
  });
}

/** The newest final rows. `earlierRows` has those up to `fromOrd`. */
async function readFinal(
  runner: QueryRunner,
  { finalTo }: HeadSnapshot,
  fromOrd: number,
  earlierRows: Rows,
): Promise<Rows> {
  const finalOrd = lastOrdOfBlock(finalTo);
  const params = { final_ord: finalOrd, from_ord: fromOrd, to_ord: finalOrd, limit: ROWS_MAX };
  const [routes, epochs] = await Promise.all([
    runner.run('prices/list_routes', params, routeRow),
    runner.run('prices/list_epochs', params, epochRow),
  ]);
  return {
    routes: routes.length === 0 ? earlierRows.routes : new Map([...earlierRows.routes, ...byToken(routes)]),
    epochs: epochs.length === 0 ? earlierRows.epochs : addEpochs(earlierRows.epochs, epochs),
  };
}

async function readHead(runner: QueryRunner, head: HeadSnapshot): Promise<Rows> {
  if (head.blocks.length === 0) return NO_ROWS;
  const headRange = { from_ord: lastOrdOfBlock(head.finalTo), to_ord: lastOrdOfBlock(head.number) };
  const params = { ...snapshotParams(head), ...headRange, limit: ROWS_MAX };
  const [routes, epochs] = await Promise.all([
    runner.run('prices/list_routes', params, routeRow),
    runner.run('prices/list_epochs', params, epochRow),
  ]);
  return { routes: byToken(routes), epochs: addEpochs(NO_ROWS.epochs, epochs) };
}

function byToken(routes: readonly RouteRow[]): ReadonlyMap<string, RouteRow> {
  return new Map(routes.map((route) => [route.token, route]));
}

function addEpochs(olderEpochs: Rows['epochs'], rows: readonly EpochRow[]): Rows['epochs'] {
  const merged = new Map(olderEpochs);
  for (const row of rows) merged.set(row.pair, replaceLegs(merged.get(row.pair) ?? [], [row]));
  return merged;
}

/** The records of one pair: those in `newerRows` replace older records of the same leg. */
function replaceLegs(olderRows: readonly EpochRow[], newerRows: readonly EpochRow[]): readonly EpochRow[] {
  if (newerRows.length === 0) return olderRows;
  if (olderRows.length === 0) return newerRows;
  const otherLegs = olderRows.filter(({ leg }) => newerRows.every((row) => row.leg !== leg));
  return [...otherLegs, ...newerRows];
}

/** Answers the reads of an audit from the tables in memory. Only hops, pools and trades still need a
 * query. */
function createTableReader(
  stored: AuditReader,
  [finalRows, headRows]: readonly [Rows, Rows],
  pairTable: PairTable,
  head: HeadSnapshot,
): AuditReader {
  const routeOf = (token: Hex): RouteRow | undefined =>
    headRows.routes.get(token) ?? finalRows.routes.get(token);
  const epochsOf = (pair: Hex): readonly EpochRow[] =>
    replaceLegs(finalRows.epochs.get(pair) ?? [], headRows.epochs.get(pair) ?? []);
  // Older records are included, because a leg that did not change in the last epoch has no newer record.
  const epochOrd = lastOrdOfBlock(epochStart(head.number) + EPOCH_BLOCKS - 1);
  const statesOf = (askedPairs: readonly Hex[]): Promise<AuditStateRow[]> =>
    Promise.resolve(askedPairs.flatMap((pair) => stateOf(pairTable, pair) ?? []));
  return {
    ...stored,
    listRoutes: (tokens) => Promise.resolve([...new Set(tokens)].flatMap((token) => routeOf(token) ?? [])),
    listEpochs: (wantedPairs, afterOrd) =>
      Promise.resolve(
        [...new Set(wantedPairs)].flatMap(epochsOf).filter(({ ord }) => ord > afterOrd && ord <= epochOrd),
      ),
    // The table has the newest state of each pair, however old, so both answers are the same.
    listStates: (wantedPairs) => statesOf([...new Set(wantedPairs)]),
    listOlderStates: (wantedPairs) => statesOf([...new Set(wantedPairs)]),
  };
}

function stateOf(pairs: PairTable, address: Hex): AuditStateRow | null {
  const entry = pairs.byAddress.get(address);
  const state = entry?.facts.state ?? null;
  if (entry === undefined || state === null || !isAddress(state.pair)) return null;
  const { pair, ord, timestamp, reserve0, reserve1, liquidity, price } = state;
  const { unswapped, walked_liquidity, near0, near1 } = state;
  const { facts, pool } = entry;
  const { balances, params, doubts } = facts;
  const walked = { unswapped, walked_liquidity, near0, near1 };
  const amounts = { reserve0, reserve1, liquidity, price };
  const balanceFacts = { balances: balances ?? [], params: params ?? [], doubts };
  return { pair, pool_type: pool.pool_type, ord, timestamp, ...amounts, ...balanceFacts, ...walked };
}
