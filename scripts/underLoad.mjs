/**
 * `node scripts/underLoad.mjs [--loops 4] [--times 5] [-- command]`: runs a command (by default `npm test`) several times
 * while endless loops keep the processors busy, and prints the seconds and the exit code of each run. Shows that tests do
 * not depend on the load of the machine. Exits 1 if a run fails.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals } = parseArgs({
  options: { loops: { type: 'string', default: '4' }, times: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const [loops, times] = [Number(values.loops), Number(values.times)];
if (!Number.isSafeInteger(loops) || !Number.isSafeInteger(times) || loops < 0 || times < 1) {
  console.error(
    'Usage: node scripts/underLoad.mjs [--loops N] [--times N] [-- command]; each N is an integer',
  );
  process.exit(2);
}
const [command = 'npm', ...args] = positionals.length === 0 ? ['npm', 'test'] : positionals;

const endlessLoops = Array.from({ length: loops }, () =>
  // A loop ends by itself when this script is gone.
  spawn(
    process.execPath,
    ['-e', 'const p = process.ppid; for (;;) if (process.ppid !== p) process.exit();'],
    {
      stdio: 'ignore',
    },
  ),
);
let child;
let wasStopped = false;
const stop = () => {
  wasStopped = true;
  // The command has a process group of its own, because a shell does not pass a signal on.
  if (child !== undefined) process.kill(-child.pid, 'SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

const rows = [];
for (let run = 1; run <= times && !wasStopped; run += 1) {
  const startedAt = performance.now();
  child = spawn(command, args, { cwd: root, stdio: 'inherit', detached: true });
  const code = await new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)));
  child = undefined;
  rows.push({ run, code, seconds: Math.round((performance.now() - startedAt) / 1_000) });
}
for (const loop of endlessLoops) loop.kill('SIGKILL');
console.log(`\n${command} ${args.join(' ')}, with ${loops} endless loops beside it:`);
for (const { run, code, seconds } of rows) console.log(`run ${run}: exit code ${code}, ${seconds} s`);
process.exit(wasStopped || rows.some(({ code }) => code !== 0) ? 1 : 0);
