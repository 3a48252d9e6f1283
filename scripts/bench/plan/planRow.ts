/** One line of a plan, and how numbers and tables of plans are written. */

/** What one resource needs. */
export interface PlanRow {
  readonly resource: string;
  /** The formula in words, with the units of docs/measurements.md. */
  readonly formula: string;
  readonly figure: string;
  /** The largest figure that one machine, shard or process can serve; empty without a limit. */
  readonly end: string;
}

/** A point at which the design breaks. */
export interface BreakPoint {
  readonly subject: string;
  readonly formula: string;
  /** The value at which the design breaks, in the same unit as `planned`. */
  readonly limit: number;
  readonly planned: number;
  readonly unit: string;
}

const SIGNIFICANT_DIGITS = 3;

const LARGE_UNITS: readonly (readonly [number, string])[] = [
  [1e12, ' trillion'],
  [1e9, ' billion'],
  [1e6, ' million'],
];

/** A number with three digits: 0.0123, 1.2, 345, 12,300, 4.7 billion. */
export function showNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'no limit' : 'none';
  const rounded = Number(value.toPrecision(SIGNIFICANT_DIGITS));
  const [size, unit] = LARGE_UNITS.find(([unitSize]) => rounded >= unitSize) ?? [1, ''];
  return `${(rounded / size).toLocaleString('en-US', { maximumSignificantDigits: SIGNIFICANT_DIGITS })}${unit}`;
}

const BYTE_UNITS: readonly (readonly [number, string])[] = [
  [1e15, 'PB'],
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
];

export function shownBytes(bytes: number): string {
  const [size, unit] = BYTE_UNITS.find(([unitSize]) => bytes >= unitSize) ?? [1, 'B'];
  return `${showNumber(bytes / size)} ${unit}`;
}

/** Seconds as days, hours or seconds. */
export function shownTime(seconds: number): string {
  if (seconds >= 86_400) return `${showNumber(seconds / 86_400)} days`;
  if (seconds >= 3_600) return `${showNumber(seconds / 3_600)} hours`;
  return `${showNumber(seconds)} s`;
}

/** An aligned table with a line below the titles. */
export function toTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const separator = widths.map((width) => '-'.repeat(width));
  return [titles, separator, ...rows].map(line).join('\n');
}
