/** Compiles src and scripts into dist, the web page into dist/web, and writes dist/main.js, the program's entry. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildWeb } from './buildWeb.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
buildWeb(join(root, 'dist'));
writeFileSync(
  join(root, 'dist', 'main.js'),
  "#!/usr/bin/env node\n'use strict';\nrequire('./src/main.js').main();\n",
  {
    mode: 0o755,
  },
);
