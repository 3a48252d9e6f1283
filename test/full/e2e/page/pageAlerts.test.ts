/** Alerts, the audit of a price and the wallets of the web page, in a real browser on the real program. */
import type { Page } from 'playwright-core';
import { z } from 'zod';

import { untilLoaded } from '../../../support/server/browser';
import { readStored, startPages, type PageOptions, type Pages } from '../../../support/server/pages';
import type { PageWorld } from '../../../support/worlds/pageWorld';
import { eventually } from '../../../support/eventually';
import { auditAnswerShape } from '../../../../src/wire/audit';
import { portfolioAnswerShape, type Portfolio } from '../../../../src/wire/portfolio';

const expected = (status: number, path: string): boolean =>
  (status === 404 || status === 400) && /^\/api\/v1\/(tokens|contracts)/.test(path);

let pages: Pages;
let world: PageWorld;

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

beforeAll(async () => {
  pages = await startPages({ swaps: 400, days: 1, expected });
  ({ world } = pages);
});

afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

/** Replaces the Notification API: records its calls, and answers as a user would. */
const notifications = (answer: 'granted' | 'denied'): string => `
  window.asked = 0;
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = 'default';
    static async requestPermission() {
      window.asked += 1;
      return (this.permission = '${answer}');
    }
    constructor(title, options) { super(); window.shown.push(options.body); }
    close() {}
  };`;

async function addAlert(page: Page, kind: string, usd: string, token: string): Promise<void> {
  const before = await page.locator('.alert-list li[data-kind]').count();
  await page.getByRole('combobox', { name: 'Kind of alert' }).selectOption(kind);
  if (kind !== 'pair') await page.getByLabel('USD').fill(usd);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Add alert' }).click();
  await eventually(
    () => page.locator('.alert-list li[data-kind]').count(),
    (count) => count === before + 1,
  );
}

const alertsShape = z.array(z.looseObject({ kind: z.string(), seen: z.number().nullable() }));

test('price alerts and swap alerts appear in the page after the user denied notifications, which only a click asks for', async () => {
  const page = await open(`/token/${world.token}`, { script: notifications('denied') });
  await page.getByRole('link', { name: 'Set an alert' }).click();
  await page.getByRole('button', { name: 'Add alert' }).click();
  await page.getByText('Enter a value in USD above 0').waitFor();
  await addAlert(page, 'below', '1000000', world.token);
  await addAlert(page, 'above', '1000000', world.token);
  await addAlert(page, 'swap', '0.01', world.token);
  const notices = page.locator('#notices');
  await notices.getByText(/ is below \$1,000,000: now \$/).waitFor();
  await notices
    .getByText(/ (bought|sold) in /)
    .first()
    .waitFor();
  expect(await page.evaluate('window.asked')).toBe(0);
  await page.getByRole('button', { name: 'Notify me outside' }).click();
  await page.getByText('The browser blocks notifications').waitFor();
  expect(await page.evaluate('[window.asked, window.shown.length]')).toEqual([1, 0]);
  // A price alert happens once. The other one still waits, also after a reload.
  await page.reload();
  await page.locator('li[data-kind=below]').getByText('happened').waitFor();
  await page.locator('li[data-kind=above]').getByText('waiting').waitFor();
  await page.locator('li[data-kind=swap]').getByRole('button', { name: 'Remove' }).click();
  await page.locator('li[data-kind=swap]').waitFor({ state: 'detached' });
});

const createdShape = z.object({
  data: z.array(z.looseObject({ name: z.string(), created_block: z.number().nullable() })),
});

test('an alert about a new pair of a token names the pair, also as a notification that the user allowed', async () => {
  const page = await open('/alerts', { script: notifications('granted') });
  await page.getByRole('button', { name: 'Notify me outside' }).click();
  await page.getByText('Notifications of the browser are on').waitFor();
  const path = `/api/v1/pairs?token=${world.token}&sort=created_at&limit=2`;
  await addAlert(page, 'pair', '', world.token);
  const seen = async (): Promise<number | null> =>
    alertsShape.parse(await readStored(page, 'alerts'))[0]?.seen ?? null;
  await eventually(seen, (block) => block !== null);
  expect(await page.locator('#notices').count()).toBe(0);
  // As if the newest pair had been created after the last check.
  const [newest] = createdShape.parse(await world.json(path)).data;
  const alerts = alertsShape.parse(await readStored(page, 'alerts'));
  const older = alerts.map((alert) => ({ ...alert, seen: (newest?.created_block ?? 0) - 1 }));
  await page.evaluate(`localStorage.setItem('alerts', ${JSON.stringify(JSON.stringify(older))})`);
  const text = new RegExp(`^New pair of \\w+: ${newest?.name.replace(/[^\w ]/g, '.')} on `);
  await page.locator('#notices').getByText(text).first().waitFor();
  const shown = z.array(z.string()).parse(await page.evaluate('window.shown'));
  expect(shown.some((body) => text.test(body))).toBe(true);
  expect(await page.evaluate('window.asked')).toBe(1);
});

