/**
 * Reads the token balances of one address as of a snapshot: sums over the transfers in the logs, modulo 2^256, read as
 * signed. A negative sum means that the history begins too late, or that the logs do not add up. During a backfill the
 * sums may contain a batch beyond the snapshot.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, i256 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { ZERO_ADDRESS } from '../../domain/hex';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';

/** The first block with transactions. A history that begins later may lack transfers. */
const FIRST_BLOCK = 1;
/** Most tokens per address, which limits the answer. */
export const BALANCES_MAX = 50_000;

/**
 * A row of portfolio/list_balances.sql or portfolio/list_supplies.sql, which negates supplies. Balances are in raw
 * units.
 */
const balanceRow = rowType({ token: address, balance: i256 });

/** Raw balances by token. */
export type Balances = ReadonlyMap<string, bigint>;

/**
 * Whether transfers from before the first ingested block are missing. Sums of the logs are then not the real
 * balances.
 */
export function isHistoryPartial(head: HeadSnapshot): boolean {
  return head.startBlock > FIRST_BLOCK;
}

/** Balances of an address, and the number of received V3 positions. */
interface Holdings {
  /** Every token that the address ever sent or received, even at balance 0; at most BALANCES_MAX. */
  readonly balances: Balances;
  /**
   * Number of V3 positions that the address received. If it is 0, the address owns none; otherwise it may own
   * some.
   */
  readonly positionsReceived: number;
}

export async function readHoldings(
  runner: QueryRunner,
  head: HeadSnapshot,
  holder: string,
): Promise<Holdings> {
  const params = paramsOf(head, holder, []);
  const rows = await runner.run('portfolio/list_balances', params, balanceRow);
  // In the row whose token is the zero address, the balance is the number of V3 positions.
  const positionCount = rows.find(({ token }) => token === ZERO_ADDRESS)?.balance ?? 0;
  const balances = new Map<string, bigint>(rows.map(({ token, balance }) => [token, balance]));
  balances.delete(ZERO_ADDRESS);
  return { balances, positionsReceived: Number(positionCount) };
}

/** Raw supplies of the given tokens: the negative of the zero address's balance. Tokens without logs are missing. */
export async function listSupplies(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
): Promise<Balances> {
  const rows = await inChunks(tokens, async (chunk) => {
    const params = paramsOf(head, ZERO_ADDRESS, chunk);
    return runner.run('portfolio/list_supplies', params, balanceRow);
  });
  return new Map(rows.map(({ token, balance }) => [token, -balance]));
}

function paramsOf(head: HeadSnapshot, holder: string, tokens: readonly string[]): QueryParams {
  return {
    ...snapshotParams(head),
    holder: holder.slice(2),
    tokens: tokens.map((token) => token.slice(2)),
    limit: BALANCES_MAX,
  };
}
