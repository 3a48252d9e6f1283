/** Two market chains in one program: each has its own database, paths and stream, and the failure of one leaves the other alone. */
import { readFileSync } from 'node:fs';

import { onlyChain } from '../../../src/commands/chains';
import { proveBlocks } from '../../../src/commands/data/proveBlocks';
import { runReindex } from '../../../src/commands/data/reindex';
import { runVerify } from '../../../src/commands/data/verify';
import { runCompare } from '../../../src/commands/snapshot/compare';
import { loadConfig } from '../../../src/config';
import { createLog } from '../../../src/log';
import { eventually } from '../../support/eventually';
import { askRows } from '../../support/engine/askRows';
import { Random } from '../../support/random';
import { DESKTOP, launchBrowser, openPage, untilLoaded } from '../../support/server/browser';
import type { Json } from '../../support/server/apiServer';
import { EventFollower } from '../../support/server/eventFollower';
import type { RunningProgram } from '../../support/server/runningProgram';
import { BLOCKS, createTwoChains, FIRST, SECOND, type TwoChains } from '../../support/server/twoChains';
import { startStubChain } from '../../support/stub/stubChain';

const silent = createLog('silent');

let twoChains: TwoChains;
let nodes: TwoChains['nodes'];
let home: TwoChains['home'];
let settings: TwoChains['settings'];
let program: RunningProgram;

beforeAll(async () => {
  twoChains = await createTwoChains();
  ({ nodes, home, settings } = twoChains);
  program = await home.start([], settings);
  for (const chainId of [FIRST, SECOND]) await untilBlock(chainId, BLOCKS[chainId]!);
});

afterAll(async () => {
  await program?.stop();
  await twoChains.drop();
});

