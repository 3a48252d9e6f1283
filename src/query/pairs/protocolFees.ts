/**
 * Splits the swap fees of V3 pools between LPs and protocol. The protocol's part follows the SetFeeProtocol logs of the
 * pool, from each log on. Before the first log, it is what that log or slot0() of the pool says.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, bool, f64, hash, hexBytes, u32, u64 } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolFirstSharesTable } from '../../clickhouse/schema/olderPoolTables';
import { lastOrdOfBlock } from '../../domain/ord';
import type { ProtocolSplit } from '../../protocols/protocol';
import { decodeSharesChange } from '../../protocols/registry';
import { findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';
import { WEEK_SECONDS } from '../../wire/pairs';

/** Limit for safety: more changes and pools than any chain has. */
const ROWS_MAX = 2_000_000;
/** Changes of final blocks are read again if they are older than this number of blocks. */
const FINAL_BLOCKS_MAX = 5_000;
/**
 * A row may become visible up to this time, in ms, after a row with a later version. Reads of new rows therefore
 * start this much earlier.
 */
const LATE_MS = 60_000;

/** A row of list_fee_protocols.sql: a SetFeeProtocol log. */
const changeRow = rowType({ pair: address, ord: u64, topic0: hash, data: hexBytes });
/** A row of list_first_shares.sql: the protocol's parts before the first SetFeeProtocol log of a pool. */
const firstRow = rowType(pick(poolFirstSharesTable.types, ['pair', 'share0', 'share1', 'version']));
/** A row of sum_split_fees.sql, with fees in USD. */
const feesRow = rowType({ pair: address, part: u32, is_token0: bool, fees: f64 });

type Change = RowOf<typeof changeRow>;

export type ProtocolSplits = ReadonlyMap<string, ProtocolSplit>;

/** A function that returns the splits of all V3 pools with a known one, as of a snapshot. */
export function createProtocolSplits(
  runner: QueryRunner,
  chainId: number,
): (head: HeadSnapshot) => Promise<ProtocolSplits> {
  const readFirstShares = createFirstShares(runner);
  let keptFinal: { readonly finalTo: number; readonly splits: ProtocolSplits } | null = null;
  const listChanges = (head: HeadSnapshot, sinceOrd: number): Promise<Change[]> =>
    runner.run(
      'pairs/list_fee_protocols',
      { ...snapshotParams(head), chain_id: chainId, since_ord: sinceOrd, limit: ROWS_MAX },
      changeRow,
    );
  return async (head) => {
    let finalSplits = keptFinal;
    if (
      finalSplits === null ||
      finalSplits.finalTo > head.finalTo ||
      head.finalTo - finalSplits.finalTo > FINAL_BLOCKS_MAX
    ) {
      const changes = await listChanges({ ...head, blocks: [] }, 0);
      finalSplits = { finalTo: head.finalTo, splits: withChanges(new Map(), changes) };
      // Changes of an older snapshot are not kept, because they would not help the next read.
      if (keptFinal === null || keptFinal.finalTo <= head.finalTo) keptFinal = finalSplits;
    }
    const [newChanges, firstShares] = await Promise.all([
      listChanges(head, lastOrdOfBlock(finalSplits.finalTo)),
      readFirstShares(),
    ]);
    return withChanges(new Map([...firstShares, ...finalSplits.splits]), newChanges);
  };
}

/** A function that returns the stored parts before the first change. Each call reads only the rows that are new. */
function createFirstShares(runner: QueryRunner): () => Promise<ReadonlyMap<string, ProtocolSplit>> {
  const splitByPair = new Map<string, ProtocolSplit>();
  let newestVersion = 0;
  return async () => {
    const params = { since: Math.max(0, newestVersion - LATE_MS), limit: ROWS_MAX };
    for (const { pair, share0, share1, version } of await runner.run(
      'pairs/list_first_shares',
      params,
      firstRow,
    )) {
      const shares = share0 === null || share1 === null ? null : { share0, share1 };
      // An unchanged object lets readers reuse what they made of it.
      const earlierPart = splitByPair.get(pair)?.[0];
      if (earlierPart?.shares?.share0 !== share0 || earlierPart.shares.share1 !== share1)
        splitByPair.set(pair, [{ fromOrd: 0, shares }]);
      newestVersion = Math.max(newestVersion, version);
    }
    return splitByPair;
  };
}

