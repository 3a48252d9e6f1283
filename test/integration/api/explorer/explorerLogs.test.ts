/**
 * Compares logs by filter, page and cursor, over final and head rows, with a plain search of the blocks. Has its own
 * chain, because promotion at any cursor needs a long overlap of final and head rows.
 */
import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../../src/domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { LIST_BOUNDS } from '../../../../src/query/logs/logBytes';
import { ALL_LOGS, isNarrow, type LogFilter, type TopicPosition } from '../../../../src/query/logs/logFilter';
import { countLogs, listLogs } from '../../../../src/query/logs/logs';
import { explorerDeps, startExplorer } from './explorerServer';
import {
  emitterOf,
  FIRST_LOG_BLOCK,
  LOG_CHAIN_ID,
  logSnapshot,
  makeLogBlocks,
  storeLogBlocks,
  topicOf,
  wordOf,
} from './logWorld';
import { createRandom, type Random } from '../../../support/createRandom';
import { SEED } from '../../../support/run/seed';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';

const BLOCKS = 120;
/**
 * Final and head tables both hold the blocks from HEAD_FROM to STORED_TO, so any cursor from HEAD_FROM − 1 to STORED_TO
 * is valid.
 */
const HEAD_FROM = FIRST_LOG_BLOCK + 80;
const STORED_TO = FIRST_LOG_BLOCK + 100;
const TIP = FIRST_LOG_BLOCK + BLOCKS - 1;
const LIST_MAX = 11_000;

const blocks = makeLogBlocks(SEED, BLOCKS, 12);
let store: TestStore;

beforeAll(async () => {
  process.stdout.write(`seed ${SEED}\n`);
  const range = { storedTo: STORED_TO, headFrom: HEAD_FROM, inserts: 5 };
  store = await openTestStore(({ db }) => storeLogBlocks(db, blocks, range));
});

afterAll(() => store?.close());

const topicsOf = (row: LogRow): Hex[] =>
  [row.topic0, row.topic1, row.topic2, row.topic3].slice(0, row.topic_count).map((topic) => topic!);

/** All matching logs, oldest first, by looking at each log. */
function plainly(head: HeadSnapshot, filter: LogFilter): LogRow[] {
  return blocks
    .filter(({ number }) => number <= head.number)
    .flatMap(({ logs }) => logs)
    .filter((row) =>
      matchesPlainly(filter, { address: row.address, topics: topicsOf(row), tx: row.tx_hash, ord: row.ord }),
    );
}

interface PlainLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly tx: string;
  readonly ord: number;
}

/**
 * Whether the log matches by the rules of the API. The values of a list are alternatives, and so are the two topics of
 * an `either` clause. All conditions must hold together.
 */
function matchesPlainly(filter: LogFilter, log: PlainLog): boolean {
  if (filter.addresses.length > 0 && !filter.addresses.includes(log.address as Hex)) return false;
  for (let place = 0; place < 4; place += 1) {
    const list = filter.topics[place as TopicPosition];
    if (list.length > 0 && (log.topics.length <= place || !list.includes(log.topics[place] as Hex)))
      return false;
  }
  for (const [left, right] of filter.either) {
    if (log.topics[left.position] !== left.topic && log.topics[right.position] !== right.topic) return false;
  }
  if (filter.txHash !== null && log.tx !== filter.txHash) return false;
  const block = Math.floor(log.ord / 2 ** 20);
  return block >= filter.fromBlock && (filter.toBlock === null || block <= filter.toBlock);
}

function randomFilter(random: Random): LogFilter {
  const some = <T>(chance: number, make: () => T): T[] =>
    random() < chance ? Array.from({ length: 1 + random.int(3) }, make) : [];
  const all = blocks.flatMap(({ logs }) => logs);
  const either =
    random() < 0.2
      ? [
          [
            { position: random.int(4) as TopicPosition, topic: wordOf(random.int(4)) },
            { position: random.int(4) as TopicPosition, topic: topicOf(1 + random.int(4)) },
          ] as const,
        ]
      : [];
  const from = random() < 0.4 ? FIRST_LOG_BLOCK + random.int(BLOCKS) : 0;
  return {
    addresses: [...new Set(some(0.5, () => emitterOf(random.int(13))))],
    topics: [
      [...new Set(some(0.5, () => topicOf(random.int(7))))],
      some(0.15, () => wordOf(random.int(4))),
      some(0.15, () => wordOf(random.int(4))),
      some(0.1, () => wordOf(random.int(4))),
    ],
    either,
    txHash: random() < 0.15 ? all[random.int(all.length)]!.tx_hash : null,
    fromBlock: from,
    toBlock: random() < 0.4 ? from + random.int(BLOCKS * 2) : null,
  };
}

