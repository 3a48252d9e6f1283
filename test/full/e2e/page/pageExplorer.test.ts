/** The explorer's pages in a real browser on the real program: transactions, blocks, addresses and logs. */

import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';

import './contractTests';
import { openDevRpc } from '../../../../src/dev/node/devRpc';
import { PHONE, untilLoaded } from '../../../support/server/browser';
import { changeAnswers, keepPicture } from '../../../support/server/pages';
import { checkCopyButtons, factOf, pressCopy, readAnswer } from '../../../support/server/explorerPage';
import { eventually, until } from '../../../support/eventually';
import { AMOUNTS, HOSTILE } from '../../../support/worlds/shelfContract';
import { askNode, given, MAX, newestSwap, open, PLAIN_HOST } from './explorerWorld';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const logsShape = z.array(z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() }));

/** Per address the tokens with the sign of their change, from the logs of the receipt. */
function changesByHand(receipt: Record<string, unknown>): unknown[] {
  const sums = new Map<string, Map<string, bigint>>();
  for (const { address: token, topics, data } of logsShape.parse(receipt['logs'])) {
    if (topics[0] !== TRANSFER || topics.length !== 3) continue;
    const [from = '', to = ''] = topics.slice(1).map((topic) => `0x${topic.slice(26)}`);
    for (const [who, change] of [
      [from, -BigInt(data)],
      [to, BigInt(data)],
    ] as const) {
      const own = sums.get(who) ?? new Map<string, bigint>();
      sums.set(who, own.set(token, (own.get(token) ?? 0n) + change));
    }
  }
  return [...sums].flatMap(([who, own]) => {
    const changed = [...own].flatMap(([token, sum]) => (sum === 0n ? [] : [[token, sum > 0n ? 1 : -1]]));
    return changed.length === 0 ? [] : [[who, changed]];
  });
}

test('the page of a swap shows what the node says of the transaction, its token moves one by one and by address, its logs with scaled amounts, and its swaps with links to their pairs', async () => {
  const swap = await newestSwap();
  const sent = await askNode(`action=eth_getTransactionByHash&txhash=${swap.tx_hash}`);
  const receipt = await askNode(`action=eth_getTransactionReceipt&txhash=${swap.tx_hash}`);
  const page = await open(`/tx/${swap.tx_hash}`);
  expect(await factOf(page, 'Status').innerText()).toBe('success');
  expect(await factOf(page, 'Proof').innerText()).toBe('full');
  await until(async () =>
    /^Proof: full since block/.test((await page.locator('#block').getAttribute('title')) ?? ''),
  );
  expect(await factOf(page, 'From').locator('a').getAttribute('title')).toBe(sent['from']);
  expect(await factOf(page, 'To').locator('a').getAttribute('title')).toBe(sent['to']);
  expect(await factOf(page, 'Value').innerText()).toMatch(/^0 \S+$/);
  const used = Number(receipt['gasUsed']).toLocaleString('en-US');
  expect(await factOf(page, 'Gas used').innerText()).toContain(`${used} of `);
  const pairs = page.locator('a.pair-link');
  const hrefs = await pairs.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(hrefs).toContain(`/pair/${swap.pair_address}`);
  const moved = page.locator('.moves:not(.changes-by-address)').last().locator('li');
  expect(await moved.count()).toBeGreaterThanOrEqual(2);
  expect(await moved.first().innerText()).toMatch(/^[\d,.]+\s+\S+/);
  const changes = await page
    .locator('.changes-by-address > li')
    .evaluateAll((rows) =>
      rows.map((row) => [
        row.getAttribute('data-address'),
        [...row.querySelectorAll('.amount')].map(({ nextElementSibling: token, textContent: amount }) => [
          token?.querySelector('a')?.title,
          amount.startsWith('+') ? 1 : amount.startsWith('−') ? -1 : 0,
        ]),
      ]),
    );
  expect(changes).toEqual(changesByHand(receipt));
  // The amounts of the logs are in whole tokens.
  const [whole = '', rest = ''] = swap.amount_in.split('.');
  const { symbol } = [swap.token0, swap.token1].find(({ address }) => address === swap.token_in)!;
  const scaled = `${BigInt(whole).toLocaleString('en-US')}${rest === '' ? '' : `.${rest}`} ${symbol}`;
  expect(await page.locator('.events').innerText()).toContain(scaled);
  await checkCopyButtons(page);
  await keepPicture(page, 'transaction');
  await pairs.first().click();
  await page.waitForURL(/\/pair\/0x/);
});

