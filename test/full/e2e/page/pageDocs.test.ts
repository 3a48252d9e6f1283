/** The API reference at /docs in a real browser: quick start, filter, examples that run for real, one Etherscan entry. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { TEXTS } from '../../../../src/api/etherscan/answers';
import { LANGUAGES, type Language } from '../../../../src/web/docs/examples';
import { eventually } from '../../../support/eventually';
import { pressCopy } from '../../../support/server/explorerPage';
import { startPages, type PageOptions, type Pages } from '../../../support/server/pages';
import { canRun, joinExamples, runExample } from '../../../support/runExample';
import type { PageWorld } from '../../../support/worlds/pageWorld';

/** A name of this machine over which a page is no secure context, so that it has no navigator.clipboard. */
const PLAIN_HOST = 'candlehouse.test';
const MARK = '=== next ===';

let pages: Pages;
let world: PageWorld;
let folder = '';

/** The page asks for facts that this chain does not have, such as verified sources. */
const expected = (status: number): boolean => status === 400 || status === 404;
const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-'));
  const browser = [`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`];
  pages = await startPages({ swaps: 400, days: 1, expected, browser });
  ({ world } = pages);
  // The document has no examples before the service has read its lists.
  await eventually(listOperations, (all) => all.some((one) => one.path === '/api' && one['x-example-call']));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await pages?.stop();
});
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

const operationShape = z.object({
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() })),
  responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), z.unknown()).default({}) })),
  'x-example-call': z.string().optional(),
  'x-alias-of': z.string().optional(),
  'x-actions': z
    .array(
      z.object({
        module: z.string(),
        action: z.string(),
        description: z.string(),
        parameters: z.array(z.object({ name: z.string(), required: z.boolean(), description: z.string() })),
      }),
    )
    .optional(),
});
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
});

type Operation = z.infer<typeof operationShape> & { readonly path: string; readonly method: string };

async function listOperations(): Promise<Operation[]> {
  const { paths } = documentShape.parse(await world.json('/openapi.json'));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      ...operation,
    })),
  );
}

/** Chooses a language in the first tabs of the page. The choice holds for all tabs. */
async function choose(page: Page, language: Language): Promise<void> {
  await page.locator(`.steps [data-language=${language}]`).first().click();
}

const textsShape = z.array(z.string());

/** The shown examples in the elements of a selector. */
const exampleTexts = async (page: Page, selector: string): Promise<string[]> =>
  textsShape.parse(
    await page.evaluate(
      `[...document.querySelectorAll('${selector}')].map((one) => one.querySelector('.code-text').textContent)`,
    ),
  );

const visibleIds = async (page: Page): Promise<string[]> =>
  textsShape.parse(
    await page.evaluate(
      `[...document.querySelectorAll('section.endpoint')].filter((one) => !one.hidden).map(({ id }) => id)`,
    ),
  );

/** Whether curl printed an error of the service. The other languages end with an error. */
const isError = (output: string): boolean =>
  output.startsWith('{"success":false') || output.includes(TEXTS.busy);

/**
 * Runs examples that end by themselves. On a busy machine the database or the node may answer too late, so the examples
 * run again after such an error.
 */
async function runAll(language: Language, texts: readonly string[]): Promise<string[]> {
  const run = async () => {
    const { status, output, errors } = await runExample(
      language,
      joinExamples(language, texts, MARK),
      folder,
    );
    return { status, errors, outputs: output.split(MARK).map((text) => text.trim()) };
  };
  const { outputs } = await eventually(run, (done) => done.status === 0 && !done.outputs.some(isError));
  expect([language, outputs.length]).toEqual([language, texts.length + 1]);
  return outputs.slice(0, -1);
}

const runnable = LANGUAGES.map(([language]) => language).filter(canRun);
const dataShape = z.looseObject({ data: z.array(z.unknown()).min(1) });

