/** Measures what compression costs: requests per second and bytes of a cached list, by Accept-Encoding. */
import { request } from 'node:http';

import autocannon from 'autocannon';

import { median, type Figure } from '../figure';
import type { ServedApi } from '../loaders/servedApi';

const CONNECTIONS = 64;
const SECONDS = 3;
const ROUNDS = 3;
const PATH = '/api/v1/pairs?limit=100';
const ENCODINGS = ['gzip', 'br'] as const;

export async function benchCompression(api: ServedApi): Promise<Figure[]> {
  const url = `${api.url}${PATH}`;
  const plainBytes = await countBytes(url, 'identity');
  const bytes = await Promise.all(ENCODINGS.map((encoding) => countBytes(url, encoding)));
  const plainRates: number[] = [];
  const zippedRates = ENCODINGS.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    plainRates.push(await requestsPerSecond(url, 'identity'));
    for (const [encodingIndex, encoding] of ENCODINGS.entries())
      zippedRates[encodingIndex]?.push(await requestsPerSecond(url, encoding));
  }
  const limit = median(plainRates);
  return ENCODINGS.map((encoding, encodingIndex) => {
    const value = median(zippedRates[encodingIndex] ?? []);
    return {
      name: `/pairs with ${encoding}, ${bytes[encodingIndex] ?? 0} bytes instead of ${plainBytes}`,
      value,
      unit: 'requests/s',
      limitName: 'without compression',
      limit,
      ratio: value / limit,
      target: '>= 0.25x',
      ok: value >= 0.25 * limit,
    };
  });
}

function countBytes(url: string, encoding: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { 'Accept-Encoding': encoding }, agent: false }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.once('end', () => resolve(bytes));
      answer.once('error', reject);
    });
    call.once('error', reject);
    call.end();
  });
}

async function requestsPerSecond(url: string, encoding: string): Promise<number> {
  const headers = { 'Accept-Encoding': encoding };
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: SECONDS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx + result.errors} requests for ${url} failed`);
  return result.requests.average;
}
