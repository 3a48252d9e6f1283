/**
 * Rewrites statements for Distributed tables. In a SELECT that reads such a table directly, IN subqueries and
 * joins become GLOBAL. ClickHouse then computes them once and sends the result to each shard.
 *
 * The SQL files do not contain GLOBAL, because on one server a GLOBAL IN cannot be a PREWHERE (an early
 * filter), so the query would read more. The setting distributed_product_mode is no alternative: it fails for
 * subqueries over two tables (ClickHouse #99370), and a reader may not set it. If the SELECT reads a subquery
 * instead of a table, its IN stays unchanged. Engine 26.7 would push a GLOBAL IN filter to shards that lack
 * the set, and silently lose rows.
 */

/**
 * Where GLOBAL may be inserted: `IN (SELECT`, `IN name` of a query in WITH, and joins. SQL keywords are upper
 * case.
 */
const PLACES =
  /\b(?:NOT )?IN\s*\(\s*(?:SELECT|WITH)\b|\b(?:NOT )?IN [a-z_]\w*\b|(?<!ARRAY )\b(?:(?:ANY|ASOF|SEMI|ANTI|LEFT|INNER|FULL) )*(?<!ARRAY )JOIN\b/g;

const HIDDEN = /'(?:[^'\\]|\\.)*'|--[^\n]*/g;
const KEPT_MAX = 1_000;

/** Caches the rewritten statements, because a program uses few. */
export function createGlobalizer(): (sql: string) => string {
  const made = new Map<string, string>();
  return (sql) => {
    const known = made.get(sql);
    if (known !== undefined) return known;
    if (made.size >= KEPT_MAX) made.clear();
    const text = globalSubqueries(sql);
    made.set(sql, text);
    return text;
  };
}

export function globalSubqueries(sql: string): string {
  // Replaces strings and comments by spaces, so that positions stay the same.
  const seen = sql.replace(HIDDEN, (hidden) => ' '.repeat(hidden.length));
  let said = '';
  let done = 0;
  for (const { 0: found, index } of seen.matchAll(PLACES)) {
    if (!readsTable(seen, index) || isListOfParameters(seen, index, found)) continue;
    const named = /^((?:NOT )?IN) (\w+)$/.exec(found);
    const text =
      named === null ? sql.slice(index, index + found.length) : `${named[1]} (SELECT * FROM ${named[2]})`;
    said += `${sql.slice(done, index)}GLOBAL ${text}`;
    done = index + found.length;
  }
  return said + sql.slice(done);
}

/** Whether the SELECT around position `at` reads a table directly, and not a subquery or a query in WITH. */
function readsTable(sql: string, at: number): boolean {
  for (let inside = at; inside >= 0;) {
    const open = openingBefore(sql, inside);
    const flat = flatten(sql.slice(open + 1, closingAfter(sql, inside)));
    const own = selectAround(flat, inside - open - 1);
    if (/\bSELECT\b/.test(own)) {
      const name = /\bFROM\s+(?:\{\w+:Identifier\}\.)?([a-z_]\w*)/.exec(own)?.[1];
      return name !== undefined && !new RegExp(`\\b${name}\\s+AS\\s*\\(`).test(sql);
    }
    inside = open;
  }
  return false;
}

/**
 * Whether a subquery has no FROM, so that it only lists parameters. It is then the same on every shard and
 * stays unchanged.
 */
function isListOfParameters(sql: string, at: number, found: string): boolean {
  const open = found.indexOf('(');
  if (open === -1) return false;
  const from = at + open + 1;
  return !/\bFROM\b/.test(sql.slice(from, closingAfter(sql, from)));
}

/** Returns the part between two UNIONs that contains position `at`. */
function selectAround(flat: string, at: number): string {
  let start = 0;
  for (const { index } of flat.matchAll(/\bUNION\b/g)) {
    if (index > at) return flat.slice(start, index);
    start = index;
  }
  return flat.slice(start);
}

/** Replaces the content of parentheses by spaces, so that positions stay the same. */
function flatten(sql: string): string {
  let depth = 0;
  let flat = '';
  for (const sign of sql) {
    if (sign === ')') depth -= 1;
    flat += depth > 0 ? ' ' : sign;
    if (sign === '(') depth += 1;
  }
  return flat;
}

/** Returns the position of the opening parenthesis around position `at`, or -1. */
function openingBefore(sql: string, at: number): number {
  let depth = 0;
  for (let i = at - 1; i >= 0; i -= 1) {
    if (sql[i] === ')') depth += 1;
    else if (sql[i] === '(') depth -= 1;
    if (depth < 0) return i;
  }
  return -1;
}

function closingAfter(sql: string, at: number): number {
  let depth = 0;
  for (let i = at; i < sql.length; i += 1) {
    if (sql[i] === '(') depth += 1;
    else if (sql[i] === ')') depth -= 1;
    if (depth < 0) return i;
  }
  return sql.length;
}
