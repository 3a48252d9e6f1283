/** Tests of the pages of contracts and tokens: reads, sources and holders. */
import { z } from 'zod';

import { DESKTOP, untilLoaded, type Look } from '../../../support/server/browser';
import { checkCopyButtons, readAnswer, readForm } from '../../../support/server/explorerPage';
import { keepPicture } from '../../../support/server/pages';
import { eventually } from '../../../support/eventually';
import { HOSTILE, lineOf, NUMBERS_PATH, SHELF_PATH } from '../../../support/worlds/shelfContract';
import { given, MAX, open } from './explorerWorld';

/** A window that is too small for a whole source file. */
const SMALL: Look = { ...DESKTOP, height: 420 };

test('reads through the node are exact up to the greatest and least integers, also inside of tuples', async () => {
  const page = await open(`/contract/${given.shelf.address}?tab=read`);
  expect(await readAnswer(page, 'greatest')).toContain(String(MAX));
  expect(await readAnswer(page, 'least')).toContain(String(-(2n ** 255n)));
  expect(await readAnswer(page, 'echo', [String(MAX)])).toContain(String(MAX));
  expect(await readAnswer(page, 'total')).toContain(String(MAX));
  expect(await readAnswer(page, 'note')).toContain(HOSTILE);
  const order = `[${given.shelf.owner}, [${MAX - 1n}, 1]]`;
  const answer = await readAnswer(page, 'sumOf', [order]);
  for (const text of [given.shelf.owner, String(MAX), String(MAX - 1n)]) expect(answer).toContain(text);
  const mixed = await readAnswer(page, 'small', ['255', given.shelf.owner, '0xdeadbeef', 'true']);
  for (const text of ['255', given.shelf.owner, '0xdeadbeef', 'true']) expect(mixed).toContain(text);
  // The tab has only functions that read.
  expect(await page.locator('form[data-signature^="store("]').count()).toBe(0);
  expect(await page.locator('#main img').count()).toBe(0);
  await checkCopyButtons(page);
  await keepPicture(page, 'read');
});

test('a wrong input of a read gets a message that names the parameter and what is allowed, and no call is sent', async () => {
  const page = await open(`/contract/${given.shelf.address}?tab=read`);
  const calls: string[] = [];
  page.on('request', (request) => void (request.method() === 'POST' && calls.push(request.url())));
  const wrong: [name: string, inputs: string[], message: string][] = [
    ['echo', [String(MAX + 1n)], 'value: got "1157920892'],
    ['echo', ['-1'], 'value: got "-1"; allowed: an integer from 0 to 2^256 − 1'],
    ['small', ['256'], 'value: got "256"; allowed: an integer from 0 to 2^8 − 1'],
    ['small', ['1', '0x12'], 'owner: got "0x12"; allowed: an address: 0x and 40 hex digits'],
    ['small', ['1', given.shelf.owner, 'beef'], 'mark: got "beef"; allowed: 0x and 8 hex digits'],
    ['sumOf', [`[${given.shelf.owner}, [1.5]]`], 'order.amounts[0]: got "1.5"; allowed: an integer'],
  ];
  for (const [name, inputs, message] of wrong)
    expect(await readAnswer(page, name, inputs)).toContain(message);
  expect(await readForm(page, 'sumOf').locator('[aria-invalid=true]').count()).toBe(1);
  expect(calls).toEqual([]);
  expect(await readAnswer(page, 'echo', ['7'])).toContain('7');
  expect(calls.length).toBe(1);
});

test('a read that reverts shows the text or the error of the contract', async () => {
  const page = await open(`/contract/${given.shelf.address}?tab=read`);
  expect(await readAnswer(page, 'check', ['3'])).toContain('TooLow(10, 3)');
  expect(await readAnswer(page, 'check', ['1000'])).toContain('too high');
  expect(await readAnswer(page, 'check', ['50'])).toContain('true');
});

test('sources have a file tree, colours and a link to each line; a link to a line opens at that line', async () => {
  const line = lineOf(NUMBERS_PATH, 'total += values[i]');
  const page = await open(
    `/contract/${given.shelf.address}?tab=source&file=${encodeURIComponent(NUMBERS_PATH)}&line=${line}`,
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

test('the read tab of a proxy calls the functions of its implementation on the state of the proxy', async () => {
  const page = await open(`/contract/${given.shelf.clone}?tab=read`);
  const title = page.locator('h3', { hasText: 'Functions of the implementation' });
  expect(await title.locator('a').getAttribute('title')).toBe(given.shelf.address);
  expect(await readAnswer(page, 'greatest')).toContain(String(MAX));
  // The implementation has stored a total, and the proxy none.
  expect(await readAnswer(page, 'total')).toMatch(/\b0$/);
  expect(await page.locator('form[data-signature^="store("]').count()).toBe(0);
  await checkCopyButtons(page);
});

const holdersShape = z.object({
  data: z.array(
    z.looseObject({
      address: z.string(),
      share_pct: z.number().nullable(),
      label: z.object({ kind: z.string(), name: z.string() }).nullable(),
    }),
  ),
  meta: z.looseObject({ total: z.number(), has_next: z.boolean() }),
});

test('the holders of a token are those of the API page by page, with their share and the names of known contracts', async () => {
  const [lp = ''] = await given.world.addresses('/api/v1/pairs?dex=devswap_v2&limit=1');
  for (const [path, token] of [
    [`/token/${given.world.token}?tab=holders`, given.world.token],
    [`/contract/${lp}?tab=holders`, lp],
  ] as const) {
    const page = await open(path);
    const rows = page.locator('.holder-list tbody tr');
    const shown = (): Promise<unknown> =>
      rows.evaluateAll((list) =>
        list.map((row) => ({
          address: row.getAttribute('data-address'),
          badge: row.querySelector('.badge')?.textContent ?? null,
          hasShare: /^<?[\d.]+%$/.test(row.lastElementChild?.textContent ?? ''),
        })),
      );
    // The trader changes balances, so the page and the API are compared on a chain at rest.
    const pagesOfHolders = await given.world.still(async () => {
      const wanted = holdersShape.parse(await given.world.json(`/api/v1/tokens/${token}/holders?limit=25`));
      await page.reload();
      await untilLoaded(page);
      expect(await shown()).toEqual(
        wanted.data.map(({ address, share_pct: share, label }) => ({
          address,
          badge: label && (label.kind === 'pair' ? `${label.name} pair` : label.name),
          hasShare: share !== null,
        })),
      );
      return wanted;
    });
    expect(await page.locator('.pager .range', { hasText: 'holders' }).innerText()).toMatch(/^\d+ holders$/);
    await checkCopyButtons(page);
    if (token === lp) continue;
    expect(pagesOfHolders.data.map(({ label }) => label?.kind)).toEqual(
      expect.arrayContaining(['pair', 'treasury']),
    );
    await keepPicture(page, 'holders');
    expect(pagesOfHolders.meta.has_next).toBe(true);
    await page.getByRole('button', { name: 'Smaller holders' }).click();
    await eventually(
      () => rows.first().locator('td').first().innerText(),
      (rank) => rank === '26',
    );
    await page.getByRole('button', { name: 'Activity', exact: true }).click();
    await page.locator('.tape tbody tr').first().waitFor();
    expect(await rows.first().isVisible()).toBe(false);
  }
});
