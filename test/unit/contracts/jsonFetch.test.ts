import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { createJsonFetch } from '../../../src/contracts/import/jsonFetch';
import { listen } from '../../support/server/listen';

/** Collects garbage at once. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

test('a server that stops in the middle of its answer fails at the timeout, also during garbage collection', async () => {
  const server = await listen(createServer((_, response) => void response.write('{"items": [')));
  const collect = collector();
  const collecting = setInterval(collect, 10);
  try {
    const fetch = createJsonFetch(server.url, { pauseMs: 1, timeoutMs: 300 });
    const asked = fetch.get('/files', new AbortController().signal, 2);
    await expect(asked).rejects.toThrow(/did not answer the request for \/files: no answer within 0.3 s/);
  } finally {
    clearInterval(collecting);
    await server.close();
  }
});
