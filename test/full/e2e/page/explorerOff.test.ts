/**
 * Tests EXPLORER=off on a real node. The market answers as with all raw logs. Endpoints that need the other logs answer an
 * error that names the setting. Both changes of the setting keep the data right.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { openDatabase, type Database } from '../../../../src/clickhouse/client/database';
import { engineFolderOf, knock } from '../../../../src/clickhouse/engine/engineDoor';
import { DEX_V2, DEX_V3, FULL_PLAN, type WorldPlan } from '../../../../src/dev/world/worldPlan';
import { readRangeHashes } from '../../../../src/ingest/repair/rangeHash';
import type { ChainItem } from '../../../../src/wire/chains';
import { askRows } from '../../../support/engine/askRows';
import { eventually, until } from '../../../support/eventually';
import { DESKTOP, launchBrowser, openPage, PHONE, untilLoaded } from '../../../support/server/browser';
import { runProgram, waitForBlock, type Program } from '../../../support/server/program';
import { rawWorth, startWorldProgram, type WorldProgram } from '../../../support/server/worldProgram';

const TOKENS = ['wpls', 'usdc', 'dai'];
const PLAN: WorldPlan = {
  ...FULL_PLAN,
  tokens: FULL_PLAN.tokens.filter(({ key }) => TOKENS.includes(key)),
  pools: [
    { dex: DEX_V2, base: 'usdc', quote: 'wpls', sideUsd: 400_000, popularity: 1 },
    { dex: DEX_V3, base: 'dai', quote: 'wpls', sideUsd: 400_000, popularity: 1, fee: 3_000 },
  ],
  launches: [],
  anchors: ['usdc', 'dai'],
  majors: [],
  burnToken: 'usdc',
  holders: 3,
};
/** The blocks of the first range of audit hashes, and enough blocks after them to make them final and promoted. */
const WHOLE_RANGE = 1_000 + 10 + 40;
const NOT_KEPT = /does not keep the raw logs .* EXPLORER=off/;

let on: WorldProgram;
let off: Program;
let folder = '';
let head = 0;

async function trade(blocks: number): Promise<void> {
  const { world } = on;
  const [from = '0x', to = '0x'] = world.users;
  for (let i = 0; i < blocks; i += 1) {
    const pool = world.pools[i % 2]!;
    const zeroForOne = i % 3 > 0;
    const sold = zeroForOne ? pool.token0 : pool.token1;
    const swap = { from, zeroForOne, amountIn: (await world.balanceOf(sold, pool.address)) / 5_000n };
    const transaction = pool.protocol === 'uniswap_v2' ? world.swapV2(pool, swap) : world.swapV3(pool, swap);
    const moved = world.transfer(world.tokens[i % world.tokens.length]!, { from, to, amount: 1_000n });
    // Minted LP tokens are among the few logs that are always kept.
    const amounts = { amount0: rawWorth(pool.token0, 100), amount1: rawWorth(pool.token1, 100) };
    const minted = pool.protocol === 'uniswap_v2' ? [world.mintV2(pool, { ...amounts, from })] : [];
    head = (await world.mineBlock(undefined, [transaction, moved, ...minted])).number;
  }
}

const both = (): Promise<unknown> =>
  Promise.all([waitForBlock(on.program.url, head), waitForBlock(off.url, head)]);

async function startOff(explorer: 'on' | 'off'): Promise<Program> {
  return on.start(0, { DATA_DIR: folder, EXPLORER: explorer });
}

