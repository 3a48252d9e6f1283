/**
 * Measures thousands of stream clients with ten events a second, against plain sockets that write the same number of
 * bytes.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { processorSeconds, residentBytes, startBenchChild, type BenchChild } from '../children/childProcess';
import type { Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';
import type { StubChain } from '../../../test/support/stub/stubChain';

const EVENT_EVERY_MS = 100;
const SECONDS = 15;
const CLIENT_KB_MAX = 25;

/** What all clients received since the last look; the percentiles are delays in ms after the first client. */
interface Received {
  readonly messages: number;
  readonly p50: number;
  readonly p99: number;
}

interface Measured extends Received {
  /** Processor time of the server per message and client, microseconds. */
  readonly microseconds: number;
}

/** `chain` has one swap per block; the benchmark advances its head. */
export async function benchFanOut(api: ServedApi, chain: StubChain, clients: number): Promise<Figure[]> {
  const bytesBefore = residentBytes(api.pid);
  const path = '/api/v1/activity/stream?event_type=swap';
  const readers = await startBenchChild('streamReaders', { url: `${api.url}${path}`, clients });
  const bytesPerClient = (residentBytes(api.pid) - bytesBefore) / clients;
  let isChainGrowing = true;
  const chainGrowth = (async () => {
    while (isChainGrowing) {
      chain.setHead(chain.head + 1);
      await delay(EVENT_EVERY_MS);
    }
  })();
  const measured = await measure(readers, api.pid);
  isChainGrowing = false;
  await chainGrowth;
  await readers.close();
  const bytes = await messageBytes(api);
  const plainSockets = await startBenchChild('plainSockets', { bytes, everyMs: EVENT_EVERY_MS });
  const plainReaders = await startBenchChild('streamReaders', { url: plainSockets.url, clients });
  const plain = await measure(plainReaders, plainSockets.pid);
  await plainReaders.close();
  await plainSockets.close();
  const title = `stream, ${clients} clients, ${Math.round(measured.messages / SECONDS / clients)} events/s`;
  const makeFigure = (
    name: string,
    unit: string,
    [value, limit]: readonly [number, number],
    target: string,
    ok: boolean,
  ): Figure => ({
    name: `${title}: ${name}`,
    value,
    unit,
    limitName: 'plain sockets, the same bytes',
    limit,
    ratio: value / limit,
    target,
    ok,
  });
  const { microseconds: cost } = measured;
  return [
    makeFigure(
      'processor time per message',
      'us',
      [cost, plain.microseconds],
      '<= 1.5x',
      cost <= 1.5 * plain.microseconds,
    ),
    makeFigure(
      'delay after the first client, p99 of all clients',
      'ms',
      [measured.p99, plain.p99],
      '<= 500 ms',
      measured.p99 <= 500,
    ),
    {
      ...makeFigure(
        'memory per client',
        'KB',
        [bytesPerClient / 1_024, CLIENT_KB_MAX],
        `<= ${CLIENT_KB_MAX} KB`,
        bytesPerClient <= CLIENT_KB_MAX * 1_024,
      ),
      limitName: 'allowed',
    },
  ];
}

async function measure(readers: BenchChild, serverPid: number): Promise<Measured> {
  const readCounts = async (): Promise<Received> => {
    readers.say('look');
    return JSON.parse(await readers.nextLine()) as Received;
  };
  await delay(2_000);
  await readCounts();
  const cpuBefore = processorSeconds(serverPid);
  await delay(SECONDS * 1_000);
  const usedSeconds = processorSeconds(serverPid) - cpuBefore;
  const counts = await readCounts();
  if (counts.messages === 0) throw new Error('no client received a message');
  return { ...counts, microseconds: (usedSeconds / counts.messages) * 1e6 };
}

/** Length in bytes of the message that the stream sends for one swap. */
async function messageBytes(api: ServedApi): Promise<number> {
  const { data } = JSON.parse(await api.get('/api/v1/activity?event_type=swap&limit=1')) as {
    data: unknown[];
  };
  return Buffer.byteLength(`id: 123456-12-01234567\nevent: swap\ndata: ${JSON.stringify(data[0])}\n\n`);
}
