/** The explorer's pages in a real browser on the real program: transactions, blocks, addresses, logs, reads and sources. */
import { gzipSync } from 'node:zlib';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { DESKTOP, PHONE, untilLoaded, type Look } from '../../../support/server/browser';
import {
  changeAnswers,
  isLookUp,
  keepPicture,
  startPages,
  type PageOptions,
  type Pages,
} from '../../../support/server/pages';
import {
  checkCopyButtons,
  factOf,
  pressCopy,
  readAnswer,
  readForm,
} from '../../../support/server/explorerPage';
import { eventually } from '../../../support/eventually';
import type { PageWorld } from '../../../support/worlds/pageWorld';
import {
  AMOUNTS,
  HOSTILE,
  lineOf,
  NUMBERS_PATH,
  openShelf,
  SHELF_PATH,
  type Shelf,
} from '../../../support/worlds/shelfContract';

const MAX = 2n ** 256n - 1n;
/** A window that is too small for a whole source file. */
const SMALL: Look = { ...DESKTOP, height: 420 };
/** A name of this machine over which a page is no secure context, so that it has no navigator.clipboard. */
const PLAIN_HOST = 'candlehouse.test';

let pages: Pages;
let world: PageWorld;
let shelf: Shelf;

const expected = (status: number, path: string): boolean =>
  isLookUp(status, path) || (status === 400 && path === '/api/v1/logs');

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

beforeAll(async () => {
  pages = await startPages({
    swaps: 200,
    days: 1,
    // Without reorgs, a transaction that a test opens stays in its block.
    live: { reorgMs: [1e9, 1e9] },
    expected,
    browser: [`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`],
  });
  ({ world } = pages);
  shelf = await openShelf(world);
});

afterAll(() => pages?.stop());
afterEach(async () => {
  // Chromium reports a header that it ignores over plain HTTP.
  const isReal = (fault: string): boolean =>
    !fault.includes('Cross-Origin-Opener-Policy header has been ignored');
  expect((await pages.closeAll()).filter(isReal)).toEqual([]);
});

const swapShape = z.looseObject({
  tx_hash: z.string(),
  block_number: z.number(),
  pair_address: z.string(),
  token_in: z.string(),
  maker: z.string(),
});

async function newestSwap(): Promise<z.infer<typeof swapShape>> {
  const { data } = z
    .object({ data: z.array(swapShape) })
    .parse(await world.json('/api/v1/activity?event_type=swap&limit=1'));
  return data[0]!;
}

const askNode = async (query: string): Promise<Record<string, unknown>> => {
  const shape = z.object({ result: z.looseObject({}) });
  return shape.parse(await world.json(`/api/v1/etherscan?module=proxy&${query}`)).result;
};

test('the page of a swap shows what the node says of the transaction, its token moves, and its swaps with links to their pairs', async () => {
  const swap = await newestSwap();
  const sent = await askNode(`action=eth_getTransactionByHash&txhash=${swap.tx_hash}`);
  const receipt = await askNode(`action=eth_getTransactionReceipt&txhash=${swap.tx_hash}`);
  const page = await open(`/tx/${swap.tx_hash}`);
  expect(await factOf(page, 'Status').innerText()).toBe('success');
  expect(await factOf(page, 'From').locator('a').getAttribute('title')).toBe(sent['from']);
  expect(await factOf(page, 'To').locator('a').getAttribute('title')).toBe(sent['to']);
  expect(await factOf(page, 'Value').innerText()).toMatch(/^0 \S+$/);
  const used = Number(receipt['gasUsed']).toLocaleString('en-US');
  expect(await factOf(page, 'Gas used').innerText()).toContain(`${used} of `);
  const pairs = page.locator('a.pair-link');
  const hrefs = await pairs.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(hrefs).toContain(`/pair/${swap.pair_address}`);
  const moved = page.locator('.moves').last().locator('li');
  expect(await moved.count()).toBeGreaterThanOrEqual(2);
  expect(await moved.first().innerText()).toMatch(/^[\d,.]+\s+\S+/);
  await checkCopyButtons(page);
  await keepPicture(page, 'transaction');
  await pairs.first().click();
  await page.waitForURL(/\/pair\/0x/);
});

