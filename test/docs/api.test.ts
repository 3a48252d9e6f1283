/** docs/api.md describes every endpoint, parameter and Etherscan action of a running API, and no others. */
import { PREVIEW_PATHS } from '../../src/api/preview/previewRoutes';
import { webRoutes } from '../../src/api/web/webRoutes';
import { startApi } from '../../src/commands/api';
import { loadConfig } from '../../src/config';
import { createLog } from '../../src/log';
import { createMetrics } from '../../src/metrics';
import { codeOf, listFiles, sectionOf, rowsOf, textOf } from '../support/documents';

interface Operation {
  readonly description?: string;
  readonly parameters: readonly { readonly name: string; readonly in: 'path' | 'query' }[];
  readonly 'x-actions'?: readonly Action[];
}

interface Action {
  readonly module: string;
  readonly action: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly description: string }[];
}

const PATH = 'docs/api.md';
const documents = ['README.md', 'SECURITY.md', 'clickhouse/README.md', ...listFiles('docs', /\.md$/)];
const withoutFences = (text: string): string => text.replace(/^```[^]*?^```/gm, '');

/** The operations of the OpenAPI document by path, from an API that runs without a database. */
const operations = new Map<string, Operation>();
/** Paths without the names of their parameters: `/api/v1/pairs/{}`. */
const served = new Set<string>();
beforeAll(async () => {
  const config = loadConfig({ PORT: '0' }, () => '');
  const api = await startApi({ config, log: createLog('silent'), metrics: createMetrics() });
  const answer = await fetch(`${api.url}/openapi.json`);
  const { paths } = (await answer.json()) as {
    paths: Readonly<Record<string, { get?: Operation; post?: Operation }>>;
  };
  await api.close();
  for (const [path, { get, post }] of Object.entries(paths)) operations.set(path, (get ?? post)!);
  const views = webRoutes('no such folder').map(({ path }) => path);
  const pages = [...views, ...Object.values(PREVIEW_PATHS)].map((path) => path.replace(/:(\w+)/g, '{$1}'));
  for (const path of [...operations.keys(), ...pages]) served.add(plain(path));
});

const plain = (path: string): string => path.replace(/\{\w+\}/g, '{}').replace(/\?.*$/, '');
/** The two ways in which a document may write a path: with or without the base `/api/v1`. */
const spellings = (path: string): string[] => [path, `/api/v1${path}`];

/** The paths in code style and in headings of a text, such as `/tokens` and "GET /tokens". */
function pathsIn(text: string): string[] {
  const headings = [...text.matchAll(/^#+ .*/gm)].flatMap(([line]) => line.match(/(?<=GET )\S+/g) ?? []);
  const code = codeOf(text).flatMap((each) => /^(?:GET |POST )?(\/\S*)$/.exec(each)?.[1] ?? []);
  return [...headings, ...code].map(plain);
}

test('every endpoint of the API is described in docs/api.md', () => {
  expect([...served]).toEqual(
    expect.arrayContaining(['/', '/api/v1/pairs/{}/ticks', '/v2/chainlist', '/api/v2/smart-contracts/{}']),
  );
  // An endpoint is described if a heading, a row of a table of paths, or a sentence names `GET /path`.
  const text = withoutFences(textOf(PATH));
  const rows = rowsOf(text, 'Path').map(([cell = '']) => cell);
  const lines = text.split('\n').filter((line) => line.includes('GET /'));
  const described = new Set(pathsIn([...rows, ...lines].join('\n')).flatMap(spellings));
  expect([...served].filter((path) => !described.has(path))).toEqual([]);
});

test('every path in docs/api.md is an endpoint, or the beginning of one', () => {
  // Leaves out the worked examples, because they add an endpoint that the API does not have.
  const text = (path: string): string => withoutFences(textOf(path).replace(/^## Worked examples$[^]*/m, ''));
  const isReal = (path: string): boolean =>
    // A path may name a chain.
    [path, path.replace(/^\/(api\/v1\/)?(?:\{\}|\d+)\//, '/$1')]
      .flatMap((each) => spellings(each.replace(/\/\*$/, '')))
      .some((each) => [...served].some((real) => real === each || real.startsWith(`${each}/`)));
  const wrong = documents.flatMap((document) =>
    pathsIn(text(document))
      .filter((path) => !isReal(path))
      .map((path) => `${document}: ${path}`),
  );
  expect(wrong).toEqual([]);
});

/** Parameters that every list has. One section of docs/api.md describes them for all lists. */
const SHARED = ['format', 'compression'];

test("every query parameter of an endpoint is described beside the endpoint's path", () => {
  // Each endpoint of the market has a heading. Other sections describe their endpoints together.
  const sections = textOf(PATH)
    .split(/^(?=## )/m)
    .flatMap((section) => (section.includes('\n### GET ') ? section.split(/^(?=### )/m) : [section]));
  const wrong = [...operations].flatMap(([path, { parameters }]) => {
    const own = sections.filter((section) =>
      pathsIn(withoutFences(section)).flatMap(spellings).includes(plain(path)),
    );
    const code = own.flatMap((section) => codeOf(withoutFences(section))).join(' ');
    // `topic0`…`topic3` names four parameters.
    const isNamed = (name: string): boolean =>
      new RegExp(`\\b${name.replace(/^topic\d$/, 'topic\\d')}\\b`).test(code);
    return parameters
      .filter((each) => each.in === 'query' && !SHARED.includes(each.name) && !isNamed(each.name))
      .map(({ name }) => `${path}: ${name}`);
  });
  expect(wrong).toEqual([]);
  expect(codeOf(sectionOf(PATH, 'Table formats'))).toEqual(expect.arrayContaining(SHARED));
});

test('docs/api.md describes exactly the actions of the Etherscan dialect', () => {
  const { 'x-actions': actions = [] } = operations.get('/api') ?? {};
  const rows = rowsOf(sectionOf(PATH, 'Etherscan dialect'), 'Module', 'Action');
  const written = rows.flatMap(([module, cell = '']) => codeOf(cell).map((action) => `${module}.${action}`));
  expect(written.length).toBeGreaterThan(30);
  expect(written.sort()).toEqual(actions.map(({ module, action }) => `${module}.${action}`).sort());
});

/** A sentence starts with a capital, has at least five words and ends with a full stop. */
const isSentence = (text = ''): boolean =>
  /^[A-Z]/.test(text) && /\.$/.test(text) && text.split(' ').length >= 5;

test('each operation of the OpenAPI document, each action and each of its parameters has a description', () => {
  const wrong = [...operations]
    .filter(([, { description }]) => !isSentence(description))
    .map(([path]) => path);
  expect(wrong).toEqual([]);
  const actions = operations.get('/api')?.['x-actions'] ?? [];
  expect(actions.filter(({ description }) => !isSentence(description))).toEqual([]);
  expect(
    actions.flatMap(({ parameters }) => parameters).filter(({ description }) => description === ''),
  ).toEqual([]);
});
