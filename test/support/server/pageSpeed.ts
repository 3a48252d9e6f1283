/**
 * Measures the speed of a view in the browser, against the budget in docs/page-budget.md. Machines differ and are
 * shared, so each load is measured beside a reference, whose time on an idle machine the budget names.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { eventually } from '../eventually';
import { untilLoaded } from './browser';

interface ViewBudget {
  readonly view: string;
  /** Bytes of scripts, styles and pictures of the first view, compressed by gzip. */
  readonly bytes: number;
  readonly paintMs: number;
  readonly taskMs: number;
}

interface Budget {
  readonly views: readonly ViewBudget[];
  /** The reference on an idle machine with two cores. */
  readonly reference: Effort;
}

/** The time that a page takes. */
interface Effort {
  /** From start to end, in ms. */
  readonly wallMs: number;
  /** Processor time of the page's main thread, in ms. */
  readonly computedMs: number;
}

/** Reads the tables of docs/page-budget.md. */
export function readBudget(): Budget {
  const text = readFileSync(join(findPackageRoot(), 'docs', 'page-budget.md'), 'utf8');
  const number = (cell: string): number => Number(cell.replaceAll(',', ''));
  const rows = /^\| *(\w+) *\| *`[^`]+` *\| *([\d,]+) KB *\| *([\d,]+) ms *\| *([\d,]+) ms *\|$/gm;
  const views = [...text.matchAll(rows)];
  const [, wall, computed] =
    /takes ([\d,]+) ms on an idle machine, ([\d,]+) ms of it processor time/.exec(text) ?? [];
  if (views.length === 0 || wall === undefined || computed === undefined)
    throw new Error('docs/page-budget.md has no budget');
  return {
    reference: { wallMs: number(wall), computedMs: number(computed) },
    views: views.map(([, view = '', size = '', paint = '', task = '']) => {
      return { view, bytes: number(size) * 1_000, paintMs: number(paint), taskMs: number(task) };
    }),
  };
}

/** Collects the paints from the start of the page on. Runs before the scripts of the page. */
export const WATCH_SPEED = `
  window.paintMs = 0;
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) window.paintMs = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

const threadShape = z.object({
  ph: z.string(),
  name: z.string(),
  pid: z.number(),
  tid: z.number(),
  /** Processor time of a task, in µs. */
  tdur: z.number().default(0),
  args: z.looseObject({ name: z.unknown().optional() }).default({}),
});

/**
 * Runs `work`, and returns the processor time in ms of each task of the page's main thread meanwhile, the longest first.
 * The browser's own long-task entries count the time in which other programs had the processor too.
 */
async function timeTasks(page: Page, work: () => Promise<void>): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  const events: z.infer<typeof threadShape>[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...z.array(threadShape).parse(value)));
  const tracingEnd = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  const traceConfig = { includedCategories: ['toplevel'] };
  await session.send('Tracing.start', { traceConfig, transferMode: 'ReportEvents' });
  await work();
  await session.send('Tracing.end');
  await tracingEnd;
  await session.detach();
  const threadOf = ({ pid, tid }: { pid: number; tid: number }): string => `${pid} ${tid}`;
  const namesOfMain = events.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const mainThreads = new Set(namesOfMain.map(threadOf));
  return events
    .filter((event) => event.ph === 'X' && /\bRunTask$/.test(event.name) && mainThreads.has(threadOf(event)))
    .map(({ tdur }) => tdur / 1_000)
    .sort((a, b) => b - a);
}

/**
 * The reference: a page with arithmetic, a table that grows in four tasks, and three requests to the server, one after the
 * other. Like a view, the reference needs the page, the browser and the server.
 */
const REFERENCE = `<!doctype html><title>Reference</title><body><script>
  (async () => {
    let seed = 1;
    const next = () => (seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 12345) >>> 0);
    for (let portion = 0; portion < 4; portion += 1) {
      const rows = Array.from({ length: 10_000 }, () => ({ key: next(), text: String(next()) }));
      rows.sort((a, b) => a.key - b.key);
      const table = document.body.appendChild(document.createElement('table'));
      for (const { key, text } of rows.slice(0, 100)) {
        const row = table.insertRow();
        for (let cell = 0; cell < 10; cell += 1) row.insertCell().textContent = text.slice(cell) + key;
      }
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    for (let round = 0; round < 3; round += 1) await (await fetch('/healthz?round=' + round)).text();
    window.referenceMs = performance.now();
  })();
</script>`;

/** Measures the reference in this browser, from the start of the navigation on. */
export async function measureReference(blank: Page): Promise<Effort> {
  await blank.route('**/reference', (route) => route.fulfill({ contentType: 'text/html', body: REFERENCE }));
  let wallMs = 0;
  const tasks = await timeTasks(blank, async () => {
    await blank.goto('/reference');
    const readReference = async (): Promise<unknown> => blank.evaluate('window.referenceMs ?? null');
    wallMs = z.number().parse(await eventually(readReference, (referenceMs) => referenceMs !== null));
  });
  await blank.unroute('**/reference');
  await blank.goto('about:blank');
  return { wallMs, computedMs: tasks.reduce((sum, ms) => sum + ms, 0) };
}

export interface Load {
  /** Time of the largest contentful paint, in ms from the start of the navigation on. */
  readonly paintMs: number;
  /** Processor time of the longest task, in ms. */
  readonly taskMs: number;
}

/** Loads a view in a page that has run WATCH_SPEED, and measures until everything has loaded. */
export async function measureLoad(blank: Page, path: string): Promise<Load> {
  let paintMs = 0;
  const [taskMs = 0] = await timeTasks(blank, async () => {
    await blank.goto(path);
    await untilLoaded(blank);
    // The browser reports an entry after the next frame.
    await blank.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))');
    paintMs = z.number().parse(await blank.evaluate('window.paintMs'));
  });
  // A page that stays open follows the stream, which takes time from the next load.
  await blank.goto('about:blank');
  return { paintMs, taskMs };
}

/** The load as on an idle machine. `slowness` is how many times more the reference takes now than there. */
export function asOnIdle({ paintMs, taskMs }: Load, slowness: Effort): Load {
  return {
    paintMs: paintMs / Math.max(1, slowness.wallMs),
    taskMs: taskMs / Math.max(1, slowness.computedMs),
  };
}

/**
 * Lists the limits that some loads exceed, as text. Empty if they keep the budget. The second fastest of five loads counts: other programs
 * slow some loads down, but cannot make a page faster.
 */
export function listMisses(loads: readonly Load[], budget: ViewBudget): string[] {
  const figures: [name: string, ms: number[], max: number][] = [
    ['largest contentful paint', loads.map(({ paintMs }) => paintMs), budget.paintMs],
    ['longest task', loads.map(({ taskMs }) => taskMs), budget.taskMs],
  ];
  return figures.flatMap(([name, timesMs, max]) => {
    const lowerQuartile =
      [...timesMs].sort((a, b) => a - b)[Math.floor(timesMs.length / 4)] ?? Number.POSITIVE_INFINITY;
    const timesText = timesMs.map((time) => Math.round(time)).join(', ');
    return lowerQuartile <= max
      ? []
      : [`${budget.view}: ${name} ${Math.round(lowerQuartile)} of ${max} ms (${timesText})`];
  });
}
