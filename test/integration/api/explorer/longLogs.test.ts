/**
 * Logs with long data: page sizes in bytes, truncated data and values, and one log in full. Has its own rows, because
 * 27 MB of logs would change the page sizes of other tests.
 */
import { Interface } from 'ethers';

import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import type { AbiEntry } from '../../../../src/domain/verifiedContract';
import type { Json } from '../../../support/server/apiServer';
import { explorerDeps, noSignatures, startExplorer, type ExplorerServer } from './explorerServer';
import { FIRST_LOG_BLOCK, logSnapshot, storeLogBlocks, type LogBlock } from './logWorld';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { hexOf } from '../../../support/worlds/worldEvents';
import { logRow } from '../../../support/worlds/logRow';

const KIB = 1_024;
const CUT = 64 * KIB;
const LONG = 600_000;
const LONG_LOGS = 44;
const EMITTER = hexOf('ee', 1, 40);
const MIXED = hexOf('ee', 2, 40);
const SMALL = hexOf('ee', 3, 40);

const FRAGMENT = 'event Said(address indexed who, uint256 number, bytes blob, string text)';
const iface = new Interface([FRAGMENT]);
const TOPIC = iface.getEvent('Said')!.topicHash as Hex;
const [ENTRY] = JSON.parse(iface.formatJson()) as AbiEntry[];
const signatures = {
  ...noSignatures,
  listBySelectors: (selectors: readonly Hex[]) =>
    Promise.resolve(
      selectors.includes(TOPIC)
        ? [
            {
              selector: TOPIC,
              kind: 'event' as const,
              signature: 'Said(address,uint256,bytes,string)',
              entry: ENTRY!,
            },
          ]
        : [],
    ),
};

const word = (value: number): string => value.toString(16).padStart(64, '0');
const field = (content: Buffer): string =>
  `${word(content.length)}${content.toString('hex')}${'00'.repeat((32 - (content.length % 32)) % 32)}`;
/** Encodes (uint256, bytes, string) like an ABI coder. ethers' coder takes seconds for a megabyte. */
function said(blob: Buffer, text: string): Hex {
  const first = field(blob);
  return `0x${word(7)}${word(96)}${word(96 + first.length / 2)}${first}${field(Buffer.from(text))}`;
}
const bytes = (count: number): Buffer => Buffer.alloc(count, Buffer.from('0123456789abcdef', 'hex'));

let log = -1;
function rowOf(block: number, address: Hex, data: Hex): LogRow {
  log += 1;
  const topics = [TOPIC, hexOf('00', 5, 64)];
  return logRow({ ord: toOrd(block, log), address, topics, data, tx_hash: hexOf('7a', block, 64) });
}

function makeBlocks(): LogBlock[] {
  const half = Array.from({ length: LONG_LOGS / 2 }, () => [EMITTER, said(bytes(LONG), 'long')] as const);
  const lists = [
    half,
    half,
    [1, 10, 5_000, 60_000, CUT - 320, CUT, 200_000, 3].map(
      (size) => [MIXED, said(bytes(size), 'ä€😀')] as const,
    ),
    Array.from({ length: 500 }, (_, at) => [SMALL, said(bytes(at), 'small')] as const),
  ];
  return lists.map((made, at): LogBlock => {
    const number = FIRST_LOG_BLOCK + at;
    log = -1;
    return {
      number,
      hash: hexOf('1b', number, 64),
      parentHash: hexOf('1b', number - 1, 64),
      timestamp: 1_700_000_000 + number,
      baseFee: 1n,
      gasPrices: [],
      logs: made.map(([address, data]) => rowOf(number, address, data)),
      created: [],
    };
  });
}

const blocks = makeBlocks();
const head = logSnapshot(blocks, FIRST_LOG_BLOCK, FIRST_LOG_BLOCK + blocks.length - 1);
let store: TestStore;
let api: ExplorerServer;

