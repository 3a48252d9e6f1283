/** Checks the mechanical rules of docs/style.md that the linter cannot check: layers, folders, exports and SQL. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..');
/** Most lines of an SQL text in a file of code. */
const SQL_LINES_MAX = 2;
/** Most files of a folder. A folder with more files should be split. */
const FILES_MAX = 22;

/** Folders without a limit of files: each file is one record or one recorded log, found by its number or name. */
const HOLDS_MANY = ['docs/decisions', 'test/golden/logs'];

/** The folders that each folder of src may import, besides itself. Value and type imports count alike. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  log: ['errors'],
  domain: ['errors', 'log'],
  gauges: [],
  chainGauges: ['gauges'],
  metrics: ['errors', 'log', 'domain', 'gauges', 'chainGauges'],
  wire: ['errors', 'domain'],
  protocols: ['errors', 'domain'],
  pricing: ['errors', 'domain'],
  chains: ['errors', 'domain', 'protocols'],
  clickhouse: ['errors', 'log', 'domain'],
  node: ['errors', 'log', 'domain'],
  market: ['domain', 'clickhouse', 'pricing'],
  ingest: ['errors', 'log', 'domain', 'node', 'clickhouse', 'protocols', 'pricing', 'market', 'workers'],
  query: ['errors', 'log', 'domain', 'clickhouse', 'protocols', 'pricing', 'market', 'wire'],
  contracts: ['errors', 'log', 'domain', 'clickhouse', 'node', 'query'],
  workers: ['errors', 'log', 'domain', 'clickhouse', 'node', 'protocols', 'query', 'contracts'],
  stream: ['errors', 'log', 'domain', 'clickhouse', 'query', 'wire'],
  api: ['errors', 'log', 'domain', 'clickhouse', 'query', 'stream', 'wire', 'metrics'],
  config: ['errors', 'domain', 'chains'],
  dev: ['errors', 'log', 'domain', 'clickhouse'],
  web: ['wire', 'domain'],
  commands: [
    ...['errors', 'log', 'domain', 'chains', 'config', 'clickhouse', 'node', 'ingest', 'query', 'contracts'],
    ...['stream', 'workers', 'metrics', 'api', 'dev', 'wire'],
  ],
  main: ['errors', 'log', 'config', 'clickhouse', 'commands'],
};

/**
 * The folders that a file may import from besides its own. The first entry that matches the file's path
 * applies. Tests may import the programs in scripts; code that both use is in test/support.
 */
const FOLDERS: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  ['src/', ['src/']],
  ['scripts/', ['src/', 'scripts/', 'test/support/']],
  ['test/support/', ['src/', 'test/support/']],
  ['test/full/', ['src/', 'scripts/', 'test/']],
  ['test/', ['src/', 'scripts/', 'test/support/', 'test/simulation/', 'test/golden/']],
];

function listFiles(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(join(ROOT, path)).isDirectory())
      return name === 'node_modules' ? [] : listFiles(path, ending);
    return ending.test(name) ? [path] : [];
  });
}

