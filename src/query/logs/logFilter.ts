/** Which logs are asked for, in the words of every dialect: lists mean "one of them", clauses are getLogs' operators. Pure. */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** Longest list of addresses or topics. */
export const LOG_LIST_MAX = 10;

export type TopicPlace = 0 | 1 | 2 | 3;

/** What reading logs of one chain needs. */
export interface LogSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
}

/** One topic at one place of a log. */
export interface TopicAt {
  readonly place: TopicPlace;
  readonly topic: Hex;
}

/** At least one of the two must hold. */
export type EitherTopic = readonly [TopicAt, TopicAt];

export interface LogFilter {
  /** One of them; empty: all. */
  readonly addresses: readonly Hex[];
  /** For each place one of the list; an empty list: anything, or nothing, at that place. */
  readonly topics: readonly [readonly Hex[], readonly Hex[], readonly Hex[], readonly Hex[]];
  /** All of these clauses must hold. */
  readonly either: readonly EitherTopic[];
  readonly txHash: Hex | null;
  /** Both inclusive; null: up to the head. */
  readonly fromBlock: number;
  readonly toBlock: number | null;
}

export const ALL_LOGS: LogFilter = {
  addresses: [],
  topics: [[], [], [], []],
  either: [],
  txHash: null,
  fromBlock: 0,
  toBlock: null,
};

/** Positions in the chain, both inclusive; `from` above `to`: nothing. */
export interface OrdRange {
  readonly from: number;
  readonly to: number;
}

/** What part of the snapshot's chain the filter's blocks are. */
export function rangeOf(filter: LogFilter, head: HeadSnapshot): OrdRange {
  const last = Math.min(filter.toBlock ?? head.number, head.number);
  return { from: toOrd(filter.fromBlock, 0), to: last < 0 ? -1 : lastOrdOfBlock(last) };
}

/** Whether something but addresses, topic0 and blocks is asked for: what no key and no count knows. */
export function isNarrow({ topics, either }: LogFilter): boolean {
  const [topics0, ...others] = topics;
  // Absent topics are stored as zero bytes: keys cannot tell them from a topic of zero.
  return either.length > 0 || others.some((list) => list.length > 0) || topics0.includes(ZERO_HASH);
}

const bare = (list: readonly Hex[]): string[] => list.map((hex) => hex.slice(2));

/** The parameters that the SQL of logs has in common. Of the head only the blocks of `range` are named: often none. */
export function logParams(
  chainId: number,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange = rangeOf(filter, head),
): QueryParams {
  const { addresses, topics, either } = filter;
  const [from, to] = [blockOfOrd(Math.max(0, range.from)), blockOfOrd(Math.max(0, range.to))];
  const blocks = head.blocks.filter(({ number }) => number >= from && number <= to);
  return {
    ...snapshotParams({ ...head, blocks }),
    chain_id: chainId,
    addresses: bare(addresses),
    topics0: bare(topics[0]),
    topics1: bare(topics[1]),
    topics2: bare(topics[2]),
    topics3: bare(topics[3]),
    left_at: either.map(([left]) => left.place),
    left: either.map(([left]) => left.topic.slice(2)),
    right_at: either.map(([, right]) => right.place),
    right: either.map(([, right]) => right.topic.slice(2)),
  };
}
