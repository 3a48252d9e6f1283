/**
 * What one address holds, as of a snapshot: sums over the transfers in the logs, modulo 2^256 and read as signed. Below zero
 * they are only where the history begins too late or the logs do not add up.
 */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { ZERO_ADDRESS } from '../domain/hex';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { inChunks } from './inChunks';

/** The first block that has transactions: a history that begins later may lack transfers. */
const FIRST_BLOCK = 1;
/** Tokens of one address; beyond it an answer would have no end. */
export const BALANCES_MAX = 50_000;

const balanceRowShape = z.object({ token: z.string(), balance: z.string(), ahead: z.boolean() });
type BalanceRow = z.infer<typeof balanceRowShape>;

/** Raw balances by token; those of zero are missing. */
export type Balances = ReadonlyMap<string, bigint>;

/** Whether transfers from before the first ingested block are missing: then balances are what is known, not what is. */
export function isHistoryPartial(head: HeadSnapshot): boolean {
  return head.startBlock > FIRST_BLOCK;
}

/** Every token that an address holds, or owes; at most BALANCES_MAX. */
export async function listBalances(
  runner: QueryRunner,
  head: HeadSnapshot,
  holder: string,
): Promise<Balances> {
  const rows = await readBalances(runner, head, 'portfolio/list_balances', holder, []);
  return new Map(rows.map(({ token, balance }) => [token, BigInt(balance)]));
}

/** Raw supplies of the given tokens: minus what the zero address holds. Those of zero are missing. */
export async function listSupplies(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
): Promise<Balances> {
  const rows = await inChunks(tokens, (chunk) =>
    readBalances(runner, head, 'portfolio/list_supplies', ZERO_ADDRESS, chunk),
  );
  return new Map(rows.map(({ token, balance }) => [token, -BigInt(balance)]));
}

/** Rows of the named query, or, while a batch beyond the snapshot is being stored, of the one that takes it off again. */
async function readBalances(
  runner: QueryRunner,
  head: HeadSnapshot,
  name: string,
  holder: string,
  tokens: readonly string[],
): Promise<BalanceRow[]> {
  const params = {
    ...snapshotParams(head),
    holder: holder.slice(2),
    tokens: tokens.map((token) => token.slice(2)),
    limit: BALANCES_MAX,
  };
  const rows = await runner.run(name, params, balanceRowShape);
  const exact = rows.some(({ ahead }) => ahead)
    ? await runner.run('portfolio/recount_balances', params, balanceRowShape)
    : rows;
  return exact.filter(({ balance }) => balance !== '0');
}
