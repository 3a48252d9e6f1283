/**
 * Stores the corpus of hostile bytes in the columns of a simulated chain, and reads them back through every
 * endpoint, format and stream. A column or endpoint that this file does not list fails the test.
 */
import { askRows } from '../../support/engine/askRows';
import { HOSTILE_PATTERNS, patternPart } from '../../support/hostile/hostileBytes';
import {
  hostileContract,
  hostileWilderness,
  sourceText,
  storeHostileRows,
} from '../../simulation/chain/hostileWorld';
import { startSimApi, type SimApi } from '../../simulation/chain/simApi';
import { LOG_LINE_BYTES_MAX } from '../../../src/log';
import { hostileCalls, WITHOUT_CHAIN_BYTES, type HostileFacts } from '../../support/hostile/hostileCalls';
import { readBack } from '../../support/engine/readBack';
import { SseClient } from '../../integration/stream/sseClient';

jest.mock('../../support/plainLogs', () => ({
  ...jest.requireActual<object>('../../support/plainLogs'),
  digest: (text: string, bytes: number) =>
    jest
      .requireActual<typeof import('../../support/hostile/hostileBytes')>(
        '../../support/hostile/hostileBytes',
      )
      .hostileDigest(text, bytes),
}));

const BLOCKS = 400;
const PARALLEL = 6;

/** Columns without bytes from the chain or another outside source, with the reason. */
const CLOSED_COLUMNS: readonly (readonly [RegExp, string])[] = [
  [/\.(dex|protocol|factory|factories|holders)$/, 'named in the chain description by the operator'],
  [/^verified_(contracts|codes)\.(source|language|compiler|creation_match)$/, 'one of a closed set of words'],
  [
    /^((contract_codes|code_spans)\.proxy|token_routes(_head)?\.warnings|source_uses\.language)$/,
    'a word of a closed set',
  ],
  [/^(liquidity_events|found_pools|pools)(_head)?\.(recipient|pool_id|hooks)$/, 'simulated pools have none'],
  [/^audit_hashes\./, 'hashes that this program computes, by table name'],
  [/^promotions\.counts$/, 'by table name'],
  [/^schema_migrations\.name$/, 'file names of this program'],
  [/^(operations|writers)\.name$/, 'words of this program, or its host name'],
  [/^writer_states\.state$/, 'JSON of this program'],
];

type Row = Readonly<Record<string, unknown>>;

let api: SimApi;
let facts: HostileFacts;

beforeAll(async () => {
  api = await startSimApi(6, BLOCKS, {}, undefined, { wild: hostileWilderness(), prepare: storeHostileRows });
  const list = async (sql: string): Promise<string[]> =>
    (await askRows<{ value: string }>(api.db, sql)).map(({ value }) => value);
  const hexes = (column: string, table: string): Promise<string[]> =>
    list(`SELECT DISTINCT concat('0x', lower(hex(${column}))) AS value FROM ${table} ORDER BY value`);
  facts = {
    head: api.chain.head.number,
    tokens: onePerPattern(await hexes('address', 'tokens'), 20),
    pairs: onePerPattern(await hexes('address', 'pools'), 20),
    wallets: onePerPattern(await hexes('assumeNotNull(maker)', 'swaps'), 20),
    holders: onePerPattern(await hexes('holder', 'holder_balances'), 20),
    contracts: HOSTILE_PATTERNS.map((_, index) => hostileContract(index)),
    transactions: onePerPattern(await hexes('tx_hash', 'logs'), 32),
    blocks: onePerPattern(await hexes('hash', 'blocks'), 32),
    topics: await Promise.all(
      [0, 1, 2, 3].map(async (place) => onePerPattern(await hexes(`topic${place}`, 'logs'), 32)),
    ),
    texts: HOSTILE_PATTERNS.map(({ bytes }) => bytes.toString().slice(0, 60)),
  };
});

afterAll(async () => {
  await api?.stop();
});

