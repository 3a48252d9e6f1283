/** Pages in a real browser, on the built program with a development chain. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { APIResponse, Page, Route } from 'playwright-core';
import { z } from 'zod';

import { startPageWorld, type PageWorld, type PageWorldOptions } from '../worlds/pageWorld';
import {
  DESKTOP,
  launchBrowser,
  openPage,
  untilLoaded,
  type Expected,
  type Look,
  type WatchedPage,
} from './browser';

/** Folder for screenshots, if set. */
const PICTURES = process.env['SCREENSHOTS'];
/** The page looks up addresses without their kind, and asks for the optional parts of a service. These may answer 404. */
const LOOKED_UP = /^\/api\/v1\/(contracts|search|source-search|tokens\/0x|pairs|dexes\/)/;
/** The page of something that does not exist has the status 404. */
const VIEWS = /^\/(pair|token|tx|block|address|portfolio|contract|dex)\//;
export const isLookUp: Expected = (status, path) =>
  status === 404 && (LOOKED_UP.test(path) || VIEWS.test(path));

export interface PageOptions {
  /** By default that of a desktop. */
  readonly look?: Look;
  /** Runs before the scripts of the page. */
  readonly script?: string;
  /** By default the URL of the program. */
  readonly url?: string;
  /** Error answers that are no fault. */
  readonly expected?: Expected;
}

export interface Pages {
  readonly world: PageWorld;
  /** An empty page, for routes that must be there before the first request. */
  openBlank(options?: PageOptions): Promise<Page>;
  /** Opens a page, and waits until it has loaded. */
  open(path: string, options?: PageOptions): Promise<Page>;
  /** Closes all pages. Returns their errors and their requests to other hosts. */
  closeAll(): Promise<string[]>;
  stop(): Promise<void>;
}

interface PagesOptions extends Partial<PageWorldOptions> {
  readonly expected?: Expected;
  /** Further arguments of Chromium. */
  readonly browser?: readonly string[];
}

export async function startPages(options: PagesOptions = {}): Promise<Pages> {
  const { expected: usuallyExpected = isLookUp, browser = [], ...worldOptions } = options;
  const launched = await launchBrowser(...browser);
  const world = await startPageWorld(worldOptions);
  const opened: WatchedPage[] = [];
  const openBlank = async (page: PageOptions = {}): Promise<Page> => {
    const { look = DESKTOP, script, url = world.url, expected = usuallyExpected } = page;
    const watched = await openPage(launched.browser, url, look, expected);
    opened.push(watched);
    if (script !== undefined) await watched.context.addInitScript(script);
    return watched.page;
  };
  return {
    world,
    openBlank,
    async open(path, page) {
      const blank = await openBlank(page);
      await blank.goto(path);
      await untilLoaded(blank);
      return blank;
    },
    async closeAll() {
      for (const { page } of opened) await page.unrouteAll({ behavior: 'ignoreErrors' });
      const faults = opened.flatMap((watched) => watched.faults);
      await Promise.all(opened.splice(0).map(({ context }) => context.close()));
      return faults;
    },
    async stop() {
      await launched.close();
      await world.stop();
    },
  };
}

/** The program's answer. If the program just closed the idle connection, this asks again on a new one, as browsers do. */
export const answerOf = (route: Route): Promise<APIResponse> => route.fetch({ maxRetries: 3 });

const errorShape = z.looseObject({ success: z.literal(false) });

/**
 * Changes the answers of a path on their way to the page. An error answer passes unchanged, because the page asks again.
 * A request that ends because the page closes or goes on has no answer, which is no fault.
 */
export async function changeAnswers(
  page: Page,
  path: string,
  change: (answer: unknown, url: string) => object,
): Promise<void> {
  await page.route(path, async (route: Route) => {
    const response = await answerOf(route).catch(() => null);
    if (response === null) return route.abort().catch(() => undefined);
    const answer: unknown = await response.json();
    const fulfilOptions = errorShape.safeParse(answer).success
      ? { response }
      : { json: change(answer, response.url()) };
    await route.fulfill(fulfilOptions).catch(() => undefined);
  });
}

const dataShape = z.looseObject({ data: z.looseObject({}) });

/** Changes fields of the `data` of a path's answers. */
export const changeFields = (page: Page, path: string, fields: Record<string, unknown>): Promise<void> =>
  changeAnswers(page, path, (answer) => {
    const { data, ...rest } = dataShape.parse(answer);
    return { ...rest, data: { ...data, ...fields } };
  });

export async function keepPicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `${name}.png`), await page.screenshot());
}

/** A value that the page has stored in the browser. */
export const readStored = async (page: Page, key: string): Promise<unknown> =>
  JSON.parse(z.string().parse(await page.evaluate(`localStorage.getItem('${key}') ?? 'null'`)));