test('the docs page begins with a quick start, whose commands answer with data in curl, JavaScript and Python', async () => {
  const page = await open('/docs');
  expect(await page.evaluate("document.querySelector('main h1').nextElementSibling.id")).toBe('quick-start');
  const titles = await page.locator('.steps h3').allInnerTexts();
  expect(titles).toEqual([
    'List pairs',
    'Get the bars of a pair',
    'Get the prices of tokens',
    'Follow trades live',
    'Download a table',
  ]);
  expect(await page.locator('.quick').innerText()).toContain(`${world.url}/api/v1`);
  const streamAt = titles.indexOf('Follow trades live');
  const tableAt = titles.indexOf('Download a table');
  for (const language of runnable) {
    await choose(page, language);
    const texts = await exampleTexts(page, '.steps > li');
    const plain = texts.filter((_, index) => index !== streamAt);
    const outputs = await runAll(language, plain);
    const table = outputs.pop() ?? '';
    expect(tableAt).toBe(texts.length - 1);
    for (const output of outputs)
      // The console of Node.js shows the parts of an object, not its JSON.
      if (language === 'javascript') expect(output).toContain('data: [');
      else dataShape.parse(JSON.parse(output));
    expect(table.slice(0, 40)).toMatch(/^"address",/);
    expect(table.split('\n').length).toBeGreaterThan(2);
    const stream = texts[streamAt] ?? '';
    if (language === 'javascript') expect(await firstEvent(page, stream)).toBe('swap');
    else {
      const { output } = await runExample(language, stream, folder, '\nevent: swap');
      expect([language, output]).toEqual([language, expect.stringContaining('event: swap')]);
    }
  }
});

/** Runs the example of a stream in the page, and returns the kind of its first event with a transaction. A reorg of
 * the chain may come first. */
const firstEvent = (page: Page, text: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const console = {
      log: (kind, event) => {
        if (event.tx_hash === undefined) return;
        events.close();
        resolve(kind);
      },
    };
    ${text}
  })`);

test('the copy button of an example also copies over plain HTTP, and says what it copies', async () => {
  const page = await open('/docs', {
    url: world.url.replace('127.0.0.1', PLAIN_HOST),
    // Over plain HTTP, Chromium logs that it ignores a header of the page.
    expected: (status, path) => expected(status) || (status === 0 && path === '/docs'),
  });
  expect(await page.evaluate('window.isSecureContext')).toBe(false);
  const copy = page.getByRole('button', { name: 'Copy the example: List pairs' });
  expect(await pressCopy(copy)).toBe(true);
  const filter = page.getByRole('searchbox');
  await filter.focus();
  await page.keyboard.press('ControlOrMeta+v');
  const [first] = await exampleTexts(page, '.steps > li');
  expect(await filter.inputValue()).toBe(first);
  expect(first).toContain(`curl 'http://${PLAIN_HOST}`);
});

