/** Tests that look-ups read few rows of a large table: they need the right projection and the right settings. */
import { z } from 'zod';

import { openDatabase, type QueryParams } from '../../../src/clickhouse/client/database';
import { selectNamed } from '../../../src/clickhouse/client/namedQueries';
import { countReads } from '../../../src/clickhouse/client/readCost';
import { pick, rowType } from '../../../src/clickhouse/rows/rowType';
import { eventsTable } from '../../../src/clickhouse/schema/tables';
import { snapshotParams } from '../../../src/query/head/headSnapshot';
import { openTestStore, type TestStore } from '../../support/engine/testStore';
import { finalHead } from '../../support/worlds/finalHead';

const ROWS = 1_500_000;
const ASKED = 123_456;
const HEAD = finalHead(ROWS);
/** A few granules of at most 4,096 rows, one of the table and one of its projection. */
const READ_MAX = 20_000;

let store: TestStore;

const hex = (prefix: string, number: number | string): string =>
  `unhex(concat('${prefix}', leftPad(lower(hex(${number})), ${64 - prefix.length}, '0')))`;
const address = (number: number | string): string => `unhex(leftPad(lower(hex(${number})), 40, '0'))`;
const hexText = (prefix: string, number: number): string =>
  `${prefix}${number.toString(16).padStart(64 - prefix.length, '0')}`;

beforeAll(async () => {
  store = await openTestStore(async ({ db }) => {
    // Hashes begin with the number in reverse order of its bytes, so they are spread like real hashes.
    await db.command(
      'load blocks',
      `INSERT INTO blocks SELECT 369, number, reverse(${hex('', 'number')}), ${hex('bb', 'number')}, 1700000000 + number, NULL, 0, 0, [], []
       FROM numbers(${ROWS})`,
    );
    await db.command(
      'load logs',
      `INSERT INTO logs SELECT 369, number * 1048576, 1700000000 + number, ${address('number % 1000')}, 1, ${hex('dd', 'number % 5000')},
         '', '', '', 'data', reverse(${hex('', 'number')}), 0 FROM numbers(${ROWS})`,
    );
    await db.command(
      'load events',
      `INSERT INTO events SELECT number * 1048576, 'swap', ${address('number % 1000')}, ${address('number % 100')}, ${address(7)}, NULL
       FROM numbers(${ROWS})`,
    );
    for (const table of ['blocks', 'logs', 'events'])
      await db.command('merge', `OPTIMIZE TABLE ${table} FINAL`);
  });
});

afterAll(() => store?.close());

const snapshot = snapshotParams(HEAD);
const reversed = (text: string): string => (text.match(/../g) ?? []).toReversed().join('');
const hash = reversed(hexText('', ASKED));
const ord = ASKED * 1_048_576;
const range = { chain_id: 369, from_ord: 0, to_ord: ROWS * 1_048_576, limit: 100 };
const pair = (ASKED % 1_000).toString(16).padStart(40, '0');
const events = { kinds: [], after_ord: 0, to_ord: range.to_ord, limit: 50, skip: 0, backward: true };
const token = (ASKED % 100).toString(16).padStart(40, '0');
const ofToken = { ...events, key: 'token0', other_key: 'token1', merged: true, token };

/** Each query with its parameters, and the number of rows that it returns. */
const LOOK_UPS: readonly (readonly [name: string, params: QueryParams, rows: number])[] = [
  ['search/find_block_by_hash', { chain_id: 369, final_to: ROWS, hash }, 1],
  ['logs/list_matching_ords', { ...range, tx_hash: hash, newest: false }, 1],
  ['logs/list_topic_ords', { ...range, topic0: hexText('dd', ASKED % 5_000), newest: false }, 100],
  ['logs/list_logs_at', { ...range, from_ord: ord, to_ord: ord, ords: [ord], data_max: 100 }, 1],
  ['activity/list_events', { ...events, key: 'pair', pair }, 50],
  ['activity/list_events', ofToken, 50],
];

test.each(LOOK_UPS)('%s reads few rows of a table of 1.5 million', async (name, params, rows) => {
  const cost = { rows: 0, bytes: 0 };
  const found = await countReads(cost, () =>
    selectNamed(store.db, name, { ...snapshot, ...params }, z.unknown()),
  );
  expect([found.length, cost.rows > 0 && cost.rows <= READ_MAX, cost.rows]).toEqual([rows, true, cost.rows]);
});

test('a reader whose profile allows no change of settings gets the same rows', async () => {
  const url = new URL(store.writerUrl);
  url.searchParams.set('ch_readonly', '1');
  const reader = openDatabase({ url: url.href });
  try {
    await expect(reader.select('top', 'SELECT 1 SETTINGS max_threads = 3')).rejects.toThrow('readonly mode');
    const row = rowType(pick(eventsTable.types, ['ord', 'kind']));
    const params = { ...snapshot, ...ofToken };
    const wanted = await store.runner.run('activity/list_events', params, row);
    expect(wanted).toHaveLength(50);
    expect(await selectNamed(reader, 'activity/list_events', params, row)).toEqual(wanted);
  } finally {
    await reader.close();
  }
});
