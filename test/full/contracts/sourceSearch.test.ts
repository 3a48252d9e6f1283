/** Tests GET /source-search over HTTP: parameters, limits, envelope. The test stores its own sources, because
 * it counts hits. */
import { sourceSearchAnswerShape } from '../../../src/wire/sourceSearch';
import type { VerifiedRecord } from '../../../src/contracts/verifiedRecord';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { compileSet, toRecord } from '../../support/worlds/verifiedWorld';
import { TRICKY } from '../../support/worlds/worldSources';
import {
  explorerDeps,
  startExplorer,
  type ExplorerServer,
} from '../../integration/api/explorer/explorerServer';
import { finalHead } from '../../support/worlds/finalHead';

const head = finalHead(10);
let db: SourcesDatabase;
let api: ExplorerServer;

beforeAll(async () => {
  db = await openSourcesDatabase();
  const records: VerifiedRecord[] = (await compileSet(TRICKY)).map((contract) => toRecord(contract, 369));
  await db.store.store(records);
  api = await startExplorer(
    explorerDeps(db, () => head, { verified: db.reader }),
    () => head,
  );
});

afterAll(async () => {
  await api.close();
  await db.close();
});

test('a hit of the source search names contract, file, line and column, and shows the surrounding lines', async () => {
  const { status, json } = await api.get('/source-search?q=IMMUTABLE_vault%20is');
  expect([status, json]).toEqual([
    200,
    {
      success: true,
      data: [],
      meta: {
        limit: 25,
        offset: 0,
        total: 0,
        total_relation: 'eq',
        as_of_block: head.number,
        as_of_timestamp: head.timestamp,
      },
    },
  ]);
  const found = await api.get('/source-search?q=immutable%20cap&limit=5');
  const lines = TRICKY.input.sources['contracts/Tricky.sol']!.content.split('\n');
  const at = lines.findIndex((line) => line.includes('immutable cap'));
  const answer = sourceSearchAnswerShape.parse(found.json);
  expect(answer.meta).toMatchObject({ limit: 5, offset: 0, total: 1, total_relation: 'eq' });
  expect(answer.data).toEqual([
    {
      chain_id: 369,
      address: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      contract_name: expect.stringMatching(/^(Sum_Library|Linked|Immutable_Vault|Vault_Maker)$/),
      path: 'contracts/Tricky.sol',
      line: at + 1,
      column: lines[at]!.indexOf('immutable cap') + 1,
      snippet: lines.slice(at - 2, at + 3).join('\n'),
      matches: 1,
      contracts: 4,
    },
  ]);
});

test('a source search on a valid chain that is not stored gives an empty list', async () => {
  const { status, json } = await api.get('/source-search?q=immutable&chainId=943');
  expect([status, json['data']]).toEqual([200, []]);
});

test.each([
  ['', 'q'],
  ['?q=ab', 'q'],
  ['?q=🦄🦄', 'q'],
  [`?q=${'x'.repeat(201)}`, 'q'],
  ['?q=a%0Abc', 'q'],
  ['?q=abc&mode=glob', 'mode'],
  ['?q=%28abc&mode=regex', 'q'],
  ['?q=.%7B0,900%7Dabc&mode=regex', 'q'],
  ['?q=abc&language=Rust', 'language'],
  ['?q=abc&case=1', 'case'],
  ['?q=abc&path=', 'path'],
  ['?q=abc&chainId=1', 'chainId'],
  ['?q=abc&limit=101', 'limit'],
  ['?q=abc&offset=10001', 'offset'],
])('a source search with %s is a 400 that names %s', async (query, name) => {
  const { status, json } = await api.get(`/source-search${query}`);
  expect([status, json['success'], json['code']]).toEqual([400, false, 'bad_request']);
  expect(String(json['error'])).toMatch(new RegExp(`^${name}\\b`));
});

test('regular expression, letter case, language and path restrict the hits of a source search', async () => {
  const total = async (query: string): Promise<number> => {
    const { json } = await api.get(`/source-search?${query}`);
    return sourceSearchAnswerShape.parse(json).meta.total;
  };
  expect(await total(`q=${encodeURIComponent('function \\w+\\(uint256')}&mode=regex`)).toBe(
    TRICKY.input.sources['contracts/Tricky.sol']!.content.match(/function \w+\(uint256/g)!.length,
  );
  expect([await total('q=VAULT'), await total('q=VAULT&case=true')]).toEqual([expect.any(Number), 0]);
  expect([await total('q=vault&language=solidity'), await total('q=vault&language=Vyper')]).toEqual([
    await total('q=vault'),
    0,
  ]);
  expect([await total('q=vault&path=tricky'), await total('q=vault&path=other')]).toEqual([
    await total('q=vault'),
    0,
  ]);
});
