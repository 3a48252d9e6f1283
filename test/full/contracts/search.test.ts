/** Compares search in real sources with a plain search through all files. Expensive expressions are refused quickly. */
import { contractCodesTable } from '../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { logsTable } from '../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import type { SourceQuestion } from '../../../src/query/sources/sourceQuestion';
import { readRegexQuestion } from '../../../src/query/sources/sourceRegex';
import { searchSources, type SourcePage } from '../../../src/query/sources/sourceSearch';
import { lendSources } from '../../../src/contracts/lendSources';
import type { VerifiedRecord } from '../../../src/contracts/verifiedRecord';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { makeRecords } from '../../support/worlds/verifiedWorld';
import { toOrd } from '../../../src/domain/ord';
import { logRow } from '../../support/worlds/logRow';

const BUSY = 'Pulse_Token_7';
let db: SourcesDatabase;
let records: VerifiedRecord[];

beforeAll(async () => {
  db = await openSourcesDatabase();
  records = (await makeRecords(369)).map((record, index) =>
    index % 4 === 0 ? { ...record, contract: { ...record.contract, status: 'match' as const } } : record,
  );
  const elsewhere = records
    .slice(0, 3)
    .map((record) => ({ ...record, contract: { ...record.contract, chainId: 943 } }));
  const strange: VerifiedRecord = {
    ...records[0]!,
    contract: {
      ...records[0]!.contract,
      address: `0x${'5e'.repeat(20)}`,
      name: 'Strange',
      language: 'Vyper',
    },
    sources: [
      { path: 'odd/Ünïcode.vy', content: 'first\r\n# Grüße ÜBER_alles 100%_sure\r\nlast\\line' },
      { path: 'odd/long.vy', content: `${'x'.repeat(5_000)}needle_in_a_long_line${'y'.repeat(5_000)}\n` },
    ],
  };
  records.push(strange);
  await db.store.store([...records, ...elsewhere]);
  const busy = records.find((record) => record.contract.name === BUSY)!.contract.address;
  await insertRows(
    db.writer,
    logsTable,
    [1, 2, 3].map((block) => logRow({ ord: toOrd(block, 0), address: busy })),
  );
});

afterAll(() => db.close());

type Asked = Partial<Omit<SourceQuestion, 'regex'>> & {
  readonly q: string;
  readonly mode?: 'text' | 'regex';
};

async function search({ mode = 'text', ...asked }: Asked): Promise<SourcePage> {
  const regex =
    mode === 'text' ? null : await readRegexQuestion(db.runner, asked.q, asked.caseMatters ?? false);
  const defaults = { caseMatters: false, language: null, path: null, chainId: 369, limit: 100, offset: 0 };
  return searchSources({ runner: db.runner, verifiedDb: db.database }, { ...defaults, ...asked, regex });
}

/** Each distinct file with the contracts that use it. */
function listFiles(): { content: string; users: { record: VerifiedRecord; path: string }[] }[] {
  const files = new Map<string, { record: VerifiedRecord; path: string }[]>();
  for (const record of records)
    for (const { path, content } of record.sources)
      files.set(content, [...(files.get(content) ?? []), { record, path }]);
  return [...files].map(([content, users]) => ({ content, users }));
}

/** Matching lines as the text `line:column:matches text`, from a plain search of every file. */
function plainHits(
  matchLine: (line: string) => { column: number; matches: number } | null,
  keep = (_: string) => true,
) {
  return listFiles()
    .filter(({ users }) => users.some(({ path }) => keep(path)))
    .flatMap(({ content, users }) =>
      content.split(/\r?\n/).flatMap((line, index) => {
        const found = matchLine(line);
        const contracts = new Set(users.map(({ record }) => record.contract.address)).size;
        return found === null
          ? []
          : [`${index + 1}:${found.column}:${found.matches}:${contracts} ${line.trim()}`];
      }),
    )
    .sort();
}

const byText = (text: string, fold: boolean) => (line: string) => {
  const [hay, needle] = fold ? [line.toLowerCase(), text.toLowerCase()] : [line, text];
  const parts = hay.split(needle);
  return parts.length === 1 ? null : { column: [...parts[0]!].length + 1, matches: parts.length - 1 };
};

async function allHits(asked: Asked): Promise<SourcePage> {
  const pages: SourcePage[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await search({ ...asked, offset });
    pages.push(page);
    if (page.hits.length < 100) return { ...page, hits: pages.flatMap((each) => each.hits) };
  }
}

/** Hits in the format of plainHits. The line comes from the middle of the hit's snippet. */
const shown = (page: SourcePage): string[] =>
  page.hits
    .map((hit) => {
      const line = hit.snippet.split('\n')[Math.min(2, hit.line - 1)] ?? '';
      return `${hit.line}:${hit.column}:${hit.matches}:${hit.contracts} ${line.trim()}`;
    })
    .sort();

