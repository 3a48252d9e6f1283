/**
 * Builds the web page (src/web) into dist/web: browser modules, pages, style sheet, icons, and the chart library from
 * node_modules. Nothing is bundled. Pages list every module, so browsers load all of them in parallel.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src', 'web');
const CHARTS = 'lightweight-charts';

/** Builds `<folder>`/web; exits with the compiler's code on failure. */
export function buildWeb(folder) {
  const output = join(folder, 'web');
  const compiled = join(folder, 'web-compiled');
  rmSync(output, { recursive: true, force: true });
  rmSync(compiled, { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(
    process.execPath,
    [compiler, '-p', join(source, 'tsconfig.json'), '--noEmit', 'false', '--outDir', compiled],
    { cwd: root, stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(folder, { recursive: true });
  // The compiler also writes files outside of src/web from which the page imports only types. The page does not need
  // these files at run time.
  renameSync(join(compiled, 'web'), output);
  rmSync(compiled, { recursive: true, force: true });
  const modules = readdirSync(output, { recursive: true }).filter((name) => name.endsWith('.js'));
  for (const name of modules) {
    const path = join(output, name);
    const charts = `${relative(dirname(name), '.') || '.'}/${CHARTS}.js`;
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`from '${CHARTS}'`, `from '${charts}'`));
  }
  copyFileSync(
    join(root, 'node_modules', CHARTS, 'dist', `${CHARTS}.standalone.production.mjs`),
    join(output, `${CHARTS}.js`),
  );
  for (const name of readdirSync(source).filter((file) => /\.(css|svg)$/.test(file)))
    copyFileSync(join(source, name), join(output, name));
  for (const name of readdirSync(source).filter((file) => file.endsWith('.html'))) {
    const page = readFileSync(join(source, name), 'utf8');
    const links = modulesOf(page, output).map(
      (file) => `<link rel="modulepreload" href="__ASSETS__/${file}" />`,
    );
    writeFileSync(join(output, name), page.replace('<!-- modules -->', links.join('\n    ')));
  }
}

/** All modules that a page's main module imports, directly or indirectly. */
function modulesOf(page, folder) {
  const [, first] = /<script type="module" src="__ASSETS__\/([\w/-]+\.js)"/.exec(page) ?? [];
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    if (name === `${CHARTS}.js`) return;
    for (const [, next] of readFileSync(join(folder, name), 'utf8').matchAll(/from '(\.[\w./-]+\.js)'/g))
      visit(posix.join(posix.dirname(name), next));
  };
  if (first !== undefined) visit(first);
  return [...found];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildWeb(process.argv[2] ?? join(root, 'dist'));
