/**
 * Compares the ratios of a run with baseline.json. A ratio is a figure divided by a limit that the same run measured,
 * so ratios of different machines are comparable.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../src/clickhouse/client/packageRoot';
import type { Figure } from './figure';

interface Baseline {
  /** The measured ratio: value / limit. */
  readonly ratio: number;
  /** Direction of better ratios: `less` if a smaller ratio is better, `more` if a larger ratio is better. */
  readonly better: 'less' | 'more';
}

/** Allowed deviation from the baseline, as a fraction. */
const MARGIN = 0.25;

/** Baselines by the key of a figure, which starts with the name of its group. */
export function readBaselines(): Readonly<Record<string, Baseline>> {
  return JSON.parse(readFileSync(join(findPackageRoot(), 'scripts/bench/baseline.json'), 'utf8'));
}

/** Lists each figure that is a quarter worse than its baseline, or missing although its group ran. */
export function listWorse(figures: readonly Figure[], isWanted: (group: string) => boolean): string[] {
  return Object.entries(readBaselines()).flatMap(([key, { ratio: baselineRatio, better }]) => {
    if (!isWanted(key.split('_')[0] ?? key)) return [];
    const ratio = figures.find((figure) => figure.key === key)?.ratio ?? NaN;
    const isAsGood =
      better === 'less' ? ratio <= baselineRatio * (1 + MARGIN) : ratio >= baselineRatio * (1 - MARGIN);
    return isAsGood
      ? []
      : [`${key}: ratio ${ratio.toFixed(2)}, baseline ${baselineRatio}, ${better} is better`];
  });
}