test.each([
  ['rescue_tokens', false],
  ['RESCUE_TOKENS_1', false],
  ['supply_cap_', true],
  ['SUPPLY_CAP_', true],
  ['permit(', false],
  ['100%_sure', false],
  ['über_ALLES', false],
  ['last\\line', false],
  ['nothing has this', false],
  ['_safeMint', false],
  ['@dev', true],
] as const)(
  'source search finds the text "%s" on every line that contains it (case-sensitive: %s)',
  async (q, caseMatters) => {
    const page = await allHits({ q, caseMatters });
    expect(shown(page)).toEqual(plainHits(byText(q, !caseMatters)));
    if (page.exact) expect(page.total).toBe(page.hits.length);
  },
);

test.each([
  ['rescue_\\w+_1\\d\\b', false],
  ['function\\s+(mint|burn)\\(', true],
  ['^contract Pulse_Token_[0-9]+ is', true],
  ['\\boverride;$', true],
  ['[A-Z]{3}_CAP_(1|2)\\b', false],
  ['GRÜSSE|grüße', false],
  ['a?b?c?Grüße.{3}', false],
] as const)(
  'source search finds the expression %s on every matching line (case-sensitive: %s)',
  async (q, caseMatters) => {
    const regex = new RegExp(q, caseMatters ? 'gu' : 'giu');
    const page = await allHits({ q, caseMatters, mode: 'regex' });
    const plain = plainHits((line) => {
      const found = [...line.matchAll(regex)];
      return found.length === 0
        ? null
        : { column: [...line.slice(0, found[0]!.index)].length + 1, matches: found.length };
    });
    expect(shown(page).map((hit) => hit.slice(0, 60))).toEqual(plain.map((hit) => hit.slice(0, 60)));
    expect(page).toMatchObject({ exact: true, total: page.hits.length });
  },
);

test('path, language and chain restrict the source search', async () => {
  const path = 'CONTRACTS/tokens/';
  const keep = (each: string): boolean => each.toLowerCase().includes(path.toLowerCase());
  expect(shown(await allHits({ q: 'Ownable', path }))).toEqual(plainHits(byText('Ownable', true), keep));
  expect((await search({ q: 'needle_in', language: 'Vyper' })).total).toBe(1);
  expect((await search({ q: 'needle_in', language: 'Solidity' })).total).toBe(0);
  const other = await search({ q: 'pragma', chainId: 943 });
  const files = new Set(records.slice(0, 3).flatMap(({ sources }) => sources.map((file) => file.content)));
  expect(other.total).toBe([...files].filter((content) => /pragma/i.test(content)).length);
  expect(other.hits.every((hit) => hit.chain_id === 943)).toBe(true);
});

test('source search lists files of exact matches first, then files of more active contracts', async () => {
  const statusOf = (address: Hex): string =>
    records.find((record) => record.contract.address === address)!.contract.status;
  const page = await allHits({ q: 'SUPPLY_CAP_' });
  const statuses = page.hits.map((hit) => statusOf(hit.address));
  expect(statuses).toEqual([...statuses].sort());
  expect(new Set(statuses).size).toBe(2);
  expect(page.hits[0]?.contract_name).toBe(BUSY);
});

test('consecutive pages of a source search have no gaps and no duplicates', async () => {
  const whole = await search({ q: 'import', limit: 90 });
  const parts: SourcePage[] = [];
  for (let offset = 0; offset < 90; offset += 7)
    parts.push(await search({ q: 'import', limit: Math.min(7, 90 - offset), offset }));
  expect(parts.flatMap((page) => page.hits)).toEqual(whole.hits);
});

test('source search cuts a long line around the match', async () => {
  const { hits } = await search({ q: 'needle_in_a_long_line' });
  expect(hits).toMatchObject([{ line: 1, column: 5_001, path: 'odd/long.vy', contract_name: 'Strange' }]);
  expect(hits[0]!.snippet).toContain('needle_in_a_long_line');
  expect(hits[0]!.snippet.length).toBeLessThan(400);
});

test.each([
  ['(', /RE2 \(missing/],
  ['a)(b', /RE2/],
  ['(?=look)ahead', /RE2/],
  ['(a)\\1back', /RE2/],
  ['(?:.{0,300}){3}zzz', /states/],
  ['(a{1,100}){100}', /states/],
  ['((((((((((x{9}){9}){9}){9}){9}){9}){9}){9}){9}){9})', /states/],
  ['(\\pL{1,100}){5}qq9', /states/],
  ['x*', /empty text/],
  ['\\Apragma', /\^ and \$/],
  ['(?-m)^pragma', /\^ and \$/],
  [`${'('.repeat(99)}a${')'.repeat(99)}`, /states/],
])('source search refuses the expression %s with a reason', async (q, why) => {
  await expect(search({ q, mode: 'regex' })).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(why),
  });
});