const sources = listFiles('src', /\.ts$/);
const code = [...sources, ...listFiles('scripts', /\.(ts|mjs)$/), ...listFiles('test', /\.ts$/)];
/** Code files of src and scripts, without tests. */
const programs = code.filter((path) => !path.startsWith('test/'));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function importsOf(path: string): string[] {
  const found = textOf(path).matchAll(/(?:from|import|require\()\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].map(([, target = '']) => relative(ROOT, resolve(ROOT, dirname(path), target)));
}

/** The layer of a file of src: the name of its folder below src or, for a file directly in src, its own name. */
const layerOf = (path: string): string => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';

test(`no folder holds more than ${FILES_MAX} files`, () => {
  const counts = new Map<string, number>();
  for (const path of ['src', 'clickhouse', 'scripts', 'test', 'docs'].flatMap((name) => listFiles(name, /./)))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const full = [...counts].filter(([folder, count]) => count > FILES_MAX && !HOLDS_MANY.includes(folder));
  expect(full).toEqual([]);
});

test('imports go only down through the layers', () => {
  const wrong = sources.flatMap((path) => {
    const allowed = LAYERS[layerOf(path)] ?? [];
    return importsOf(path)
      .filter((target) => target.startsWith('src/') && layerOf(target) !== layerOf(path))
      .filter((target) => !allowed.includes(layerOf(target)))
      .map((target) => `${path} → ${target}`);
  });
  expect(wrong).toEqual([]);
});

test('files import only from allowed folders, and the package contains no tests', () => {
  const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/') + '/';
  const wrong = code.flatMap((path) => {
    const [, allowed = []] = FOLDERS.find(([folder]) => path.startsWith(folder)) ?? [];
    return importsOf(path)
      .filter((target) => !target.startsWith(folderOf(path)))
      .filter((target) => !allowed.some((folder) => target.startsWith(folder)))
      .map((target) => `${path} → ${target}`);
  });
  expect(wrong).toEqual([]);
  const { files } = JSON.parse(textOf('package.json')) as { files: readonly string[] };
  expect(files).toEqual(['dist', 'clickhouse', 'src/dev/contracts']);
});

/** The groups of imports: modules of Node, packages, own files. */
const groupOf = (target: string): number => (target.startsWith('node:') ? 0 : target.startsWith('.') ? 2 : 1);

test('imports stand in three groups with a blank line between: Node, packages, own files', () => {
  const wrong = code.flatMap((path) => {
    const text = textOf(path);
    const imports = [...text.matchAll(/^import\s(?:[^'"`;]*?from\s+)?'([^']+)'.*$/gm)];
    return imports.slice(1).flatMap((one, i) => {
      const before = imports[i]!;
      const step = groupOf(one[1]!) - groupOf(before[1]!);
      const isApart = text.slice(before.index + before[0].length, one.index).includes('\n\n');
      return step < 0 || isApart !== step > 0 ? [`${path}: ${one[1]}`] : [];
    });
  });
  expect(wrong).toEqual([]);
});

/** Exports that no import of another file names, and the reason. */
const USED_OTHERWISE: Readonly<Record<string, string>> = {
  'src/main main': 'the program that `scripts/build.mjs` writes calls it',
  'test/support/run/clusteredDatabase openDatabase': 'Jest loads this file in place of another',
};
/** Folders that may export unused names: complete programs. */
const MAY_EXPORT = ['scripts/bench/peers/'];

/** `file name` of each name that a file imports from another. `import * as` and `import()` name `*`. */
function listImported(path: string): string[] {
  const text = textOf(path);
  const named = text.matchAll(/\b(?:im|ex)port\s+(?:type\s+)?(?:\{([^}]*)\}|\*[\w ]*)\s*from\s*'(\.[^']+)'/g);
  const whole = [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, target]) => ['', '*', target]);
  return [...named, ...whole].flatMap(([, names = '*', target = '']) => {
    const file = join(dirname(path), target).replace(/\.(ts|mjs)$/, '');
    return names.split(',').map((name) => `${file} ${name.trim().replace(/^type | as .*/g, '')}`);
  });
}

function listExported(path: string): string[] {
  const text = textOf(path);
  const declared = text.matchAll(
    /^export (?:abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
  );
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim().replace(/^.* /, '')),
  );
  return [...[...declared].map(([, name = '']) => name), ...passedOn].filter((name) => name !== '');
}

test('every export has a use in another file', () => {
  const imported = new Set([...code.flatMap(listImported), ...Object.keys(USED_OTHERWISE)]);
  const unused = code
    .filter((path) => !MAY_EXPORT.some((folder) => path.startsWith(folder)))
    .flatMap((path) => {
      const file = path.replace(/\.(ts|mjs)$/, '');
      const names = imported.has(`${file} *`) ? [] : listExported(path);
      return names.filter((name) => !imported.has(`${file} ${name}`)).map((name) => `${path}: ${name}`);
    });
  expect(unused).toEqual([]);
});

test('only src/clickhouse imports the database client, and only allowed files read the environment', () => {
  const clients = sources.filter(
    (path) => /'@clickhouse\/client'/.test(textOf(path)) && layerOf(path) !== 'clickhouse',
  );
  expect(clients).toEqual([]);
  const readers = sources.filter((path) => /process\.env\b/.test(textOf(path)));
  // anvil.ts starts the development node with the PATH of this process.
  const allowed = ['src/main.ts', 'src/config.ts', 'src/dev/node/anvil.ts'];
  expect(readers.filter((path) => !allowed.includes(path))).toEqual([]);
});

