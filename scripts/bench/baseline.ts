/** Compares the ratios of a run with those of baseline.json. A ratio beside its limit of the same run suits any machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../src/clickhouse/client/packageRoot';
import type { Figure } from './figure';

interface Baseline {
  /** value / limit, as measured. */
  readonly ratio: number;
  /** Whether a smaller ratio is better. */
  readonly better: 'less' | 'more';
}

/** A ratio may be worse by this part of the baseline's. */
const MARGIN = 0.25;

/** By the key of a figure, which begins with the name of its group. */
export function readBaselines(): Readonly<Record<string, Baseline>> {
  return JSON.parse(readFileSync(join(findPackageRoot(), 'scripts/bench/baseline.json'), 'utf8'));
}

/** A line for each watched figure that is a quarter worse than the baseline, or missing although its group ran. */
export function listWorse(figures: readonly Figure[], wants: (group: string) => boolean): string[] {
  return Object.entries(readBaselines()).flatMap(([key, { ratio: was, better }]) => {
    if (!wants(key.split('_')[0] ?? key)) return [];
    const ratio = figures.find((figure) => figure.key === key)?.ratio ?? NaN;
    const isAsGood = better === 'less' ? ratio <= was * (1 + MARGIN) : ratio >= was * (1 - MARGIN);
    return isAsGood ? [] : [`${key}: ratio ${ratio.toFixed(2)}, baseline ${was}, ${better} is better`];
  });
}
