/**
 * Keeps all routes and epoch records in memory for audits of the newest block. Each head version adds only the new
 * rows. Audits of older blocks read by key (auditRows.ts).
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { isAddress, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { EPOCH_BLOCKS, epochStart } from '../../pricing/epoch';
import {
  createAuditReader,
  epochRowShape,
  getAuditBlock,
  routeRowShape,
  type AuditBlock,
  type AuditReader,
  type EpochRow,
  type RouteRow,
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

/** The newest final row of each key, up to a block. */
interface Kept {
  readonly finalOrd: number;
  readonly routes: ReadonlyMap<string, RouteRow>;
  readonly epochs: ReadonlyMap<string, EpochRow>;
}

const NOTHING: Kept = { finalOrd: 0, routes: new Map(), epochs: new Map() };

export function createAuditTables(runner: QueryRunner, chainId: number, pairs: PairTables): AuditTables {
  let kept = NOTHING;
  // The updates run one after another, because each read continues from the previous read.
  let turn: Promise<unknown> = Promise.resolve();
  return perVersion(async (head) => {
    const mine = turn.then(async () => {
      // If the last final block moved back, the database was replaced, so everything is read again.
      kept = await readFinal(runner, head, lastOrdOfBlock(head.finalTo) < kept.finalOrd ? NOTHING : kept);
      return kept;
    });
    turn = mine.catch(() => undefined);
    const [final, table, block] = await Promise.all([
      mine,
      pairs.at(head),
      getAuditBlock(runner, chainId, head, head.number),
    ]);
    const newest = await addHead(runner, head, final);
    return {
      block,
      reader: createTableReader(createAuditReader(runner, head, head.number), newest, table, head),
    };
  });
}

const keyOfLeg = ({ pair, leg }: EpochRow): string => `${pair}/${leg}`;

async function readFinal(runner: QueryRunner, head: HeadSnapshot, before: Kept): Promise<Kept> {
  const { final_ord } = snapshotParams(head);
  const params = { final_ord: final_ord ?? 0, from_ord: before.finalOrd, limit: ROWS_MAX };
  const [routes, epochs] = await Promise.all([
    runner.run('audit/list_all_routes', params, routeRowShape),
    runner.run('audit/list_all_epochs', params, epochRowShape),
  ]);
  return {
    finalOrd: lastOrdOfBlock(head.finalTo),
    routes: routes.length === 0 ? before.routes : laidOver(before.routes, routes, ({ token }) => token),
    epochs: epochs.length === 0 ? before.epochs : laidOver(before.epochs, epochs, keyOfLeg),
  };
}

async function addHead(runner: QueryRunner, head: HeadSnapshot, final: Kept): Promise<Kept> {
  if (head.blocks.length === 0) return final;
  const params = { ...snapshotParams(head), limit: ROWS_MAX };
  const [routes, epochs] = await Promise.all([
    runner.run('audit/list_all_head_routes', params, routeRowShape),
    runner.run('audit/list_all_head_epochs', params, epochRowShape),
  ]);
  return {
    finalOrd: final.finalOrd,
    routes: laidOver(final.routes, routes, ({ token }) => token),
    epochs: laidOver(final.epochs, epochs, keyOfLeg),
  };
}

function laidOver<Row>(
  below: ReadonlyMap<string, Row>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): ReadonlyMap<string, Row> {
  const all = new Map(below);
  for (const row of rows) all.set(keyOf(row), row);
  return all;
}

/** Answers the reads of an audit from the tables in memory. Only hops, pools and trades still need a
 * query. */
function createTableReader(
  stored: AuditReader,
  { routes, epochs }: Kept,
  pairs: PairTable,
  head: HeadSnapshot,
): AuditReader {
  const legsOf = new Map<string, EpochRow[]>();
  for (const row of epochs.values()) {
    const known = legsOf.get(row.pair);
    if (known === undefined) legsOf.set(row.pair, [row]);
    else known.push(row);
  }
  // Older records are included, because a leg that did not change in the last epoch has no newer record.
  const epochOrd = lastOrdOfBlock(epochStart(head.number) + EPOCH_BLOCKS - 1);
  const statesOf = (wanted: readonly Hex[]): Promise<AuditStateRow[]> =>
    Promise.resolve(wanted.flatMap((pair) => stateOf(pairs, pair) ?? []));
  return {
    ...stored,
    listRoutes: (tokens) => Promise.resolve([...new Set(tokens)].flatMap((token) => routes.get(token) ?? [])),
    listEpochs: (wanted, afterOrd) =>
      Promise.resolve(
        [...new Set(wanted)]
          .flatMap((pair) => legsOf.get(pair) ?? [])
          .filter(({ at_ord }) => Number(at_ord) > afterOrd && Number(at_ord) <= epochOrd),
      ),
    listStates: (wanted) => statesOf([...new Set(wanted)]),
    listOlderStates: (wanted) => statesOf([...new Set(wanted)]),
  };
}

function stateOf(pairs: PairTable, address: Hex): AuditStateRow | null {
  const facts = pairs.byAddress.get(address)?.facts;
  const state = facts?.state ?? null;
  if (state === null || !isAddress(state.pair)) return null;
  const { pair, ord: at_ord, reserve0, reserve1, liquidity, price, walked_liquidity, near0, near1 } = state;
  const balances = [...(facts?.balances ?? [])];
  const { doubts } = facts ?? { doubts: 0 };
  const unswapped = [...state.unswapped];
  const walked = { walked_liquidity, near0, near1 };
  return { pair, at_ord, reserve0, reserve1, liquidity, price, balances, doubts, unswapped, ...walked };
}
