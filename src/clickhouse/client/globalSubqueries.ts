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
const GLOBAL_PLACES =
  /\b(?:NOT )?IN\s*\(\s*(?:SELECT|WITH)\b|\b(?:NOT )?IN [a-z_]\w*\b|(?<!ARRAY )\b(?:(?:ANY|ASOF|SEMI|ANTI|LEFT|INNER|FULL) )*(?<!ARRAY )JOIN\b/g;

const STRINGS_AND_COMMENTS = /'(?:[^'\\]|\\.)*'|--[^\n]*/g;
const STATEMENTS_KEPT_MAX = 1_000;

/** Caches the rewritten statements, because a program uses few. */
export function createGlobalizer(): (sql: string) => string {
  const rewrittenBySql = new Map<string, string>();
  return (sql) => {
    const cached = rewrittenBySql.get(sql);
    if (cached !== undefined) return cached;
    if (rewrittenBySql.size >= STATEMENTS_KEPT_MAX) rewrittenBySql.clear();
    const text = globalSubqueries(sql);
    rewrittenBySql.set(sql, text);
    return text;
  };
}

export function globalSubqueries(sql: string): string {
  // Replaces strings and comments by spaces, so that positions stay the same.
  const visibleSql = sql.replace(STRINGS_AND_COMMENTS, (hidden) => ' '.repeat(hidden.length));
  let result = '';
  let copiedTo = 0;
  for (const { 0: matchedText, index } of visibleSql.matchAll(GLOBAL_PLACES)) {
    if (!readsTable(visibleSql, index) || isListOfParameters(visibleSql, index, matchedText)) continue;
    const namedTable = /^((?:NOT )?IN) (\w+)$/.exec(matchedText);
    const text =
      namedTable === null
        ? sql.slice(index, index + matchedText.length)
        : `${namedTable[1]} (SELECT * FROM ${namedTable[2]})`;
    result += `${sql.slice(copiedTo, index)}GLOBAL ${text}`;
    copiedTo = index + matchedText.length;
  }
  return result + sql.slice(copiedTo);
}

/**
 * Whether the innermost SELECT around position `at` reads a table directly, and not a subquery or a query in WITH. Goes
 * outwards through the parentheses until one contains a SELECT.
 */
function readsTable(sql: string, at: number): boolean {
  for (let position = at; position >= 0;) {
    const openingPosition = openingBefore(sql, position);
    const flatSql = flatten(sql.slice(openingPosition + 1, closingAfter(sql, position)));
    const ownSelect = selectAround(flatSql, position - openingPosition - 1);
    if (/\bSELECT\b/.test(ownSelect)) {
      const name = /\bFROM\s+(?:\{\w+:Identifier\}\.)?([a-z_]\w*)/.exec(ownSelect)?.[1];
      return name !== undefined && !new RegExp(`\\b${name}\\s+AS\\s*\\(`).test(sql);
    }
    position = openingPosition;
  }
  return false;
}

/**
 * Whether a subquery has no FROM, so that it only lists parameters. It is then the same on every shard and
 * stays unchanged.
 */
function isListOfParameters(sql: string, at: number, found: string): boolean {
  const opening = found.indexOf('(');
  if (opening === -1) return false;
  const from = at + opening + 1;
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
  for (const character of sql) {
    if (character === ')') depth -= 1;
    flat += depth > 0 ? ' ' : character;
    if (character === '(') depth += 1;
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
