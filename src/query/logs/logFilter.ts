/**
 * Defines the filter for logs that all API dialects share. A log matches a list if it has one of the items. Clauses
 * are the operators of Etherscan's getLogs. Pure.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** Length limit of a list of addresses or topics. */
export const LOG_LIST_MAX = 10;

export type TopicPosition = 0 | 1 | 2 | 3;

/** A chain, and the runner of its queries. */
export interface LogSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
}

/** One topic at one position of a log. */
interface TopicAt {
  readonly position: TopicPosition;
  readonly topic: Hex;
}

/** Two conditions on topics, of which a log must match at least one. */
export type EitherTopic = readonly [TopicAt, TopicAt];

export interface LogFilter {
  /** The log must have one of these addresses; an empty list accepts any address. */
  readonly addresses: readonly Hex[];
  /** Accepted topics for each position. An empty list accepts every topic, and also an absent topic. */
  readonly topics: readonly [readonly Hex[], readonly Hex[], readonly Hex[], readonly Hex[]];
  /** All clauses must match. */
  readonly either: readonly EitherTopic[];
  /** Only logs of this transaction; null: of all transactions. */
  readonly txHash: Hex | null;
  readonly fromBlock: number;
  /** Last block, included; null: up to the head. */
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

/** Inclusive range of positions (`ord`), not of blocks; empty if `from` is above `to`. */
export interface OrdRange {
  readonly from: number;
  readonly to: number;
}

/** The filter's blocks as a range of positions (`ord`), up to the head. */
export function rangeOf(filter: LogFilter, head: HeadSnapshot): OrdRange {
  const lastBlock = Math.min(filter.toBlock ?? head.number, head.number);
  return { from: toOrd(filter.fromBlock, 0), to: lastBlock < 0 ? -1 : lastOrdOfBlock(lastBlock) };
}

/**
 * Whether the filter has conditions other than addresses, topic0 and blocks. No table key and no stored count serves
 * such conditions.
 */
export function isNarrow({ topics, either }: LogFilter): boolean {
  const [topics0, ...otherTopics] = topics;
  // The table stores an absent topic as zero bytes, so its keys do not distinguish an absent topic from a zero topic.
  return either.length > 0 || otherTopics.some((list) => list.length > 0) || topics0.includes(ZERO_HASH);
}

const without0x = (list: readonly Hex[]): string[] => list.map((hex) => hex.slice(2));

/**
 * Parameters that all queries for logs share. Of the head blocks, they list only those in `range`, which is often
 * none.
 */
export function logParams(
  chainId: number,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange = rangeOf(filter, head),
): QueryParams {
  const { addresses, topics, either } = filter;
  const [fromBlock, toBlock] = [blockOfOrd(Math.max(0, range.from)), blockOfOrd(Math.max(0, range.to))];
  const headBlocks = head.blocks.filter(({ number }) => number >= fromBlock && number <= toBlock);
  return {
    ...snapshotParams({ ...head, blocks: headBlocks }),
    chain_id: chainId,
    addresses: without0x(addresses),
    topics0: without0x(topics[0]),
    topics1: without0x(topics[1]),
    topics2: without0x(topics[2]),
    topics3: without0x(topics[3]),
    left_at: either.map(([left]) => left.position),
    left: either.map(([left]) => left.topic.slice(2)),
    right_at: either.map(([, right]) => right.position),
    right: either.map(([, right]) => right.topic.slice(2)),
  };
}