test('an alert says if it lists only some of the new pairs', async () => {
  const pairsOf = async (token: string): Promise<number> =>
    (await world.addresses(`/api/v1/pairs?token=${token}&limit=100`)).length;
  const tokens = await world.addresses('/api/v1/tokens?limit=25');
  const counts = await Promise.all(tokens.map(pairsOf));
  const token = tokens[counts.findIndex((count) => count > 10)] ?? '';
  const page = await open('/alerts');
  await addAlert(page, 'pair', '', token);
  await eventually(
    async () => alertsShape.parse(await readStored(page, 'alerts'))[0]?.seen ?? null,
    (block) => block !== null,
  );
  // As if all pairs had been created after the last check.
  const alerts = alertsShape.parse(await readStored(page, 'alerts'));
  const older = JSON.stringify(alerts.map((alert) => ({ ...alert, seen: 0 })));
  await page.evaluate(`localStorage.setItem('alerts', ${JSON.stringify(older)})`);
  await page
    .getByText(/^More than 10 new pairs of \w+ since the last check: only the newest are listed$/)
    .waitFor();
  expect(await page.getByText(/^New pair of \w+: /).count()).toBeGreaterThanOrEqual(10);
});

test('the page of alerts says when nothing was watched, and since when and why watching fails', async () => {
  const page = await open('/alerts');
  await addAlert(page, 'above', '1000000', world.token);
  const checkedAt = async (): Promise<unknown> => readStored(page, 'alerts.checked');
  await eventually(checkedAt, (at) => typeof at === 'number');
  // As if no page had been open for an hour.
  await page.evaluate(`localStorage.setItem('alerts.checked', String(Math.floor(Date.now() / 1000) - 3600))`);
  await page.reload();
  await page.getByText(/^Nothing was watched from \d{4}-.* UTC to \d{4}-.* UTC$/).waitFor();
  const path = '**/api/v1/tokens?addresses=*';
  await page.route(path, (route) =>
    route.fulfill({ status: 400, json: { error: 'no such thing', code: 'bad_param' } }),
  );
  const fault = page.locator('.alert-card .fault[role=status]');
  await page.getByText(/^Not watched since \d{4}-.* UTC: no such thing$/).waitFor();
  await page.unroute(path);
  await eventually(
    () => fault.innerText(),
    (text) => text === '',
  );
});

test('the audit names its pools, says what its score is made of, and shows an earlier block', async () => {
  const page = await open(`/token/${world.token}`);
  const card = page.locator('.audit-card');
  const { data: now } = auditAnswerShape.parse(await world.json(`/api/v1/tokens/${world.token}/audit`));
  const addresses = now.hops.flatMap(({ pools }) => pools.map(({ address }) => address));
  const pairs = z
    .object({ data: z.array(z.looseObject({ name: z.string() })) })
    .parse(await world.json(`/api/v1/pairs?addresses=${addresses.join(',')}`)).data;
  expect(pairs.length).toBeGreaterThan(1);
  await eventually(
    () => card.locator('.pool:not(.dropped) .pool-name').allTextContents(),
    (shown) => pairs.every(({ name }) => shown.includes(name)),
  );
  expect(await card.innerText()).not.toMatch(/lp_weighted|not_on_route/);
  await card.locator('.score-parts summary').click();
  await card.getByText('The score of a step is depth × agreement × freshness').waitFor();
  // A newer audit changes the card in place.
  const parts = await card.locator('.score-parts p').first().elementHandle();
  const sum = await card.locator('.audit-sum').first().innerText();
  await eventually(
    () => card.locator('.audit-sum').first().innerText(),
    (text) => text !== sum,
  );
  expect(await parts?.evaluate((node) => node.isConnected)).toBe(true);
  const block = now.derived_at_block - 5;
  await card.getByLabel('Block of the audit').fill(String(block));
  await card.getByLabel('Block of the audit').press('Enter');
  const check = async (at: number): Promise<void> => {
    const { data } = auditAnswerShape.parse(
      await world.json(`/api/v1/tokens/${world.token}/audit?block=${at}`),
    );
    await card.getByText(`at the end of block ${at.toLocaleString('en')}`).waitFor();
    const scores = card.locator('.score-table tbody tr td:nth-child(2)');
    expect(await scores.allInnerTexts()).toEqual(data.hops.map(({ confidence }) => String(confidence)));
    expect(page.url()).toContain(`block=${at}`);
  };
  await check(block);
  await card.getByRole('button', { name: 'Block before' }).click();
  await check(block - 1);
  await card.getByLabel('Block of the audit').fill('999999999');
  await card.getByLabel('Block of the audit').press('Enter');
  await card.getByText(/block: got "999999999"/).waitFor();
  await card.getByRole('button', { name: 'Newest' }).click();
  await page.waitForURL((url) => !url.href.includes('block='));
  await card.getByText('at the end of block').waitFor();
});

