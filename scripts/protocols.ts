/** `npm run protocols`: runs the oracle tests of all protocols and writes their figures into docs/protocols.md. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findPackageRoot } from '../src/clickhouse/client/packageRoot';
import { textOf } from '../test/support/documents';
import { FIGURES_FOLDER, makeTable, PROTOCOL_TABLE_PATH } from '../test/support/protocols/protocolTable';

const root = findPackageRoot();
const folder = mkdtempSync(join(tmpdir(), 'candlehouse-protocols-'));
try {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(process.execPath, [jest, '-w', '1', 'test/full/protocols'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, [FIGURES_FOLDER]: folder },
  });
  const text = textOf(PROTOCOL_TABLE_PATH).replace(/^\| Family .*\n(\|.*\n)*/m, makeTable(folder));
  writeFileSync(join(root, PROTOCOL_TABLE_PATH), text);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