function onePerPattern(values: readonly string[], size: number): string[] {
  const found = HOSTILE_PATTERNS.map((pattern) => {
    const part = patternPart(pattern, size).toString('hex');
    return values.find((value) => value.includes(part));
  });
  return found.filter((value) => value !== undefined);
}

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** An SQL array of the hex texts in a column; null if the column's type holds no bytes. */
function hexesOf({ name, type }: Column): string | null {
  const element = /(\w+) FixedString/.exec(type)?.[1];
  if (/Tuple\(/.test(type))
    return element === undefined ? null : `[hex(tupleElement(${name}, '${element}'))]`;
  if (/^Map\(.*String/.test(type)) return `arrayMap(key -> hex(key), mapKeys(${name}))`;
  if (/^Array\(.*String/.test(type)) return `arrayMap(each -> hex(each), ${name})`;
  return /String/.test(type) ? `[ifNull(hex(${name}), '')]` : null;
}

test('every column that can hold hostile bytes contains all patterns', async () => {
  const columns = await askRows<Column>(
    api.db,
    `SELECT c.table AS table, c.name AS name, c.type AS type FROM system.columns AS c
     INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
     WHERE c.database = currentDatabase() AND t.engine NOT LIKE '%View' ORDER BY table, c.position`,
  );
  const uncovered: string[] = [];
  let [covered, closed, pairs] = [0, 0, 0];
  const ofBytes = columns.filter((column) => hexesOf(column) !== null);
  const stored = new Map<string, Record<string, string[]>>();
  for (const table of new Set(ofBytes.map((column) => column.table))) {
    const lists = ofBytes
      .filter((column) => column.table === table)
      .map((column) => `groupUniqArrayArray(${hexesOf(column)}) AS list_${column.name}`);
    const sql = `SELECT ${lists.join(', ')} FROM ${table}`;
    const [row] = await askRows<Record<string, string[]>>(api.db, sql);
    stored.set(table, row!);
  }
  for (const column of ofBytes) {
    const name = `${column.table}.${column.name}`;
    const values = stored.get(column.table)![`list_${column.name}`]!.map((value) => value.toLowerCase());
    const size = Number(/FixedString\((\d+)\)/.exec(column.type)?.[1] ?? 1e6);
    const found = onePerPattern(values, size).length;
    const isClosed = CLOSED_COLUMNS.some(([pattern]) => pattern.test(name));
    if (isClosed) closed += 1;
    else if (found === 0) uncovered.push(name);
    else covered += 1;
    pairs += found;
  }
  console.log(
    `${HOSTILE_PATTERNS.length} patterns in ${covered} columns (${pairs} pairs of pattern and column), ${closed} columns cannot hold them`,
  );
  expect(uncovered).toEqual([]);
  expect(covered).toBeGreaterThan(100);
});

interface Reply {
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly bytes: Buffer;
}

async function ask(path: string, accept = 'application/json'): Promise<Reply> {
  const answer = await fetch(`${api.url}${path}`, { headers: { accept } });
  expect(answer.headers.get('x-injected')).toBeNull();
  const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
  return { path, status: answer.status, type, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function askAll(calls: readonly (readonly [string, string?])[]): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < calls.length; at = next++) replies.push(await ask(...calls[at]!));
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return replies;
}

const jsonOf = ({ bytes }: Reply) => JSON.parse(bytes.toString());
const HEX_PARTS = HOSTILE_PATTERNS.map((pattern) => patternPart(pattern, 20).toString('hex'));
const holdsPattern = ({ bytes }: Reply): boolean => HEX_PARTS.some((part) => bytes.includes(part));

/** Checks the rules for every answer. Returns the violation, or null. */
function faultOf(reply: Reply): string | null {
  const { path, status, type, bytes } = reply;
  if (![200, 400, 404, 422].includes(status))
    return `status ${status} ${path.slice(0, 300)} ${bytes.toString().slice(0, 200)}`;
  if (type === 'application/json') {
    try {
      jsonOf(reply);
    } catch {
      return `invalid JSON ${path.slice(0, 300)}`;
    }
    // JSON must escape control characters, so no raw one may appear.
    if (/[\x00-\x08\x0b-\x1f]/.test(bytes.toString('latin1'))) return `raw control characters ${path}`;
  }
  return null;
}

test('every endpoint answers for every hostile pattern in its format and never with a 500', async () => {
  type Described = {
    get?: {
      'x-actions'?: Parameters<typeof hostileCalls>[1];
      responses: Record<string, { content?: object }>;
    };
  };
  const document_ = jsonOf(await ask('/openapi.json')) as { paths: Record<string, Described> };
  const paths = Object.entries(document_.paths).filter(([, { get }]) => get !== undefined);
  const calls = hostileCalls(facts, document_.paths['/api']?.get?.['x-actions'] ?? []);
  const faults: string[] = [];
  const silent: string[] = [];
  const unknown: string[] = [];
  let asked = 0;
  for (const [path, { get }] of paths) {
    const list = calls[path];
    if (list === undefined) {
      if (WITHOUT_CHAIN_BYTES[path] === undefined) unknown.push(path);
      continue;
    }
    const formats = Object.keys(get?.responses['200']?.content ?? {});
    const replies = await askAll([
      ...list.map((call) => [call] as const),
      ...formats
        .slice(1)
        .flatMap((format, at) =>
          list
            .filter((_, index) => index % 3 === at || list.length < 3)
            .map((call) => [call, format] as const),
        ),
    ]);
    asked += replies.length;
    faults.push(...replies.flatMap((reply) => faultOf(reply) ?? []));
    const told = replies.filter((reply) => reply.status === 200);
    for (const format of formats.length > 1 ? formats : ['application/json'])
      if (!told.some((reply) => reply.type === format && reply.bytes.length > 0))
        silent.push(`${path} ${format}`);
    if (!told.some(holdsPattern) && WITHOUT_CHAIN_BYTES[path] === undefined) silent.push(path);
  }
  console.log(`${paths.length} endpoints, ${asked} calls`);
  expect(unknown).toEqual([]);
  expect(faults).toEqual([]);
  expect(silent).toEqual([]);
});

/** All pages of `path`, by following the cursors. */
async function readPages(path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ;) {
    const reply = await ask(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect([reply.path, reply.status]).toEqual([reply.path, 200]);
    const { data, meta } = jsonOf(reply) as { data: Row[]; meta: { next_cursor: string | null } };
    rows.push(...data);
    if (meta.next_cursor === null) return rows;
    cursor = meta.next_cursor;
  }
}

/** The named fields of an object. */
const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

test('hostile logs are returned as the chain has them, byte for byte', async () => {
  const told = await readPages('/api/v1/logs?limit=100&order=asc');
  const mined = api.chain.canonical().flatMap((block) =>
    block.logs.map((log) => ({
      id: `${block.number}-${log.logIndex}`,
      address: log.address,
      topics: log.topics,
      data: log.data,
      tx_hash: log.transactionHash,
      block_hash: block.hash,
    })),
  );
  expect(told.map((log) => pick(log, Object.keys(mined[0]!)))).toEqual(mined);
  const notes = told.filter(({ decoded }) => JSON.stringify(decoded).includes('"Note"'));
  const raws = notes.map(({ decoded }) => (decoded as { args: [{ raw?: string }] }).args[0].raw);
  expect(raws).toContainEqual(expect.stringMatching(/^0x/));
});

let activity: Row[];

test('swaps with hostile addresses are returned with their stored addresses', async () => {
  activity = await readPages('/api/v1/activity?limit=100');
  const hexes = ['pair', 'tx_hash', 'sender', 'recipient', 'maker', 'token0', 'token1'].map(
    (name) => `concat('0x', lower(hex(assumeNotNull(${name})))) AS hex_${name}`,
  );
  const stored = await askRows<Row>(
    api.db,
    `SELECT concat(toString(intDiv(ord, 1048576)), '-', toString(ord % 1048576)) AS id, ${hexes.join(', ')}
     FROM swaps WHERE pool_type < 4 AND sender != toFixedString('', 20) ORDER BY ord DESC`,
  );
  const byId = new Map(activity.map((item) => [item['id'], item]));
  expect(stored.length).toBeGreaterThan(300);
  for (const row of stored) {
    const item = byId.get(row['id'])!;
    expect({
      id: item['id'],
      hex_pair: item['pair_address'],
      hex_tx_hash: item['tx_hash'],
      hex_sender: item['sender'],
      hex_recipient: item['recipient'],
      hex_maker: item['maker'],
      hex_token0: (item['token0'] as Row)['address'],
      hex_token1: (item['token1'] as Row)['address'],
    }).toEqual(row);
  }
});

test.each([
  ['text/csv', 'CSVWithNames'],
  ['application/vnd.apache.parquet', 'Parquet'],
  ['application/vnd.apache.arrow.stream', 'ArrowStream'],
])('hostile events as %s equal the events as JSON', async (type, format) => {
  const sides = ['token0', 'token1'].flatMap((side) => [`${side}_address`, `${side}_symbol`]);
  const names = ['tx_hash', 'pair_address', 'maker', 'sender', 'recipient', 'owner', ...sides];
  const columns = ['id String', ...names.map((name) => `${name} Nullable(String)`)].join(', ');
  const reply = await ask('/api/v1/activity?limit=100&page=3', type);
  expect([reply.status, reply.type]).toEqual([200, type]);
  const rows = await readBack(api.writerUrl, api.db, reply.bytes, format, columns);
  const { data } = jsonOf(await ask('/api/v1/activity?limit=100&page=3')) as { data: Row[] };
  // In CSV, a text that a spreadsheet would run as a formula gets an apostrophe in front.
  const inCell = (value: unknown): unknown =>
    type === 'text/csv' && /^[=+\-@\t\r]/.test(String(value)) ? `'${String(value)}` : value;
  const flat = data.map((item) => {
    const tokens = ['token0', 'token1'].flatMap((side) =>
      Object.entries(item[side] as Row).map(([name, value]) => [`${side}_${name}`, inCell(value)] as const),
    );
    return pick({ ...item, ...Object.fromEntries(tokens) }, ['id', ...names]);
  });
  expect(rows).toEqual(flat);
});

/** The messages of a stream that replays all events. */
async function replayAll(): Promise<SseClient['messages']> {
  const client = await new SseClient(`${api.url}/api/v1/activity/stream?last_event_id=0-0`).connect();
  try {
    await client.until(() => client.messages.length >= activity.length);
    expect(client.retry).toBe('3000');
    return client.messages;
  } finally {
    client.close();
  }
}

test('the stream replays every hostile event as /activity shows it', async () => {
  const messages = await replayAll();
  expect(messages.map(({ data }) => data)).toEqual([...activity].reverse());
  expect(messages.map(({ event }) => event)).toEqual(activity.map((item) => item['event_type']).reverse());
});

test('hostile token names are returned as stored', async () => {
  const stored = await askRows<{ address: string }>(
    api.db,
    `SELECT concat('0x', lower(hex(address))) AS address, argMax(tuple(symbol), version).1 AS symbol,
       argMax(tuple(name), version).1 AS name FROM tokens GROUP BY address`,
  );
  const names = new Map(stored.map((token) => [token.address, token]));
  const listed: Row[] = [];
  for (let page = 1, before = -1; listed.length > before; page += 1) {
    before = listed.length;
    listed.push(...(jsonOf(await ask(`/api/v1/tokens?limit=100&page=${page}`)) as { data: Row[] }).data);
  }
  expect(listed.length).toBeGreaterThan(30);
  for (const token of listed)
    expect(pick(token, ['address', 'symbol', 'name'])).toEqual(names.get(String(token['address'])));
  expect(listed.filter(({ symbol }) => /[\x00-\x1f\u202e]/.test(String(symbol))).length).toBeGreaterThan(3);
});

test('hostile sources and names of contracts are returned as stored', async () => {
  const textOf = (index: number): string => sourceText(index % HOSTILE_PATTERNS.length).toString();
  for (const [index, { bytes }] of HOSTILE_PATTERNS.entries()) {
    const address = hostileContract(index);
    const text = bytes.toString();
    const answer = jsonOf(await ask(`/v2/contract/369/${address}?fields=all`)) as Record<string, Row>;
    expect(answer['sources']).toEqual({
      [text]: { content: textOf(index) },
      [`two${text}`]: { content: textOf(index + 1) },
    });
    expect(answer['compilation']).toMatchObject({ name: text });
    const { data } = jsonOf(await ask(`/api/v1/search?q=${address}`)) as { data: Row[] };
    expect(data[0]).toMatchObject({ address, title: text });
  }
});

test('an event that cannot be decoded is a marked item in JSON, a row in files and a gap in the stream', async () => {
  const swap = activity.find(
    (item) => item['event_type'] === 'swap' && item['finalized'] === true && item['pool_type'] === 2,
  )!;
  const id = String(swap['id']);
  const [block, index] = id.split('-').map(Number) as [number, number];
  await api.db.command(
    'break a row',
    'ALTER TABLE swaps UPDATE pool_type = 9 WHERE ord = {ord:UInt64} SETTINGS mutations_sync = 2',
    { ord: block * 2 ** 20 + index },
  );
  const path = `/api/v1/activity?pair=${String(swap['pair_address'])}&limit=100&event_type=swap`;
  const { data } = jsonOf(await ask(path)) as { data: Row[] };
  const position = { id, block_number: block, log_index: index, finalized: true };
  const marked = { ...position, event_type: 'undecodable', stored_as: 'swap' };
  expect(data.filter((item) => item['event_type'] !== 'swap')).toEqual([marked]);
  expect(data.length).toBeGreaterThan(1);
  const { status, bytes } = await ask(path, 'text/csv');
  expect([status, bytes.toString().match(/"undecodable"/g)?.length]).toEqual([200, 1]);
  const messages = await replayAll();
  const told = messages.map((message) =>
    message.event === 'gap' ? `gap ${String(message.data['from_id'])}` : message.data['id'],
  );
  expect(told).toEqual(activity.map((item) => (item['id'] === id ? `gap ${id}` : item['id'])).reverse());
});

test('hostile bytes cause no errors and no long lines in the log', () => {
  expect(api.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 40)).toEqual([]);
  const longest = Math.max(0, ...api.log.map((line) => Buffer.byteLength(line)));
  expect(longest).toBeLessThanOrEqual(LOG_LINE_BYTES_MAX);
});
