/** Tests JSON parsing in slices: the result equals JSON.parse, other work runs between slices, and text that
 * no node sends is refused. */
import fc from 'fast-check';

import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import { parseSliced } from '../../../../src/node/rpc/slicedJson';

const plain = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const sliced = (text: string, clock: Clock = systemClock()): Promise<unknown> =>
  parseSliced(Buffer.from(text), clock);

const logs = (count: number, digits = 64) =>
  Array.from({ length: count }, (_, index) => ({
    address: `0x${'a'.repeat(40)}`,
    topics: [`0x${'b'.repeat(64)}`],
    data: `0x${'c'.repeat(digits)}`,
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }));
/** A batch answer of a node. It contains receipts, and one receipt has very many logs. */
const BATCH = [
  { jsonrpc: '2.0', id: 0, result: { number: '0x1', text: 'a "quoted" \\ Grüße, 你好 \u0000' } },
  { jsonrpc: '2.0', id: 1, result: [{ status: '0x1', logs: logs(900) }, { logs: [] }, {}] },
  { jsonrpc: '2.0', id: 2, result: logs(1, 200_000) },
  {
    jsonrpc: '2.0',
    id: 2,
    result: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key${i}`, i])),
  },
  { jsonrpc: '2.0', id: 3, result: null },
];

test.each([undefined, 1, '\t'])(
  'a large batch equals the result of JSON.parse, indented by %j',
  async (indent) => {
    expect(await sliced(JSON.stringify(BATCH, null, indent))).toEqual(BATCH);
  },
);

test.each([`{"a":1,"b":2,"a":3}`, `{"a":1,"__proto__":{"b":2},"c":3}`])(
  'many objects like %s equal the result of JSON.parse',
  async (object) => {
    const text = `[${Array(100).fill(object).join()}]`;
    expect(await sliced(text)).toStrictEqual(plain(text));
  },
);

test('strings of any length with escaped quotes and backslashes equal the result of JSON.parse', async () => {
  const character = fc.constantFrom('"', '\\', 'a', 'é', ',', ']');
  const strings = fc.array(fc.string({ unit: character, maxLength: 90, size: 'max' }), {
    minLength: 1,
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(strings, async (values) => {
      // The large member makes the parser search for the ends of the others.
      const value = { values, large: ['f'.repeat(70_000)], more: [values, { values }] };
      expect(await sliced(JSON.stringify(value))).toEqual(value);
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['before a large member', (large: string) => `[,${large}]`],
  ['before a large member of an object', (large: string) => `{,"a":${large}}`],
  ['after many spaces', (large: string) => `[${' '.repeat(70_000)},${large}]`],
  ['twice before a large member', (large: string) => `[1,,${large}]`],
  ['after a large member', (large: string) => `[${large},]`],
])('the parser refuses a comma without a value %s', async (_where, textOf) => {
  const text = textOf(JSON.stringify(['f'.repeat(70_000)]));
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  expect(await sliced(text)).toBeUndefined();
});

test('parsing in slices gives the result of JSON.parse for any large document, intact or damaged', async () => {
  const filler = 'f'.repeat(70_000);
  const document = fc
    .array(fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant(filler), fc.constant(logs(300))), {
      minLength: 1,
      maxLength: 8,
    })
    .chain((items) =>
      fc.constantFrom<unknown>(items, { items, ['__proto__']: filler }, [[items], { deeper: { items } }]),
    );
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    by: fc.constantFrom('', ',', ']', '}', '"', '\\', ':', '[', ' '),
    cut: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(document, fc.option(damage, { nil: null }), async (value, harm) => {
      const text = JSON.stringify(value);
      const at = Math.floor((harm?.at ?? 0) * text.length);
      const given = harm === null ? text : text.slice(0, at) + harm.by + text.slice(at + harm.cut);
      const isContainer = /^\s*[[{]/.test(given);
      expect(await sliced(given)).toEqual(isContainer ? plain(given) : undefined);
    }),
    { numRuns: 60 },
  );
});

test('the parser reads a block with as many logs as its gas allows', async () => {
  const bare = {
    address: `0x${'a'.repeat(40)}`,
    topics: [],
    data: '0x',
    blockNumber: '0x1234567',
    blockHash: `0x${'b'.repeat(64)}`,
    transactionHash: `0x${'c'.repeat(64)}`,
    transactionIndex: '0x0',
    logIndex: '0xffff',
    removed: false,
  };
  const parsed = (await sliced(JSON.stringify({ result: Array(60_000).fill(bare) }))) as {
    result: unknown[];
  };
  expect(parsed.result).toHaveLength(60_000);
  expect(parsed.result.at(-1)).toEqual(bare);
});

test('the parser yields to the event loop between slices', async () => {
  let turns = 0;
  let time = 0;
  const clock = { ...systemClock(), now: () => (time += 6), turn: async () => void (turns += 1) };
  await sliced(JSON.stringify(logs(10_000)), clock);
  expect(turns).toBeGreaterThan(20);
});

const many = (unit: string, count: number, join = ''): string => Array(count).fill(unit).join(join);
test.each([
  ['deeply nested lists', many('[', 200_000) + many(']', 200_000)],
  ['deeply nested objects', `${many('{"a":', 100_000)}1${many('}', 100_000)}`],
  ['too many empty objects', `[${many('{}', 300_000, ',')}]`],
  ['too many numbers', `[${many('1', 600_000, ',')}]`],
  [
    'an object with too many keys',
    `{${Array.from({ length: 40_000 }, (_, i) => `"key number ${i}":1`).join(',')}}`,
  ],
  ['a string of 17 MiB', `["${'a'.repeat(17 * 2 ** 20)}"]`],
  ['a document without its end', `[${many('"abcdef"', 20_000, ',')}`],
  ['two documents', `[${many('"abcdef"', 20_000, ',')}][]`],
])('the parser refuses a document: %s', async (_, text) => {
  expect(await sliced(text)).toBeUndefined();
});
