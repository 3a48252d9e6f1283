/** The world of the tests of the explorer's pages: the real program with a verified contract, and pages in a browser. */
import type { Page } from 'playwright-core';
import { z } from 'zod';

import { isLookUp, startPages, type PageOptions, type Pages } from '../../../support/server/pages';
import type { PageWorld } from '../../../support/worlds/pageWorld';
import { openShelf, type Shelf } from '../../../support/worlds/shelfContract';

export const MAX = 2n ** 256n - 1n;
/** A name of this machine over which a page is no secure context, so that it has no navigator.clipboard. */
export const PLAIN_HOST = 'candlehouse.test';

let pages: Pages;
/** The world and its verified contract, in every test. */
export const given = {} as { world: PageWorld; shelf: Shelf };

const expected = (status: number, path: string): boolean =>
  isLookUp(status, path) || (status === 400 && path === '/api/v1/logs');

export const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

beforeAll(async () => {
  pages = await startPages({
    swaps: 200,
    days: 1,
    // Without reorgs, a transaction that a test opens stays in its block.
    live: { reorgMs: [1e9, 1e9] },
    expected,
    browser: [`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`],
  });
  given.world = pages.world;
  given.shelf = await openShelf(pages.world);
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
  amount_in: z.string(),
  token0: z.looseObject({ address: z.string(), symbol: z.string() }),
  token1: z.looseObject({ address: z.string(), symbol: z.string() }),
  maker: z.string(),
});

export async function newestSwap(): Promise<z.infer<typeof swapShape>> {
  const { data } = z
    .object({ data: z.array(swapShape) })
    .parse(await given.world.json('/api/v1/activity?event_type=swap&limit=1'));
  return data[0]!;
}

export async function askNode(query: string): Promise<Record<string, unknown>> {
  const shape = z.object({ result: z.looseObject({}) });
  return shape.parse(await given.world.json(`/api/v1/etherscan?module=proxy&${query}`)).result;
}