/** Adds changes, in the order of their logs, to the splits of `splits`. */
function withChanges(splits: Map<string, ProtocolSplit>, changes: readonly Change[]): ProtocolSplits {
  for (const { pair, ord, topic0, data } of changes) {
    const change = decodeSharesChange({ topics: [topic0], data });
    if (change === null) continue;
    const earlierParts = splits.get(pair) ?? [{ fromOrd: 0, shares: change.before }];
    splits.set(pair, [...earlierParts, { fromOrd: ord, shares: change.after }]);
  }
  return splits;
}

/** The fees of one pool in a window, in USD. */
interface PoolFees {
  readonly pair: string;
  readonly split: ProtocolSplit;
  readonly feesUsd: number;
  /** The protocol's part where the split is unknown: `protocolFeeShare` of the DEX, 0 to 1. */
  readonly dexShare: number;
}

/**
 * The protocol's part of the fees of each pool over the last `windowSeconds`, in USD. Reads swaps only of pools whose part
 * changed in this time, or differs by token.
 */
export async function sumProtocolFees(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  windowSeconds: number,
  poolFees: readonly PoolFees[],
): Promise<ReadonlyMap<string, number>> {
  const feesByPair = new Map<string, number>();
  if (poolFees.length === 0) return feesByPair;
  const windowStart = Math.max(0, head.timestamp - windowSeconds);
  const afterOrd = await findOrdAt(runner, chainId, head, windowStart);
  const variableFees: PoolFees[] = [];
  for (const pool of poolFees) {
    const share = constantShare(pool, afterOrd);
    if (share === null) variableFees.push(pool);
    feesByPair.set(pool.pair, (share ?? 0) * pool.feesUsd);
  }
  const feesToSplitByPair = new Map(variableFees.map((pool) => [pool.pair, pool]));
  const rows = await inChunks(variableFees, (chunk) => {
    const splitStarts = chunk.flatMap(({ pair, split }) =>
      split.map(({ fromOrd }) => [pair.slice(2), fromOrd] as const),
    );
    const params = {
      ...snapshotParams(head),
      pairs: splitStarts.map(([pair]) => pair),
      ords: splitStarts.map(([, ord]) => ord),
      after_ord: afterOrd,
      since: windowStart,
      limit: ROWS_MAX,
    };
    return runner.run('pairs/sum_split_fees', params, feesRow);
  });
  for (const { pair, part, is_token0, fees } of rows) {
    const { split, dexShare } = feesToSplitByPair.get(pair) ?? { split: [], dexShare: 0 };
    const shares = split[part - 1]?.shares ?? null;
    const share = is_token0 ? shares?.share0 : shares?.share1;
    feesByPair.set(pair, (feesByPair.get(pair) ?? 0) + fees * (share ?? dexShare));
  }
  return feesByPair;
}

/** The part that applies to all fees after `afterOrd`; null if there are several. */
function constantShare({ split, dexShare }: PoolFees, afterOrd: number): number | null {
  const shares = new Set<number>();
  split.forEach(({ shares: sharesOfPart }, index) => {
    const nextOrd = split[index + 1]?.fromOrd ?? Infinity;
    if (nextOrd <= afterOrd) return;
    shares.add(sharesOfPart?.share0 ?? dexShare);
    shares.add(sharesOfPart?.share1 ?? dexShare);
  });
  const [onlyShare = 0] = shares;
  return shares.size === 1 ? onlyShare : null;
}

interface SplitPair {
  readonly pool: { readonly address: string };
  readonly facts: { readonly protocolSplit: ProtocolSplit | null; readonly protocolShare: number };
}

/** The protocol's part of a pair's fees of the last 7 days, `feesUsd`, in USD. Null for a pair without a split. */
export async function readSplitFees(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { pool: { address: pair }, facts }: SplitPair,
  feesUsd: number,
): Promise<number | null> {
  const { protocolSplit: split, protocolShare: dexShare } = facts;
  if (split === null) return null;
  const pool = { pair, split, feesUsd, dexShare };
  const feesByPair = await sumProtocolFees(runner, chainId, head, WEEK_SECONDS, [pool]);
  return feesByPair.get(pair) ?? null;
}
