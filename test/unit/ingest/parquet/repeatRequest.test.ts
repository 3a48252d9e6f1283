/** Answers of file servers that stall: the limit of time counts only while the reader waits. */
import { createServer, type ServerResponse } from 'node:http';

import { repeatRequest } from '../../../../src/ingest/parquet/repeatRequest';
import { listen, type Listening } from '../../../support/server/listen';

/** All timers but setTimeout and the clock, which limit the time of an answer. */
const REAL = [
  ...(['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval'] as const),
];

let server: Listening;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  server = await listen(createServer((_, response) => answer(response)));
});

afterEach(async () => {
  jest.useRealTimers();
  await server.close();
});

function readFile(): Promise<AsyncGenerator<Uint8Array>> {
  return repeatRequest({
    path: 'day/logs.parquet',
    server: 'the server',
    make: (options) => new Request(server.url, options),
    read: (_, chunks) => Promise.resolve(chunks),
    reasonOf: () => 'refused',
    signal: new AbortController().signal,
  });
}

test('a server that sends headers and then nothing is an error that names the file and the limit', async () => {
  answer = (response) => response.flushHeaders();
  const chunks = await readFile();
  jest.useFakeTimers({ doNotFake: REAL });
  const first = chunks.next();
  jest.advanceTimersByTime(60_000);
  await expect(first).rejects.toMatchObject({
    code: 'unavailable',
    message: 'day/logs.parquet: the server sent 0 bytes in 60 s; allowed: at least 65536, or the end',
  });
});

test('a server that sends a byte every 20 seconds is an error after a minute, however long the reader works', async () => {
  let send = (): void => undefined;
  answer = (response) => {
    send = () => void response.write('x');
    send();
  };
  const chunks = await readFile();
  jest.useFakeTimers({ doNotFake: REAL });
  let next = chunks.next();
  for (const isLast of [false, false, true]) {
    expect(await next).toMatchObject({ done: false });
    jest.advanceTimersByTime(600_000);
    next = chunks.next();
    jest.advanceTimersByTime(20_000);
    if (!isLast) send();
  }
  await expect(next).rejects.toThrow('day/logs.parquet: the server sent 3 bytes in 60 s');
});
