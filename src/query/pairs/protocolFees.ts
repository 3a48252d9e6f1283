/**
 * Splits the swap fees of V3 pools between LPs and protocol. The protocol's part follows the SetFeeProtocol logs of the
 * pool, from each log on. Before the first log, it is what that log or slot0() of the pool says.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, bool, f64, hash, hexBytes, u32, u64 } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolFirstSharesTable } from '../../clickhouse/schema/olderPoolTables';
import { lastOrdOfBlock } from '../../domain/ord';
import { decodeSetFeeProtocol, type ProtocolSplit } from '../../protocols/feeProtocol';
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

const changeRow = rowType({ pair: address, ord: u64, topic0: hash, data: hexBytes });
const firstRow = rowType(pick(poolFirstSharesTable.types, ['pair', 'share0', 'share1', 'version']));
const feesRow = rowType({ pair: address, part: u32, is_token0: bool, fees: f64 });

type Change = RowOf<typeof changeRow>;

export type ProtocolSplits = ReadonlyMap<string, ProtocolSplit>;

/** A function that returns the splits of all V3 pools with a known one, as of a snapshot. */
export function createProtocolSplits(
  runner: QueryRunner,
  chainId: number,
): (head: HeadSnapshot) => Promise<ProtocolSplits> {
  const readFirst = createFirstShares(runner);
  let final: { readonly finalTo: number; readonly splits: ProtocolSplits } | null = null;
  const list = (head: HeadSnapshot, since: number): Promise<Change[]> =>
    runner.run(
      'pairs/list_fee_protocols',
      { ...snapshotParams(head), chain_id: chainId, since_ord: since, limit: ROWS_MAX },
      changeRow,
    );
  return async (head) => {
    let finalSplits = final;
    if (
      finalSplits === null ||
      finalSplits.finalTo > head.finalTo ||
      head.finalTo - finalSplits.finalTo > FINAL_BLOCKS_MAX
    ) {
      const changes = await list({ ...head, blocks: [] }, 0);
      finalSplits = { finalTo: head.finalTo, splits: withChanges(new Map(), changes) };
      // Changes of an older snapshot are not kept, because they would not help the next read.
      if (final === null || final.finalTo <= head.finalTo) final = finalSplits;
    }
    const [fresh, first] = await Promise.all([list(head, lastOrdOfBlock(finalSplits.finalTo)), readFirst()]);
    return withChanges(new Map([...first, ...finalSplits.splits]), fresh);
  };
}

/** A function that returns the stored parts before the first change. Each call reads only the rows that are new. */
function createFirstShares(runner: QueryRunner): () => Promise<ReadonlyMap<string, ProtocolSplit>> {
  const splitOf = new Map<string, ProtocolSplit>();
  let newest = 0;
  return async () => {
    const params = { since: Math.max(0, newest - LATE_MS), limit: ROWS_MAX };
    for (const { pair, share0, share1, version } of await runner.run(
      'pairs/list_first_shares',
      params,
      firstRow,
    )) {
      const shares = share0 === null || share1 === null ? null : { share0, share1 };
      // An unchanged object lets readers reuse what they made of it.
      const earlier = splitOf.get(pair)?.[0];
      if (earlier?.shares?.share0 !== share0 || earlier.shares.share1 !== share1)
        splitOf.set(pair, [{ fromOrd: 0, shares }]);
      newest = Math.max(newest, version);
    }
    return splitOf;
  };
}

/** Adds changes, in the order of their logs, to the splits of `splits`. */
function withChanges(splits: Map<string, ProtocolSplit>, changes: readonly Change[]): ProtocolSplits {
  for (const { pair, ord, topic0, data } of changes) {
    const change = decodeSetFeeProtocol({ topics: [topic0], data });
    if (change === null) continue;
    const parts = splits.get(pair) ?? [{ fromOrd: 0, shares: change.before }];
    splits.set(pair, [...parts, { fromOrd: ord, shares: change.after }]);
  }
  return splits;
}

/** The fees of one pool in a window, in USD. */
interface SplitQuestion {
  readonly pair: string;
  readonly split: ProtocolSplit;
  readonly fees: number;
  /** The protocol's part where the split is unknown. */
  readonly otherShare: number;
}

/**
 * The protocol's part of the fees of each pool over the last `seconds`, in USD. Reads swaps only of pools whose part
 * changed in this time, or differs by token.
 */
export async function sumProtocolFees(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  seconds: number,
  questions: readonly SplitQuestion[],
): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  if (questions.length === 0) return sums;
  const windowStart = Math.max(0, head.timestamp - seconds);
  const afterOrd = await findOrdAt(runner, chainId, head, windowStart);
  const unsplit: SplitQuestion[] = [];
  for (const question of questions) {
    const share = onlyShare(question, afterOrd);
    if (share === null) unsplit.push(question);
    sums.set(question.pair, (share ?? 0) * question.fees);
  }
  const questionOf = new Map(unsplit.map((question) => [question.pair, question]));
  const rows = await inChunks(unsplit, (chunk) => {
    const starts = chunk.flatMap(({ pair, split }) =>
      split.map(({ fromOrd }) => [pair.slice(2), fromOrd] as const),
    );
    const params = {
      ...snapshotParams(head),
      pairs: starts.map(([pair]) => pair),
      ords: starts.map(([, ord]) => ord),
      after_ord: afterOrd,
      since: windowStart,
      limit: ROWS_MAX,
    };
    return runner.run('pairs/sum_split_fees', params, feesRow);
  });
  for (const { pair, part, is_token0, fees } of rows) {
    const { split, otherShare } = questionOf.get(pair) ?? { split: [], otherShare: 0 };
    const shares = split[part - 1]?.shares ?? null;
    const share = is_token0 ? shares?.share0 : shares?.share1;
    sums.set(pair, (sums.get(pair) ?? 0) + fees * (share ?? otherShare));
  }
  return sums;
}

/** The part that applies to all fees after `afterOrd`; null if there are several. */
function onlyShare({ split, otherShare }: SplitQuestion, afterOrd: number): number | null {
  const shares = new Set<number>();
  split.forEach(({ shares: part }, index) => {
    const next = split[index + 1]?.fromOrd ?? Infinity;
    if (next <= afterOrd) return;
    shares.add(part?.share0 ?? otherShare);
    shares.add(part?.share1 ?? otherShare);
  });
  const [only = 0] = shares;
  return shares.size === 1 ? only : null;
}

interface SplitPair {
  readonly pool: { readonly address: string };
  readonly facts: { readonly protocolSplit: ProtocolSplit | null; readonly protocolShare: number };
}

/** The protocol's part of a pair's fees of the last 7 days, `fees`, in USD. Null for a pair without a split. */
export async function readSplitFees(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { pool: { address: pair }, facts }: SplitPair,
  fees: number,
): Promise<number | null> {
  const { protocolSplit: split, protocolShare: otherShare } = facts;
  if (split === null) return null;
  const question = { pair, split, fees, otherShare };
  const sums = await sumProtocolFees(runner, chainId, head, WEEK_SECONDS, [question]);
  return sums.get(pair) ?? null;
}
