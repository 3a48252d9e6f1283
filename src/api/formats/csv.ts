/** Writes columns as CSV: texts are quoted, an unknown value is an empty field, and no text is a formula. */
import type { Cell, TableColumn } from './listTable';

/** Spreadsheets run a cell that begins with one of these signs as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const DECIMAL = /^[+-]?\d+(\.\d+)?$/;
/** Columns with these names hold texts from the chain, which a contract chooses. */
const CHAIN_TEXT = /(^|_)(symbol|name|label)$/;

export function writeCsv(columns: readonly TableColumn[]): Buffer {
  const rowCount = columns[0]?.values.length ?? 0;
  const lines = [columns.map(({ name }) => quote(name)).join(',')];
  for (let row = 0; row < rowCount; row += 1) {
    lines.push(columns.map(({ name, values }) => writeCell(name, values[row] ?? null)).join(','));
  }
  return Buffer.from(`${lines.join('\n')}\n`);
}

function writeCell(name: string, value: Cell): string {
  if (value === null) return '';
  return typeof value === 'string' ? quote(neutralize(name, value)) : String(value);
}

/** Puts `'` before a text that a spreadsheet would run as a formula (OWASP, CSV injection). Decimal strings stay
 * numbers, except in names and symbols. */
function neutralize(name: string, text: string): string {
  if (!FORMULA.test(text)) return text;
  return !CHAIN_TEXT.test(name) && DECIMAL.test(text) ? text : `'${text}`;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
