/**
 * Reads the LP tokens at the zero address. The pool still counts them in its supply, because only the pool itself
 * burns LP tokens, from its own address.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { getProtocol } from '../../protocols/registry';
import { address, u256 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';
import type { StoredPool } from '../pairs/pools';
import type { TokenHolding } from './holderCounts';

/**
 * A row of list_zero_balances.sql, in raw units: LP tokens that the zero address has, and the part that holders sent
 * to it.
 */
const balanceRow = rowType({ token: address, held: u256, sent: u256 });

/** LP tokens of one pool at the zero address, in raw units. */
interface ZeroBalance {
  /** The balance of the zero address. */
  readonly held: bigint;
  /**
   * LP tokens that a holder sent to the zero address after their mint. A supply that is computed from the logs leaves
   * them out.
   */
  readonly sent: bigint;
}

/** The balance of the zero address, by LP token. */
export type ZeroBalances = ReadonlyMap<string, ZeroBalance>;

const NO_BALANCE: ZeroBalance = { held: 0n, sent: 0n };

/** The zero address's balance of each given LP token of a constant-product pool; 0 without a stored row. */
export async function readZeroBalances(
  runner: QueryRunner,
  head: Parameters<typeof snapshotParams>[0],
  tokens: readonly string[],
): Promise<ZeroBalances> {
  const balances = new Map(tokens.map((token) => [token, NO_BALANCE]));
  const rows = await inChunks(tokens, (chunk) => {
    const params = { ...snapshotParams(head), tokens: chunk.map((token) => token.slice(2)) };
    return runner.run('holders/list_zero_balances', { ...params, limit: chunk.length }, balanceRow);
  });
  for (const { token, held, sent } of rows) balances.set(token, { held, sent });
  return balances;
}

/** The balances of all wanted LP tokens that the zero address holds from the first mint on. */
export function readLpBalances(
  runner: QueryRunner,
  head: HeadSnapshot,
  pools: readonly StoredPool[],
  wantedTokens: ReadonlySet<string>,
): Promise<ZeroBalances> {
  const lpPools = pools.filter(
    (pool) => getProtocol(pool.protocol).locksSharesAtZero && wantedTokens.has(pool.address),
  );
  return readZeroBalances(
    runner,
    head,
    lpPools.map(({ address }) => address),
  );
}

/** The balances of the same LP tokens at another head. Reads only tokens with transfers between the heads. */
export async function nextLpBalances(
  runner: QueryRunner,
  head: HeadSnapshot,
  knownBalances: ZeroBalances,
  movedTokens: ReadonlySet<string>,
): Promise<ZeroBalances> {
  const tokens = [...movedTokens].filter((token) => knownBalances.has(token));
  if (tokens.length === 0) return knownBalances;
  return new Map([...knownBalances, ...(await readZeroBalances(runner, head, tokens))]);
}

export function withZeroBalance(holding: TokenHolding, { held, sent }: ZeroBalance): TokenHolding {
  if (held === 0n) return holding;
  return { ...holding, supply: holding.supply === null ? null : holding.supply + sent, atZero: held };
}
