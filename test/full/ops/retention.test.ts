/** Tests that retention drops old rows and changes nothing else, and that reindex repairs rows that differ
 * from the node. */
import { askRows } from '../../support/engine/askRows';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import { runPrune } from '../../../src/commands/data/prune';
import { runReindex } from '../../../src/commands/data/reindex';
import { runVerify } from '../../../src/commands/data/verify';
import { loadConfig, type Config } from '../../../src/config';
import { lastOrdOfBlock, toOrd } from '../../../src/domain/ord';
import { silent } from '../../support/engine/embedded';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { StubTruth } from '../../support/stub/stubTruth';
import { eventually } from '../../support/eventually';

const LAST = 280;
const never = new AbortController().signal;

const AGGREGATES = ['bars', 'token_bars', 'dex_hours', 'pair_totals', 'token_balances', 'holder_balances'];

let chain: StubChain;
let truth: StubTruth;
let home: ProgramHome;
let program: RunningProgram;

beforeEach(async () => {
  chain = await startStubChain({ blocks: LAST, logsPerBlock: 16, pairs: 6 });
  truth = new StubTruth(chain);
  home = await createProgramHome();
  chain.setHead(200);
  program = await home.start([chain.url]);
  for (let head = 200; head <= LAST; head += 40) {
    chain.setHead(head);
    await program.untilBlock(head);
    await program.untilPromoted(chain.final);
  }
  const isPromoted = (): Promise<number> =>
    count('promotions', `status = 'done' AND to_block = ${chain.final}`);
  await eventually(isPromoted, (now) => now === 1);
});

afterEach(async () => {
  await home.drop();
  await chain.close();
});

function config(): Config {
  const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
  return loadConfig(
    { RPC_URL: chain.url, CHAIN_CONFIG: 'chain.json', CLICKHOUSE_URL: home.writerUrl },
    () => description,
  );
}

async function prune(block: number, what: readonly ('logs' | 'swaps')[], yes: boolean): Promise<string> {
  let said = '';
  const keptSeconds = { logs: 600, swaps: 600 };
  const options = { before: { block }, what, chainId: 369, yes, keptSeconds };
  await runPrune(config(), silent, never, options, { write: (text) => (said += text) });
  return said;
}

async function reindex(from: number, to: number, check = false): Promise<{ code: number; said: string }> {
  let said = '';
  const code = await runReindex(
    config(),
    silent,
    never,
    { from, to, check },
    { write: (text) => (said += text) },
  );
  return { code, said };
}

async function count(table: string, where = '1'): Promise<number> {
  const [row] = await askRows<{ total: string }>(
    home.database,
    `SELECT count() AS total FROM ${table} WHERE ${where}`,
  );
  return Number(row?.total);
}

const MERGED = new Set(['pool_latest', ...AGGREGATES]);

/** A hash over all rows, with rows of the same key merged. */
async function hash(table: string): Promise<string> {
  const [row] = await askRows<{ hash: string }>(
    home.database,
    `SELECT toString(sum(reinterpretAsUInt128(sipHash128(tuple(*))))) AS hash FROM ${table}${MERGED.has(table) ? ' FINAL' : ''}`,
  );
  return row?.hash ?? '';
}

const hashAll = (tables: readonly string[]): Promise<string[]> => Promise.all(tables.map(hash));

