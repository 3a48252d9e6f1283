/** Parameters of statements, and the text in which an address carries them. */

export type QueryParams = Readonly<
  Record<string, string | number | boolean | bigint | readonly (string | number | bigint | null)[]>
>;

/** A value as `{name:Type}` reads it: escaped as in TSV, and in arrays quoted. */
export function formatParam(value: QueryParams[string]): string {
  if (typeof value === 'string') return escapeText(value);
  if (typeof value !== 'object') return String(value);
  return `[${value.map(formatItem).join(',')}]`;
}

function formatItem(item: string | number | bigint | null): string {
  if (item === null) return 'NULL';
  return typeof item === 'string' ? `'${escapeText(item)}'` : String(item);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

function escapeText(text: string): string {
  return text.replace(/[\\'\t\n\r\0]/g, (sign) => ESCAPES[sign] ?? sign);
}
