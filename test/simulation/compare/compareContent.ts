/** Lists the differences between stored and expected rows, one line each. An empty list means success. */
import { fieldsOf, type StoredContent } from './storedContent';

const SHOWN_MAX = 3;

/** Compares the bytes of stored and expected rows, row by row. */
export function compareRows(
  stored: StoredContent['rows'],
  expected: ReadonlyMap<string, readonly string[]>,
): string[] {
  const differences: string[] = [];
  for (const [table, rows] of expected) {
    // Above 0 for a missing row, below 0 for an unexpected one.
    const countByRow = new Map<string, number>();
    for (const row of rows) countByRow.set(row, (countByRow.get(row) ?? 0) + 1);
    for (const row of stored.get(table) ?? []) countByRow.set(row, (countByRow.get(row) ?? 0) - 1);
    const wrong = [...countByRow].filter(([, count]) => count !== 0);
    for (const [row, count] of wrong.slice(0, SHOWN_MAX)) {
      const fields = JSON.stringify(fieldsOf(table, row), (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      differences.push(`${table} ${count > 0 ? `lacks ${count} of` : `has ${-count} too many of`} ${fields}`);
    }
    if (wrong.length > SHOWN_MAX) differences.push(`${table}: ${wrong.length} rows differ`);
  }
  return differences;
}
