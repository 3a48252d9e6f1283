/** Tests when differing row counts stop the writer. */
import { silent } from '../../support/engine/embedded';
import type { GapStore } from '../../../src/ingest/repair/gapStore';
import { refillGaps } from '../../../src/ingest/repair/refill';

const CURSOR = { seq: 1, number: 9, hash: `0x${'0'.repeat(64)}`, timestamp: 0 } as const;

/** Row counts of `logs`: the n-th comparison sees the n-th count, and later ones the last. No range lacks rows. */
function refill(storedCounts: readonly number[]): Promise<boolean> {
  const refuse = (): never => {
    throw new Error('not part of this test');
  };
  const counts = [...storedCounts];
  const gaps: GapStore = {
    readExpected: () => Promise.resolve(new Map([['logs', 5]])),
    readStored: () => Promise.resolve(new Map([['logs', counts.length > 1 ? counts.shift()! : counts[0]!]])),
    listGaps: () => Promise.resolve([]),
    refill: refuse,
    listIncomplete: refuse,
  };
  const deps = { gaps, log: silent, now: () => 0 } as unknown as Parameters<typeof refillGaps>[0];
  return refillGaps(deps, refuse as never, CURSOR, new AbortController().signal);
}

test('a count that differs while an insert of a killed writer ends stops nothing', async () => {
  expect(await refill([4, 6, 5])).toBe(false);
});

test('counts that differ for good stop the writer', async () => {
  await expect(refill([4, 6, 6])).rejects.toMatchObject({
    code: 'broken_invariant',
    message: expect.stringContaining('the row counts of logs differ from those of the finished ranges'),
  });
});
