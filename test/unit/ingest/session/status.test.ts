/** The progress of a backfill in /readyz. */
import { beginWork, endWork, newIngestStatus, backfillProgress } from '../../../../src/ingest/session/status';

test('a backfill reports its stored part and the time left at its pace', () => {
  const status = newIngestStatus();
  expect(backfillProgress(status, 0)).toBeNull();
  beginWork(status, { kind: 'catch_up', from: 1_001, to: 2_000 }, 10_000);
  const range = { from_block: 1_001, to_block: 2_000 };
  expect(backfillProgress(status, 20_000)).toEqual({ ...range, done_pct: 0, seconds_left: null });
  status.indexed = 1_410;
  expect(backfillProgress(status, 51_000)).toEqual({ ...range, done_pct: 41, seconds_left: 59 });
  status.indexed = 2_000;
  expect(backfillProgress(status, 110_000)).toEqual({ ...range, done_pct: 100, seconds_left: 0 });
  endWork(status, 'catch_up');
  expect(backfillProgress(status, 120_000)).toBeNull();
});

test('the few blocks of an ingester that follows the head are no backfill', () => {
  const status = newIngestStatus();
  beginWork(status, { kind: 'catch_up', from: 1, to: 99 }, 0);
  expect(backfillProgress(status, 60_000)).toBeNull();
});
