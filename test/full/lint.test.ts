/** Runs the linter over all code: unused code, unawaited promises, imports, complex functions. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

test('the linter reports no problems', () => {
  const linter = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const { status, stdout } = spawnSync(process.execPath, [linter, '--type-aware', '--deny-warnings'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect([status, status === 0 ? '' : stdout]).toEqual([0, '']);
});