/** A wallet with a V3 position with both bounds, and that position. */
async function findWallet(): Promise<{ wallet: Portfolio; position: Portfolio['positions'][number] }> {
  const { data } = z
    .object({ data: z.array(z.looseObject({ pool_type: z.number(), maker: z.string().nullable() })) })
    .parse(await world.json('/api/v1/activity?event_type=mint&limit=100'));
  const makers = data.flatMap(({ pool_type, maker }) => (pool_type === 3 && maker !== null ? [maker] : []));
  for (const maker of new Set(makers)) {
    const wallet = portfolioAnswerShape.parse(await world.json(`/api/v1/portfolio/${maker}`)).data;
    const position = wallet.positions.find(({ tick_lower }) => tick_lower !== undefined);
    if (position !== undefined && wallet.tokens.length > 2) return { wallet, position };
  }
  throw new Error('no wallet has a V3 position');
}

test('a wallet is sorted by any column, shares add up to the net worth, and a position opens to show its range', async () => {
  const { wallet, position } = await findWallet();
  const page = await open(`/portfolio/${wallet.address}`);
  const tokens = page.locator('table[aria-label=Tokens]');
  const symbols = (): Promise<string[]> => tokens.locator('.named .symbol').allInnerTexts();
  await tokens.locator('th button', { hasText: 'Token' }).click();
  const falling = await symbols();
  expect(falling).toEqual([...falling].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? 1 : -1)));
  await tokens.locator('th button', { hasText: 'Token' }).click();
  expect(await symbols()).toEqual([...falling].reverse());
  await page.reload();
  await untilLoaded(page);
  expect([await symbols(), page.url()]).toEqual([
    [...falling].reverse(),
    expect.stringMatching(/tokens=token_asc$/),
  ]);
  const shares = await page.locator('.share').allInnerTexts();
  const sum = shares.reduce((total, share) => total + Number.parseFloat(share), 0);
  const unclaimed = ((wallet.unclaimed_usd ?? 0) / wallet.net_worth_usd) * 100;
  expect(Math.abs(sum + unclaimed - 100)).toBeLessThan(1);
  const row = page.locator(`table[aria-label=Positions] tr[data-id="${position.id}"]`);
  await row.locator('.opener').click();
  expect(await row.locator('.opener').getAttribute('aria-expanded')).toBe('true');
  const bar = page.locator('.detail .range-bar');
  await bar.waitFor();
  const bounds = await Promise.all(['lower', 'upper'].map((end) => bar.getAttribute(`data-${end}`)));
  const pair = z
    .object({
      data: z.looseObject({ token0: z.string(), base_token: z.looseObject({ address: z.string() }) }),
    })
    .parse(await world.json(`/api/v1/pairs/${position.pair_address}`)).data;
  // The ratio of the two bounds needs no decimals, and is the same in both directions.
  const [lower = 0, upper = 0] = z.array(z.coerce.number()).parse(bounds);
  const ticks = (position.tick_upper ?? 0) - (position.tick_lower ?? 0);
  expect(Math.log(upper / lower) / Math.log(1.0001)).toBeCloseTo(ticks, 3);
  expect(pair.token0).toMatch(/^0x/);
  await page.locator('.detail').getByText('This position earns fees').waitFor();
});

test('the page of wallets names wallets to look at, and an empty wallet says why it may be empty', async () => {
  const page = await open('/portfolio');
  const link = page.locator('.wallet-help a').first();
  const wallet = await link.innerText();
  await link.click();
  await page.waitForURL(`**/portfolio/${wallet}`);
  await untilLoaded(page);
  await page.goto(`/portfolio/0x${'0'.repeat(37)}abc`);
  await page.getByText('No tokens or positions of this address are known').waitFor();
  await page.getByText('The index begins at the first block, so no transfer is missing').waitFor();
  await page.getByRole('link', { name: 'Look at other wallets' }).click();
  await page.getByText('Wallets that you looked at').waitFor();
  expect(await page.locator('.wallet-help a').allInnerTexts()).toContain(wallet);
});
