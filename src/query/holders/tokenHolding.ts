/** Counts the holders of one token on demand as of a snapshot, for tokens outside the market's tables. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, i256 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import type { ContractReader } from '../contracts/contracts';
import { isHistoryPartial } from './balances';
import { countedRow, countOf, type TokenHolding } from './holderCounts';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** A row of list_holders.sql, with the balance in raw units. */
const holderRow = rowType({ holder: address, balance: i256 });
/** A holder with its balance in raw units, above zero. */
type Holder = RowOf<typeof holderRow>;

/**
 * Counts the holders of the token and its supply, but reads no balances of burn addresses, treasuries and
 * lockers. Null if no transfer of the token is stored.
 */
export async function readTokenHolding(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
): Promise<TokenHolding | null> {
  const noWatchedHolders = { holders: [], created: [], creators: [] };
  const params = { ...snapshotParams(head), ...noWatchedHolders, tokens: [token.slice(2)], limit: 1 };
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

/** A page of holders with a positive balance, largest first, ties by address. */
export async function listHolders(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
  page: { readonly skip: number; readonly limit: number },
): Promise<Holder[]> {
  const params = { ...snapshotParams(head), token: token.slice(2), limit: page.limit, skip: page.skip };
  return runner.run('holders/list_holders', params, holderRow);
}
