/**
 * The cheap part of the benchmark against the ratios of scripts/bench/baseline.json: each is beside its limit of the same
 * run, so that a slow machine says nothing. Other tests run meanwhile, so one good attempt of some is enough.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Figure } from '../../scripts/bench/figure';
import { findPackageRoot } from '../../src/clickhouse/packageRoot';

interface Baseline {
  /** value / limit, as measured. */
  readonly ratio: number;
  /** Whether a smaller ratio is better. */
  readonly better: 'less' | 'more';
}

const ROOT = findPackageRoot();
const ATTEMPTS = 4;
/** A ratio may be worse by so much. */
const MARGIN = 0.25;
const SIZE = { BENCH_BLOCKS: '400', BENCH_SWAPS: '1000000' };
const GROUPS = ['decode', 'backfill', 'insert', 'ticks'];

const run = promisify(execFile);
const baselines = JSON.parse(readFileSync(join(ROOT, 'scripts/bench/baseline.json'), 'utf8')) as Record<
  string,
  Baseline
>;

/** The figures of the groups of these keys: a key begins with the name of its group. */
async function measure(keys: readonly string[]): Promise<Map<string, Figure>> {
  const main = join(ROOT, 'dist/scripts/bench/main.js');
  const groups = GROUPS.filter((group) => keys.some((key) => key.split('_')[0] === group));
  const options = { env: { ...process.env, ...SIZE }, maxBuffer: 1e8 };
  // It fails where a target is missed; here only the ratios count.
  const said = await run(process.execPath, [main, ...groups, '--json'], options).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => {
      if (!error.stdout.trimStart().startsWith('[')) throw new Error(error.stderr);
      return error;
    },
  );
  const figures = JSON.parse(said.stdout) as Figure[];
  return new Map(figures.flatMap((figure) => (figure.key === undefined ? [] : [[figure.key, figure]])));
}

const isAsGood = (ratio: number, { ratio: was, better }: Baseline): boolean =>
  better === 'less' ? ratio <= was * (1 + MARGIN) : ratio >= was * (1 - MARGIN);

test('no watched ratio is a quarter worse than it was', async () => {
  let left = Object.keys(baselines);
  expect(left.length).toBeGreaterThan(0);
  const seen: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && left.length > 0; attempt += 1) {
    const figures = await measure(left);
    left = left.filter((key) => {
      const ratio = figures.get(key)?.ratio ?? NaN;
      seen.push(`${key} ${ratio.toFixed(2)} (was ${baselines[key]!.ratio})`);
      return !isAsGood(ratio, baselines[key]!);
    });
  }
  console.log(seen.join('\n'));
  expect(left).toEqual([]);
}, 1_200_000);
