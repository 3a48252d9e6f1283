/**
 * Reads what the ingester's checks with balanceOf found, and decides whether a token confirms the balances of its
 * logs. Only checked tokens have an entry.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u8 } from '../../clickhouse/rows/columns';
import { pick, rowType } from '../../clickhouse/rows/rowType';
import { balanceChecksTable, oddTokensTable, type OddKind } from '../../clickhouse/schema/tables';
import { createNewestRows } from '../head/newestRows';

/** More tokens than are ever checked. This is a safety bound, not a page size. */
const TOKENS_MAX = 2_000_000;
/** A token invents transfers if more than this share of the checked addresses is unconfirmed. */
const UNCONFIRMED_SHARE_MAX = 0.1;
/** The last sample of holders is too old if the number of holders has grown by more than this factor since. */
const HOLDERS_GROWTH_MAX = 2;
/**
 * The holder count of a rebasing token is published only if the checks with balanceOf cover at least this
 * many holders.
 */
const HOLDERS_CHECKED_MIN = 8;

export interface BalanceChecks {
  /** Whether balanceOf differs from the sum of the logs. */
  readonly rebasing: boolean;
  /** Number of checked addresses that hold the token according to its logs. */
  readonly heldChecked: number;
  /**
   * Number of checked addresses that hold the token according to the logs, but for which the contract answered 0 or gave
   * no usable answer.
   */
  readonly unconfirmed: number;
  /** Number of holders by the logs when holders were last sampled, by size and at random; 0 if they never were. */
  readonly sampledHolders: number;
  /** Whether the balance of some holder differed in the last check. */
  readonly doubted: boolean;
  /** Why the Transfer logs of the token do not tell all changes of its balances; null if they may do so. */
  readonly odd: OddKind | null;
}

/** Checks by token. */
interface CheckTable {
  /** Null for a token without checks whose logs are not odd. */
  checksOf(token: string): BalanceChecks | null;
}

const UNCHECKED = {
  rebasing: false,
  heldChecked: 0,
  unconfirmed: 0,
  sampledHolders: 0,
  doubted: false,
} as const;

/** A row of list_checks.sql. */
const checksRow = rowType({
  ...pick(balanceChecksTable.types, [
    ...(['token', 'rebasing', 'held_checked', 'unconfirmed', 'sampled_holders', 'version'] as const),
  ]),
  doubted: u8,
});
const oddRow = rowType(oddTokensTable.types);

/** A function that returns the tokens with odd logs. Each call reads only the rows that are new. */
export function createOddReader(
  runner: QueryRunner,
): () => Promise<ReadonlyMap<string, { readonly kind: OddKind }>> {
  return createNewestRows((since) =>
    runner.run('holders/list_odd_tokens', { since, limit: TOKENS_MAX }, oddRow),
  );
}

/** A function that reads the checks of all tokens. Each call reads only the rows that are new. */
export function createCheckReader(runner: QueryRunner): () => Promise<CheckTable> {
  const readChecks = createNewestRows((since) => listChecks(runner, { since, limit: TOKENS_MAX }));
  const readOddTokens = createOddReader(runner);
  return async () => {
    const [checksByToken, oddByToken] = await Promise.all([readChecks(), readOddTokens()]);
    return { checksOf: (token) => toBalanceChecks(checksByToken.get(token), oddByToken.get(token)) };
  };
}

/** The checks of one token; null if it was not checked and its logs are not odd. */
export async function findBalanceChecks(runner: QueryRunner, token: string): Promise<BalanceChecks | null> {
  const params = { since: 0, token: token.slice(2), limit: 1 };
  const [[checks], [oddToken]] = await Promise.all([
    listChecks(runner, params),
    runner.run('holders/list_odd_tokens', params, oddRow),
  ]);
  return toBalanceChecks(checks, oddToken);
}

async function listChecks(runner: QueryRunner, params: QueryParams) {
  const rows = await runner.run('holders/list_checks', params, checksRow);
  return rows.map(({ held_checked: heldChecked, sampled_holders: sampledHolders, doubted, ...row }) => ({
    ...row,
    heldChecked,
    sampledHolders,
    doubted: doubted === 1,
  }));
}

function toBalanceChecks(
  checks: Omit<BalanceChecks, 'odd'> | undefined,
  oddToken: { readonly kind: OddKind } | undefined,
): BalanceChecks | null {
  if (checks === undefined && oddToken === undefined) return null;
  return { ...UNCHECKED, ...checks, odd: oddToken?.kind ?? null };
}

/** Whether the contract does not confirm the balances that its transfers claim. */
export function inventsTransfers(checks: BalanceChecks | null): boolean {
  if (checks === null) return false;
  return checks.unconfirmed > checks.heldChecked * UNCONFIRMED_SHARE_MAX;
}

/**
 * Whether the contract was asked about a sample of the holders. Until then, the transfers of a token may all be
 * invented.
 */
export function isSampled(checks: BalanceChecks | null, holders: number): boolean {
  return (
    checks !== null && checks.sampledHolders > 0 && holders <= checks.sampledHolders * HOLDERS_GROWTH_MAX
  );
}

/**
 * Whether the token's holders can be counted from logs although its balances change without transfers:
 * balanceOf confirms that enough checked addresses hold the token.
 */
export function confirmsHolders(checks: BalanceChecks | null): boolean {
  return (
    checks !== null &&
    checks.rebasing &&
    checks.heldChecked >= HOLDERS_CHECKED_MIN &&
    !inventsTransfers(checks)
  );
}

/**
 * Whether balances and supply may be taken from the logs, as far as the form of the logs is concerned. A Deposit log
 * without a Transfer log counts as a mint only if the contract confirmed the balances of a sample of the holders.
 */
export function tellsBalances(checks: BalanceChecks | null, holders: number): boolean {
  if (checks === null || checks.odd === null) return true;
  if (checks.odd === 'unread_transfer') return false;
  return isSampled(checks, holders) && !checks.doubted && !checks.rebasing;
}