test('prune lists the rows it would drop, then drops them while blocks arrive, and keeps bars and prices', async () => {
  const cut = 150;
  const before = await hashAll([...AGGREGATES, 'token_prices', 'pool_states']);
  const all = { logs: await count('logs'), swaps: await count('swaps') };
  const planned = await prune(cut, ['logs', 'swaps'], false);
  const floor = Number(/rows of logs before block (\d+)/.exec(planned)?.[1]);
  expect(floor).toBeLessThanOrEqual(cut);
  expect(floor).toBeGreaterThan(cut - 100);
  expect(floor).toBeLessThan(cut);
  expect(planned).toContain(`(not before block ${cut}: the ingester writes blocks in ranges`);
  const old = {
    logs: await count('logs', `ord < ${toOrd(floor, 0)}`),
    swaps: await count('swaps', `ord < ${toOrd(floor, 0)}`),
  };
  expect(planned).toContain(`would drop ${old.swaps} rows of swaps`);
  expect(planned).toContain('--yes');
  expect(await count('logs')).toBe(all.logs);

  await prune(cut, ['logs', 'swaps'], true);
  expect(await count('logs')).toBe(all.logs - old.logs);
  expect(await count('swaps')).toBe(all.swaps - old.swaps);
  expect(await hashAll([...AGGREGATES, 'token_prices', 'pool_states'])).toEqual(before);
  // The program does not report pruned rows as lost, neither while it runs nor after a restart.
  chain.setHead(LAST + 40);
  await program.untilBlock(LAST + 40);
  await program.stop();
  program = await home.start([chain.url]);
  chain.setHead(LAST + 60);
  await program.untilBlock(LAST + 60, chain.blocks[LAST + 60]!.hash);
  expect(program.log.filter(({ msg }) => /are missing|stops/.test(msg))).toEqual([]);
  expect(await program.metrics()).toContain('candlehouse_gaps_refilled_total{chain="369"} 0');
  expect(await truth.findWrongBars(program.url)).toEqual([]);
  expect(await runVerify(config(), silent, { from: null, to: null })).toBe(0);
  await expect(prune(LAST, ['swaps'], true)).rejects.toThrow(
    /--before: got block 280; allowed for swaps: a block up to \d+/,
  );
  // A second prune with the same bound drops nothing.
  expect(await prune(cut, ['logs', 'swaps'], true)).toContain('dropping 0 rows of swaps');
});

test('reindex repairs changed rows, lost rows and the bars of these rows', async () => {
  await program.stop();
  const tables = ['logs', 'swaps', 'pool_states', 'transfers', ...AGGREGATES, 'pool_latest'];
  const before = await hashAll(tables);
  expect(await reindex(100, 140, true)).toEqual({
    code: 0,
    said: expect.stringContaining('equal the rows from the node'),
  });
  const within = (from: number, to: number): string =>
    `ord BETWEEN ${toOrd(from, 0)} AND ${lastOrdOfBlock(to)}`;
  const damage = [
    `ALTER TABLE swaps UPDATE amount0 = amount0 + 1, price = price * 2 WHERE ${within(110, 112)}`,
    `ALTER TABLE swaps DELETE WHERE ${within(120, 121)}`,
    `ALTER TABLE logs DELETE WHERE ${within(100, 101)}`,
    `ALTER TABLE bars DELETE WHERE timeframe = 60`,
  ];
  for (const sql of damage) await home.database.command('damage', `${sql} SETTINGS mutations_sync = 2`);
  const found = await reindex(100, 140, true);
  expect(found.code).toBe(1);
  expect(found.said).toMatch(/DIFFERENT logs: .*\nDIFFERENT swaps: /);
  expect(found.said).not.toContain('pool_states');
  expect(await hashAll(tables)).not.toEqual(before);

  const { code, said } = await reindex(100, 140);
  expect(code).toBe(0);
  expect(said).toMatch(/^Corrected .*; rebuilt: .*bars/m);
  expect(await hashAll(tables)).toEqual(before);
  expect(
    await home.database.select(
      'leftovers',
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND (name LIKE 'next_%' OR name LIKE 'staged_%')",
    ),
  ).toEqual([]);
  program = await home.start([chain.url]);
  chain.setHead(LAST + 20);
  await program.untilBlock(LAST + 20, chain.blocks[LAST + 20]!.hash);
  expect(await truth.findWrongBars(program.url)).toEqual([]);
  await program.stop();
  expect(await runVerify(config(), silent, { from: null, to: null })).toBe(0);
});