function randomHead(random: Random): HeadSnapshot {
  const finalTo = HEAD_FROM - 1 + random.int(STORED_TO - HEAD_FROM + 2);
  return logSnapshot(blocks, finalTo, finalTo + random.int(TIP - finalTo + 1));
}

const source = () => ({ runner: store.runner, chainId: LOG_CHAIN_ID });
const ords = (rows: readonly { readonly ord: number }[]): number[] => rows.map(({ ord }) => ord);

test('any filter in any order returns exactly the matching logs of the snapshot', async () => {
  const random = createRandom(SEED + 1);
  for (let round = 0; round < 100; round += 1) {
    const head = randomHead(random);
    const filter = randomFilter(random);
    const newestFirst = random() < 0.5;
    const page = {
      newestFirst,
      afterOrd: null,
      skip: random.int(6),
      limit: 1 + random.int(40),
      bounds: LIST_BOUNDS,
    };
    const found = await listLogs(source(), head, filter, page);
    const wanted = plainly(head, filter);
    if (newestFirst) wanted.reverse();
    expect({ round, filter, ords: ords(found.logs) }).toEqual({
      round,
      filter,
      ords: ords(wanted.slice(page.skip, page.skip + page.limit)),
    });
    expect(found.nextOrd === null).toBe(wanted.length <= page.skip + page.limit);
    const rows = new Map(wanted.map((row) => [row.ord, row]));
    for (const log of found.logs) {
      const row = rows.get(log.ord)!;
      expect(log).toEqual({
        ord: row.ord,
        timestamp: row.timestamp,
        address: row.address,
        topics: topicsOf(row),
        data: row.data,
        dataBytes: (row.data.length - 2) / 2,
        txHash: row.tx_hash,
        txIndex: row.tx_index,
      });
    }
  }
});

test('paging by cursor gives every log once, even if blocks are promoted in between', async () => {
  const random = createRandom(SEED + 3);
  for (let round = 0; round < 12; round += 1) {
    const filter = { ...randomFilter(random), toBlock: TIP - 10 };
    const newestFirst = random() < 0.5;
    const seen: number[] = [];
    let afterOrd: number | null = null;
    for (let turn = 0; turn < LIST_MAX; turn += 1) {
      // Each page uses another snapshot of the same blocks, with more or fewer of them promoted.
      const finalTo: number = HEAD_FROM - 1 + random.int(STORED_TO - HEAD_FROM + 2);
      const head = logSnapshot(blocks, finalTo, TIP);
      const page = { newestFirst, afterOrd, skip: 0, limit: 1 + random.int(60), bounds: LIST_BOUNDS };
      const found = await listLogs(source(), head, filter, page);
      seen.push(...ords(found.logs));
      if (found.nextOrd === null) break;
      afterOrd = found.nextOrd;
    }
    const wanted = ords(plainly(logSnapshot(blocks, STORED_TO, TIP), filter));
    expect(seen).toEqual(newestFirst ? wanted.reverse() : wanted);
  }
});

test('pages of one event of one contract equal a plain search over all logs', async () => {
  const random = createRandom(SEED + 7);
  let lists = 0;
  for (let round = 0; round < 120; round += 1) {
    const head = randomHead(random);
    const fromBlock = random() < 0.5 ? 0 : FIRST_LOG_BLOCK + random.int(BLOCKS);
    const toBlock = random() < 0.5 ? null : Math.max(fromBlock, FIRST_LOG_BLOCK) + random.int(BLOCKS);
    const event = {
      addresses: [emitterOf(random.int(2))],
      topics: [[topicOf(1 + random.int(2))], [], [], []],
    } as const;
    const filter = { ...ALL_LOGS, ...event, fromBlock, toBlock };
    const newestFirst = random() < 0.5;
    const page = {
      newestFirst,
      afterOrd: null,
      skip: random() < 0.7 ? 0 : random.int(9),
      limit: 1 + random.int(12),
      bounds: LIST_BOUNDS,
    };
    const found = await listLogs(source(), head, filter, page);
    const wanted = plainly(head, filter);
    if (newestFirst) wanted.reverse();
    expect({ round, ords: ords(found.logs) }).toEqual({
      round,
      ords: ords(wanted.slice(page.skip, page.skip + page.limit)),
    });
    expect(found.nextOrd === null).toBe(wanted.length <= page.skip + page.limit);
    lists += wanted.length > 0 ? 1 : 0;
  }
  expect(lists).toBeGreaterThan(60);
});

test('the total of a log search equals the number of matching logs', async () => {
  const random = createRandom(SEED + 4);
  let narrow = 0;
  for (let round = 0; round < 60; round += 1) {
    const head = randomHead(random);
    const filter = randomFilter(random);
    const counted = await countLogs(source(), head, filter);
    const total = plainly(head, filter).length;
    if (total > 1 && (isNarrow(filter) || filter.txHash !== null)) narrow += 1;
    expect({ filter, counted }).toEqual({ filter, counted: { total, exact: true } });
  }
  expect(narrow).toBeGreaterThan(5);
});

