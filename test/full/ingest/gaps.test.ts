/** The program detects lost rows and restores them from the node with identical bits. Readers see no difference. */
import { setTimeout as delay } from 'node:timers/promises';

import { askRows } from '../../support/engine/askRows';
import { eventually } from '../../support/eventually';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { lastOrdOfBlock, toOrd } from '../../../src/domain/ord';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { readStubLogs, StubTruth } from '../../support/stub/stubTruth';

const FIRST = 200;
const LAST = 300;
const EVENT_TABLES = [
  'logs',
  'pool_states',
  'swaps',
  'events',
  'pool_epochs',
  'token_routes',
  'token_prices',
  'transfers',
];

let chain: StubChain;
let truth: StubTruth;
let home: ProgramHome;
let program: RunningProgram;

beforeEach(async () => {
  chain = await startStubChain({ blocks: LAST, logsPerBlock: 24, pairs: 8 });
  truth = new StubTruth(chain);
  home = await createProgramHome();
  chain.setHead(FIRST);
  program = await home.start([chain.url]);
  // Ingests in steps, so that several promotions run.
  for (let head = FIRST; head <= LAST; head += 10) {
    chain.setHead(head);
    await program.untilBlock(head);
    await program.untilPromoted(chain.final);
  }
});

afterEach(async () => {
  await home.drop();
  await chain.close();
});

interface Range {
  readonly from_block: number;
  readonly to_block: number;
}

/** The second range of blocks that was copied from the head tables. */
async function findRange(): Promise<Range> {
  const rows = await askRows<Range>(
    home.database,
    "SELECT from_block, to_block FROM promotions WHERE status = 'done' AND kind = 'promotion' ORDER BY seq LIMIT 2",
  );
  return rows[1]!;
}

/** A hash per table over the rows of a range of blocks, independent of their order. */
async function hashTables({ from_block, to_block }: Range): Promise<Record<string, string>> {
  const hash = 'toString(sum(reinterpretAsUInt128(sipHash128(tuple(*)))))';
  const ords = `ord BETWEEN ${toOrd(from_block, 0)} AND ${lastOrdOfBlock(to_block)}`;
  const parts = [
    `(SELECT ${hash} FROM blocks WHERE number BETWEEN ${from_block} AND ${to_block}) AS blocks`,
    ...EVENT_TABLES.map((table) => `(SELECT ${hash} FROM ${table} WHERE ${ords}) AS ${table}`),
  ];
  const [row] = await askRows<Record<string, string>>(home.database, `SELECT ${parts.join(', ')}`);
  return row!;
}

async function remove(table: string, { from_block, to_block }: Range): Promise<void> {
  const where =
    table === 'blocks' || table === 'head_blocks' || table === 'blocks_head'
      ? `number BETWEEN ${from_block} AND ${to_block}`
      : `ord BETWEEN ${toOrd(from_block, 0)} AND ${lastOrdOfBlock(to_block)}`;
  await home.database.command(
    'lose rows',
    `ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 2`,
  );
}

/** The check for lost rows runs after new blocks, so this function mines a block per second until the text
 * is logged. */
async function mineUntilLogged(text: RegExp): Promise<void> {
  let head = LAST;
  const mine = async (): Promise<boolean> => {
    if (program.log.some(({ msg }) => text.test(msg))) return true;
    chain.setHead((head += 1));
    await program.untilBlock(head);
    await delay(1_000);
    return false;
  };
  await eventually(mine, (isLogged) => isLogged);
}

test('final rows lost while the program runs are detected and stored again with the same bytes', async () => {
  const range = await findRange();
  // Marks the range as done twice, as a late statement of an earlier session can. The check must not report this as
  // lost rows.
  await home.database.command(
    'late word',
    `INSERT INTO promotions SELECT * FROM promotions WHERE status = 'done' AND to_block = ${range.to_block}`,
  );
  const before = await hashTables(range);
  const lost = ['blocks', 'logs', 'pool_states', 'pool_epochs', 'token_routes', 'token_prices'];
  await Promise.all(lost.map((table) => remove(table, range)));
  const damaged = await hashTables(range);
  for (const table of lost) expect([table, damaged[table]]).toEqual([table, '0']);
  await mineUntilLogged(/the missing rows are stored again/);
  await program.untilCalm(['gap_refilling', 'ingest_failing']);
  expect(await hashTables(range)).toEqual(before);
  expect(await program.metrics()).toContain('candlehouse_gaps_refilled_total{chain="369"} 1');
  await program.untilBlock(chain.head);
  expect(await truth.findWrongBars(program.url)).toEqual([]);
});

test('swaps lost together with their deduplication tokens are stored again, and their bars count them once', async () => {
  await program.stop();
  const whole = { from_block: 1, to_block: LAST };
  const before = await hashTables(whole);
  const parts = await askRows<{ name: string }>(
    home.database,
    "SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'swaps' AND active",
  );
  for (const { name } of parts)
    await home.database.command('lose a part', `ALTER TABLE swaps DROP PART '${name}'`);
  program = await home.start([chain.url]);
  await mineUntilLogged(/the missing rows are stored again/);
  await program.untilCalm(['gap_refilling', 'ingest_failing']);
  expect(await hashTables(whole)).toEqual(before);
  expect(await truth.findWrongBars(program.url)).toEqual([]);
});

test('swaps that would count twice if stored again stop the writer, and the error names the range', async () => {
  await program.stop();
  const range = await findRange();
  // Merged, so that the part keeps other rows. ClickHouse would drop an empty part with its deduplication tokens.
  await home.database.command('merge', 'OPTIMIZE TABLE swaps FINAL');
  await remove('swaps', range);
  program = await home.start([chain.url]);
  const message = await program.untilProblem('ingest_stopped');
  expect(message).toContain(`${range.from_block}-${range.to_block}`);
  expect(message).toContain('swaps');
  await program.untilCalm(['nothing_indexed']);
  expect((await fetch(`${program.url}/api/v1/activity?limit=1`)).status).toBe(200);
});

test('head blocks that lost rows, or lie above a missing block, are written again', async () => {
  await program.stop();
  await remove('logs_head', { from_block: LAST - 20, to_block: LAST - 18 });
  await remove('head_blocks', { from_block: LAST - 9, to_block: LAST - 9 });
  program = await home.start([chain.url]);
  await program.untilBlock(LAST, chain.blocks[LAST]!.hash);
  const [row] = await askRows<{ logs: string }>(
    home.database,
    `SELECT uniqExact(ord) AS logs FROM logs_head WHERE ord > ${lastOrdOfBlock(LAST - 21)}`,
  );
  const expected = chain.blocks.slice(LAST - 20).flatMap(({ logs }) => readStubLogs(logs));
  expect(Number(row?.logs)).toBe(expected.length);
  expect(await truth.findWrongBars(program.url)).toEqual([]);
  expect(await truth.findWrongActivity(program.url)).toBeNull();
});