async function get(
  path: string,
): Promise<{ status: number; url: string; headers: Headers; text: string; json: Json }> {
  const answer = await fetch(`${program.url}${path}`);
  const text = await answer.text();
  const json = (/^[[{]/.test(text) ? JSON.parse(text) : {}) as Json;
  return { status: answer.status, url: answer.url, headers: answer.headers, text, json };
}

const blockOf = async (path: string): Promise<number> =>
  Number((await get(path)).headers.get('x-indexed-block'));

async function untilBlock(chainId: number, block: number): Promise<void> {
  await eventually(
    () => blockOf(`/api/v1/${chainId}/chains`),
    (found) => found === block,
  );
}

const listChains = async (): Promise<Json> => (await get('/api/v1/chains')).json['data']!;

test('each chain answers under its id and its slug, and the first one also without', async () => {
  for (const path of ['overview', 'pairs', 'tokens', 'activity', 'dexes', 'logs?limit=5', 'range-hash']) {
    const [plain, first, slug, second, secondSlug] = await Promise.all(
      ['', '369/', 'stub-chain/', '8453/', 'second-stub/'].map((chain) => get(`/api/v1/${chain}${path}`)),
    );
    expect([path, plain!.status, second!.status]).toEqual([path, 200, 200]);
    for (const same of [first, slug]) expect([path, same!.text]).toEqual([path, plain!.text]);
    expect(secondSlug!.text).toBe(second!.text);
    expect(second!.text).not.toBe(plain!.text);
    expect(plain!.headers.get('x-indexed-block')).toBe(String(BLOCKS[FIRST]));
    expect(second!.headers.get('x-indexed-block')).toBe(String(BLOCKS[SECOND]));
  }
});

test('both chains have pairs with the same addresses, and each pair has the trades of its chain', async () => {
  const countSwaps = (chainId: number): number => nodes.get(chainId)!.swaps;
  expect(countSwaps(FIRST)).not.toBe(countSwaps(SECOND));
  for (const chainId of [FIRST, SECOND]) {
    const { json } = await get(`/api/v1/${chainId}/activity?event_type=swap&limit=1`);
    expect(json['meta']!['total']).toBe(countSwaps(chainId));
  }
  const addressesOf = async (chainId: number): Promise<unknown[]> =>
    (await get(`/api/v1/${chainId}/pairs`)).json['data']!.map((pair) => pair['address']).sort();
  expect(await addressesOf(FIRST)).toEqual(await addressesOf(SECOND));
});

test('the list of chains names both, the first one first', async () => {
  const chains = await listChains();
  expect(chains).toMatchObject([
    {
      chain_id: FIRST,
      slug: 'stub-chain',
      name: 'Stub chain',
      indexed_block: BLOCKS[FIRST],
      state: 'current',
    },
    {
      chain_id: SECOND,
      slug: 'second-stub',
      name: 'Second Stub',
      indexed_block: BLOCKS[SECOND],
      state: 'current',
    },
  ]);
  expect(chains.map((chain) => chain['head_block'])).toEqual([BLOCKS[FIRST], BLOCKS[SECOND]]);
  expect((await get(`/api/v1/${SECOND}/chains`)).json['data']).toMatchObject([
    { chain_id: FIRST },
    { chain_id: SECOND },
  ]);
});

test('an unknown chain is a 404 that lists the known ones', async () => {
  for (const word of ['1', 'third-stub']) {
    const { status, json } = await get(`/api/v1/${word}/pairs`);
    expect([status, json['error']]).toEqual([
      404,
      `there is no chain ${word} here; known chains: 369 (stub-chain), 8453 (second-stub)`,
    ]);
  }
  expect((await get('/api/v1/second-stub/nothing')).json['error']).toMatch(
    /no endpoint at \/api\/v1\/second-stub\/nothing/,
  );
});

test('the explorer and the dialects take every chain', async () => {
  const { json } = await get(`/api/v1/logs?chainId=${SECOND}&limit=1`);
  expect(json['data']![0]).toMatchObject({ chain_id: SECOND, block_number: BLOCKS[SECOND] });
  expect((await get(`/api/v1/${SECOND}/logs?chainId=${FIRST}&limit=1`)).json['data']![0]!['chain_id']).toBe(
    FIRST,
  );
  const blockNumber = '?module=proxy&action=eth_blockNumber';
  for (const path of [`/${SECOND}/api${blockNumber}`, `/api/v1/${SECOND}/etherscan${blockNumber}`])
    expect([path, Number((await get(path)).json['result'])]).toEqual([path, BLOCKS[SECOND]]);
  expect((await get('/v2/chainlist')).json['result']!.map((chain) => chain['chainid'])).toEqual([
    '369',
    '943',
    '8453',
  ]);
  const { json: listed } = await get(`/second-stub/v2/chainlist`);
  const pages = listed['result']!.map(({ chainid, blockexplorer }) => [String(chainid), blockexplorer]);
  expect(pages.filter(([chainId]) => chainId !== '943')).toEqual([
    [String(SECOND), `${program.url}/second-stub`],
    [String(FIRST), `${program.url}/${FIRST}`],
  ]);
  const [pair] = (await get('/api/v1/pairs?limit=1')).json['data']!.map((each) => String(each['address']));
  const history = `/udf/history?symbol=${pair}&resolution=1&countback=5`;
  expect((await get(`/${SECOND}${history}`)).text).not.toBe((await get(history)).text);
  expect(Number((await get(`/${SECOND}/dexscreener/latest-block`)).json['block']!['blockNumber'])).toBe(
    nodes.get(SECOND)!.final,
  );
  expect((await get(`/${SECOND}/openapi.json`)).json['servers']).toMatchObject([
    { url: '/' },
    { url: '/{chain}' },
  ]);
});

test('the link to the next page of a table names the chain', async () => {
  const { headers } = await get(`/api/v1/${SECOND}/pairs?limit=1&format=csv`);
  expect(headers.get('link')).toMatch(/^<\/api\/v1\/8453\/pairs\?/);
});

test('a page of a chain has one address, and names the chain in its first requests', async () => {
  const { url, text } = await get(`/${SECOND}/?x=1`);
  expect(new URL(url).pathname).toBe('/second-stub/');
  expect(text).toContain('<meta name="chain" content="/second-stub" />');
  expect(new URL((await get(`/${FIRST}/pairs`)).url).pathname).toBe('/pairs');
  expect((await get('/second-stub')).text).toContain('href="/api/v1/second-stub/overview"');
});

test('the page changes the chain, and its links and requests stay on the chain', async () => {
  const { browser, close } = await launchBrowser();
  try {
    const { page, faults } = await openPage(browser, program.url, DESKTOP);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('/pairs');
    await untilLoaded(page);
    expect(await page.locator('#chain option').allInnerTexts()).toEqual(['Stub chain', 'Second Stub']);
    expect(await page.locator('#block').innerText()).toBe(String(BLOCKS[FIRST]));
    asked.length = 0;
    await page.locator('#chain').selectOption('Second Stub');
    await page.waitForURL('**/second-stub/pairs');
    await untilLoaded(page);
    expect(await page.locator('#block').innerText()).toBe(String(BLOCKS[SECOND]));
    await page.locator('a[href^="/second-stub/pair/0x"]').first().click();
    await page.waitForURL('**/second-stub/pair/0x*');
    await untilLoaded(page);
    await page.locator('[data-nav="dexes"]').click();
    await page.waitForURL('**/second-stub/dexes');
    await untilLoaded(page);
    expect(asked.filter((path) => !/^\/(second-stub|api\/v1\/second-stub|assets)\//.test(path))).toEqual([]);
    await page.goBack();
    await page.waitForURL('**/second-stub/pair/0x*');
    await untilLoaded(page);
    await page.locator('#chain').selectOption('Stub chain');
    // The pair need not exist on the other chain, so the market opens.
    await page.waitForURL(`${program.url}/`);
    await untilLoaded(page);
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
});

test('the reference of a chain shows and sends calls to this chain, and its links stay on it', async () => {
  const { browser, close } = await launchBrowser();
  try {
    const { page, faults } = await openPage(browser, program.url, DESKTOP);
    await page.goto('/second-stub/');
    await untilLoaded(page);
    await page.locator('nav >> text=API').click();
    await page.waitForURL('**/second-stub/docs');
    await page.locator('.steps pre').first().waitFor();
    const calls = await page.locator('.steps pre').allInnerTexts();
    expect(calls.length).toBeGreaterThan(3);
    for (const call of calls) expect(call).toContain(`${program.url}/api/v1/second-stub/`);
    expect(
      await page.locator('header a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['/', '/', '/dexes', '/portfolio', '/contract', '/docs'].map((path) => `/second-stub${path}`));
    expect(await page.locator('#chain option:checked').innerText()).toBe('Second Stub');
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
});

test('the Etherscan dialect takes the slug of a chain in its path too', async () => {
  const blockNumber = '?module=proxy&action=eth_blockNumber';
  for (const path of ['/second-stub/api', '/api/v1/second-stub/etherscan', '/second-stub/v2/api'])
    expect([path, Number((await get(path + blockNumber)).json['result'])]).toEqual([path, BLOCKS[SECOND]]);
  expect((await get(`/third-stub/api${blockNumber}`)).json['result']).toMatch(
    /^Missing or unsupported chainid/,
  );
});

test('a wrong path on a chain gets a hint with the chain', async () => {
  expect((await get('/api/v1/second-stub/pair')).json['error']).toMatch(
    /did you mean \/api\/v1\/second-stub\/pairs\?/,
  );
});

test('metrics of each chain have its id as a label', async () => {
  const text = await program.metrics();
  for (const chainId of [FIRST, SECOND]) {
    expect(text).toContain(`candlehouse_head_block{chain="${chainId}"} ${BLOCKS[chainId]}\n`);
    expect(text).toMatch(new RegExp(`^candlehouse_ingested_swaps_total{chain="${chainId}"} [1-9]`, 'm'));
    expect(text).toMatch(
      new RegExp(
        `^candlehouse_rpc_calls_total{chain="${chainId}",user="ingest",endpoint="rpc-0"} [1-9]`,
        'm',
      ),
    );
  }
});

test('each line of the log about a chain names the chain', () => {
  const started = program.log.filter(
    ({ msg }) => msg === 'read the stored state' || msg.startsWith('first start'),
  );
  expect([...new Set(started.map(({ chainId }) => chainId))].sort()).toEqual([FIRST, SECOND].sort());
});

test('commands work on the chain of --chain, by default on the first one, and refuse other chains', async () => {
  const config = loadConfig({ ...settings, CLICKHOUSE_URL: home.writerUrl }, (path) =>
    readFileSync(path, 'utf8'),
  );
  expect(onlyChain(config)).toMatchObject({ chainId: FIRST, otherChains: [] });
  expect(() => onlyChain(config, 943)).toThrow('--chain: got 943; allowed: 369 or 8453');
  for (const [chainId, asked] of [
    [FIRST, undefined],
    [SECOND, SECOND],
  ] as const) {
    const one = onlyChain(config, asked);
    const finalTo = nodes.get(chainId)!.final;
    const written: string[] = [];
    const stdout = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation((text) => written.push(String(text)) > 0);
    const verified = await runVerify(one, silent, { from: null, to: null }).finally(() =>
      stdout.mockRestore(),
    );
    expect([verified, written.join('')]).toEqual([0, expect.stringMatching(`final blocks 1-${finalTo}\\.`)]);
    const output = { write: (text: string) => written.push(text) };
    const signal = new AbortController().signal;
    const range = { from: finalTo - 3, to: finalTo };
    expect(await proveBlocks(one, silent, signal, range, output)).toBe(0);
    expect(await runReindex(one, silent, signal, { ...range, check: true }, output)).toBe(0);
    const other = `${program.url}/${chainId}`;
    expect(await runCompare(one, silent, signal, other, output)).toBe(0);
    expect(written.join('')).toContain(`The stored rows of blocks 1-${finalTo} are equal.`);
  }
});

test('each chain has its database', async () => {
  const rows = await askRows<{ suffix: string }>(
    home.database,
    `SELECT DISTINCT substring(database, length(currentDatabase()) + 1) AS suffix
     FROM system.tables WHERE startsWith(database, currentDatabase()) ORDER BY suffix`,
  );
  expect(rows.map(({ suffix }) => suffix)).toEqual([`_${FIRST}`, `_${SECOND}`]);
});

test.each([SECOND, FIRST])(
  'if the database of chain %i cannot be opened, the other chain goes on',
  async (broken) => {
    await program.stop();
    const going = broken === FIRST ? SECOND : FIRST;
    const table = `${await twoChains.nameOf(broken)}.schema_migrations`;
    await home.database.command('damage', `DETACH TABLE ${table} PERMANENTLY SYNC`);
    program = await home.start([], settings);
    const problems = async (): Promise<string[]> =>
      (await get(`/${broken}/readyz`)).json['problems']!.map((problem) => String(problem['code']));
    await eventually(problems, (codes) => codes.includes('ingest_failing'));
    await untilBlock(going, BLOCKS[going]!);
    await eventually(
      async () => Boolean((await get(`/${going}/readyz`)).json['ready']),
      (ready) => ready,
    );
    expect((await get(`/api/v1/${going}/pairs`)).status).toBe(200);
    expect(
      program.log.find(({ msg }) => msg.startsWith('the database of a chain cannot be opened')),
    ).toMatchObject({
      chainId: broken,
    });
    await home.database.command('mend', `ATTACH TABLE ${table}`);
    await eventually(
      () =>
        program.log.filter(({ msg, chainId }) => msg === 'read the stored state' && chainId === broken)
          .length,
      (sessions) => sessions === 1,
    );
    expect(await problems()).not.toContain('ingest_failing');
  },
);

test('each stream has the events of its chain, and the end of one node leaves the other chain alone', async () => {
  const followers = [FIRST, SECOND].map(
    (chainId) =>
      new EventFollower(
        () => `${program.url}/api/v1/${chainId}/activity/stream`,
        new Random(chainId),
        `${BLOCKS[chainId]}-1048575`,
        Infinity,
      ),
  );
  const countOf = (index: number, block: number): number =>
    followers[index]!.net().filter((event) => event.startsWith(`${block}-`)).length;
  for (const follower of followers) follower.begin();
  for (const chainId of [FIRST, SECOND]) nodes.get(chainId)!.setHead(BLOCKS[chainId]! + 1);
  await eventually(
    () => countOf(0, BLOCKS[FIRST]! + 1),
    (count) => count > 0,
  );
  await eventually(
    () => countOf(1, BLOCKS[SECOND]! + 1),
    (count) => count > 0,
  );

  await nodes.get(SECOND)!.close();
  await program.untilProblem(`node_away_${SECOND}`);
  nodes.get(FIRST)!.setHead(BLOCKS[FIRST]! + 5);
  await eventually(
    () => countOf(0, BLOCKS[FIRST]! + 5),
    (count) => count > 0,
  );
  expect(await program.ready()).toMatchObject({
    ready: true,
    checks: { head: { block_number: BLOCKS[FIRST]! + 5 } },
  });
  // The chain without a node still answers from its stored blocks.
  const second = await get(`/${SECOND}/readyz`);
  expect(second.json['problems']!.map((problem) => problem['code'])).toContain('node_away');
  expect(await blockOf(`/api/v1/${SECOND}/pairs`)).toBe(BLOCKS[SECOND]! + 1);
  expect((await listChains())[0]).toMatchObject({ chain_id: FIRST, state: 'current' });
  for (const follower of followers) {
    await follower.stop();
    expect(follower.faults).toEqual([]);
  }
});

test('a chain whose node serves another chain stops alone', async () => {
  await program.stop();
  const wrong = await startStubChain({ blocks: 5, logsPerBlock: 2, pairs: 1, seed: 1, chainId: 5 });
  program = await home.start([], { ...settings, [`RPC_URL_${SECOND}`]: wrong.url });
  try {
    await program.untilProblem(`ingest_stopped_${SECOND}`);
    nodes.get(FIRST)!.setHead(BLOCKS[FIRST]! + 8);
    await program.untilBlock(BLOCKS[FIRST]! + 8);
    expect(await blockOf(`/api/v1/${SECOND}/pairs`)).toBe(BLOCKS[SECOND]! + 1);
  } finally {
    await wrong.close();
  }
});
