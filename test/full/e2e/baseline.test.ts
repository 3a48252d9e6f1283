/**
 * Checks that the benchmarks run and report every figure of baseline.json. The test does not judge the
 * figures, because they depend on the load of the machine. `npm run bench -- decode backfill insert ticks
 * --baseline` judges the figures on a quiet machine.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { listWorse, readBaselines } from '../../../scripts/bench/baseline';
import type { Figure } from '../../../scripts/bench/figure';
import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';

const SIZE = { BENCH_BLOCKS: '100', BENCH_SWAPS: '10000', BENCH_CALM_MS: '0', BENCH_REQUESTS: '40' };
const GROUPS = ['decode', 'backfill', 'insert', 'ticks'];
const run = promisify(execFile);

test('the benchmarks report every figure of baseline.json as a ratio to a limit of the same run', async () => {
  const main = join(findPackageRoot(), 'build/scripts/bench/main.js');
  const options = { env: { ...process.env, ...SIZE }, maxBuffer: 1e8 };
  // The command fails when a figure misses its target. This test only needs the figures.
  const said = await run(process.execPath, [main, ...GROUPS, '--json'], options).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => {
      if (!error.stdout.trimStart().startsWith('[')) throw new Error(error.stderr);
      return error;
    },
  );
  const figures = JSON.parse(said.stdout) as Figure[];
  const keys = Object.keys(readBaselines());
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    const figure = figures.find((one) => one.key === key);
    expect([key, figure?.ratio]).toEqual([key, figure!.value / figure!.limit]);
    expect(figure!.ratio).toBeGreaterThan(0);
  }
}, 1_200_000);

test('a ratio clearly worse than its baseline and a missing figure are reported', () => {
  const baselines = Object.entries(readBaselines());
  const figuresAt = (factor: number): Figure[] =>
    baselines.map(([key, { ratio, better }]) => ({
      key,
      name: key,
      value: 1,
      unit: '',
      limitName: '',
      limit: 1,
      ratio: better === 'less' ? ratio * factor : ratio / factor,
      target: '',
      ok: true,
    }));
  const all = (): boolean => true;
  expect(listWorse(figuresAt(1.2), all)).toEqual([]);
  expect(listWorse(figuresAt(1.4), all)).toHaveLength(baselines.length);
  expect(listWorse([], all)).toHaveLength(baselines.length);
  expect(listWorse([], () => false)).toEqual([]);
});