test('the filter finds endpoints by path, summary, description and tag while the user types, and stays in the address', async () => {
  const page = await open('/docs');
  const all = await visibleIds(page);
  const entries = await page.evaluate('history.length');
  const count = page.getByRole('search').getByRole('status');
  expect(await count.innerText()).toBe(`${all.length} endpoints`);
  expect(await count.getAttribute('aria-live')).toBe('polite');
  await page.keyboard.press('/');
  const filter = page.getByRole('searchbox');
  expect(await filter.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.type('TICKS');
  const ticks = ['get-api-v1-tokens-address-ticks', 'get-api-v1-pairs-address-ticks'];
  expect(await visibleIds(page)).toEqual(ticks);
  expect(await count.innerText()).toBe(`2 of ${all.length} endpoints match`);
  expect(new URL(page.url()).search).toBe('?q=TICKS');
  expect(await page.locator('#quick-start').isVisible()).toBe(false);
  expect(await page.locator('.contents li:visible').allInnerTexts()).toEqual([
    '/tokens/{address}/ticks',
    '/pairs/{address}/ticks',
  ]);
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.closest("section").id')).toBe(ticks[0]);
  await page.reload();
  await page.locator(`#${ticks[0]}`).waitFor();
  expect([await visibleIds(page), await filter.inputValue()]).toEqual([ticks, 'TICKS']);
  for (const [text, ids] of [
    ['totals of the whole market', ['get-api-v1-overview']],
    ['seconds the chain is behind', ['get-api-v1-chains']],
    ['tag stream event-stream', []],
    ['eth_getcode', ['get-api']],
    ['post metadata', ['post-v2-verify-metadata-chainId-address']],
  ] as const) {
    await filter.fill(text);
    expect([text, await visibleIds(page)]).toEqual([text, ids]);
  }
  await filter.fill('dexscreener');
  expect((await visibleIds(page)).length).toBeGreaterThanOrEqual(4);
  await filter.fill('no such endpoint');
  expect(await count.innerText()).toBe('Nothing matches');
  await page.getByText('No endpoint matches “no such endpoint”.').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  expect([await visibleIds(page), new URL(page.url()).search]).toEqual([all, '']);
  await page.keyboard.type('x');
  await page.keyboard.press('Escape');
  expect([await visibleIds(page), new URL(page.url()).search]).toEqual([all, '']);
  expect(await page.locator('#quick-start').isVisible()).toBe(true);
  expect(await page.evaluate('history.length')).toBe(entries);
});

test('every endpoint has a description, its parameters, and examples in three languages, and its form sends the call', async () => {
  const page = await open('/docs');
  for (const { path, method, parameters, summary, description, ...operation } of await listOperations()) {
    if (operation.tags.includes('etherscan')) continue;
    const id = `${method.toLowerCase()}-${path.replace(/\W+/g, '-').replace(/^-|-$/g, '')}`;
    const section = page.locator(`section.endpoint[id="${id}"]`);
    expect([path, await section.locator('h2 code').allTextContents()]).toEqual([path, [path]]);
    expect(await section.locator('h2 .method').textContent()).toBe(method);
    const words = await section.evaluate((one) => one.textContent);
    expect(words).toContain(summary);
    expect(words).toContain(description.replaceAll('`', ''));
    expect(await section.locator('[role=tab]').allTextContents()).toEqual(['curl', 'JavaScript', 'Python']);
    const named = await section.locator('.parameters:has(thead) td:first-child code').allTextContents();
    expect([path, named]).toEqual([path, parameters.map(({ name }) => name)]);
  }
  const ticks = page.locator('#get-api-v1-pairs-address-ticks');
  await ticks.scrollIntoViewIfNeeded();
  await ticks.locator('.status[data-ok=true]').waitFor();
  expect(await ticks.locator('.output').innerText()).toContain('"next_to"');
  await ticks.locator('[aria-label=limit]').fill('0');
  await ticks.getByRole('button', { name: 'Send' }).click();
  await ticks.locator('.status[data-ok=false]').waitFor();
  expect(await ticks.locator('.output').innerText()).toContain('limit: got');
});

test('examples follow the form, quote its values, and keep the chosen language after a reload', async () => {
  const page = await open('/docs#get-api-v1-pairs');
  const tabs = page.locator('#get-api-v1-pairs');
  const q = `it's "$(x)" \`y\` \\ %41`;
  await tabs.locator('[aria-label=q]').fill(q);
  await tabs.locator('[aria-label=limit]').fill('7');
  for (const language of runnable) {
    await tabs.locator(`[data-language=${language}]`).click();
    const [text = ''] = await exampleTexts(page, '#get-api-v1-pairs');
    expect(await tabs.locator('[role=tab][aria-selected=true]').getAttribute('data-language')).toBe(language);
    const [output = ''] = await runAll(language, [text]);
    expect(output).toMatch(/"?limit"?: ?7/);
    expect(output).toMatch(/"?total"?: ?0/);
  }
  await tabs.locator('[aria-label=format]').selectOption('csv');
  await tabs.locator('[data-language=curl]').focus();
  await page.keyboard.press('End');
  const chosen = page.locator('[role=tab][aria-selected=true]');
  expect(new Set(await chosen.allTextContents())).toEqual(new Set(['Python']));
  expect((await exampleTexts(page, '#get-api-v1-pairs'))[0]).toContain('print(response.read().decode())');
  await page.reload();
  await page.locator('#quick-start').waitFor();
  expect(new Set(await chosen.allTextContents())).toEqual(new Set(['Python']));
});

test('the examples of every GET operation with known parameters run in curl, JavaScript and Python', async () => {
  const page = await open('/docs');
  const known = (await listOperations()).filter(
    ({ method, path, parameters, tags, responses, ...operation }) =>
      method === 'GET' &&
      // It answers 503 while a busy machine is behind.
      path !== '/readyz' &&
      !tags.includes('etherscan') &&
      responses['200']?.content['text/event-stream'] === undefined &&
      (operation['x-example-call'] !== undefined || parameters.every(({ required }) => !required)),
  );
  expect(known.length).toBeGreaterThan(30);
  for (const language of runnable) {
    await choose(page, language);
    const texts: string[] = [];
    for (const { path } of known) {
      const id = `get-${path.replace(/\W+/g, '-').replace(/^-|-$/g, '')}`;
      texts.push(...(await exampleTexts(page, `section.endpoint[id="${id}"]`)));
    }
    const outputs = await runAll(language, texts);
    known.forEach(({ path, responses }, index) => {
      const output = outputs[index] ?? '';
      expect([language, path, output]).toEqual([language, path, expect.stringMatching(/./)]);
      const isJson = responses['200']?.content['application/json'] !== undefined;
      if (isJson && language !== 'javascript') JSON.parse(output);
    });
  }
});

/** Actions whose examples are refused on this chain: nothing is verified, and no verification runs. */
const REFUSED = ['contract.getabi', 'contract.checkverifystatus', 'contract.checkproxyverification'];

test('Etherscan is one entry with its aliases listed once, and each action has its parameters and an example that runs', async () => {
  const page = await open('/docs');
  const operations = await listOperations();
  const first = operations.find((each) => each.method === 'GET' && each.path === '/api');
  const aliases = operations.filter((each) => each.method === 'GET' && each['x-alias-of'] === '/api');
  expect(aliases.length).toBeGreaterThan(5);
  expect(await page.locator('.contents h3', { hasText: 'Etherscan' }).locator('+ ul li').count()).toBe(1);
  const entry = page.locator('section.endpoint[id=get-api]');
  expect(await entry.locator('.aliases li').allTextContents()).toEqual(aliases.map(({ path }) => path));
  const text = String(await page.evaluate("document.querySelector('main').textContent"));
  const headings = await page.locator('main h2 code').allTextContents();
  for (const { path } of aliases) expect([path, headings.includes(path)]).toEqual([path, false]);
  const longest = '/v2/network/mainnet/evm/{chainId}/etherscan/api';
  expect(text.split(longest).length - 1).toBe(1);
  expect(await entry.locator('code', { hasText: /^\/v2\/chainlist$/ }).count()).toBe(1);

  const actions = first?.['x-actions'] ?? [];
  expect(actions.length).toBeGreaterThan(30);
  expect(await entry.locator('.actions tr[id]').count()).toBe(actions.length);
  const curls: string[] = [];
  const names: string[] = [];
  for (const { module, action, description, parameters } of actions) {
    const row = entry.locator(`tr[id="etherscan-${module}.${action}"]`);
    const words = await row.evaluate((one) => one.textContent);
    for (const part of [module, action, description]) expect(words).toContain(part);
    for (const each of parameters) expect(words).toContain(each.description.replaceAll('`', ''));
    await row.getByRole('button', { name: `Example of ${module}.${action}` }).click();
    const [curl = ''] = await exampleTexts(page, `tr[id="etherscan-${module}.${action}"] + tr`);
    expect(curl).toContain(`action=${action}`);
    // A POST starts a verification.
    if (action === 'verifysourcecode') expect(curl).toContain("--data-urlencode 'sourceCode=");
    else {
      curls.push(curl);
      names.push(`${module}.${action}`);
    }
  }
  const outputs = await runAll('curl', curls);
  const refused = names.filter(
    (name, index) => /"(?:NOTOK|Error)|Error!/.test(outputs[index] ?? '') && !REFUSED.includes(name),
  );
  expect(refused.map((name) => [name, outputs[names.indexOf(name)]])).toEqual([]);
});