test('a call of a verified contract is decoded with exact integers, and its texts stay texts', async () => {
  const page = await open(`/tx/${shelf.stored}`);
  expect(await factOf(page, 'Value').innerText()).toMatch(/^0\.000000000000000001 /);
  const input = page.locator('.call-input');
  expect(await input.locator('.call-name').innerText()).toBe('store((address,uint256[]),string)');
  const text = await input.innerText();
  for (const amount of AMOUNTS) expect(text).toContain(String(amount));
  expect(text).toContain(HOSTILE);
  expect(await page.locator('.events').innerText()).toContain(String(MAX));
  expect(await page.locator('#main img').count()).toBe(0);
  expect(await page.evaluate('window.hurt')).toBeUndefined();
  await input.getByRole('button', { name: 'Raw input' }).click();
  expect(await input.locator('pre').innerText()).toMatch(/^0x[0-9a-f]{8}\n[0-9a-f]{64}/);
  await checkCopyButtons(page);
  await keepPicture(page, 'transaction-decoded');
});

test('the page says why a transaction shows no logs: failed, none emitted, in no block, not indexed, or unknown', async () => {
  const page = await open(`/tx/${shelf.failed}`);
  const notice = page.locator('.notice');
  expect(await factOf(page, 'Status').innerText()).toBe('failed');
  expect(await notice.innerText()).toContain('This transaction failed, so the chain keeps no logs of it');
  await page.goto(`/tx/0x${'12'.repeat(32)}`);
  await untilLoaded(page);
  expect(await notice.innerText()).toContain('This hash is unknown');
  let receipt: object | null = {};
  await changeAnswers(page, '**/etherscan?*eth_getTransactionReceipt*', () => ({ result: receipt }));
  const { tx_hash, block_number } = await newestSwap();
  await changeAnswers(page, '**/api/v1/logs?*', () => ({ data: [], meta: { next_cursor: null, total: 0 } }));
  const inBlock = { blockNumber: `0x${block_number.toString(16)}`, status: '0x1' };
  for (const [answer, status, text] of [
    [{ ...inBlock, logs: [] }, 'success', 'This transaction emitted no logs'],
    [{ ...inBlock, logs: [{}] }, 'success', 'This service has not indexed the logs of this transaction'],
    [null, 'pending', 'This transaction is in no block yet, so it has no logs'],
  ] as const) {
    receipt = answer;
    await page.goto(`/tx/${tx_hash}`);
    await untilLoaded(page);
    await notice.getByText(text, { exact: true }).waitFor();
    expect(await factOf(page, 'Status').innerText()).toBe(status);
  }
  await page.goto('/tx/0x12');
  await untilLoaded(page);
  expect(await page.locator('.notice').innerText()).toContain('0x and 64 hex digits');
});

