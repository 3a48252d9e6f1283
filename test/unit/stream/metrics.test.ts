/** Tests the contents of the metrics page. */
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createMetrics } from '../../../src/metrics';

test('the metrics show the head, streams, queries, requests and the process', async () => {
  const metrics = createMetrics();
  let head: { number: number; finalNumber: number; timestamp: number } | null = null;
  metrics.watchHead(() => head);
  metrics.watchStreams(
    () => 3,
    () => 4_096,
  );
  metrics.observeQuery('head/read_head', 0.004);
  metrics.observeRequest('/api/v1/pairs/:address/ticks', 'GET', 200, 0.01);
  metrics.countDrops(1_001);
  const before = await metrics.render();
  expect(before).not.toMatch(/^candlehouse_head_block \d/m);
  head = { number: 500, finalNumber: 440, timestamp: 1_780_000_000 };
  const clock = jest.spyOn(Date, 'now').mockReturnValue(1_780_000_007_000);
  const text = await metrics.render();
  clock.mockRestore();
  expect(text).toMatch(/^candlehouse_head_block 500$/m);
  expect(text).toMatch(/^candlehouse_final_block 440$/m);
  expect(text).toMatch(/^candlehouse_head_age_seconds 7$/m);
  expect(text).toMatch(/^candlehouse_sse_clients 3$/m);
  expect(text).toMatch(/^candlehouse_sse_dropped_messages_total 1001$/m);
  expect(text).toContain('candlehouse_query_seconds_count{name="head/read_head"} 1');
  expect(text).toContain(
    'candlehouse_http_request_seconds_count{route="/api/v1/pairs/:address/ticks",method="GET",status="200"} 1',
  );
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
});

test('the metrics show skipped transfer logs and balance checks', async () => {
  const metrics = createMetrics();
  const status = newIngestStatus();
  metrics.watchTransfers(() => status);
  status.skippedTransfers = { nft: 3, malformed: 2, unplaced: 1 };
  Object.assign(status.balanceChecks, { rounds: 4, compared: 90, mismatches: 5, failures: 6, rebasing: 7 });
  const text = await metrics.render();
  for (const [reason, count] of Object.entries(status.skippedTransfers))
    expect(text).toContain(`candlehouse_skipped_transfer_logs{reason="${reason}"} ${count}\n`);
  expect(text).toMatch(/^candlehouse_balance_checks 4$/m);
  expect(text).toMatch(/^candlehouse_balance_checks_failed 6$/m);
  expect(text).toMatch(/^candlehouse_balance_compared 90$/m);
  expect(text).toMatch(/^candlehouse_balance_mismatches 5$/m);
  expect(text).toMatch(/^candlehouse_balance_rebasing_tokens 7$/m);
});

test('the metrics show the newest proven blocks of each proof level, as of the time of the scrape', async () => {
  const metrics = createMetrics();
  let parts = [{ level: 'bloom' as 'bloom' | 'full', from: 1, to: 500 }];
  metrics.watchProof(() => Promise.resolve(parts));
  await metrics.render();
  parts = [...parts, { level: 'full', from: 400, to: 480 }];
  const text = await metrics.render();
  expect(text).toContain('candlehouse_proven_from_block{level="bloom"} 1\n');
  expect(text).toContain('candlehouse_proven_from_block{level="full"} 400\n');
  expect(text).toContain('candlehouse_proven_to_block{level="full"} 480\n');
  parts = [];
  expect(await metrics.render()).not.toMatch(/candlehouse_proven_\w+\{/);
});

test('two registries of metrics do not share values', async () => {
  const one = createMetrics();
  const other = createMetrics();
  one.countDrops(5);
  expect(await other.render()).toMatch(/^candlehouse_sse_dropped_messages_total 0$/m);
});
