/** Measures one endpoint under 64 connections, against a plain node:http server with the same bytes. */
import autocannon from 'autocannon';

import { processorSeconds, startBenchChild } from '../children/childProcess';
import { median, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';

const CONNECTIONS = 64;
const SECONDS = 4;
const ROUNDS = 3;
const PATH = '/api/v1/pairs?limit=25';

export async function benchHot(api: ServedApi): Promise<Figure[]> {
  const body = await api.get(PATH);
  const bare = await startBenchChild('bareServer', { body });
  const servedRates: number[] = [];
  const limits: number[] = [];
  let processorTime = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    limits.push(await requestsPerSecond(bare.url));
    const secondsBefore = processorSeconds(api.pid);
    servedRates.push(await requestsPerSecond(`${api.url}${PATH}`));
    processorTime += processorSeconds(api.pid) - secondsBefore;
  }
  await bare.close();
  const [value, limit] = [median(servedRates), median(limits)];
  return [
    {
      name: `/pairs from the cache, ${CONNECTIONS} connections, ${body.length} bytes`,
      value,
      unit: 'requests/s',
      limitName: 'bare node:http, the same bytes',
      limit,
      ratio: value / limit,
      target: '>= 0.5x',
      ok: value >= 0.5 * limit,
    },
    {
      name: 'processor time of the API per request of /pairs from the cache',
      value: (processorTime / (ROUNDS * SECONDS * mean(servedRates))) * 1e6,
      unit: 'us',
      limitName: 'time of one core per request at this rate',
      limit: 1e6 / mean(servedRates),
      ratio: processorTime / (ROUNDS * SECONDS),
      target: 'printed',
      ok: true,
    },
  ];
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

async function requestsPerSecond(url: string): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} requests for ${url} failed`);
  return result.requests.average;
}
