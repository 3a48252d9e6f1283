/** The action getLogs of module=logs, with operators between topics. */
import { numberToHex, type Hex } from '../../../domain/hex';
import { blockOfOrd, logIndexOfOrd } from '../../../domain/ord';
import type { HeadSnapshot } from '../../../query/head/headSnapshot';
import type { LogBounds } from '../../../query/logs/logBytes';
import {
  ALL_LOGS,
  type EitherTopic,
  type LogFilter,
  type TopicPosition,
} from '../../../query/logs/logFilter';
import { listLogs, type StoredLog, requireLogs } from '../../../query/logs/logs';
import { readGas, type TransactionGas } from '../../../query/logs/transactionGas';
import type { Actions, Ask } from '../action';
import { dialectError, EMPTY_TEXTS, listAnswer, refuse, TEXTS } from '../answers';
import {
  badFormat,
  findAddressParam,
  findHashParam,
  numberOf,
  readPage,
  textOf,
  type AskedParams,
} from '../askedParams';

const LOGS_MAX = 1_000;
/** This dialect never truncates the data of a log. */
const GETLOGS_BOUNDS: LogBounds = { dataMax: Infinity, pageMax: 32_000_000 };
const TOPIC_POSITIONS: readonly TopicPosition[] = [0, 1, 2, 3];

export const logActions: Actions = new Map([['getlogs', getLogs]]);

async function getLogs({ asked, chainAtHead }: Ask) {
  const { skip, limit } = readPage(asked, LOGS_MAX);
  const filter = readFilter(asked, chainAtHead?.head ?? null);
  if (chainAtHead === null) return listAnswer([], EMPTY_TEXTS.logs);
  const { chain, head } = chainAtHead;
  requireLogs(head);
  const page = { newestFirst: false, afterOrd: null, skip, limit, bounds: GETLOGS_BOUNDS };
  const logPage = await listLogs(chain, head, filter, page);
  if (logPage.isFull) return refuse(TEXTS.largeAnswer);
  // The search stopped early at its time limit. A short page would wrongly say that there are no more logs.
  if (logPage.nextOrd !== null && logPage.logs.length < limit) return refuse(TEXTS.timeout);
  const blockNumbers = logPage.logs.map(({ ord }) => blockOfOrd(ord));
  const [hashes, gasOf] = await Promise.all([
    chain.hashes.list(head, blockNumbers),
    readGas(chain, head, logPage.logs),
  ]);
  return listAnswer(
    logPage.logs.map((log) => toEntry(log, hashes, gasOf(log))),
    EMPTY_TEXTS.logs,
  );
}

function readFilter(asked: AskedParams, head: HeadSnapshot | null): LogFilter {
  const fromBlock = readBlock(asked, 'fromBlock', head) ?? 0;
  const toBlock = readBlock(asked, 'toBlock', head);
  const address = findAddressParam(asked);
  const topics = TOPIC_POSITIONS.map((position) => findHashParam(asked, `topic${position}`));
  if (address === null && topics.every((topic) => topic === null)) throw dialectError(TEXTS.noAddress);
  const { either, optionalPositions } = readClauses(asked, topics);
  const topicsAt = (position: TopicPosition): Hex[] => {
    const topic = topics[position] ?? null;
    return topic === null || optionalPositions.has(position) ? [] : [topic];
  };
  return {
    ...ALL_LOGS,
    addresses: address === null ? [] : [address],
    topics: [topicsAt(0), topicsAt(1), topicsAt(2), topicsAt(3)],
    either,
    fromBlock,
    toBlock,
  };
}

/** A block by number or tag; null if the parameter is absent, or no block is indexed. */
export function readBlock(asked: AskedParams, name: string, head: HeadSnapshot | null): number | null {
  const text = textOf(asked, name);
  if (text === null) return null;
  const tag = text.toLowerCase();
  if (tag === 'earliest') return 0;
  if (tag === 'latest' || tag === 'pending') return head?.number ?? null;
  if (tag === 'finalized' || tag === 'safe') return head?.finalNumber ?? null;
  return numberOf(text, name);
}

/**
 * Reads the operators between topics: `and` needs both topics, `or` needs one of them. `optionalPositions` lists positions whose
 * topic is optional, because only `or` clauses use it. Clauses about a topic that the request does not give are
 * ignored.
 */
function readClauses(
  asked: AskedParams,
  topics: readonly (Hex | null)[],
): { readonly either: EitherTopic[]; readonly optionalPositions: ReadonlySet<TopicPosition> } {
  const orClauses: EitherTopic[] = [];
  const optionalPositions = new Set<TopicPosition>();
  const requiredPositions = new Set<TopicPosition>();
  for (const leftPosition of TOPIC_POSITIONS) {
    for (const rightPosition of TOPIC_POSITIONS.slice(leftPosition + 1)) {
      const name = `topic${leftPosition}_${rightPosition}_opr`;
      const operator = textOf(asked, name)?.toLowerCase() ?? null;
      if (operator === null) continue;
      if (operator !== 'and' && operator !== 'or') throw badFormat(name);
      const [leftTopic, rightTopic] = [topics[leftPosition] ?? null, topics[rightPosition] ?? null];
      if (leftTopic === null || rightTopic === null) continue;
      for (const position of [leftPosition, rightPosition])
        (operator === 'and' ? requiredPositions : optionalPositions).add(position);
      if (operator === 'or')
        orClauses.push([
          { position: leftPosition, topic: leftTopic },
          { position: rightPosition, topic: rightTopic },
        ]);
    }
  }
  for (const position of requiredPositions) optionalPositions.delete(position);
  return { either: orClauses, optionalPositions };
}

/** The eleven keys of a log in Etherscan's format. An unknown gas value is `0x`. */
function toEntry(log: StoredLog, hashes: ReadonlyMap<number, Hex>, gas: TransactionGas) {
  const blockNumber = blockOfOrd(log.ord);
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: numberToHex(blockNumber),
    blockHash: hashes.get(blockNumber) ?? '0x',
    timeStamp: numberToHex(log.timestamp),
    gasPrice: gas.price === null ? '0x' : numberToHex(gas.price),
    gasUsed: gas.used === null ? '0x' : numberToHex(gas.used),
    logIndex: numberToHex(logIndexOfOrd(log.ord)),
    transactionHash: log.txHash,
    transactionIndex: numberToHex(log.txIndex),
  };
}