test('a number or a hash in the search opens the page of the block, with its transactions, its neighbours and its logs', async () => {
  const { block_number: number } = await newestSwap();
  const block = await askNode(`action=eth_getBlockByNumber&tag=0x${number.toString(16)}&boolean=false`);
  const page = await open('/dexes');
  await page.keyboard.press('/');
  await page.keyboard.type(String(number));
  await page.locator('#found li[role=option] strong').first().waitFor();
  await page.locator('#found li', { hasText: 'block' }).first().click();
  await page.waitForURL(`**/block/${number}`);
  // As the page shows the number, and by the hash.
  for (const text of [number.toLocaleString('en-US'), String(block['hash'])]) {
    await page.goto(`/search?q=${text}`);
    await untilLoaded(page);
    await page.locator('.found-list a', { hasText: 'block' }).first().click();
    await page.waitForURL(`**/block/${number}`);
  }
  await untilLoaded(page);
  const hashes = z.array(z.string()).parse(block['transactions']);
  expect(await page.locator('table.plain tbody tr').count()).toBe(hashes.length);
  expect(await page.locator('table.plain tbody a').first().getAttribute('title')).toBe(hashes[0]);
  expect(await page.locator('.wallet-name').innerText()).toBe(block['hash']);
  await checkCopyButtons(page);
  await keepPicture(page, 'block');
  await factOf(page, 'Parent').locator('a').click();
  await page.locator('h1', { hasText: `Block ${(number - 1).toLocaleString('en-US')}` }).waitFor();
  await page.locator('a[rel=next]').click();
  await page.waitForURL(`**/block/${number}`);
  await page.locator('.links a', { hasText: 'logs' }).click();
  await untilLoaded(page);
  const from = await page
    .locator('.events > li')
    .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id')));
  expect(from.length).toBeGreaterThan(0);
  expect(from.filter((id) => !id?.startsWith(`${number}-`))).toEqual([]);
});

test('an address opens the page of its kind: pair, token, contract or wallet', async () => {
  const page = await open(`/address/${world.pair}`);
  const wanted: [address: string, kind: string][] = [
    [world.pair, 'pair'],
    [world.token, 'token'],
    [shelf.address, 'contract'],
    [world.wallet, 'portfolio'],
  ];
  for (const [address, kind] of wanted) {
    await page.goto(`/address/${address}`);
    await page.waitForURL(`**/${kind}/${address}`);
    await untilLoaded(page);
  }
  await page.goto('/address/0x12');
  await page.locator('.notice', { hasText: '0x and 40 hex digits' }).waitFor();
});

test('logs are filtered by contract, signature, address and blocks, page by page, and the address bar keeps the filters', async () => {
  const page = await open('/logs');
  await page.locator('input[name=address]').fill(world.token);
  await page.locator('input[name=topic0]').fill('Transfer(address, address, uint)');
  await page.locator('form.log-filters button[type=submit]').click();
  await page.waitForURL(/\/logs\?.*topic0=Transfer/);
  await untilLoaded(page);
  const idsOf = async (): Promise<(string | null)[]> =>
    page.locator('.events > li').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id')));
  const first = await idsOf();
  expect(first.length).toBe(50);
  expect(await page.locator('.event-head strong').allInnerTexts()).toEqual(first.map(() => 'Transfer'));
  await page.getByRole('button', { name: 'Older logs' }).click();
  const second = await eventually(idsOf, (ids) => ids[0] !== first[0] && ids.length > 0);
  expect(second.filter((id) => first.includes(id))).toEqual([]);
  await page.reload();
  await untilLoaded(page);
  expect(await idsOf()).toEqual(second);
  await page.locator('input[name=topic2]').fill(world.pair);
  await page.locator('form.log-filters button[type=submit]').click();
  await page.waitForURL(/topic2=/);
  await untilLoaded(page);
  const receivers = await page.locator('.events > li .args > div:nth-child(2) dd').allInnerTexts();
  expect(receivers.length).toBeGreaterThan(0);
  expect(receivers.filter((text) => text !== world.pair)).toEqual([]);
  await page.reload();
  await untilLoaded(page);
  expect(await page.locator('input[name=topic2]').inputValue()).toBe(world.pair);
  await keepPicture(page, 'logs');
  await page.locator('input[name=from_block]').fill('many');
  await page.locator('form.log-filters button[type=submit]').click();
  await page.locator('.notice.failure', { hasText: /from_block: got "many"; allowed: an integer/ }).waitFor();
});

test('an event in the search opens its logs', async () => {
  const page = await open('/search?q=Stored');
  const hit = page.locator('.found-list a', { has: page.locator('.badge', { hasText: 'event' }) }).first();
  await hit.click();
  await page.waitForURL(/\/logs\?topic0=0x[0-9a-f]{64}/);
  await untilLoaded(page);
  expect(await page.locator('.events > li').first().innerText()).toContain(String(MAX));
});