test('source search finds an expression on every page among hundreds of files that contain its literal', async () => {
  const base = records[0]!;
  // All 900 files contain common_word, and every third contains seldom_word. The search reads files in batches, and
  // both words need more than one batch.
  const files = Array.from({ length: 900 }, (_, index) => ({
    path: `many/${index}.sol`,
    content: `// common_word ${index}\n${index % 3 === 0 ? `uint seldom_word = ${index};` : ''}\n// ${index * 7}`,
  }));
  const contract = { ...base.contract, chainId: 943, address: `0x${'9a'.repeat(20)}` as Hex, name: 'Many' };
  await db.store.store([{ ...base, contract, sources: files }]);
  for (const [q, lines] of [
    ['seldom_word = \\d*[05];', /seldom_word = \d*[05];/],
    ['seldom_word = 89\\d', /seldom_word = 89\d/],
    ['common_word \\d', /common_word \d/],
    ['common_word 8\\d9$', /common_word 8\d9$/],
  ] as const) {
    const wanted = files
      .flatMap(({ path, content }) =>
        content.split('\n').flatMap((line, at) => (lines.test(line) ? [`${path}:${at + 1}`] : [])),
      )
      .sort();
    for (const limit of [100, 37]) {
      const found: string[] = [];
      for (let offset = 0; ; offset += limit) {
        const { hits } = await search({ q, mode: 'regex', chainId: 943, limit, offset });
        found.push(...hits.map(({ path, line }) => `${path}:${line}`));
        if (hits.length < limit) break;
      }
      expect({ q, limit, found: found.sort() }).toEqual({ q, limit, found: wanted });
    }
  }
});

test('source search answers an expression that would take a backtracking matcher forever', async () => {
  expect((await search({ q: '(x+x+)+yy+z', mode: 'regex' })).total).toBe(0);
});

test('source search shows sources verified on another chain under a contract with the same code, until the contract is verified', async () => {
  const [lender, own] = [records[1]!, records[2]!];
  const [CODE, OTHER]: [Hex, Hex] = [`0x${'c0'.repeat(32)}`, `0x${'c1'.repeat(32)}`];
  const [low, high]: [Hex, Hex] = [`0x${'1a'.repeat(20)}`, `0x${'1b'.repeat(20)}`];
  const needle = 'only_where_it_was_verified';
  const on = (record: VerifiedRecord, chainId: number, address: Hex, codeHash: Hex): VerifiedRecord => ({
    ...record,
    codeHash,
    contract: { ...record.contract, chainId, address },
    sources: [{ path: `lent/${record.contract.name}.sol`, content: `// ${needle} ${codeHash}\n` }],
  });
  await db.store.store([
    on(lender, 1, `0x${'77'.repeat(20)}`, CODE),
    on(own, 1, `0x${'78'.repeat(20)}`, OTHER),
  ]);
  const code = {
    code_size: 9,
    proxy: '',
    implementation: ZERO_ADDRESS,
    beacon: ZERO_ADDRESS,
    facets: '',
    fixed: true,
    checked_block: 1,
  };
  await insertRows(db.writer, contractCodesTable, [
    { ...code, address: high, code_hash: CODE, version: 1 },
    { ...code, address: low, code_hash: CODE, version: 1 },
    // Before its own verification, the contract showed the sources of a contract with the same code.
    { ...code, address: `0x${'0a'.repeat(20)}`, code_hash: OTHER, version: 1 },
    { ...code, address: `0x${'0a'.repeat(20)}`, code_hash: `0x${'c2'.repeat(32)}`, version: 2 },
  ]);
  const lend = (): Promise<number> =>
    lendSources({ database: db.writer, runner: db.runner, chainId: 369, verifiedDb: db.database });
  const found = async (): Promise<unknown> => (await search({ q: needle })).hits;
  expect(await found()).toEqual([]);
  expect([await lend(), await lend()]).toEqual([1, 0]);
  const hit = { chain_id: 369, contract_name: lender.contract.name, line: 1, contracts: 1 };
  expect(await found()).toMatchObject([{ ...hit, address: low, path: `lent/${lender.contract.name}.sol` }]);
  // The sources are lent once, to the contract that has the smallest address at that time. A contract with the same code
  // that is stored later gets no second copy, even if its address is smaller.
  await insertRows(db.writer, contractCodesTable, [
    { ...code, address: `0x${'01'.repeat(20)}`, code_hash: CODE, version: 3 },
  ]);
  expect(await lend()).toBe(0);
  const itself = on(lender, 369, low, CODE);
  await db.store.store([{ ...itself, sources: [{ path: 'own.sol', content: `// ${needle} of its own\n` }] }]);
  expect(await lend()).toBe(0);
  expect(await found()).toMatchObject([{ ...hit, address: low, path: 'own.sol' }]);
});
