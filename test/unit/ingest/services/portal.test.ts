/** The client of SQD portals: pauses, time limits and the bounds of what a portal may send. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import type { ServiceBlock } from '../../../../src/ingest/services/blockService';
import { Portal, type PortalOptions } from '../../../../src/ingest/services/portal';
import { createLog } from '../../../../src/log';
import { listen, type Listening } from '../../../support/server/listen';

type Answer = (response: ServerResponse, query: Query, index: number) => void;

interface Query {
  readonly fromBlock: number;
  readonly parentBlockHash?: string;
}

const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

function lineOf(number: number): string {
  const header = {
    number,
    hash: hashOf(number),
    parentHash: hashOf(Math.max(0, number - 1)),
    timestamp: 1_700_000_000 + number,
    logsBloom: `0x${'00'.repeat(256)}`,
    gasUsed: '0x0',
  };
  return `${JSON.stringify({ header })}\n`;
}

/** All timers but setTimeout, which the client uses for its time limit. */
const REAL = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
];

let server: Listening;
let answer: Answer;
let queries: Query[];
/** The pauses that the client made, in ms. */
let pauses: number[];

const NOW = 1_780_000_000_000;

/** A clock that stands still and does not wait for pauses. */
const clock: Clock = {
  ...systemClock(),
  now: () => NOW,
  random: () => 1,
  sleep: (ms, signal) => {
    pauses.push(ms);
    return signal?.aborted === true ? Promise.reject(signal.reason) : Promise.resolve();
  },
};

beforeEach(async () => {
  [queries, pauses] = [[], []];
  const read = async (request: IncomingMessage): Promise<Query> => {
    let text = '';
    for await (const part of request) text += String(part);
    return (text === '' ? { fromBlock: -1 } : JSON.parse(text)) as Query;
  };
  server = await listen(
    createServer((request, response) => {
      void read(request).then((query) => answer(response, query, queries.push(query) - 1));
    }),
  );
});

afterEach(() => {
  jest.useRealTimers();
  return server.close();
});

function portalOf(options: Partial<PortalOptions> = {}): Portal {
  const log = createLog('silent', false);
  return new Portal({ url: server.url, name: 'portal', log, clock, everyMs: 0, ...options });
}

async function readAll(to: number, portal = portalOf(), signal = new AbortController().signal) {
  const blocks: ServiceBlock[] = [];
  for await (const block of portal.stream(1, to, signal)) blocks.push(block);
  return blocks.map(({ block }) => block.block);
}

const range = (to: number): number[] => Array.from({ length: to }, (_, index) => index + 1);

test('Retry-After is obeyed as seconds and as a date, at most ten minutes, and other pauses grow', async () => {
  const date = new Date(NOW + 90_000).toUTCString();
  const refusals = [{ 'retry-after': '7' }, { 'retry-after': date }, { 'retry-after': '86400' }, {}, {}];
  answer = (response, _query, index) => {
    const headers = refusals[index];
    if (headers === undefined) response.end(lineOf(1) + lineOf(2));
    else response.writeHead(index % 2 === 0 ? 429 : 503, headers).end();
  };
  expect(await readAll(2)).toEqual([1, 2]);
  expect(pauses).toEqual([7_000, 90_000, 600_000, 4_000, 8_000]);
});

test('a portal that sends no block eight times in a row is given up, but each block starts the count again', async () => {
  answer = (response) => response.writeHead(204).end();
  await expect(readAll(2)).rejects.toMatchObject({ code: 'node_failed', retryable: true });
  expect(queries).toHaveLength(8);
  answer = (response, { fromBlock }, index) => {
    if (index % 7 === 0) response.end(lineOf(fromBlock));
    else response.destroy();
  };
  expect(await readAll(5)).toEqual(range(5));
});

test('an answer that ends in the middle of a block is continued after the last whole block', async () => {
  answer = (response, { fromBlock }, index) => {
    const text = lineOf(fromBlock) + lineOf(fromBlock + 1);
    if (index % 2 === 1) response.end(text);
    else response.end(text.slice(0, -40));
  };
  expect(await readAll(4)).toEqual(range(4));
  expect(queries.map(({ fromBlock, parentBlockHash }) => [fromBlock, parentBlockHash])).toEqual([
    [1, undefined],
    [2, hashOf(1)],
    [4, hashOf(3)],
  ]);
});

test('a portal that stops in the middle of an answer is asked again after the time limit', async () => {
  jest.useFakeTimers({ doNotFake: REAL });
  answer = (response, { fromBlock }, index) => {
    response.write(lineOf(fromBlock));
    if (index > 0) response.end();
  };
  const blocks = portalOf({ timeoutMs: 1_000 }).stream(1, 2, new AbortController().signal);
  expect(await blocks.next()).toMatchObject({ value: { block: { block: 1 } } });
  const second = blocks.next();
  jest.advanceTimersByTime(1_000);
  expect(await second).toMatchObject({ value: { block: { block: 2 } } });
  expect(await blocks.next()).toMatchObject({ done: true });
  expect(queries).toHaveLength(2);
});

test('a portal that answers no small request is given up after its time limits, also during garbage collection', async () => {
  answer = () => undefined;
  setFlagsFromString('--expose-gc');
  const collecting = setInterval(runInNewContext('gc') as () => void, 10);
  try {
    const span = portalOf({ timeoutMs: 100 }).findSpan(new AbortController().signal);
    await expect(span).rejects.toMatchObject({ code: 'node_failed' });
  } finally {
    clearInterval(collecting);
  }
});

test('a busy reader does not make the portal late', async () => {
  jest.useFakeTimers({ doNotFake: REAL });
  answer = (response) => response.end(range(3).map(lineOf).join(''));
  const portal = portalOf({ timeoutMs: 1_000 });
  const blocks: number[] = [];
  for await (const { block } of portal.stream(1, 3, new AbortController().signal)) {
    jest.advanceTimersByTime(1_500);
    blocks.push(block.block);
  }
  expect(blocks).toEqual(range(3));
  expect(queries).toHaveLength(1);
});

test('blocks in another order, or of another range, are an error', async () => {
  for (const numbers of [[1, 3], [2], [1, 1], [0]]) {
    answer = (response) => response.end(numbers.map(lineOf).join(''));
    await expect(readAll(3)).rejects.toThrow(/^portal: the block after block \d is \d; allowed: \d$/);
  }
});

test('a stop ends a stream at once, and requests keep their distance', async () => {
  const stop = new AbortController();
  answer = (response) => {
    response.write(lineOf(1));
    stop.abort(new Error('stopped'));
  };
  await expect(readAll(2, portalOf(), stop.signal)).rejects.toThrow('stopped');
  answer = (response, { fromBlock }) => response.end(lineOf(fromBlock));
  await readAll(4, portalOf({ everyMs: 60_000 }));
  expect(pauses.length).toBe(3);
  for (const pause of pauses) expect(pause).toBeGreaterThan(30_000);
});

test('the span is from the first block of the metadata to the final head', async () => {
  const spanOf = () => portalOf().findSpan(new AbortController().signal);
  answer = (response, _query, index) =>
    response.end(JSON.stringify(index === 0 ? { number: 70, hash: hashOf(70) } : { start_block: 5 }));
  expect(await spanOf()).toEqual({ from: 5, to: 70 });
  queries = [];
  answer = (response) => response.writeHead(404).end();
  expect(await spanOf()).toBeNull();
});