beforeAll(async () => {
  const range = { storedTo: FIRST_LOG_BLOCK, headFrom: FIRST_LOG_BLOCK + 1, inserts: 1 };
  store = await openTestStore(({ db }) => storeLogBlocks(db, blocks, range));
  api = await startExplorer(
    explorerDeps(store, () => head, { signatures }),
    () => head,
  );
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

const rowsOf = (address: Hex): LogRow[] =>
  blocks.flatMap(({ logs }) => logs).filter((row) => row.address === address);

async function page(path: string): Promise<{ data: readonly Json[]; next: string | null; bytes: number }> {
  const { status, text, json } = await api.ask(path);
  expect(status).toBe(200);
  const { data, meta } = json as unknown as { data: readonly Json[]; meta: { next_cursor: string | null } };
  return { data, next: meta.next_cursor, bytes: text.length };
}

async function walk(path: string): Promise<{ ids: string[]; pages: number; most: number }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  let most = 0;
  for (let pages = 1; pages < 100; pages += 1) {
    const {
      data,
      next,
      bytes: length,
    }: Awaited<ReturnType<typeof page>> = await page(`${path}${cursor === null ? '' : `&cursor=${cursor}`}`);
    ids.push(...data.map((entry) => String(entry['id'])));
    most = Math.max(most, length);
    if (next === null) return { ids, pages, most };
    cursor = next;
  }
  throw new Error('the pages do not end');
}

const idOf = (row: LogRow): string => `${Math.floor(row.ord / 2 ** 20)}-${row.ord % 2 ** 20}`;

test.each([
  ['by address', `/api/v1/logs?address=${EMITTER}`, ['asc', 'desc']],
  ['by address and topic', `/api/v1/logs?address=${EMITTER}&topic0=${TOPIC}`, ['asc']],
  ['by topic', `/api/v1/logs?topic0=${TOPIC}&to_block=${FIRST_LOG_BLOCK + 1}`, ['desc']],
  ['by block', `/api/v1/logs?from_block=${FIRST_LOG_BLOCK}&to_block=${FIRST_LOG_BLOCK + 1}`, ['asc']],
  ['of a contract', `/api/v1/contracts/${EMITTER}/events?event=${TOPIC}`, ['asc', 'desc']],
  ['of a contract, all events', `/api/v1/contracts/${EMITTER}/events?`, ['desc']],
] as const)(
  'pages of long logs with %s have at most about 8 MB, and the cursor continues after each page',
  async (_, path, orders) => {
    const ascending = rowsOf(EMITTER).map(idOf);
    for (const order of orders) {
      const walked = await walk(`${path}&order=${order}&limit=60`);
      expect(walked.ids).toEqual(order === 'asc' ? ascending : ascending.toReversed());
      expect(walked.most).toBeLessThan(8_400_000);
      expect(walked.pages).toBeGreaterThan(1);
      expect(walked.pages).toBeLessThan(LONG_LOGS / 5);
    }
  },
);

test('long data is cut and marked in lists of logs, and a single log is returned in full', async () => {
  const rows = rowsOf(MIXED);
  const { data } = await page(`/api/v1/logs?address=${MIXED}&order=asc&limit=100`);
  expect(data).toHaveLength(rows.length);
  for (const [at, row] of rows.entries()) {
    const size = (row.data.length - 2) / 2;
    const [, , blob] = iface.parseLog({ topics: [TOPIC, row.topic1!], data: row.data })!.args;
    const entry = data[at]!;
    const shown = { data: entry['data'], truncated: entry['data_truncated'], bytes: entry['data_bytes'] };
    const args = entry['decoded']!['args']! as unknown as Record<string, unknown>[];
    if (size <= CUT) {
      expect(shown).toEqual({ data: row.data, truncated: undefined, bytes: undefined });
      expect(args[2]).toMatchObject({ name: 'blob', value: blob });
      expect(args[3]).toMatchObject({ name: 'text', value: 'ä€😀' });
      expect(args.some((arg) => 'truncated' in arg)).toBe(false);
    } else {
      expect(shown).toEqual({ data: row.data.slice(0, 2 + 2 * CUT), truncated: true, bytes: size });
      const value = String(args[2]!['value']);
      expect(args[2]!['truncated']).toBe(value.length < String(blob).length ? true : undefined);
      expect(value).toBe(String(blob).slice(0, value.length));
      expect(value.length).toBeGreaterThan(2 * (CUT - 1_000));
      expect(value.length).toBeLessThanOrEqual(2 + 2 * CUT);
      expect(args[3]).toMatchObject({ name: 'text', value: null, truncated: true });
    }
    const alone = `/api/v1/logs?address=${MIXED}&order=asc&limit=1&offset=${at}`;
    const [whole] = (await page(alone)).data;
    expect(whole).not.toHaveProperty('data_truncated');
    expect(whole!['data']).toBe(row.data);
    const wholeArgs = whole!['decoded']!['args']! as unknown as Record<string, unknown>[];
    expect(wholeArgs[2]).toMatchObject({ value: blob });
    expect(wholeArgs[3]).toMatchObject({ value: 'ä€😀' });
  }
});

test('getlogs of the Etherscan dialect returns logs in full, and an answer above 32 MB is an error', async () => {
  const ask = async (query: string) => (await api.ask(`/api?module=logs&action=getLogs&${query}`)).json!;
  const small = (await ask(`address=${SMALL}`)).result as { data: string }[];
  expect(small.map(({ data }) => data)).toEqual(rowsOf(SMALL).map(({ data }) => data));
  const some = (await ask(`address=${EMITTER}&offset=15`)).result as { data: string }[];
  expect(some.map(({ data }) => data)).toEqual(
    rowsOf(EMITTER)
      .slice(0, 15)
      .map(({ data }) => data),
  );
  const text = 'Error! The answer is larger than 32 MB. Please use a smaller offset or a smaller block range';
  for (const query of [
    `address=${EMITTER}&offset=27`,
    `address=${EMITTER}&topic0=${TOPIC}`,
    `topic0=${TOPIC}`,
  ])
    expect(await ask(query)).toEqual({ status: '0', message: 'NOTOK', result: text });
});
