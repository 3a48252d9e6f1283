/** Builds the table of all tokens with a pool, once per head version, for lists that sort and filter. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { listToldSupplies, readPoolSearch } from '../olderPools/olderPools';
import { isHistoryPartial } from '../holders/balances';
import { findOrdAt } from '../head/blockTimes';
import { tokenTradesRow, type TokenTradesRow } from '../pairs/pairRows';
import type { PairTable, PairTables } from '../pairs/pairTable';
import type { HolderTable, HolderTables } from '../holders/holders';
import { perVersion, type PerVersion } from '../head/perVersion';
import { createCheckReader } from '../holders/balanceChecks';
import type { RiskTable, RiskTables } from '../risks/riskTable';
import { TokenEntry } from './tokenItem';

const DAY_SECONDS = 86_400;
/** Limit for safety: more tokens than any chain has. */
const TOKENS_MAX = 2_000_000;

export interface TokenTable {
  /** Tokens sorted by address. */
  readonly entries: readonly TokenEntry[];
  readonly byAddress: ReadonlyMap<string, TokenEntry>;
}

export type TokenTables = PerVersion<TokenTable>;

export function createTokenTables(
  runner: QueryRunner,
  chainId: number,
  pairs: PairTables,
  holders: HolderTables,
  risks?: RiskTables,
): TokenTables {
  return perVersion({
    async read(head) {
      const [pairTable, holderTable, riskTable] = await Promise.all([
        pairs.at(head),
        holders.at(head),
        risks?.at(head) ?? null,
      ]);
      return readTokenTable(runner, chainId, head, pairTable, holderTable, riskTable);
    },
  });
}

export async function readTokenTable(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  pairs: PairTable,
  holders: HolderTable,
  risks: RiskTable | null = null,
): Promise<TokenTable> {
  const snapshot = snapshotParams(head);
  const afterOrd = await findOrdAt(runner, chainId, head, head.timestamp - DAY_SECONDS);
  const windowParams = { after_ord: afterOrd, now: head.timestamp, limit: TOKENS_MAX };
  const [trades, checks, toldSupplies, poolSearch] = await Promise.all([
    runner.run('tokens/count_trades', { ...snapshot, ...windowParams }, tokenTradesRow),
    risks === null ? createCheckReader(runner)() : null,
    listToldSupplies(runner, head, risks?.watched ?? []),
    readPoolSearch(runner, chainId, head),
  ]);
  const tradesByToken = new Map<string, TokenTradesRow>(trades.map((row) => [row.token, row]));
  const entries = [...pairs.tokenPairs.byToken]
    .map(
      ([address, entriesOfToken]) =>
        new TokenEntry(address, entriesOfToken, pairs.prices, {
          trades: tradesByToken.get(address) ?? null,
          headTime: head.timestamp,
          holding: holders.holdingOf(address),
          partial: isHistoryPartial(head),
          poolsComplete: poolSearch.complete,
          told: toldSupplies.get(address) ?? null,
          checks: risks === null ? (checks?.checksOf(address) ?? null) : risks.checksOf(address),
          risks,
          ...(risks === null ? {} : { watched: risks.watched, keptAtZero: risks.keptAtZeroOf(address) }),
        }),
    )
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  return { entries, byAddress: new Map(entries.map((entry) => [entry.address, entry])) };
}