test('there are no barrel files and no vague file names', () => {
  expect(sources.filter((path) => /\/(index|utils?|helpers?|common|misc|types)\.ts$/.test(path))).toEqual([]);
  expect(sources.filter((path) => /^export \* from/m.test(textOf(path)))).toEqual([]);
});

/**
 * A name that two files export could mean two things. The page (src/web) and the development chain (src/dev) may use
 * names that occur elsewhere.
 */
test('no two files export the same name', () => {
  const files = new Map<string, Set<string>>();
  for (const path of sources.filter((one) => !/^src\/(web|dev)\//.test(one)))
    for (const [, name = ''] of textOf(path).matchAll(
      /^export (?:abstract |async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
    ))
      files.set(name, (files.get(name) ?? new Set()).add(path));
  const shared = [...files].filter(([, paths]) => paths.size > 1);
  expect(shared.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
});

test('no file of src disables a check of the linter', () => {
  expect(sources.filter((path) => /(eslint|oxlint)-disable/.test(textOf(path)))).toEqual([]);
});

test('private members have the keyword private', () => {
  expect(code.filter((path) => /\bthis\.#\w/.test(textOf(path)))).toEqual([]);
});

test('every source file opens with a comment about its purpose', () => {
  expect(sources.filter((path) => !textOf(path).startsWith('/**'))).toEqual([]);
});

test('no test is skipped or runs alone', () => {
  const lonely = new RegExp(
    `\\b(it|test|describe)\\.(${['sk' + 'ip', 'on' + 'ly', 'to' + 'do'].join('|')})\\b|\\bx(it|describe)\\(`,
  );
  expect(listFiles('test', /\.ts$/).filter((path) => lonely.test(textOf(path)))).toEqual([]);
});

const queries = listFiles('clickhouse/queries', /\.sql$/);
const commands = listFiles('clickhouse/commands', /\.sql$/);

test('every SQL query and command opens with a comment and binds its values', () => {
  const statements = [...queries, ...commands];
  expect(statements.filter((path) => !textOf(path).startsWith('--'))).toEqual([]);
  expect(statements.filter((path) => /\$\{/.test(textOf(path)))).toEqual([]);
});

/** The SELECTs of a statement that a UNION ALL joins, without subqueries. */
function listSelects(sql: string): string[] {
  let flat = sql.replace(/--.*/g, '');
  for (let before = ''; before !== flat;) [before, flat] = [flat, flat.replace(/\([^()]*\)/g, '')];
  return flat.split('UNION ALL');
}

test('every SELECT of a named query has a LIMIT', () => {
  const isEndless = (select: string): boolean => !/^LIMIT (?!.* BY )/m.test(select);
  expect(queries.filter((path) => listSelects(textOf(path)).some(isEndless))).toEqual([]);
});

/** Queries of head blocks that the caller names, or of all branches. */
const READS_BRANCHES = [
  'bars/list_head_swaps',
  ...['contracts/list_head_contracts', 'contracts/list_log_blocks'],
  ...['head/count_kept_commits', 'holders/list_changes'],
  ...['holders/list_head_tokens', 'ingest/balances/choose_tokens', 'ingest/balances/sample_moved'],
  'ingest/repair/list_complete_commits',
];

test('a query reads the head of a snapshot through _chain', () => {
  const named = queries.filter((path) => /\bFROM \w+_head\b/.test(textOf(path)));
  expect(named.sort()).toEqual(READS_BRANCHES.map((name) => `clickhouse/queries/${name}.sql`));
});

/** Files outside src/protocols that know one family of protocols, and the reason. */
const KNOWS_FAMILY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['describeChain', 'giveHoldings', 'openPools', 'world'].map((name) => [
      `src/dev/world/${name}.ts`,
      'the development chain deploys the contracts of two families',
    ]),
  ),
  'src/web/list/scaledAmount.ts':
    'scales LP tokens of V2 pairs only, and a test imports it without a bundler',
};

/** Queries that compare the type of a pool. */
const COMPARES_TYPE = [
  ...['ingest/older_pools/list_unread', 'ingest/price/list_bins', 'ingest/price/list_ticks'],
  ...['pairs/list_fee_protocols', 'pairs/list_mean_balances'],
];

test('only src/protocols knows the families of protocols; all other files ask their interface', () => {
  const families = readdirSync(join(ROOT, 'src/protocols')).filter(
    (name) => !/\.ts$/.test(name) && name !== 'ticks',
  );
  const isFamily = (target: string): boolean =>
    families.some((family) => target.startsWith(`src/protocols/${family}/`));
  const compares =
    /\b(pool_?type|protocol)\b\)? *[!=<>]==?(?![= ]*('https?:|null|undefined))|'(uniswap|pancake|balancer)_v\d'|\bPOOL_V\d/i;
  const knowing = sources.filter((path) => {
    if (/^src\/(protocols|chains)\/|^src\/domain\/pools\/poolShape/.test(path)) return false;
    return importsOf(path).some(isFamily) || compares.test(textOf(path));
  });
  expect(knowing.sort()).toEqual(Object.keys(KNOWS_FAMILY).sort());
  const queried = queries.filter((path) => /\bpool_type\b *(=|!=|<|>|IN|NOT)/.test(textOf(path)));
  expect(queried.sort()).toEqual(COMPARES_TYPE.map((name) => `clickhouse/queries/${name}.sql`));
});

/** Files that build statements from names of tables and columns, which therefore cannot be .sql files. */
const MAKES_SELECTS = [
  'src/clickhouse/engine/backup.ts',
  'src/ingest/repair/rangeHash.ts',
  'src/ingest/store/clickhouseStore.ts',
  'src/ingest/repair/gapStore.ts',
  'src/ingest/repair/reindex.ts',
  'src/ingest/store/retention.ts',
  'src/ingest/repair/viewCheck.ts',
  'src/ingest/repair/viewRebuild.ts',
];

test('the name of every query file is a literal in src, and only the files in MAKES_SELECTS build other statements', () => {
  const named = [...queries, ...commands].map((path) => path.split('/').slice(2).join('/'));
  const text = sources.map(textOf).join('\n');
  const names = new Set([...text.matchAll(/'([a-z_]+(?:\/[a-z_]+)+)'/g)].map(([, name = '']) => name));
  expect(named.filter((path) => !names.has(path.replace(/\.sql$/, '')))).toEqual([]);
  // A name that is built from parts cannot be found by a text search.
  expect(sources.filter((path) => /`[a-z_]+\/[a-z_]*\$\{/.test(textOf(path)))).toEqual([]);
  const passesOn = ['namedQueries', 'observedDatabase'];
  const reads = sources.filter((path) => /\b(?:database|db)\.select(?:Binary)?\(/.test(textOf(path)));
  expect(reads.filter((path) => !passesOn.some((name) => path.endsWith(`/${name}.ts`)))).toEqual([]);
  const makers = sources.filter((path) => /\bselectMade\(/.test(textOf(path)));
  expect(makers.sort()).toEqual([...MAKES_SELECTS].sort());
});

test(`SQL of more than ${SQL_LINES_MAX} lines is in .sql files`, () => {
  // The programs in peers, with which the benchmarks compare Candlehouse, may contain their own SQL.
  const paths = programs.filter(
    (path) => !MAKES_SELECTS.includes(path) && !path.startsWith('scripts/bench/peers/'),
  );
  const long = paths.flatMap((path) =>
    [...textOf(path).matchAll(/`\s*(?:SELECT|WITH|INSERT|CREATE|ALTER|DROP)\b[^`]*`/g)]
      .filter(([text]) => text.split('\n').length > SQL_LINES_MAX)
      .map(([text]) => `${path}: ${text}`),
  );
  expect(long).toEqual([]);
});

test('the tests that scripts and package.json name exist', () => {
  const scripts = listFiles('scripts', /\.(ts|mjs)$/).map(textOf);
  const named = [...scripts.join('\n').matchAll(/'(test\/[\w/.-]+)'/g)].map(([, path = '']) => path);
  const inCommands = textOf('package.json').match(/\btest\/[\w/.-]*\w/g) ?? [];
  expect(Math.min(named.length, inCommands.length)).toBeGreaterThan(3);
  const exists = (path: string): boolean =>
    ['', '.test.ts'].some((ending) => existsSync(join(ROOT, path + ending)));
  expect([...named, ...inCommands].filter((path) => !exists(path))).toEqual([]);
});
