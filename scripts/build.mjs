/**
 * Compiles src into dist and the web page into dist/web, unpacks a font for pictures, and writes the program's entry,
 * dist/main.js, and a list of the packages that it needs, dist/sbom.cdx.json (an SBOM in the CycloneDX format). Types are
 * not checked, so that `npm start` is fast; `npm test` and `npm run check` check them. With `--tools` it compiles the
 * benchmarks and the other programs in scripts into build instead. The npm package does not contain build. With
 * `--sbom <file>` it writes only the list of packages.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transformFileSync } from '@swc/core';

import { buildWeb } from './buildWeb.mjs';
import { unpackFont } from './unpackFont.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Compiles the program's sources into `dist/src`, without the web page. */
function compileProgram() {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const webFolder = join('src', 'web');
  for (const entry of readdirSync(join(root, 'src'), { recursive: true })) {
    const path = join('src', entry);
    if (!path.endsWith('.ts') || path.startsWith(webFolder)) continue;
    const { code, map } = transformFileSync(join(root, path), {
      swcrc: false,
      configFile: false,
      sourceMaps: true,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      // A dynamic import stays one: it loads packages that are ES modules.
      module: { type: 'commonjs', ignoreDynamic: true },
    });
    const output = join(root, 'dist', path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
    writeFileSync(`${output}.map`, map);
  }
}

/** Compiles the programs in scripts into `build`. Exits with the compiler's exit code on failure. */
function compileTools() {
  // The other files in build are results of tests, such as the failing seeds of the fuzzer.
  for (const name of ['scripts', 'src', 'test'])
    rmSync(join(root, 'build', name), { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.tools.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Lists every package of the lock file that the program needs at run time, with version, licence and hash, in the
 * format of https://cyclonedx.org/docs/1.5/json/. The command `npm sbom` is not used, because in npm 11.19 it leaves
 * out packages.
 */
function writeSbom(path) {
  const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { name, version, license } = readJson('package.json');
  const component = (type, packageName, fields) => ({
    type,
    'bom-ref': `${packageName}@${fields.version}`,
    name: packageName,
    version: fields.version,
    purl: `pkg:npm/${packageName.replace('@', '%40')}@${fields.version}`,
    ...(fields.license === undefined ? {} : { licenses: [{ license: { name: fields.license } }] }),
    ...(fields.integrity === undefined ? {} : { hashes: [hashOf(fields.integrity)] }),
  });
  const components = new Map();
  for (const [modulePath, fields] of Object.entries(readJson('package-lock.json').packages)) {
    if (modulePath === '' || fields.dev) continue;
    const library = component('library', fields.name ?? modulePath.replace(/^.*node_modules\//, ''), fields);
    components.set(library['bom-ref'], library);
  }
  const billOfMaterials = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component('application', name, { version, license }) },
    components: [...components.values()],
  };
  writeFileSync(path, `${JSON.stringify(billOfMaterials, null, 2)}\n`);
}

/** Converts the hash of a package in the lock file, such as `sha512-<base64>`, to the form of CycloneDX. */
function hashOf(integrity) {
  const [algorithm, base64] = integrity.split(' ')[0].split(/-(.*)/s);
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(base64, 'base64').toString('hex') };
}

const sbom = process.argv.indexOf('--sbom');
if (sbom > 0) {
  writeSbom(process.argv[sbom + 1] ?? 'sbom.cdx.json');
} else if (process.argv.includes('--tools')) {
  compileTools();
} else {
  compileProgram();
  await buildWeb(join(root, 'dist'));
  const font = join(
    root,
    'node_modules',
    '@fontsource',
    'unifontex',
    'files',
    'unifontex-latin-400-normal.woff',
  );
  unpackFont(font, join(root, 'dist', 'fonts', 'unifontex.ttf'));
  writeFileSync(
    join(root, 'dist', 'main.js'),
    "#!/usr/bin/env node\n'use strict';\nrequire('./src/main.js').main();\n",
    {
      mode: 0o755,
    },
  );
  writeSbom(join(root, 'dist', 'sbom.cdx.json'));
}