test('/logs has the documented envelope, headers and pages, and the error for a bad parameter names the parameter', async () => {
  const head = logSnapshot(blocks, STORED_TO, TIP);
  const server = await startExplorer(
    explorerDeps(store, () => head),
    () => head,
  );
  try {
    const emitter = emitterOf(0);
    const all = plainly(head, { ...ALL_LOGS, addresses: [emitter] }).reverse();
    const first = await server.get(`/logs?address=${emitter}&limit=7`);
    expect(first.status).toBe(200);
    expect(first.headers.get('x-indexed-block')).toBe(String(TIP));
    expect(first.headers.get('x-indexed-block-hash')).toBe(head.hash);
    const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
    const entry = (row: LogRow) => ({
      id: `${blockOfOrd(row.ord)}-${row.ord % 2 ** 20}`,
      chain_id: LOG_CHAIN_ID,
      address: row.address,
      block_number: blockOfOrd(row.ord),
      block_hash: hashes.get(blockOfOrd(row.ord)),
      timestamp: row.timestamp,
      tx_hash: row.tx_hash,
      tx_index: row.tx_index,
      log_index: row.ord % 2 ** 20,
      topics: topicsOf(row),
      data: row.data,
      decoded: null,
      finalized: row.ord <= lastOrdOfBlock(STORED_TO),
    });
    const asOf = { as_of_block: TIP, as_of_timestamp: head.timestamp };
    const meta = { limit: 7, offset: 0, total: all.length, total_relation: 'eq', ...asOf };
    const cursor = String(first.json['meta']!['next_cursor']);
    expect(first.json).toEqual({
      success: true,
      data: all.slice(0, 7).map(entry),
      meta: { ...meta, next_cursor: cursor },
    });
    const second = await server.get(`/logs?address=${emitter}&limit=7&cursor=${cursor}`);
    const byOffset = await server.get(`/logs?address=${emitter}&limit=7&offset=7&unknown=x`);
    expect(second.json['data']).toEqual(all.slice(7, 14).map(entry));
    expect(byOffset.json['data']).toEqual(second.json['data']);
    expect((await server.get('/logs?chainId=943')).json).toEqual({
      success: true,
      data: [],
      meta: {
        limit: 25,
        offset: 0,
        total: 0,
        total_relation: 'eq',
        next_cursor: null,
        as_of_block: null,
        as_of_timestamp: null,
      },
    });
    const bad: readonly (readonly [string, string])[] = [
      ['/logs?limit=1001', 'limit'],
      ['/logs?limit=0', 'limit'],
      ['/logs?offset=10001', 'offset'],
      ['/logs?chainId=1', 'chainId'],
      ['/logs?chainId=369,943', 'chainId'],
      ['/logs?topic0=0x12', 'topic0'],
      ['/logs?topic0=', 'topic0'],
      [`/logs?address=${emitter}&address=${emitter}`, 'address'],
      ['/logs?address=0x12', 'address'],
      [`/logs?address=${Array.from({ length: 11 }, (_, index) => emitterOf(index)).join(',')}`, 'address'],
      ['/logs?from_block=5&to_block=4', 'from_block'],
      ['/logs?order=up', 'order'],
      ['/logs?cursor=zz', 'cursor'],
      ['/logs?tx_hash=12', 'tx_hash'],
      [`/contracts/${emitter}/events?event=a-b`, 'event'],
      ['/logs?event=Transfer(address', 'event'],
    ];
    for (const [path, name] of bad) {
      const { status, json } = await server.get(path);
      expect({ path, status, code: json['code'], success: json['success'] }).toEqual({
        path,
        status: 400,
        code: 'bad_request',
        success: false,
      });
      expect(String(json['error'])).toContain(name);
    }
    const events = await server.get(`/contracts/${emitter}/events?event=${topicOf(2)}&order=asc&limit=1000`);
    const wanted = plainly(head, { ...ALL_LOGS, addresses: [emitter], topics: [[topicOf(2)], [], [], []] });
    expect(events.json['data']).toEqual(wanted.map(entry));
    const both = `/logs?address=${emitter}&event=${topicOf(2)}&order=asc&limit=1000`;
    expect((await server.get(both)).json['data']).toEqual(wanted.map(entry));
    expect((await server.get(`${both}&topic0=${topicOf(1)},${topicOf(2)}`)).json['data']).toHaveLength(
      wanted.length,
    );
    for (const none of [`${both}&topic0=${topicOf(1)}`, '/logs?event=Unheard', '/logs?event=Unheard(uint8)'])
      expect((await server.get(none)).json['data']).toEqual([]);
  } finally {
    await server.close();
  }
});