test('a call of a verified contract is decoded with exact integers, and its texts stay texts', async () => {
  const page = await open(`/tx/${given.shelf.stored}`);
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

test('a creation names its contract, an input may be too short for a function, and the page says that a chain is not indexed', async () => {
  const page = await open(`/tx/${given.shelf.creation}`);
  expect(await factOf(page, 'Created contract').locator('a').getAttribute('title')).toBe(given.shelf.address);
  expect(await factOf(page, 'To').count()).toBe(0);
  await page.locator('h2', { hasText: 'Code that creates the contract' }).waitFor();
  expect(await page.locator('.call-input pre').innerText()).toMatch(/^0x[0-9a-f]{8}\n/);
  await page.goto(`/tx/${given.shelf.short}`);
  await untilLoaded(page);
  expect(await page.locator('.call-input').innerText()).toContain('too short to name a function');
  await page.goto(`/tx/${given.shelf.short}?chainId=943`);
  await page.locator('.notice', { hasText: 'This service does not index chain 943' }).waitFor();
});

test('the page says why a transaction shows no logs: failed, none emitted, in no block, not indexed, or unknown', async () => {
  const page = await open(`/tx/${given.shelf.failed}`);
  const notice = page.locator('.notice');
  expect(await factOf(page, 'Status').innerText()).toBe('failed');
  expect(await notice.innerText()).toContain('This transaction failed, so the chain keeps no logs of it');
  await page.goto(`/tx/0x${'12'.repeat(32)}`);
  await untilLoaded(page);
  expect(await notice.innerText()).toContain('This hash is unknown');
  let receipt: object | null = {};
  await changeAnswers(page, '**/etherscan?*eth_getTransactionReceipt*', () => ({ result: receipt }));
  const { tx_hash, block_number } = await newestSwap();
  const sent = await askNode(`action=eth_getTransactionByHash&txhash=${tx_hash}`);
  await changeAnswers(page, '**/etherscan?*eth_getTransactionByHash*', () => ({
    result: receipt === null ? { ...sent, blockNumber: null, blockHash: null } : sent,
  }));
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

test('a transaction that is pending becomes a success with its logs as soon as its block is indexed', async () => {
  const { input } = await askNode(`action=eth_getTransactionByHash&txhash=${given.shelf.stored}`);
  const rpc = openDevRpc(given.world.nodeUrl);
  const page = await given.world.still(async () => {
    const call = { from: given.shelf.owner, to: given.shelf.address, data: input, gas: '0x2dc6c0' };
    const hash = z.string().parse(await rpc.call('eth_sendTransaction', [call]));
    const opened = await open(`/tx/${hash}`);
    expect(await factOf(opened, 'Status').innerText()).toBe('pending');
    expect(await idsOf(opened)).toEqual([]);
    return opened;
  });
  await rpc.close();
  await until(async () => (await factOf(page, 'Status').innerText()) === 'success');
  await page.locator('.events > li', { hasText: String(MAX) }).waitFor();
});

const idsOf = (page: Page): Promise<(string | null)[]> =>
  page.locator('.events > li').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id')));

async function logIds(query: string): Promise<string[]> {
  const shape = z.object({ data: z.array(z.looseObject({ id: z.string() })) });
  return shape.parse(await given.world.json(`/api/v1/logs?${query}`)).data.map(({ id }) => id);
}

test('a number or a hash in the search opens the page of the block, with its proof, its transactions, its events and its neighbours', async () => {
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
  expect(await factOf(page, 'Proof').innerText()).toBe('full');
  const used = Number(block['gasUsed']).toLocaleString('en-US');
  expect(await factOf(page, 'Gas used').innerText()).toMatch(
    new RegExp(`^${used} of [\\d,]+ \\([\\d.]+%\\)$`),
  );
  expect(await factOf(page, 'Fee recipient').locator('a').getAttribute('title')).toBe(block['miner']);
  const events = await idsOf(page);
  expect(events).toEqual(await logIds(`from_block=${number}&to_block=${number}&order=asc&limit=50`));
  expect(events.length).toBeGreaterThan(0);
  await checkCopyButtons(page);
  await keepPicture(page, 'block');
  await factOf(page, 'Parent').locator('a').click();
  await page.locator('h1', { hasText: `Block ${(number - 1).toLocaleString('en-US')}` }).waitFor();
  await page.locator('a[rel=next]').click();
  await page.waitForURL(`**/block/${number}`);
  await page.locator('a[rel=prev]').click();
  await page.waitForURL(`**/block/${number - 1}`);
  await page.goBack();
  await page.locator('h1', { hasText: `Block ${number.toLocaleString('en-US')}` }).waitFor();
  await page.locator('.links a', { hasText: 'logs' }).click();
  await untilLoaded(page);
  expect(await idsOf(page)).toEqual(events);
});

const transactionsOf = (list: Locator): Promise<(string | null)[]> =>
  list.locator('a[href^="/tx/"]').evaluateAll((links) => links.map((link) => link.getAttribute('title')));

/** The transactions of a list of the API or of the Etherscan dialect. */
function listOfHashes(answer: unknown): string[] {
  const item = z.looseObject({ tx_hash: z.string().optional(), hash: z.string().optional() });
  const list = z.array(item).optional();
  const { data, result } = z.looseObject({ data: list, result: list }).parse(answer);
  return (data ?? result ?? []).map(({ tx_hash, hash }) => tx_hash ?? hash ?? '');
}

test('an address opens the page of its kind: pair, token, contract, or wallet with its trades and transfers', async () => {
  const page = await open(`/address/${given.world.pair}`);
  const wanted: [address: string, kind: string][] = [
    [given.world.pair, 'pair'],
    [given.world.token, 'token'],
    [given.shelf.address, 'contract'],
    [given.world.wallet, 'portfolio'],
  ];
  for (const [address, kind] of wanted) {
    await page.goto(`/address/${address}`);
    await page.waitForURL(`**/${kind}/${address}`);
    await untilLoaded(page);
    await checkCopyButtons(page);
  }
  const own = async (kind: string) => listOfHashes(await given.world.json(`/api/v1/${kind}`));
  await until(async () => {
    const shown = await transactionsOf(page.locator('.wallet-lists'));
    const query = `maker=${given.world.wallet}&event_type=swap,mint,burn&limit=25`;
    return shown.length > 0 && String(shown) === String(await own(`activity?${query}`));
  });
  await until(async () => {
    // The list does not follow new blocks, so it is opened again.
    for (const name of ['Activity', 'Transfers']) await page.getByRole('button', { name }).click();
    await untilLoaded(page);
    const shown = await transactionsOf(page.locator('.wallet-lists'));
    const query = `module=account&action=tokentx&address=${given.world.wallet}&sort=desc&page=1&offset=25`;
    return shown.length > 0 && String(shown) === String(await own(`etherscan?${query}`));
  });
  await checkCopyButtons(page);
  await keepPicture(page, 'wallet-transfers');
  await page.goto('/address/0x12');
  await page.locator('.notice', { hasText: '0x and 40 hex digits' }).waitFor();
});

test('an account with delegated code (EIP-7702) is a wallet, which names the contract that it delegates to', async () => {
  const account = `0x${'7702'.repeat(10)}`;
  const rpc = openDevRpc(given.world.nodeUrl);
  await rpc.call('anvil_setCode', [account, `0xef0100${given.shelf.address.slice(2)}`]);
  await rpc.close();
  const page = await open('/dexes');
  // The service asks for the state of the newest indexed block, which may be older than the code.
  await until(async () => {
    await page.goto(`/address/${account}`);
    await page.waitForURL(/\/(portfolio|contract)\//);
    await untilLoaded(page);
    return (await page.locator('.delegate').count()) > 0;
  });
  expect(new URL(page.url()).pathname).toBe(`/portfolio/${account}`);
  expect(await page.locator('.delegate a').getAttribute('title')).toBe(given.shelf.address);
  await checkCopyButtons(page);
  await keepPicture(page, 'delegated');
});

test('logs are filtered by contract, event (by name, signature or topic), address and blocks, page by page, and the address bar keeps the filters', async () => {
  const page = await open('/logs');
  await page.locator('input[name=address]').fill(given.world.token);
  await page.locator('input[name=topic0]').fill('Transfer');
  await page.locator('form.log-filters button[type=submit]').click();
  await page.waitForURL(/\/logs\?.*topic0=Transfer/);
  await untilLoaded(page);
  const first = await idsOf(page);
  expect(first.length).toBe(50);
  expect(await page.locator('.event-head strong').allInnerTexts()).toEqual(first.map(() => 'Transfer'));
  await page.getByRole('button', { name: 'Older logs' }).click();
  const second = await eventually(
    () => idsOf(page),
    (ids) => ids[0] !== first[0] && ids.length > 0,
  );
  expect(second.filter((id) => first.includes(id))).toEqual([]);
  await page.reload();
  await untilLoaded(page);
  expect(await idsOf(page)).toEqual(second);
  await page.locator('input[name=topic0]').fill('Transfer(address, address, uint)');
  await page.locator('input[name=topic2]').fill(given.world.pair);
  await page.locator('form.log-filters button[type=submit]').click();
  await page.waitForURL(/topic2=/);
  await untilLoaded(page);
  const receivers = await page.locator('.events > li .args > div:nth-child(2) dd').allInnerTexts();
  expect(receivers.length).toBeGreaterThan(0);
  expect(receivers.filter((text) => text !== given.world.pair)).toEqual([]);
  await page.reload();
  await untilLoaded(page);
  expect(await page.locator('input[name=topic2]').inputValue()).toBe(given.world.pair);
  await keepPicture(page, 'logs');
  const newest = Number((await idsOf(page))[0]?.split('-')[0]);
  for (const [name, text] of [
    ['topic0', TRANSFER],
    ['from_block', String(newest - 20)],
    ['to_block', String(newest - 1)],
  ] as const)
    await page.locator(`input[name=${name}]`).fill(text);
  await page.locator('form.log-filters button[type=submit]').click();
  await page.waitForURL(/to_block=/);
  await untilLoaded(page);
  const query = `address=${given.world.token}&topic0=${TRANSFER}&topic2=0x${given.world.pair.slice(2).padStart(64, '0')}`;
  const inRange = await logIds(`${query}&from_block=${newest - 20}&to_block=${newest - 1}&limit=50`);
  expect(await idsOf(page)).toEqual(inRange);
  expect(inRange.length).toBeGreaterThan(0);
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

test('the copy button copies over plain HTTP, where the browser has no clipboard interface, and elsewhere', async () => {
  const plain = given.world.url.replace('127.0.0.1', PLAIN_HOST);
  for (const [url, isSecure] of [
    [plain, false],
    [given.world.url, true],
  ] as const) {
    const page = await open(`/tx/${given.shelf.stored}`, { url });
    expect(await page.evaluate('window.isSecureContext && navigator.clipboard !== undefined')).toBe(isSecure);
    expect(await pressCopy(page.locator('.wallet-name .copy'))).toBe(true);
    await page.locator('#search').focus();
    await page.keyboard.press('ControlOrMeta+v');
    expect(await page.locator('#search').inputValue()).toBe(given.shelf.stored);
  }
});

test('every page of the explorer fits a phone, and its modules are no part of the first view', async () => {
  const { tx_hash: hash, block_number: block } = await newestSwap();
  const paths = [
    ...[`tx/${hash}`, `tx/${given.shelf.stored}`, `block/${block}`, 'logs'],
    ...['events', 'read', 'source'].map((tab) => `contract/${given.shelf.address}?tab=${tab}`),
    ...[`token/${given.world.token}?tab=holders`, `portfolio/${given.world.wallet}?tab=transfers`],
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
});

test('with a node that is away, a transaction and a block show what is stored and say what is missing', async () => {
  const swap = await newestSwap();
  const stored = await logIds(`tx_hash=${swap.tx_hash}&order=asc`);
  await given.world.stopNode();
  const page = await open(`/tx/${swap.tx_hash}`);
  const missing = page.locator('.missing');
  await missing
    .filter({ hasText: /^The node gives no answer now\. Sender, receiver, value, gas and input are unknown/ })
    .waitFor();
  expect(await factOf(page, 'Status').innerText()).toBe('success');
  expect(await factOf(page, 'Block').innerText()).toBe(swap.block_number.toLocaleString('en-US'));
  expect(await idsOf(page)).toEqual(stored);
  expect(await page.locator('a.pair-link').count()).toBeGreaterThan(0);
  await keepPicture(page, 'transaction-without-node');
  await page.goto(`/block/${swap.block_number}`);
  await missing
    .filter({ hasText: /^The node gives no answer now\. Its header and its transactions are unknown/ })
    .waitFor();
  expect(await idsOf(page)).toEqual(expect.arrayContaining(stored.slice(0, 1)));
  await page.goto(`/tx/${given.shelf.creation}`);
  await page.locator('.notice', { hasText: 'The node gives no answer now' }).waitFor();
  await page.goto(`/contract/${given.shelf.address}?tab=read`);
  await untilLoaded(page);
  expect(await readAnswer(page, 'greatest')).toBe('The node gives no answer now');
});
