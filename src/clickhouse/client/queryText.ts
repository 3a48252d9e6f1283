/**
 * Expands two extensions of SQL in named queries. The first is the rows of a table at a snapshot: its final
 * rows and the rows of canonical head blocks:
 *
 *   FROM swaps_chain AS s                the head rows are left out if `commits` is empty
 *   FROM swaps_chain(fee_usd)            adds an ALIAS column, which `SELECT *` does not return
 *   FROM swaps_head_chain AS s           only the head rows; `WHERE …`, if any, must be the next line
 *   -- both parts                        all lines up to `-- end` run separately over the final and the head
 *   -- end                               table, with their own ORDER BY and LIMIT
 *   -- final part                        within `-- both parts`: lines up to `-- end` for the final table only
 *   -- end
 *
 * The second is optional parts. For small reads, ClickHouse spends more time on planning than on reading, so
 * conditions that a call does not need are removed. Other tools see the marks as comments:
 *
 *   AND topic1 IN (…) -- if topics1      the line is removed if the parameter is empty or false
 *   -- if commits                        all lines up to `-- end`
 *   -- end
 *
 * Reads of logs also get a setting, see `filterByProjections`.
 */
import { AppError } from '../../errors';
import type { QueryParams } from './database';

interface Line {
  readonly text: string;
  /** Names of the parameters that the line needs. The line is left out if one of them is empty or false. */
  readonly neededParams: readonly string[];
}

const BOTH_PARTS = /^\s*-- both parts$/;
const WHERE = /^(\s*)WHERE (.+)$/;
const FINAL_PART = /^\s*-- final part$/;
const ONE_PART = /^(\s*)FROM (\w+)_(final|head)_chain(?: AS (\w+))?$/;
const BOTH_TABLES = /^(\s*)FROM (\w+)_chain(?:\((\w+)\))?(?: AS (\w+))?$/;
const IF_BLOCK = /^\s*-- if (\w+)$/;
const END = /^\s*-- end$/;
const TRAILING_IF = /\s+-- if (\w+)$/;

/**
 * Returns a function that builds the statement for given parameters. Throws if a block has no end or no
 * beginning.
 */
export function parseQueryText(name: string, text: string): (params: QueryParams) => string {
  const lines: Line[] = [];
  const openBlocks: string[] = [];
  for (const line of expandParts(name, text.split('\n')).flatMap(expandPart).flatMap(expandChain)) {
    const blockParam = IF_BLOCK.exec(line)?.[1];
    if (blockParam !== undefined) openBlocks.push(blockParam);
    else if (END.test(line)) {
      if (openBlocks.pop() === undefined) throw new AppError('internal', `${name}: "-- end" without "-- if"`);
    } else {
      const lineParam = TRAILING_IF.exec(line)?.[1];
      lines.push({
        text: line.replace(TRAILING_IF, ''),
        neededParams: lineParam === undefined ? [...openBlocks] : [...openBlocks, lineParam],
      });
    }
  }
  if (openBlocks.length > 0)
    throw new AppError('internal', `${name}: "-- if ${openBlocks.join(', ')}" without "-- end"`);
  const statements = new Map<string, string>();
  const neededParams = [...new Set(lines.flatMap(({ neededParams: needs }) => needs))];
  return (params) => {
    const presentParams = new Set(neededParams.filter((param) => isPresent(params[param])));
    const key = [...presentParams].join(' ');
    const cached = statements.get(key);
    if (cached !== undefined) return cached;
    const usedLines = lines.filter(({ neededParams: needs }) =>
      needs.every((param) => presentParams.has(param)),
    );
    const statement = filterByProjections(usedLines.map((line) => line.text).join('\n'));
    statements.set(key, statement);
    return statement;
  };
}

/**
 * Matches reads of logs, and of blocks by hash. These tables have projections with the positions of rows, and ClickHouse
 * uses the positions to filter the rows of the table.
 */
const USES_POSITIONS = /\bFROM logs\b|\breinterpretAsUInt32\(hash\)/;

/**
 * Adds a setting with which ClickHouse filters rows by projections, if the statement needs it. The setting is off for
 * other statements, because with it ClickHouse reads the keys of all projections while it plans a statement. This takes
 * 45 ms for a table of 100 million rows.
 */
export function filterByProjections(statement: string): string {
  return USES_POSITIONS.test(statement)
    ? `${statement}\nSETTINGS optimize_use_projection_filtering = 1`
    : statement;
}

/**
 * Returns a scalar subquery with the number of rows of a table that match a condition. Of the table `logs`, ClickHouse
 * 26.7 counts some rows twice without the setting: once from the index of the table and once from a projection
 * (decision 148).
 */