test('reads through the node are exact up to the greatest and least integers, also inside of tuples', async () => {
  const page = await open(`/contract/${shelf.address}?tab=read`);
  expect(await readAnswer(page, 'greatest')).toContain(String(MAX));
  expect(await readAnswer(page, 'least')).toContain(String(-(2n ** 255n)));
  expect(await readAnswer(page, 'echo', [String(MAX)])).toContain(String(MAX));
  expect(await readAnswer(page, 'total')).toContain(String(MAX));
  expect(await readAnswer(page, 'note')).toContain(HOSTILE);
  const order = `[${shelf.owner}, [${MAX - 1n}, 1]]`;
  const answer = await readAnswer(page, 'sumOf', [order]);
  for (const text of [shelf.owner, String(MAX), String(MAX - 1n)]) expect(answer).toContain(text);
  const mixed = await readAnswer(page, 'small', ['255', shelf.owner, '0xdeadbeef', 'true']);
  for (const text of ['255', shelf.owner, '0xdeadbeef', 'true']) expect(mixed).toContain(text);
  // The tab has only functions that read.
  expect(await page.locator('form[data-signature^="store("]').count()).toBe(0);
  expect(await page.locator('#main img').count()).toBe(0);
  await checkCopyButtons(page);
  await keepPicture(page, 'read');
});

test('a wrong input of a read gets a message that names the parameter and what is allowed, and no call is sent', async () => {
  const page = await open(`/contract/${shelf.address}?tab=read`);
  const calls: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && calls.push(request.url())));
  const wrong: [name: string, inputs: string[], message: string][] = [
    ['echo', [String(MAX + 1n)], 'value: got "1157920892'],
    ['echo', ['-1'], 'value: got "-1"; allowed: an integer from 0 to 2^256 − 1'],
    ['small', ['256'], 'value: got "256"; allowed: an integer from 0 to 2^8 − 1'],
    ['small', ['1', '0x12'], 'owner: got "0x12"; allowed: an address: 0x and 40 hex digits'],
    ['small', ['1', shelf.owner, 'beef'], 'mark: got "beef"; allowed: 0x and 8 hex digits'],
    ['sumOf', [`[${shelf.owner}, [1.5]]`], 'order.amounts[0]: got "1.5"; allowed: an integer'],
  ];
  for (const [name, inputs, message] of wrong)
    expect(await readAnswer(page, name, inputs)).toContain(message);
  expect(await readForm(page, 'sumOf').locator('[aria-invalid=true]').count()).toBe(1);
  expect(calls).toEqual([]);
  expect(await readAnswer(page, 'echo', ['7'])).toContain('7');
  expect(calls.length).toBe(1);
});

test('a read that reverts shows the text or the error of the contract', async () => {
  const page = await open(`/contract/${shelf.address}?tab=read`);
  expect(await readAnswer(page, 'check', ['3'])).toContain('TooLow(10, 3)');
  expect(await readAnswer(page, 'check', ['1000'])).toContain('too high');
  expect(await readAnswer(page, 'check', ['50'])).toContain('true');
});

