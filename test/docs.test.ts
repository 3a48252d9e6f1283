/** Documents stay true: links and paths lead to files, settings and endpoints are documented, comments cite existing files. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..');
const README_LINES_MAX = 130;
/** Folders and files that a document may name with their path. */
const PLACES = 'src|clickhouse|scripts|test|docs';
/** Folders that exist only after an installation, a build or a start. */
const MADE = /(^|\/)(node_modules|dist|build|\.data)(\/|$)/;
/** Documents name these before they exist: the first migration makes the folder, the engine makes its log in DATA_DIR. */
const LATER = /^clickhouse\/(migrations(\/|$)|engine\.log$)/;
/** Files that a reader of the worked examples in docs/development.md writes. */
const EXAMPLES = /\/(pairMakers(\.test)?\.ts|list_makers\.sql|exampleV2(\.test)?\.ts)$/;
/** The API reference and the documents that come with it. A link to one of them is checked once the reference exists. */
const REFERENCE = 'docs/api.md';
const WITH_REFERENCE =
  /^docs\/(api|prices|explorer|operations|measurements|changelog|decisions\/README)\.md$/;

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function listFiles(folder: string, ending: RegExp): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (isFolder(join(ROOT, path))) return MADE.test(path) ? [] : listFiles(path, ending);
    return ending.test(name) ? [path] : [];
  });
}

/** Documents are checked where they exist. */
const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'clickhouse/README.md'].filter((path) =>
    existsSync(join(ROOT, path)),
  ),
  ...listFiles('docs', /\.md$/),
];
const code = ['src', 'clickhouse', 'scripts', 'test'].flatMap((folder) =>
  listFiles(folder, /\.(ts|mjs|cjs|js|sql|css|html|xml|yml)$/),
);

/** One path can name several files: `src/pricing/*.ts`, `src/query/{pools,tokens}.ts`, `clickhouse/queries/<module>/`. */
function exists(base: string, path: string): boolean {
  const braces = /^(.*)\{([^}]+)\}(.*)$/.exec(path);
  if (braces !== null) {
    const [, before = '', choices = '', after = ''] = braces;
    return choices.split(',').every((choice) => exists(base, before + choice.trim() + after));
  }
  const fixed = /^[^*<…]*/.exec(path)?.[0] ?? '';
  return existsSync(join(base, fixed === path ? path : dirname(`${fixed}x`)));
}

/** The text without fenced code, in which examples name files that a reader has yet to write. */
const proseOf = (path: string): string => textOf(path).replace(/^```[^]*?^```/gm, '');

/** The anchors that GitHub makes of a document's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replace(/ /g, '-'),
    ),
  );
}

/** Whether a link of a document leads to a file and, in another document, to one of its headings. */
function leads(document: string, link: string): boolean {
  const [target = '', anchor = ''] = link.split('#');
  const path = target === '' ? document : relative(ROOT, resolve(ROOT, dirname(document), target));
  if (!existsSync(join(ROOT, path))) return WITH_REFERENCE.test(path) && !existsSync(join(ROOT, REFERENCE));
  return anchor === '' || !path.endsWith('.md') || anchorsOf(path).has(anchor);
}

test('every relative link of a document leads to an existing file and heading', () => {
  const broken = documents.flatMap((path) => {
    const text = proseOf(path);
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/\b(?:src|href)="([^"]+)"/g)];
    return links
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/i.test(link) && !leads(path, link))
      .map((link) => `${path}: ${link}`);
  });
  expect(broken).toEqual([]);
});

test('every path named in a document exists', () => {
  const path = new RegExp(`^(?:${PLACES})/[^\\s:]*$`);
  const broken = documents.flatMap((document) =>
    [...proseOf(document).matchAll(/`([^`\n]+)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => path.test(name) && !LATER.test(name) && !EXAMPLES.test(name) && !exists(ROOT, name))
      .map((name) => `${document}: ${name}`),
  );
  expect(broken).toEqual([]);
});

/** Names of the settings object in config.ts: one key in capitals at the beginning of a line. */
function listSettings(): string[] {
  const object = /const settings = z\.object\(\{([^]*?)^\}\);/m.exec(textOf('src/config.ts'))?.[1] ?? '';
  return [...object.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name);
}

