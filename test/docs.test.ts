/** Checks documents against the repository: links, paths and diagrams lead to existing files, and comments
 * cite existing files. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { codeOf, fencedLines, listFiles, ROOT, textOf } from './support/documents';

const README_LINES_MAX = 130;
/** Folders and files that a document may name with their path. */
const PLACES = 'src|clickhouse|scripts|test|docs';
/** Documents name these paths before they exist: the first migration creates the folder, and the engine
 * creates its log in DATA_DIR. */
const LATER = /^clickhouse\/(migrations(\/|$)|engine\.log$)/;
/** Files that a reader of the worked examples in docs/development.md writes. */
const EXAMPLES = /\/(pairMakers(\.test)?\.ts|list_makers\.sql|exampleSwap(\.test)?\.ts)$/;

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'clickhouse/README.md'],
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

/** The text without fenced code. Examples in fenced code name files that a reader has yet to write. */
const proseOf = (path: string): string => textOf(path).replace(/^```[^]*?^```/gm, '');

/** The anchors that GitHub derives from a document's headings. */
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

/** Whether the target of a link exists: the file and, for an anchor in a Markdown file, the heading. */
function leads(document: string, link: string): boolean {
  const [target = '', anchor = ''] = link.split('#');
  const path = target === '' ? document : relative(ROOT, resolve(ROOT, dirname(document), target));
  if (!existsSync(join(ROOT, path))) return false;
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

test('every name in a table of the documents about the code occurs in the code', () => {
  const words = new Set(
    code.filter((path) => !path.endsWith('.test.ts')).flatMap((path) => textOf(path).match(/\w+/g) ?? []),
  );
  const broken = ['docs/architecture.md', 'docs/development.md'].flatMap((path) => {
    const rows = (proseOf(path).match(/^\|.*$/gm) ?? []).map((row) => row.replace(/`test\/.*/, ''));
    const names = codeOf(rows.join('\n')).filter((name) => /^\w+(\.\w+)*$/.test(name));
    expect(names.length).toBeGreaterThan(20);
    return names
      .filter((name) => !name.split('.').every((word) => words.has(word)))
      .map((name) => `${path}: ${name}`);
  });
  expect(broken).toEqual([]);
});

test('every file that a diagram names exists', () => {
  const names = documents.flatMap((path) =>
    fencedLines(textOf(path), 'mermaid').flatMap(
      (line) => line.match(/\b(?:\w+\/)+[\w.]+\.(?:ts|sql)\b/g) ?? [],
    ),
  );
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !['', 'src'].some((base) => existsSync(join(ROOT, base, name))))).toEqual([]);
});

test(`README.md has at most ${README_LINES_MAX} lines`, () => {
  expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
});

/** The text of all comments of one file, by line number. */
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