async function ask(path: string, from = off): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${from.url}${path}`);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function withDatabase<T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> {
  const engine = await knock(engineFolderOf(dataDir));
  const database = openDatabase({ url: engine!.writerUrl });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function countLogs(dataDir: string): Promise<number> {
  const sql = 'SELECT toString(count()) AS n FROM logs WHERE intDiv(ord, 1048576) < 1000';
  const [row] = await withDatabase(dataDir, (database) => askRows<{ n: string }>(database, sql));
  return Number(row?.n);
}

const chainOf = async (program: Program): Promise<ChainItem> =>
  (await on.get<ChainItem[]>('/chains', program))[0]!;

beforeAll(async () => {
  on = await startWorldProgram(PLAN);
  folder = `${on.settings['DATA_DIR']}-off`;
  await trade(24);
  off = await startOff('off');
  await on.anvil.rpc.call('anvil_mine', [`0x${WHOLE_RANGE.toString(16)}`, '0xa']);
  await trade(8);
  await both();
});

afterAll(async () => {
  await off?.end('SIGTERM');
  await on?.close();
});

test('every answer of the market is the same with EXPLORER=on and EXPLORER=off', async () => {
  const { pools, tokens, users } = on.world;
  const paths = [
    '/overview',
    '/dexes',
    '/pairs?limit=100',
    '/tokens?limit=100',
    '/activity?limit=100',
    ...pools.flatMap(({ address }) => [
      `/pairs/${address}`,
      `/pairs/${address}/ticks?timeframe=1m&limit=300`,
      `/activity?pair=${address}&limit=100`,
    ]),
    ...tokens.flatMap(({ address }) => [
      `/tokens/${address}`,
      `/tokens/${address}/pools`,
      `/tokens/${address}/audit`,
      `/tokens/${address}/ticks?timeframe=1m&limit=300`,
    ]),
    ...users.map((user) => `/portfolio/${user}`),
  ].map((path) => `/api/v1${path}`);
  const wrong = async (): Promise<string[]> => {
    const answers = await Promise.all(
      paths.map(async (path) => [path, await ask(path, on.program), await ask(path)] as const),
    );
    return answers.flatMap(([path, a, b]) =>
      a.status === 200 && JSON.stringify(a) === JSON.stringify(b) ? [] : [`${path} ${differing(a, b)}`],
    );
  };
  // Background workers of both programs measure tokens at their own pace, the least urgent every 20 s.
  await eventually(wrong, ({ length }) => length === 0);
  expect(paths.length).toBeGreaterThan(25);
});

/** The first place in which two answers differ, with both texts. */
function differing(a: unknown, b: unknown): string {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  const same = [...left].findIndex((letter, index) => letter !== right[index]);
  const cut = (text: string): string => text.slice(Math.max(0, same - 60), same + 60);
  return `${cut(left)} | ${cut(right)}`;
}

test('the audit hashes of all tables but logs are equal, and far fewer logs are stored', async () => {
  const [all, some] = await Promise.all(
    [on.settings['DATA_DIR']!, folder].map((dataDir) =>
      withDatabase(dataDir, (database) =>
        eventually(
          () => readRangeHashes(database, 369, 0, 999),
          ({ size }) => size === 1,
        ),
      ),
    ),
  );
  const sumsOf = (hashes: typeof all) => [...hashes!.get(0)!.sums].sort(([a], [b]) => (a < b ? -1 : 1));
  const market = (hashes: typeof all) => sumsOf(hashes).filter(([table]) => table !== 'logs');
  expect(market(some)).toEqual(market(all));
  expect(sumsOf(some)).not.toEqual(sumsOf(all));
  expect(market(all).map(([table]) => table)).toEqual(
    expect.arrayContaining(['blocks', 'pool_states', 'swaps', 'token_prices', 'transfers']),
  );
  const logs = { all: await countLogs(on.settings['DATA_DIR']!), some: await countLogs(folder) };
  expect(logs.some).toBeGreaterThan(0);
  expect(logs.some).toBeLessThan(logs.all / 3);
});

test('endpoints that need raw logs name the setting in the words of their dialect, and others answer', async () => {
  const { address } = on.world.tokens[0]!;
  for (const path of [
    '/api/v1/logs',
    `/api/v1/logs?address=${address}`,
    `/api/v1/contracts/${address}/events`,
  ])
    expect(await ask(path)).toEqual({
      status: 404,
      body: { success: false, code: 'logs_not_kept', error: expect.stringMatching(NOT_KEPT) },
    });
  const calls = [
    `module=logs&action=getLogs&address=${address}`,
    ...['tokentx', 'tokennfttx', 'token1155tx'].map(
      (action) => `module=account&action=${action}&address=${on.world.users[0]}`,
    ),
  ];
  for (const call of calls)
    expect(await ask(`/api?${call}`)).toEqual({
      status: 200,
      body: { status: '0', message: 'NOTOK', result: expect.stringMatching(NOT_KEPT) },
    });
  expect(await chainOf(off)).toMatchObject({ first_block: 1, logs_from_block: null, state: 'current' });
  expect(await chainOf(on.program)).toMatchObject({ first_block: 1, logs_from_block: 1 });
  for (const path of ['/api/v1/contracts', `/api/v1/contracts/${address}`, '/api/v1/search?q=dai'])
    expect((await ask(path)).status).toBe(200);
  const { result } = (
    await ask(
      `/api?module=account&action=tokenbalance&contractaddress=${address}&address=${on.world.users[0]}`,
    )
  ).body;
  expect(BigInt(String(result))).toBe(await on.world.balanceOf(on.world.tokens[0]!, on.world.users[0]!));
});

test('the page says in each place of the logs why there are none', async () => {
  const { browser, close } = await launchBrowser();
  try {
    const [swap] = await on.get<{ tx_hash: string; block_number: number }[]>(
      '/activity?type=swap&limit=1',
      off,
    );
    const paths = [
      '/logs',
      `/contract/${on.world.pools[0]!.address}`,
      `/tx/${swap!.tx_hash}`,
      `/block/${swap!.block_number}`,
      `/portfolio/${on.world.users[0]!}?tab=transfers`,
    ];
    for (const look of [DESKTOP, PHONE]) {
      const { page, faults } = await openPage(browser, off.url, look, (status) => status === 404);
      for (const path of paths) {
        await page.goto(path);
        await untilLoaded(page);
        await until(async () => NOT_KEPT.test(await page.locator('#main').innerText()));
      }
      expect(faults).toEqual([]);
    }
  } finally {
    await close();
  }
});

test('after a change to on, all logs of the blocks that were not final and of later blocks are stored', async () => {
  const finalTo = await withDatabase(folder, async (database) => {
    const [row] = await askRows<{ n: number }>(database, 'SELECT max(number) AS n FROM blocks');
    return row!.n;
  });
  await off.end('SIGTERM');
  off = await startOff('on');
  await both();
  await until(async () => (await chainOf(off)).logs_from_block === finalTo + 1);
  expect(off.output()).toContain('all raw logs are stored from this block on');
  await trade(6);
  await both();
  const read = async (program: Program): Promise<unknown> => {
    const { body } = await ask(`/api/v1/logs?from_block=${finalTo + 1}&limit=1000`, program);
    return [body['data'], Reflect.get(Object(body['meta']), 'total')];
  };
  expect(await read(off)).toEqual(await read(on.program));
  const { body } = await ask(`/api?module=logs&action=getLogs&fromBlock=${head}&topic0=0x${'00'.repeat(32)}`);
  expect(body).toEqual({ status: '0', message: 'No records found', result: [] });
});

test('a kill during the change back to off loses nothing: reindex and verify find no difference', async () => {
  const settings = { ...on.settings, DATA_DIR: folder };
  // The first two programs die at different points of their start.
  const starts = [
    ['off', 150],
    ['on', 700],
    ['off', 0],
  ] as const;
  for (const [explorer, wait] of starts) {
    await off.end('SIGKILL');
    off = await startOff(explorer);
    await delay(wait);
  }
  await trade(3);
  await both();
  expect((await ask('/api/v1/logs')).status).toBe(404);
  head = (await on.world.reorg(2, [{}, {}, {}])).at(-1)!.number;
  await both();
  await on.anvil.rpc.call('anvil_mine', ['0x40', '0xa']);
  head += 0x40;
  await both();
  const isPromoted = (): Promise<boolean> =>
    withDatabase(folder, async (database) => {
      const [row] = await askRows<{ n: number }>(database, 'SELECT max(number) AS n FROM blocks');
      return row!.n > head - 0x40;
    });
  await until(isPromoted);
  const reindex = await runProgram(
    ['reindex', '--check', '--from', '1', '--to', String(head - 0x40)],
    settings,
  );
  expect(reindex).toEqual({ code: 0, output: expect.stringContaining('equal the rows from the node') });
  await off.end('SIGTERM');
  const verify = await runProgram(['verify'], settings);
  expect(verify.output).toContain('Logs are not compared, because only some are stored (EXPLORER=off).');
  expect(verify).toEqual({ code: 0, output: expect.stringContaining('agree with the stored events') });
});
