/** Counts and lists the holders of one token on demand, as of a snapshot or of an earlier block. */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, i256 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { ContractReader } from '../contracts/contracts';
import { isHistoryPartial } from './balances';
import { countedRow, countOf, type TokenHolding } from './holderCounts';
import { chainUpTo, snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** A row of list_holders.sql, with the balance in raw units. */
const holderRow = rowType({ holder: address, balance: i256 });
/** A holder with its balance in raw units, above zero. */
type Holder = RowOf<typeof holderRow>;

/**
 * Counts the holders of the token and its supply at the end of a block, by default the snapshot's, but reads no
 * balances of burn addresses, treasuries and lockers. Null if no transfer of the token is stored.
 */
export async function readTokenHolding(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
  block = head.number,
): Promise<TokenHolding | null> {
  const noWatchedHolders = { holders: [], created: [], creators: [] };
  const params = { ...paramsAt(head, block), ...noWatchedHolders, tokens: [token.slice(2)], limit: 1 };
  const [row] = await runner.run('holders/count_holders', params, countedRow);
  return row === undefined ? null : countOf(row);
}

/**
 * Whether every transfer of the token is indexed. This is so if the index starts at the first block, or contains the
 * token's creation.
 */
export async function hasWholeHistory(
  contracts: Pick<ContractReader, 'find'>,
  chainId: number,
  head: HeadSnapshot,
  token: Hex,
): Promise<boolean> {
  if (!isHistoryPartial(head)) return true;
  const creation = (await contracts.find(chainId, token))?.creation ?? null;
  return creation !== null && creation.block >= head.startBlock;
}

/** A page of holders with a positive balance at the end of a block, largest first, ties by address. */
export async function listHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
  page: { readonly skip: number; readonly limit: number },
  block = head.number,
): Promise<Holder[]> {
  const { skip, limit } = page;
  const params = { ...paramsAt(head, block), token: token.slice(2), limit, skip };
  return runner.run('holders/list_holders', params, holderRow);
}

/** Balances are stored as of the newest transfer, so the transfers after an earlier block are undone. */
function paramsAt(head: HeadSnapshot, block: number): QueryParams {
  if (block >= head.number) return snapshotParams(head);
  const { blocks } = chainUpTo(head, block);
  return { ...snapshotParams({ finalTo: head.finalTo, blocks }), until_ord: lastOrdOfBlock(block) };
}
