/** One result of a benchmark: a figure, the limit measured in the same run, and their ratio. */

export interface Figure {
  /** Key of the figure in baseline.json; absent if there is no baseline. */
  readonly key?: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limitName: string;
  readonly limit: number;
  /** The ratio of the figure and its limit. */
  readonly ratio: number;
  readonly target: string;
  readonly ok: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middleIndex = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middleIndex] ?? NaN)
    : ((sorted[middleIndex - 1] ?? NaN) + (sorted[middleIndex] ?? NaN)) / 2;
}

/** The p-th percentile (p from 0 to 100), by nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1))] ?? NaN
  );
}

const shownNumber = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Math.round(value * 100) / 100);

export function printTable(figures: readonly Figure[]): void {
  const rows = figures.map((figure) => [
    figure.name,
    `${shownNumber(figure.value)} ${figure.unit}`,
    figure.limitName,
    `${shownNumber(figure.limit)} ${figure.unit}`,
    shownNumber(figure.ratio),
    figure.target,
    figure.ok ? 'ok' : 'MISSED',
  ]);
  const head = ['figure', 'measured', 'limit in the same run', 'limit', 'ratio', 'target', ''];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [head, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}
