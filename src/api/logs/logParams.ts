/** Parameters of lists of logs, and the page of logs that answers them. */
import { isHash, toLowerHex, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { ADDRESS_ALLOWED, findAddress } from '../../domain/address';
import { LOG_LIST_MAX, type LogFilter } from '../../query/logs/logFilter';
import { LIST_BOUNDS, SINGLE_BOUNDS } from '../../query/logs/logBytes';
import { countLogs, listLogs, requireLogs } from '../../query/logs/logs';
import { toLogEntries } from '../../query/logs/logEntries';
import type { LogsAnswer } from '../../wire/explorer';
import { formatCursor, parseCursor } from '../activity/activity';
import { integerParam, oneOfParam, parsedParam, type Param } from '../params';
import { asOf, OFFSET_PARAMS, totalOf, type ChainAtHead, type ExplorerDeps } from '../explorerScope';

const LOGS_MAX = 1_000;
const BLOCK_MAX = 4_294_967_295;

function listParam(
  allowedItems: string,
  parseItem: (text: string) => Hex | null,
  pattern: string,
  description: string,
): Param<readonly Hex[] | null> {
  return parsedParam({
    parse: (text) => {
      const words = text.split(',');
      const values = words.flatMap((word) => parseItem(word.trim()) ?? []);
      return words.length > LOG_LIST_MAX || values.length !== words.length ? null : [...new Set(values)];
    },
    allowed: `${allowedItems}; a comma list may have up to ${LOG_LIST_MAX} of them`,
    doc: { type: 'string', pattern: `^${pattern}(,${pattern})*$` },
    description,
  });
}

/** Parses a 32-byte word in any letter case; null if the text is no such word. */
export function readWord(text: string): Hex | null {
  const word = text.startsWith('0X') ? `0x${text.slice(2)}` : text;
  return isHash(word) ? toLowerHex(word) : null;
}

const WORD_PATTERN = '0[xX][0-9a-fA-F]{64}';
const topicParam = (position: number): Param<readonly Hex[] | null> =>
  listParam(
    '0x and 64 hex digits',
    readWord,
    WORD_PATTERN,
    `Only logs whose topic ${position} is in this comma list of at most ${LOG_LIST_MAX} topics`,
  );

export const TOPIC_PARAMS = {
  topic0: topicParam(0),
  topic1: topicParam(1),
  topic2: topicParam(2),
  topic3: topicParam(3),
} as const;

export const ADDRESSES_PARAM = listParam(
  ADDRESS_ALLOWED,
  findAddress,
  '0[xX][0-9a-fA-F]{40}',
  `Only logs of the contracts in this comma list of at most ${LOG_LIST_MAX} addresses`,
);

export const TX_PARAM: Param<Hex | null> = parsedParam({
  parse: readWord,
  allowed: '0x and 64 hex digits',
  doc: { type: 'string', pattern: `^${WORD_PATTERN}$` },
  description: 'Only logs of the transaction with this hash',
});

export const RANGE_PARAMS = {
  from_block: integerParam({ min: 0, max: BLOCK_MAX, absent: 0, description: 'First block' }),
  to_block: integerParam({
    min: 0,
    max: BLOCK_MAX,
    absent: null,
    description: 'Last block; default: the newest indexed block',
  }),
  order: oneOfParam(['desc', 'asc'], {
    absent: 'desc',
    description: 'desc: newest first; asc: oldest first',
  }),
  limit: integerParam({
    min: 1,
    max: LOGS_MAX,
    absent: 25,
    description:
      'Logs per page. A page ends early at about 8 MB, and next_cursor continues. With limit=1 the data ' +
      'is never truncated',
  }),
  offset: OFFSET_PARAMS.offset,
  cursor: parsedParam({
    parse: parseCursor,
    allowed: 'the next_cursor of an earlier answer',
    doc: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
    description: 'The next_cursor of an earlier answer: continues after its last log. Overrides offset',
  }),
} as const;

interface LogPageParams {
  readonly from_block: number;
  /** Last block; null means up to the head. */
  readonly to_block: number | null;
  readonly order: 'desc' | 'asc';
  readonly limit: number;
  readonly offset: number;
  /** Position (`ord`) of the last log of the page before; null for a page that `offset` chooses. */
  readonly cursor: number | null;
}

/** Throws bad_request if from_block is above to_block. */
export function checkBlockRange({
  from_block,
  to_block,
}: Pick<LogPageParams, 'from_block' | 'to_block'>): void {
  if (to_block !== null && from_block > to_block) {
    throw new AppError(
      'bad_request',
      `from_block: got "${from_block}"; allowed: at most to_block (${to_block})`,
    );
  }
}

export async function answerLogs(
  deps: ExplorerDeps,
  chainAtHead: ChainAtHead | null,
  filter: LogFilter | null,
  params: LogPageParams,
): Promise<LogsAnswer> {
  const { limit, order, cursor } = params;
  const skip = cursor === null ? params.offset : 0;
  const meta = { limit, offset: skip, ...asOf(chainAtHead) };
  if (chainAtHead !== null) requireLogs(chainAtHead.head);
  if (chainAtHead === null || filter === null)
    return { success: true, data: [], meta: { ...meta, ...totalOf(0, true), next_cursor: null } };
  const { chain, head } = chainAtHead;
  const bounds = limit === 1 ? SINGLE_BOUNDS : LIST_BOUNDS;
  const page = { newestFirst: order === 'desc', afterOrd: cursor, skip, limit, bounds };
  const [logPage, logCount] = await Promise.all([
    listLogs(chain, head, filter, page),
    countLogs(chain, head, filter),
  ]);
  const entryMakers = { hashes: chain.hashes, decoder: deps.decoder };
  const data = await toLogEntries(chain, head, logPage.logs, bounds.pageMax, entryMakers);
  const nextOrd =
    data.length < logPage.logs.length ? (logPage.logs[data.length - 1]?.ord ?? null) : logPage.nextOrd;
  return {
    success: true,
    data,
    meta: {
      ...meta,
      // A count that stopped early may be lower than the number of logs on the page.
      ...totalOf(Math.max(logCount.total, logPage.seenLogs), logCount.exact),
      next_cursor: nextOrd === null ? null : formatCursor(nextOrd),
    },
  };
}
