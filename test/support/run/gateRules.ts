/**
 * Tests outside test/full may start no process, except the smoke test of the built program. A test that does fails and
 * says so.
 */
import childProcess from 'node:child_process';

const MAY_START = /\/test\/(full|smoke)\//;
const STARTERS = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const;
const ORIGINAL = Symbol.for('candlehouse.childProcess');

/** Node's module is shared by all test files of a worker, so each file sets or restores its functions. */
const shared = childProcess as unknown as Record<string | symbol, unknown>;
const original = (shared[ORIGINAL] ??= { ...childProcess }) as Record<string, unknown>;

const path = expect.getState().testPath ?? '';
for (const name of STARTERS)
  shared[name] = MAY_START.test(path)
    ? original[name]
    : () => {
        throw new Error(`${name}: only tests in test/full and test/smoke may start a process`);
      };