export function countSql(table: string, condition: string): string {
  return `(SELECT count() FROM ${table} WHERE ${condition} SETTINGS optimize_use_implicit_projections = 0)`;
}

/** Repeats the lines between `-- both parts` and `-- end` for the final table and its head table. */
function expandParts(name: string, lines: readonly string[]): string[] {
  const beginIndex = lines.findIndex((line) => BOTH_PARTS.test(line));
  if (beginIndex === -1) return [...lines];
  const endIndex = findEnd(name, lines, beginIndex);
  const bodyLines = lines.slice(beginIndex + 1, endIndex);
  const finalStart = bodyLines.findIndex((line) => FINAL_PART.test(line));
  const finalEnd = finalStart === -1 ? -1 : findEnd(name, bodyLines, finalStart);
  const linesOfPart = (part: 'final' | 'head'): string[] =>
    bodyLines
      .filter(
        (_, i) => i < finalStart || i > finalEnd || (part === 'final' && i !== finalStart && i !== finalEnd),
      )
      .map((line) => line.replace(/\bFROM (\w+)_chain( AS \w+)?$/, `FROM $1_${part}_chain$2`));
  return [
    ...[...lines.slice(0, beginIndex), '(', ...linesOfPart('final'), ')'],
    ...['-- if commits', 'UNION ALL', '(', ...linesOfPart('head'), ')', '-- end'],
    ...expandParts(name, lines.slice(endIndex + 1)),
  ];
}

/** Index of the `-- end` of the block that begins at `begin`. */
function findEnd(name: string, lines: readonly string[], begin: number): number {
  let depth = 0;
  const offset = lines.slice(begin).findIndex((line) => {
    if (BOTH_PARTS.test(line) || FINAL_PART.test(line) || IF_BLOCK.test(line)) depth += 1;
    return END.test(line) && (depth -= 1) === 0;
  });
  if (offset === -1)
    throw new AppError('internal', `${name}: "${lines[begin]?.trim() ?? ''}" without "-- end"`);
  return begin + offset;
}

/** The condition that selects the rows of the snapshot in a table or in its head table. */
function snapshotCondition(table: string, isHead: boolean, alias = ''): string {
  const [column, lastFinal] =
    table === 'blocks' ? ['number', '{final_to:UInt32}'] : ['ord', '{final_ord:UInt64}'];
  if (!isHead) return `${alias}${column} <= ${lastFinal}`;
  return `has({commits:Array(UInt64)}, ${alias}commit) AND ${alias}${column} > ${lastFinal}`;
}

/** Replaces one part of a table by the table itself, and adds the condition of the snapshot to the WHERE after it. */
function expandPart(line: string, i: number, lines: readonly string[]): string[] {
  const toClauses = (match: RegExpExecArray): readonly [from: string, condition: string] => {
    const [, indent = '', table = '', part, alias] = match;
    const isHead = part === 'head';
    const from = `${indent}FROM ${table}${isHead ? '_head' : ''}${alias === undefined ? '' : ` AS ${alias}`}`;
    return [from, snapshotCondition(table, isHead, alias === undefined ? '' : `${alias}.`)];
  };
  const partLine = ONE_PART.exec(line);
  if (partLine !== null) {
    const [from, condition] = toClauses(partLine);
    return WHERE.test(lines[i + 1] ?? '') ? [from] : [from, `${partLine[1] ?? ''}WHERE ${condition}`];
  }
  const partBefore = ONE_PART.exec(lines[i - 1] ?? '');
  return [
    partBefore === null
      ? line
      : line.replace(WHERE, (_, indent, rest) => `${indent}WHERE ${toClauses(partBefore)[1]} AND ${rest}`),
  ];
}

/**
 * Replaces the table by a subquery. A parameterised view would do the same, but ClickHouse takes longer to
 * plan a view.
 */
function expandChain(line: string): string[] {
  const chainLine = BOTH_TABLES.exec(line);
  if (chainLine === null) return [line];
  const [, indent = '', table = '', computed, alias = `${table}_chain`] = chainLine;
  const moreColumns = computed === undefined ? '' : `, ${computed}`;
  return [
    'FROM',
    '(',
    `    SELECT *${moreColumns}`,
    `    FROM ${table}`,
    `    WHERE ${snapshotCondition(table, false)}`,
    '    -- if commits',
    '    UNION ALL',
    `    SELECT * EXCEPT commit${moreColumns}`,
    `    FROM ${table}_head`,
    `    WHERE ${snapshotCondition(table, true)}`,
    '    -- end',
    `) AS ${alias}`,
  ].map((each) => indent + each);
}

function isPresent(value: QueryParams[string] | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== '' && value !== false;
}
