import { createBlockSource } from '../../../src/chain/blocks/blockSource';
import { fetchAhead } from '../../../src/ingest/session/fetchAhead';
import { FakeChain } from '../../support/node/fakeChain';
import { startFlakyProxy } from '../../support/node/flakyProxy';
import { seededRandom } from '../../support/random';
import { closeAll, closeLater, poolOf, silentLog, startNode } from './setup';

afterEach(closeAll);

test.each([0, 20])('measure at latency %i', async (latencyMs) => {
  const N = 3000;
  const chain = new FakeChain(7);
  chain.mineMany(N, 8);
  for (const hasReceipts of [true, false])
  for (const share of [0, 0.1, 0.3, 0.6]) {
    const node = await startNode(chain);
    node.hasReceipts = hasReceipts;
    const proxy = await startFlakyProxy({ url: node.httpUrl, random: seededRandom(5), share, latencyMs });
    closeLater(() => proxy.close());
    const pool = poolOf([proxy.url]);
    const source = createBlockSource({ pool, log: silentLog });
    const began = performance.now();
    let next = 1, errors = 0;
    const signal = AbortSignal.timeout(20_000);
    let lastError = '';
    while (next <= N && !signal.aborted) {
      try {
        for await (const blocks of fetchAhead(source, next, N, { signal })) next += blocks.length;
      } catch (e) { errors += 1; lastError = String(e).slice(0, 200); }
    }
    const s = (performance.now() - began) / 1000;
    process.stderr.write(`latency ${latencyMs} receipts ${hasReceipts} share ${share}: ${Math.round((next - 1) / s)} blocks/s, ${next - 1} in ${s.toFixed(1)} s, errors ${errors} ${lastError}, requests ${proxy.batches.length}, mean batch ${(proxy.batches.reduce((a, b) => a + b, 0) / proxy.batches.length).toFixed(1)}\n`);
    node.calls.length = 0;
  }
}, 300_000);
