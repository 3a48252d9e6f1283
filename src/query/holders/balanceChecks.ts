/**
 * Reads what the ingester's checks with balanceOf found, and decides whether a token confirms the balances of its
 * logs. Only tokens with findings have an entry.
 */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';

/** More tokens than are ever checked. This is a safety bound, not a page size. */
const TOKENS_MAX = 2_000_000;
/**
 * A token invents transfers if at least UNCONFIRMED_MIN checked addresses, and more than the share UNCONFIRMED_PART
 * of them, are unconfirmed.
 */
const UNCONFIRMED_MIN = 2;
const UNCONFIRMED_PART = 0.1;
/**
 * The holder count of a rebasing token is published only if the checks with balanceOf cover at least this
 * many holders.
 */
const CONFIRMING_MIN = 8;

export interface BalanceChecks {
  /** Whether, at two blocks, balanceOf differed from the sum of the logs. */
  readonly rebasing: boolean;
  /** Number of checked addresses that hold the token according to its logs. */
  readonly held: number;
  /**
   * Number of checked addresses that hold the token according to the logs, but for which the contract answered 0 or gave
   * no usable answer.
   */
  readonly unconfirmed: number;
}

const checksRowShape = z.object({
  token: z.string(),
  rebasing: z.boolean(),
  held_checked: z.coerce.number(),
  unconfirmed: z.coerce.number(),
});

export async function listBalanceChecks(runner: QueryRunner): Promise<ReadonlyMap<string, BalanceChecks>> {
  const rows = await runner.run('holders/list_checks', { limit: TOKENS_MAX }, checksRowShape);
  return new Map(
    rows.map(({ token, rebasing, held_checked, unconfirmed }) => [
      token,
      { rebasing, held: held_checked, unconfirmed },
    ]),
  );
}

/** Whether the contract does not confirm the balances that its transfers claim. */
export function inventsTransfers(checks: BalanceChecks | null): boolean {
  if (checks === null) return false;
  const { held, unconfirmed } = checks;
  return unconfirmed >= UNCONFIRMED_MIN && unconfirmed > held * UNCONFIRMED_PART;
}

/**
 * Whether the token's holders can be counted from logs although its balances change without transfers:
 * balanceOf confirms that enough checked addresses hold the token.
 */
export function confirmsHolders(checks: BalanceChecks | null): boolean {
  return checks !== null && checks.rebasing && checks.held >= CONFIRMING_MIN && !inventsTransfers(checks);
}
