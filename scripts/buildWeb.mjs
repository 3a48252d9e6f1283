/**
 * Builds the web page (src/web) into dist/web: modules, pages, style sheets and icons. A page loads one file with its
 * modules and one with its styles, because a browser loads few files at a time. A module that a dynamic import names
 * becomes a file that loads when a view needs it.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transform } from '@swc/core';
import { rollup } from 'rollup';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src', 'web');
const packages = join(root, 'node_modules');
const COLOURS = 'prismjs';
/** Prism's grammars for Solidity and Yul, and for Vyper, which has Python's syntax; `clike` is the base of Solidity's. */
const GRAMMARS = ['core', 'clike', 'solidity', 'python'];

/** The main module of each page. */
const MAINS = { main: 'main.ts', docs: 'docs/docs.ts' };
/** The chunk that the views with a chart need at once. */
const CHART_CHUNK = 'chartViews';

/** Builds `<folder>`/web. */
export async function buildWeb(folder) {
  const output = join(folder, 'web');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const [chunks] = await Promise.all(
    Object.entries(MAINS).map(([name, path]) => bundle(name, join(source, path), output)),
  );
  // A script that is no module, so that it runs before the first paint.
  const { code } = await compile(readFileSync(join(source, 'theme.ts'), 'utf8'), { isModule: false });
  writeFileSync(join(output, 'theme.js'), code);
  copyFileSync(join(source, 'icon.svg'), join(output, 'icon.svg'));
  for (const name of readdirSync(source).filter((file) => file.endsWith('.html'))) {
    const page = joinStyles(readFileSync(join(source, name), 'utf8'), name.replace('.html', '.css'), output);
    writeFileSync(join(output, name), withModules(page, []));
    if (name === 'index.html')
      writeFileSync(join(output, 'chart.html'), withModules(page, listFiles(chunks, CHART_CHUNK)));
  }
}

/**
 * Bundles the modules of a page into `<name>.js`. Parts that load later are in the folder `<name>` and import shared
 * modules from `<name>.js`. Returns all of these files.
 */
async function bundle(name, path, folder) {
  const bundled = await rollup({
    input: { [name]: path },
    preserveEntrySignatures: 'allow-extension',
    plugins: [{ name: 'page', resolveId, load, transform: compileModule, renderChunk: minify }],
    onwarn(warning) {
      throw new Error(warning.message);
    },
  });
  const files = { entryFileNames: '[name].js', chunkFileNames: `${name}/[name].js` };
  const { output } = await bundled.write({ dir: folder, ...files });
  await bundled.close();
  return output;
}

/** Finds the libraries of the page. Rollup itself finds the other modules. */
function resolveId(id) {
  if (id === 'lightweight-charts') return join(packages, id, 'dist', `${id}.standalone.production.mjs`);
  return id === COLOURS ? id : null;
}

/** Prism as one module. Its files are scripts that share a variable. `manual` keeps Prism from changing pages. */
function load(id) {
  if (id !== COLOURS) return null;
  const parts = GRAMMARS.map((name) =>
    readFileSync(join(packages, COLOURS, 'components', `prism-${name}.min.js`), 'utf8'),
  );
  return ['window.Prism = { manual: true };', ...parts, 'export default Prism;', ''].join('\n');
}

/** Compiles a TypeScript module. */
function compileModule(code, id) {
  return id.endsWith('.ts') ? compile(code) : null;
}

/** Removes the types. */
function compile(code, options = {}) {
  const jsc = { target: 'es2022', parser: { syntax: 'typescript' } };
  return transform(code, { swcrc: false, configFile: false, jsc, ...options });
}

/** Removes spaces and comments other than licences. Names stay, so that errors name them. */
async function minify(code) {
  const { code: minified } = await transform(code, {
    swcrc: false,
    configFile: false,
    minify: true,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'ecmascript' },
      minify: { compress: false, mangle: false, format: { comments: 'some' } },
    },
  });
  return minified;
}

/** Names of a chunk's file and of the files that it imports. */
function listFiles(chunks, name) {
  const chunk = chunks.find((candidate) => candidate.name === name);
  if (chunk === undefined) throw new Error(`the bundle has no chunk ${name}`);
  return [chunk.fileName, ...chunk.imports.filter((file) => file !== 'main.js')];
}

/** Joins the style sheets of a page, in their order, into one file. */
function joinStyles(page, name, output) {
  const links = [...page.matchAll(/^ *<link rel="stylesheet" href="__ASSETS__\/([\w-]+\.css)" \/>\n/gm)];
  const texts = links.map(([, file]) => readFileSync(join(source, file), 'utf8'));
  writeFileSync(join(output, name), texts.join('\n'));
  const joinedLink = `    <link rel="stylesheet" href="__ASSETS__/${name}" />\n`;
  return links.reduce(
    (text, [link], index) => text.replace(link, () => (index === 0 ? joinedLink : '')),
    page,
  );
}

/** Lets the browser load modules before the main module asks for them. */
function withModules(page, modules) {
  const links = modules.map((file) => `<link rel="modulepreload" href="__ASSETS__/${file}" />`);
  return page.replace('<!-- modules -->', links.join('\n    '));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb(process.argv[2] ?? join(root, 'dist'));
