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
import { dialectError, EMPTY, listOf, refuse, TEXTS } from '../answers';
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
const PLACES: readonly TopicPosition[] = [0, 1, 2, 3];

export const logActions: Actions = new Map([['getlogs', getLogs]]);

async function getLogs({ asked, moment }: Ask) {
  const { skip, limit } = readPage(asked, LOGS_MAX);
  const filter = readFilter(asked, moment?.head ?? null);
  if (moment === null) return listOf([], EMPTY.logs);
  const { chain, head } = moment;
  requireLogs(head);
  const page = { newestFirst: false, afterOrd: null, skip, limit, bounds: GETLOGS_BOUNDS };
  const logPage = await listLogs(chain, head, filter, page);
  if (logPage.isFull) return refuse(TEXTS.largeAnswer);
  // The search stopped early at its time limit. A short page would wrongly say that there are no more logs.
  if (logPage.nextOrd !== null && logPage.logs.length < limit) return refuse(TEXTS.timeout);
  const numbers = logPage.logs.map(({ ord }) => blockOfOrd(ord));
  const [hashes, gasOf] = await Promise.all([
    chain.hashes.list(head, numbers),
    readGas(chain, head, logPage.logs),
  ]);
  return listOf(
    logPage.logs.map((log) => toEntry(log, hashes, gasOf(log))),
    EMPTY.logs,
  );
}

function readFilter(asked: AskedParams, head: HeadSnapshot | null): LogFilter {
  const fromBlock = readBlock(asked, 'fromBlock', head) ?? 0;
  const toBlock = readBlock(asked, 'toBlock', head);
  const address = findAddressParam(asked);
  const topics = PLACES.map((place) => findHashParam(asked, `topic${place}`));
  if (address === null && topics.every((topic) => topic === null)) throw dialectError(TEXTS.noAddress);
  const { either, free } = readClauses(asked, topics);
  const topicsAt = (place: TopicPosition): Hex[] => {
    const topic = topics[place] ?? null;
    return topic === null || free.has(place) ? [] : [topic];
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
  const word = text.toLowerCase();
  if (word === 'earliest') return 0;
  if (word === 'latest' || word === 'pending') return head?.number ?? null;
  if (word === 'finalized' || word === 'safe') return head?.finalNumber ?? null;
  return numberOf(text, name);
}

/**
 * Reads the operators between topics: `and` needs both topics, `or` needs one of them. `free` lists positions whose
 * topic is optional, because only `or` clauses use it. Clauses about a topic that the request does not give are
 * ignored.
 */
function readClauses(
  asked: AskedParams,
  topics: readonly (Hex | null)[],
): { readonly either: EitherTopic[]; readonly free: ReadonlySet<TopicPosition> } {
  const either: EitherTopic[] = [];
  const free = new Set<TopicPosition>();
  const bound = new Set<TopicPosition>();
  for (const leftPlace of PLACES) {
    for (const rightPlace of PLACES.slice(leftPlace + 1)) {
      const name = `topic${leftPlace}_${rightPlace}_opr`;
      const operator = textOf(asked, name)?.toLowerCase() ?? null;
      if (operator === null) continue;
      if (operator !== 'and' && operator !== 'or') throw badFormat(name);
      const [leftTopic, rightTopic] = [topics[leftPlace] ?? null, topics[rightPlace] ?? null];
      if (leftTopic === null || rightTopic === null) continue;
      for (const place of [leftPlace, rightPlace]) (operator === 'and' ? bound : free).add(place);
      if (operator === 'or')
        either.push([
          { position: leftPlace, topic: leftTopic },
          { position: rightPlace, topic: rightTopic },
        ]);
    }
  }
  for (const place of bound) free.delete(place);
  return { either, free };
}

/** The eleven keys of a log in Etherscan's format. An unknown gas value is `0x`. */
function toEntry(log: StoredLog, hashes: ReadonlyMap<number, Hex>, gas: TransactionGas) {
  const number = blockOfOrd(log.ord);
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: numberToHex(number),
    blockHash: hashes.get(number) ?? '0x',
    timeStamp: numberToHex(log.timestamp),
    gasPrice: gas.price === null ? '0x' : numberToHex(gas.price),
    gasUsed: gas.used === null ? '0x' : numberToHex(gas.used),
    logIndex: numberToHex(logIndexOfOrd(log.ord)),
    transactionHash: log.txHash,
    transactionIndex: numberToHex(log.txIndex),
  };
}
