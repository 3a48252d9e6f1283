/**
 * Reads what the ingester's checks with balanceOf found, and decides whether a token confirms the balances of its
 * logs. Only checked tokens have an entry.
 */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { createNewestRows } from '../head/newestRows';

/** More tokens than are ever checked. This is a safety bound, not a page size. */
const TOKENS_MAX = 2_000_000;
/** A token invents transfers if more than this share of the checked addresses is unconfirmed. */
const UNCONFIRMED_PART = 0.1;
/** The last sample of holders is too old if the number of holders has grown by more than this factor since. */
const GROWTH_MAX = 2;
/**
 * The holder count of a rebasing token is published only if the checks with balanceOf cover at least this
 * many holders.
 */
const CONFIRMING_MIN = 8;

export interface BalanceChecks {
  /** Whether balanceOf differs from the sum of the logs. */
  readonly rebasing: boolean;
  /** Number of checked addresses that hold the token according to its logs. */
  readonly held: number;
  /**
   * Number of checked addresses that hold the token according to the logs, but for which the contract answered 0 or gave
   * no usable answer.
   */
  readonly unconfirmed: number;
  /** Number of holders by the logs when holders were last sampled, by size and at random; 0 if they never were. */
  readonly sampledHolders: number;
}

const checksRowShape = z
  .object({
    token: z.string(),
    rebasing: z.boolean(),
    held_checked: z.coerce.number(),
    unconfirmed: z.coerce.number(),
    sampled_holders: z.number(),
    version: z.coerce.number(),
  })
  .transform(({ held_checked, sampled_holders, ...row }) => ({
    ...row,
    held: held_checked,
    sampledHolders: sampled_holders,
  }));

/** A function that returns the checks of each checked token. Each call reads only the rows that are new. */
export function createCheckReader(runner: QueryRunner): () => Promise<ReadonlyMap<string, BalanceChecks>> {
  return createNewestRows((since) =>
    runner.run('holders/list_checks', { since, limit: TOKENS_MAX }, checksRowShape),
  );
}

/** The checks of one token; null if it was not checked. */
export async function findBalanceChecks(runner: QueryRunner, token: string): Promise<BalanceChecks | null> {
  const params = { since: 0, token: token.slice(2), limit: 1 };
  const [row] = await runner.run('holders/list_checks', params, checksRowShape);
  return row ?? null;
}

/** Whether the contract does not confirm the balances that its transfers claim. */
export function inventsTransfers(checks: BalanceChecks | null): boolean {
  if (checks === null) return false;
  return checks.unconfirmed > checks.held * UNCONFIRMED_PART;
}

/**
 * Whether the contract was asked about a sample of the holders. Until then, the transfers of a token may all be
 * invented.
 */
export function isSampled(checks: BalanceChecks | null, holders: number): boolean {
  return checks !== null && checks.sampledHolders > 0 && holders <= checks.sampledHolders * GROWTH_MAX;
}

/**
 * Whether the token's holders can be counted from logs although its balances change without transfers:
 * balanceOf confirms that enough checked addresses hold the token.
 */
export function confirmsHolders(checks: BalanceChecks | null): boolean {
  return checks !== null && checks.rebasing && checks.held >= CONFIRMING_MIN && !inventsTransfers(checks);
}