test('sources have a file tree, colours and a link to each line; a link to a line opens at that line', async () => {
  const line = lineOf(NUMBERS_PATH, 'total += values[i]');
  const page = await open(
    `/contract/${shelf.address}?tab=source&file=${encodeURIComponent(NUMBERS_PATH)}&line=${line}`,
    { look: SMALL },
  );
  const code = page.locator('.code[data-colours=done]');
  await code.waitFor();
  const marked = code.locator('li.marked');
  expect(await marked.innerText()).toContain('total += values[i];');
  const box = await marked.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(SMALL.height);
  expect(await code.locator('.tok-keyword', { hasText: /^library$/ }).count()).toBe(1);
  expect(await code.locator('.tok-comment').first().innerText()).toContain('SPDX');
  // The comment with HTML stays text.
  expect(await code.innerText()).toContain(HOSTILE);
  expect(await page.locator('#main img').count()).toBe(0);
  await keepPicture(page, 'source-line');
  await page.locator('.file-tree a', { hasText: 'Shelf.sol' }).click();
  await page.locator('.file-name', { hasText: SHELF_PATH }).waitFor();
  await code.waitFor();
  const wanted = lineOf(SHELF_PATH, 'revert TooLow');
  await code.locator(`li[data-line="${wanted}"] .line-number`).click();
  expect(new URL(page.url()).search).toContain(`file=contracts%2FShelf.sol&line=${wanted}`);
  await page.reload();
  await untilLoaded(page);
  await code.waitFor();
  expect(await code.locator('li.marked').innerText()).toContain('revert TooLow');
});

test('a hit of the source search opens the source at its line', async () => {
  const page = await open('/contract?q=total%20%2B%3D%20values');
  await page.locator('.source-hits a').first().click();
  await untilLoaded(page);
  const code = page.locator('.code[data-colours=done]');
  await code.waitFor();
  expect(await code.locator('li.marked').innerText()).toContain('total += values[i];');
});

test('the copy button copies over plain HTTP, where the browser has no clipboard interface, and elsewhere', async () => {
  const plain = world.url.replace('127.0.0.1', PLAIN_HOST);
  for (const [url, isSecure] of [
    [plain, false],
    [world.url, true],
  ] as const) {
    const page = await open(`/tx/${shelf.stored}`, { url });
    expect(await page.evaluate('window.isSecureContext && navigator.clipboard !== undefined')).toBe(isSecure);
    expect(await pressCopy(page.locator('.wallet-name .copy'))).toBe(true);
    await page.locator('#search').focus();
    await page.keyboard.press('ControlOrMeta+v');
    expect(await page.locator('#search').inputValue()).toBe(shelf.stored);
  }
});

test('the top holders of a token are those of the API, with their share of the supply', async () => {
  const shape = z.object({
    result: z.array(z.object({ TokenHolderAddress: z.string(), TokenHolderQuantity: z.string() })),
  });
  const page = await open(`/token/${world.token}`);
  const rows = page.locator('.top-holders tbody tr');
  const shown = await rows.evaluateAll((list) => list.map((row) => row.getAttribute('data-address')));
  const query = `module=token&action=tokenholderlist&contractaddress=${world.token}&page=1&offset=40`;
  const { result } = shape.parse(await world.json(`/api/v1/etherscan?${query}`));
  const known = result.map((holder) => holder.TokenHolderAddress);
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((address) => !known.includes(address ?? ''))).toEqual([]);
  expect(await rows.first().locator('td').last().innerText()).toMatch(/^[\d.]+%$/);
});

test('every page of the explorer fits a phone, and its modules are no part of the first view, which has at most 250 KB', async () => {
  const { tx_hash: hash, block_number: block } = await newestSwap();
  const paths = [
    ...[`tx/${hash}`, `tx/${shelf.stored}`, `block/${block}`, 'logs'],
    ...['events', 'read', 'source'].map((tab) => `contract/${shelf.address}?tab=${tab}`),
    `token/${world.token}`,
  ];
  for (const [index, path] of paths.entries()) {
    const page = await open(`/${path}`, { look: PHONE });
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    expect([path, Math.max(width, PHONE.width)]).toEqual([path, PHONE.width]);
    await keepPicture(page, `phone-${index}`);
  }
  const page = await open('/');
  const names = z
    .array(z.string())
    .parse(
      await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /\\/assets\\//.test(name))`,
      ),
    );
  expect(names.filter((name) => /\.js$/.test(name) && !/\/(main|theme)\.js$/.test(name))).toEqual([]);
  const sizes = await Promise.all(
    [...new Set(names)].map(
      async (name) => gzipSync(Buffer.from(await (await fetch(name)).arrayBuffer())).length,
    ),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
});
