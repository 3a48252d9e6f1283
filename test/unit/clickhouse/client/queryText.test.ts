import { parseQueryText } from '../../../../src/clickhouse/client/queryText';

const TEXT = `SELECT a
FROM t
WHERE x = {x:UInt8}
    AND b IN {list:Array(UInt8)} -- if list
-- if heads
UNION ALL
SELECT a FROM u
WHERE c IN {heads:Array(UInt8)}
    AND b IN {list:Array(UInt8)} -- if list
-- end
LIMIT 1`;

test('lines and blocks with `-- if` appear only if their parameter has a value', () => {
  const textFor = parseQueryText('t', TEXT);
  expect(textFor({ x: 0, list: [], heads: [] })).toBe('SELECT a\nFROM t\nWHERE x = {x:UInt8}\nLIMIT 1');
  expect(textFor({ x: 0, list: [1], heads: [] })).toContain('AND b IN');
  const heads = textFor({ x: 0, list: [], heads: [1] });
  expect(heads).toContain('UNION ALL\nSELECT a FROM u\nWHERE c IN {heads:Array(UInt8)}\nLIMIT 1');
  expect(heads).not.toContain('-- ');
  expect(textFor({ x: 0, list: [1], heads: [1] }).match(/AND b IN/g)).toHaveLength(2);
});

test('`-- if` keeps a line for zero, but not for false, an empty text or a missing parameter', () => {
  const textFor = parseQueryText('t', 'SELECT 1 -- if a');
  expect(textFor({ a: 0 })).toBe('SELECT 1');
  for (const params of [{ a: '' }, { a: false }, {}]) expect(textFor(params)).toBe('');
});

test('a _chain table gives the final rows, and the rows of the canonical head if there are any', () => {
  const textFor = parseQueryText('t', 'SELECT a\n  FROM swaps_chain(fee_usd) AS s\nLIMIT 1');
  const final =
    'SELECT a\n  FROM\n  (\n      SELECT *, fee_usd\n      FROM swaps\n      WHERE ord <= {final_ord:UInt64}\n';
  expect(textFor({ commits: [] })).toBe(`${final}  ) AS s\nLIMIT 1`);
  expect(textFor({ commits: [1] })).toBe(
    `${final}      UNION ALL\n      SELECT * EXCEPT commit, fee_usd\n      FROM swaps_head\n` +
      '      WHERE has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}\n  ) AS s\nLIMIT 1',
  );
  expect(parseQueryText('t', 'FROM pools_chain')({})).toContain(') AS pools_chain');
});

test('the conditions of a `-- both parts` block apply to the final table and to the head table', () => {
  const textFor = parseQueryText(
    't',
    '-- both parts\nSELECT ord\nFROM events_chain AS e\nWHERE kind = 1\n-- final part\n    AND b -- if b\n-- end\n    AND pair = 2 -- if pair\nLIMIT 3\n-- end\nLIMIT 1',
  );
  const final = '(\nSELECT ord\nFROM events AS e\nWHERE e.ord <= {final_ord:UInt64} AND kind = 1\n';
  const head =
    'SELECT ord\nFROM events_head AS e\nWHERE has({commits:Array(UInt64)}, e.commit) AND e.ord > {final_ord:UInt64} AND kind = 1\n';
  expect(textFor({ commits: [] })).toBe(`${final}LIMIT 3\n)\nLIMIT 1`);
  expect(textFor({ commits: [7], pair: 'ab', b: true })).toBe(
    `${final}    AND b\n    AND pair = 2\nLIMIT 3\n)\nUNION ALL\n(\n${head}    AND pair = 2\nLIMIT 3\n)\nLIMIT 1`,
  );
});

test('a _head_chain table gives the rows of the canonical head, with or without a WHERE', () => {
  const rows = 'WHERE has({commits:Array(UInt64)}, s.commit) AND s.ord > {final_ord:UInt64}';
  expect(parseQueryText('t', 'FROM swaps_head_chain AS s\nLIMIT 1')({})).toBe(
    `FROM swaps_head AS s\n${rows}\nLIMIT 1`,
  );
  expect(parseQueryText('t', '  FROM swaps_head_chain AS s\n  WHERE a\n    AND b')({})).toBe(
    `  FROM swaps_head AS s\n  ${rows} AND a\n    AND b`,
  );
  expect(parseQueryText('t', 'FROM blocks_head_chain')({})).toBe(
    'FROM blocks_head\nWHERE has({commits:Array(UInt64)}, commit) AND number > {final_to:UInt32}',
  );
});

test('a statement without blocks stays unchanged', () => {
  expect(parseQueryText('t', '-- One row.\nSELECT 1')({})).toBe('-- One row.\nSELECT 1');
});

test.each(['-- if a\nSELECT 1', 'SELECT 1\n-- end', '-- both parts\nSELECT 1\nFROM t_chain'])(
  'an unbalanced block is refused in the query %j',
  (text) => {
    expect(() => parseQueryText('t', text)).toThrow('-- end');
  },
);
