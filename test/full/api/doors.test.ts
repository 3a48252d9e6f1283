/** Tests with real load that a service whose event loop is late refuses requests, and recovers. */
import { setTimeout as delay } from 'node:timers/promises';

import autocannon from 'autocannon';

import { NO_LIMITS } from '../../../src/api/middleware/limitLoad';
import type { Route } from '../../../src/api/route';
import { healthz } from '../../../src/api/service/healthz';
import { until } from '../../support/eventually';
import { serveRoutes } from '../../support/server/serveRoutes';

/** Takes the event loop of the service for 60 ms. */
const busy: Route = {
  path: '/busy',
  doc: { summary: 'busy', tag: 'service' },
  handle: (ctx) => {
    const end = performance.now() + 60;
    while (performance.now() < end);
    ctx.body = 'done';
  },
};

const up: Route = {
  path: '/up',
  doc: { summary: 'up', tag: 'service' },
  handle: (ctx) => void (ctx.body = 'up'),
};

test('under load, requests get 503, /healthz answers, and the service recovers', async () => {
  const { url, close } = await serveRoutes([healthz(), busy, up], {
    load: { ...NO_LIMITS, loopDelayMaxMs: 200 },
  });
  const statusOf = async (path: string): Promise<number> => (await fetch(url + path)).status;
  const health: number[] = [];
  let isOver = false;
  const probe = (async () => {
    for (; !isOver; await delay(50)) health.push(await statusOf('/healthz'));
  })();
  const load = await autocannon({ url: `${url}/busy`, connections: 20, duration: 4 });
  isOver = true;
  await probe;
  expect(Object.keys(load.statusCodeStats ?? {}).sort()).toEqual(['200', '503']);
  expect(health.length).toBeGreaterThan(2);
  expect(new Set(health)).toEqual(new Set([200]));
  await until(async () => (await statusOf('/up')) === 200);
  await close();
});
