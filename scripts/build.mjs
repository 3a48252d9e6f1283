/**
 * Compiles src into dist and the web page into dist/web, and writes the program's entry, dist/main.js. With `--tools` it
 * compiles the benchmarks and the other programs in scripts into build instead. The npm package does not contain build.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildWeb } from './buildWeb.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Empties the folder and compiles into it. Exits with the compiler's exit code on failure. */
function compile(config, folder) {
  rmSync(join(root, folder), { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', config], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (process.argv.includes('--tools')) {
  compile('tsconfig.tools.json', 'build');
} else {
  compile('tsconfig.build.json', 'dist');
  buildWeb(join(root, 'dist'));
  writeFileSync(
    join(root, 'dist', 'main.js'),
    "#!/usr/bin/env node\n'use strict';\nrequire('./src/main.js').main();\n",
    {
      mode: 0o755,
    },
  );
}
