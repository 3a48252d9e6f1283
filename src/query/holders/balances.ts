/**
 * What one address holds, as of a snapshot: sums over the transfers in the logs, modulo 2^256 and read as signed. Below zero
 * they are only where the history begins too late or the logs do not add up. During a backfill they may contain a batch beyond
 * the snapshot.
 */
import { z } from 'zod';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { ZERO_ADDRESS } from '../../domain/hex';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';

/** The first block that has transactions: a history that begins later may lack transfers. */
const FIRST_BLOCK = 1;
/** Tokens of one address; beyond it an answer would have no end. */
export const BALANCES_MAX = 50_000;

const balanceRowShape = z.object({ token: z.string(), balance: z.string() });

/** Raw balances by token. */
export type Balances = ReadonlyMap<string, bigint>;

/** Whether transfers from before the first ingested block are missing: then balances are what is known, not what is. */
export function isHistoryPartial(head: HeadSnapshot): boolean {
  return head.startBlock > FIRST_BLOCK;
}

/** The balances of an address, and whether it ever got a V3 position. */
export interface Holdings {
  /** Every token that the address ever got or sent, also at balance 0; at most BALANCES_MAX. */
  readonly balances: Balances;
  /** 0: it owns no V3 position; otherwise it may. */
  readonly positionsGot: number;
}

export async function readHoldings(
  runner: QueryRunner,
  head: HeadSnapshot,
  holder: string,
): Promise<Holdings> {
  const params = paramsOf(head, holder, []);
  const rows = await runner.run('portfolio/list_balances', params, balanceRowShape);
  // The zero address is no token: its row counts positions.
  const got = rows.find(({ token }) => token === ZERO_ADDRESS)?.balance ?? 0;
  const balances = new Map(rows.map(({ token, balance }) => [token, BigInt(balance)]));
  balances.delete(ZERO_ADDRESS);
  return { balances, positionsGot: Number(got) };
}

/** Raw supplies of the given tokens: minus what the zero address holds. Those that no log names are missing. */
export async function listSupplies(
  runner: QueryRunner,
  head: HeadSnapshot,
  tokens: readonly string[],
): Promise<Balances> {
  const rows = await inChunks(tokens, async (chunk) => {
    const params = paramsOf(head, ZERO_ADDRESS, chunk);
    return runner.run('portfolio/list_supplies', params, balanceRowShape);
  });
  return new Map(rows.map(({ token, balance }) => [token, -BigInt(balance)]));
}

function paramsOf(head: HeadSnapshot, holder: string, tokens: readonly string[]): QueryParams {
  return {
    ...snapshotParams(head),
    holder: holder.slice(2),
    tokens: tokens.map((token) => token.slice(2)),
    limit: BALANCES_MAX,
  };
}
