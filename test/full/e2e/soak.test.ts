/** A short soak test: every endpoint under load, with reorgs, and all data recomputed at the end. */
import { runSoak } from '../../../scripts/soak/soakRun';
import { judgeMemory } from '../../../scripts/soak/memory';
import { SEED } from '../../support/run/seed';

test('twenty seconds of mixed traffic with reorgs cause no error, and the stored data is correct at the end', async () => {
  process.stdout.write(`soak test, seed ${SEED}\n`);
  const report = await runSoak({ seconds: 20, seed: SEED, askers: 4, say: () => undefined });
  expect(report.faults).toEqual([]);
  expect(report.reorgs).toBeGreaterThan(0);
  expect(report.requests).toBeGreaterThan(report.paths.length);
  expect(report.paths.filter((path) => !report.asked.has(path))).toEqual([]);
  expect(report.connections).toBeGreaterThan(3);
});

test('steadily growing memory is distinguished from varying memory', () => {
  const mib = 2 ** 20;
  const series = (bytesAt: (second: number) => number) =>
    Array.from({ length: 600 }, (_, seconds) => ({ seconds, bytes: bytesAt(seconds) }));
  const swinging = judgeMemory(series((second) => (300 + 60 * Math.sin(second / 7)) * mib));
  expect(swinging.flat).toBe(true);
  expect(Math.abs(swinging.slope)).toBeLessThan(3 * mib);
  const leaking = judgeMemory(series((second) => (300 + second / 2) * mib));
  expect(leaking.flat).toBe(false);
  expect(leaking.slope).toBeCloseTo(30 * mib, -3);
});
