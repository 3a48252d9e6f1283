/** Builds the market overview as of a snapshot. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u32, u256 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { formatUnits, plainNumber, unitsToNumber } from '../../domain/amounts';
import type { Burn } from '../../domain/chainDescription';
import type { Overview } from '../../wire/overview';
import { findFinalBlockAt, findOrdAt } from '../head/blockTimes';
import { listGasBlocks, type GasBlock } from './gasPrices';
import { sumOf } from '../dexes/dexItem';
import type { DexTable } from '../dexes/dexTable';
import { readPoolSearch } from '../olderPools/olderPools';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { ProvenParts } from '../head/provenParts';
import type { PairTable } from '../pairs/pairTable';
import { changePercent } from '../pairs/rankings';
import { listTokens, tokenOf } from '../tokens/tokens';

const DAY_SECONDS = 86_400;
const GWEI_DECIMALS = 9;

const transactionsRow = rowType({ transactions: u32 });
/** The tables in memory that belong to the snapshot for which the overview is made. */
interface OverviewSources {
  readonly pairs: PairTable;
  readonly dexes: DexTable;
  readonly proven: ProvenParts;
  /** The burn token of the chain; null if it has none. */
  readonly burn: Burn | null;
  /** URL of the chain's logo, or null. */
  readonly logo: string | null;
}

export async function getOverview(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { pairs, dexes, proven, burn, logo }: OverviewSources,
): Promise<Overview> {
  const [transactions, gasBlocks, burnedToken, poolSearch, proof] = await Promise.all([
    countTransactions(runner, chainId, head),
    listGasBlocks(runner, chainId, head),
    burn === null ? null : readBurned(runner, chainId, head, burn),
    readPoolSearch(runner, chainId, head),
    proven.at(head),
  ]);
  const { nativeUsd } = pairs.prices;
  const volumeUsd = sumOf(pairs.entries, 'volume24hUsd');
  return {
    volume_24h_usd: volumeUsd,
    volume_change_24h: changePercent(volumeUsd, dexes.volumeBefore),
    tvl_usd: sumOf(pairs.entries, 'liquidityUsd'),
    tx_24h: transactions,
    swaps_24h: dexes.trades,
    traders_24h: dexes.traders,
    active_pools: pairs.entries.filter((entry) => entry.swaps24h > 0).length,
    gas_gwei: medianGasGwei(gasBlocks),
    token_burned_24h: burnedToken?.amount ?? null,
    token_burned_symbol: burnedToken?.symbol ?? null,
    chain_logo_url: logo,
    native_price_usd: nativeUsd === null ? null : plainNumber(nativeUsd),
    history: {
      complete: poolSearch.complete,
      start_block: poolSearch.startBlock,
      searching: poolSearch.searching,
      searched_from_block: poolSearch.searchedFrom,
      done_pct: poolSearch.donePct,
      older_pools: poolSearch.olderPools,
    },
    proof,
    block_number: head.number,
    block_timestamp: head.timestamp,
  };
}

async function readBurned(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  burn: Burn,
): Promise<{ readonly amount: number; readonly symbol: string | null }> {
  const [rawAmount, tokens] = await Promise.all([
    sumBurned(runner, chainId, head, burn, DAY_SECONDS),
    listTokens(runner, [burn.token]),
  ]);
  const { symbol, decimals } = tokenOf(tokens, burn.token);
  return { amount: unitsToNumber(rawAmount, decimals ?? 0), symbol };
}

async function countTransactions(runner: QueryRunner, chainId: number, head: HeadSnapshot): Promise<number> {
  const windowStart = Math.max(head.timestamp - DAY_SECONDS, 0);
  const blockBefore = await findFinalBlockAt(runner, chainId, head, windowStart);
  const params = {
    commits: snapshotParams(head)['commits'] ?? [],
    chain_id: chainId,
    after_block: blockBefore?.number ?? 0,
    final_to: head.finalTo,
    since: windowStart,
  };
  const [row] = await runner.run('overview/sum_transactions', params, transactionsRow);
  return row?.transactions ?? 0;
}

/**
 * The median gas price of all transactions in the blocks, in gwei. Transactions of a block without stored gas prices
 * are assumed to pay the base fee. Without transactions, the result is the median of the base fees. Null without
 * data.
 */
export function medianGasGwei(blocks: readonly GasBlock[]): number | null {
  const paidPrices = blocks.flatMap(({ transactions, baseFee, paidPrices: prices }) => {
    if (prices.length > 0) return prices;
    return baseFee === null ? [] : Array.from({ length: transactions }, () => baseFee);
  });
  const baseFees = blocks.flatMap(({ baseFee }) => baseFee ?? []);
  const sortedPrices = (paidPrices.length > 0 ? paidPrices : baseFees).sort((a, b) =>
    a < b ? -1 : a > b ? 1 : 0,
  );
  const upper = sortedPrices[sortedPrices.length >> 1];
  const lower = sortedPrices[(sortedPrices.length - 1) >> 1];
  if (upper === undefined || lower === undefined) return null;
  // The mean of the middle two values, which are equal for an odd count.
  return Number(formatUnits((upper + lower) * 5n, GWEI_DECIMALS + 1));
}

/** The row of sum_burned.sql, in raw units of the burn token. */
const burnedRow = rowType({ burned: u256 });

/** Raw amount sent to burn addresses from other addresses in the last `windowSeconds` before the newest indexed block. */
export async function sumBurned(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  burn: Burn,
  windowSeconds: number,
): Promise<bigint> {
  const windowStart = Math.max(head.timestamp - windowSeconds, 0);
  const params = {
    ...snapshotParams(head),
    token: burn.token.slice(2),
    addresses: burn.addresses.map((address) => address.slice(2)),
    after_ord: await findOrdAt(runner, chainId, head, windowStart),
    since: windowStart,
  };
  const [row] = await runner.run('overview/sum_burned', params, burnedRow);
  return row?.burned ?? 0n;
}
