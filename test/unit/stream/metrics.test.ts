/** Tests the contents of the metrics page. */
import type { ChainFigures } from '../../../src/chainGauges';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createMetrics } from '../../../src/metrics';

test('the metrics show the head, streams, queries, requests and the process', async () => {
  const metrics = createMetrics();
  const empty = { block: null, finalBlock: null, ageSeconds: null, behindBlocks: null };
  const streams = { streams: 3, heldBytes: 4_096 };
  let figures: ChainFigures[] = [{ chainId: 369, ...empty, ...streams }];
  metrics.watchChains(() => figures);
  metrics.observeQuery('head/read_head', 0.004);
  metrics.observeRequest('/api/v1/pairs/:address/ticks', 'GET', 200, 0.01);
  metrics.countDrops(1_001);
  const before = await metrics.render();
  expect(before).not.toMatch(/^candlehouse_head_block\{/m);
  const known = { block: 500, finalBlock: 440, ageSeconds: 7, behindBlocks: 0 };
  figures = [
    { chainId: 369, ...known, ...streams },
    { chainId: 8453, ...empty, ...streams },
  ];
  const text = await metrics.render();
  expect(text).toMatch(/^candlehouse_head_block{chain="369"} 500$/m);
  expect(text).not.toMatch(/^candlehouse_head_block{chain="8453"}/m);
  expect(text).toMatch(/^candlehouse_final_block{chain="369"} 440$/m);
  expect(text).toMatch(/^candlehouse_head_age_seconds{chain="369"} 7$/m);
  expect(text).toMatch(/^candlehouse_sse_clients{chain="8453"} 3$/m);
  expect(text).toMatch(/^candlehouse_sse_dropped_messages_total 1001$/m);
  expect(text).toContain('candlehouse_query_seconds_count{name="head/read_head"} 1');
  expect(text).toContain(
    'candlehouse_http_request_seconds_count{route="/api/v1/pairs/:address/ticks",method="GET",status="200"} 1',
  );
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
});

test('the metrics show skipped transfer logs and balance checks of each chain', async () => {
  const metrics = createMetrics();
  const status = newIngestStatus();
  metrics.watchTransfers(1, newIngestStatus);
  metrics.watchTransfers(369, () => status);
  status.skippedTransfers = { nft: 3, malformed: 2, unplaced: 1 };
  Object.assign(status.balanceChecks, { rounds: 4, compared: 90, mismatches: 5, failures: 6, rebasing: 7 });
  const text = await metrics.render();
  for (const [reason, count] of Object.entries(status.skippedTransfers))
    expect(text).toContain(`candlehouse_skipped_transfer_logs{chain="369",reason="${reason}"} ${count}\n`);
  expect(text).toMatch(/^candlehouse_balance_checks{chain="369"} 4$/m);
  expect(text).toMatch(/^candlehouse_balance_checks_failed{chain="369"} 6$/m);
  expect(text).toMatch(/^candlehouse_balance_compared{chain="369"} 90$/m);
  expect(text).toMatch(/^candlehouse_balance_mismatches{chain="369"} 5$/m);
  expect(text).toMatch(/^candlehouse_balance_rebasing_tokens{chain="369"} 7$/m);
  expect(text).toMatch(/^candlehouse_balance_rebasing_tokens{chain="1"} 0$/m);
});

test('the metrics show the newest proven blocks of each proof level, as of the time of the scrape', async () => {
  const metrics = createMetrics();
  let parts = [{ level: 'bloom' as 'bloom' | 'full', from: 1, to: 500 }];
  metrics.watchProof(369, () => Promise.resolve(parts));
  await metrics.render();
  parts = [...parts, { level: 'full', from: 400, to: 480 }];
  const text = await metrics.render();
  expect(text).toContain('candlehouse_proven_from_block{chain="369",level="bloom"} 1\n');
  expect(text).toContain('candlehouse_proven_from_block{chain="369",level="full"} 400\n');
  expect(text).toContain('candlehouse_proven_to_block{chain="369",level="full"} 480\n');
  parts = [];
  expect(await metrics.render()).not.toMatch(/candlehouse_proven_\w+\{/);
});

test('two registries of metrics do not share values', async () => {
  const one = createMetrics();
  const other = createMetrics();
  one.countDrops(5);
  expect(await other.render()).toMatch(/^candlehouse_sse_dropped_messages_total 0$/m);
});
