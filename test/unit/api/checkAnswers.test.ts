/** Tests the check with which test servers find answers that differ from the OpenAPI document. */
import { z } from 'zod';

import type { Route } from '../../../src/api/route';
import { serveRoutes } from '../../support/server/serveRoutes';

const bodies: Readonly<Record<string, unknown>> = {
  '/fits': { data: 1 },
  '/other-type': { data: '1' },
  '/missing': {},
  '/unknown-field': { data: 1, more: 2 },
};

const routes = Object.entries(bodies).map(([path, body]): Route => ({
  path,
  doc: { summary: path, tag: 'market', answer: z.object({ data: z.int() }) },
  handle(ctx) {
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(body);
  },
}));

test('a test server replaces an answer that does not fit its schema by a 500 that names the fault', async () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { url, close } = await serveRoutes(routes);
  try {
    const statuses = await Promise.all(
      Object.keys(bodies).map(async (path) => [path, (await fetch(url + path)).status]),
    );
    expect(Object.fromEntries(statuses)).toEqual({
      '/fits': 200,
      '/other-type': 500,
      '/missing': 500,
      '/unknown-field': 500,
    });
    const text = await (await fetch(`${url}/other-type`)).text();
    expect(text).toMatch(/^GET \/other-type does not fit the OpenAPI document: \/data must be integer/);
    expect((await fetch(`${url}/no-such-path`)).status).toBe(404);
  } finally {
    written.mockRestore();
    await close();
  }
});