test('exactly the settings of config.ts are documented', () => {
  const settings = listSettings();
  expect(settings).toContain('RPC_URL');
  const example = textOf('.env.example');
  const inExample = [...example.matchAll(/^([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
  expect(inExample.filter((name) => !settings.includes(name))).toEqual([]);
  const operations = existsSync(join(ROOT, 'docs/operations.md')) ? textOf('docs/operations.md') : '';
  const isNamed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(example + operations);
  expect(settings.filter((name) => !isNamed(name))).toEqual([]);
  // Each row of a table of variables describes a setting, or a variable of the composition.
  const composed = textOf('docker-compose.yml');
  const tables = [...operations.matchAll(/^\| *(?:Variable|Setting) *\|.*\n(?:\|.*\n)*/gm)].map(
    ([table]) => table,
  );
  const inTables = tables.flatMap((table) =>
    [...table.matchAll(/^\| *`([A-Z][A-Z0-9_]+)`/gm)].map(([, name = '']) => name),
  );
  const isUnknown = (name: string): boolean => !settings.includes(name) && !composed.includes(`\${${name}`);
  expect(inTables.filter(isUnknown)).toEqual([]);
});

/** Paths of the routes that the OpenAPI document describes, in its own words: `/api/v1/pairs/{address}`. */
function listRoutePaths(): string[] {
  const api = listFiles('src/api', /\.ts$/).filter((path) => !path.startsWith('src/api/web/'));
  // A path is a field of the endpoint, or one of several in a list that is mapped to routes.
  const literal = api.flatMap((path) =>
    textOf(path)
      .split('\n')
      .filter((line) => /\bpath: '\/|\]\.map\(\(path\)/.test(line))
      .flatMap((line) => [...line.matchAll(/'(\/[^']*)'/g)].map(([, route = '']) => route)),
  );
  const mounts = [...textOf('src/api/etherscan/mounts.ts').matchAll(/^ {2}'(\/[^']+)',$/gm)];
  const chainList = /CHAIN_LIST_PATH = '([^']+)'/.exec(textOf('src/api/etherscan/mounts.ts'))?.[1] ?? '';
  return [...literal, ...mounts.map(([, route = '']) => route), chainList].map((route) =>
    route.replace(/:(\w+)/g, '{$1}'),
  );
}

test('every endpoint is in the API reference', () => {
  const routes = listRoutePaths();
  expect(routes).toContain('/api/v1/pairs/{address}/ticks');
  expect(routes).toContain('/v2/chainlist');
  expect(routes).toContain('/api/v2/smart-contracts/{address}');
  if (!existsSync(join(ROOT, REFERENCE))) return;
  // The reference may leave out the common base, and names of parameters may differ. A longer path does not count.
  const plain = (text: string): string => text.replace(/\{\w+\}/g, '<>');
  const text = plain(textOf(REFERENCE));
  // A path that ends with an ellipsis covers every path with that beginning.
  const begun = [...text.matchAll(/`(\/[^`\s]*\/)…`/g)].map(([, path = '']) => path);
  const isNamed = (route: string): boolean =>
    begun.some((path) => route.startsWith(path)) ||
    [plain(route), plain(route).replace(/^\/api\/v1(?=\/)/, '')].some((path) =>
      new RegExp(`(?<![\\w>])${path.replace(/\./g, '\\.')}(?![\\w</-])`).test(text),
    );
  expect(routes.filter((route) => !isNamed(route))).toEqual([]);
});

test(`README.md has at most ${README_LINES_MAX} lines`, () => {
  expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
});

/** Text of the comments of one file, by line. */
function commentsOf(path: string): (readonly [line: number, text: string])[] {
  const comment = path.endsWith('.sql') ? /(?:^|\s)--\s(.*)$/ : /^\s*(?:\/\/|\/\*\*?|\*)(.*)$|\s\/\/\s(.*)$/;
  return textOf(path)
    .split('\n')
    .flatMap((line, index) => {
      const found = comment.exec(line);
      return found === null ? [] : [[index + 1, found[1] ?? found[2] ?? ''] as const];
    });
}

test('comments cite only existing documents and files', () => {
  const known = [...code, ...documents, ...listFiles('src/dev/contracts', /\.(md|sol|json)$/)];
  const isKnown = (name: string): boolean =>
    known.some((path) => path === name || path.endsWith(`/${name}`)) || existsSync(join(ROOT, name));
  const citing = code.flatMap((path) =>
    commentsOf(path).flatMap(([line, text]) => {
      const papers = [...text.matchAll(/\b(?:CONTRACT|DESIGN|STYLE)\b/g)].map(([name]) => name);
      const files = /https?:/.test(text)
        ? []
        : [...text.matchAll(/(?<![\w./@:-])((?:[\w-]+\/)*[A-Za-z][\w-]*\.(?:ts|mjs|cjs|sql|md))\b/g)]
            .map(([, name = '']) => name)
            .filter((name) => !name.startsWith('NNNN_') && !isKnown(name));
      return [...papers, ...files].map((name) => `${path}:${line}: ${name}`);
    }),
  );
  expect(citing).toEqual([]);
});
