/** Parameters of statements, and their text form in a URL. */

export type QueryParams = Readonly<
  Record<string, string | number | boolean | bigint | readonly (string | number | bigint | null)[]>
>;

/** Formats a value for `{name:Type}`: escaped as in TSV, and quoted inside arrays. */
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
