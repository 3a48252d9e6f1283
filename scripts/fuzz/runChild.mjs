/** Runs a Node program as a child with its own process group, so that nothing remains of a child that is killed. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { root } from './kinds.mjs';

/** A child may need this time to end by itself and to remove its files. */
const GRACE_MS = 10_000;
/** Time in ms to wait for the output of a child that has ended. */
const CLOSE_WAIT_MS = 1_000;
const OUTPUT_CHARACTERS_MAX = 500_000;

/** The functions that stop the running children. */
const stops = new Set();

/** Stops all children. Their runs resolve with `stopped: 'asked'`. */
export function stopChildren() {
  for (const stop of stops) stop('asked');
}

/** The number of processes that the kernel has killed for memory since the machine started; 0 if unknown. */
function countMemoryKills() {
  if (!existsSync('/proc/vmstat')) return 0;
  const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8')) ?? [];
  return Number(count ?? 0);
}

/**
 * Resolves to how the child ended, for `verdictOf`. A child that runs longer than `limitMs` is killed with its group.
 * `onLine` gets each line of its standard error.
 */
export async function runChild({ args, env }, { limitMs, onLine } = {}) {
  const killsBefore = countMemoryKills();
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, FORCE_COLOR: '0', ...env },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${process.execPath}`);
  let stopReason = null;
  let output = '';
  let unfinishedLine = '';
  const timers = [];
  const stop = (reason) => {
    if (stopReason !== null) return;
    stopReason = reason;
    kill(-pid, 'SIGTERM');
    timers.push(setTimeout(() => kill(-pid, 'SIGKILL'), GRACE_MS));
  };
  stops.add(stop);
  if (limitMs !== undefined) timers.push(setTimeout(() => stop('limit'), limitMs));
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding('utf8')
      .on('data', (chunk) => (output = (output + chunk).slice(-OUTPUT_CHARACTERS_MAX)));
  child.stderr.on('data', (chunk) => {
    const lines = (unfinishedLine + chunk).split('\n');
    unfinishedLine = lines.pop() ?? '';
    if (onLine) lines.forEach(onLine);
  });
  // A process that the child left may hold its output open, so `exit` is awaited, and `close` only for a moment.
  const [code, signal] = await new Promise((resolve) => {
    child.once('close', (...codeAndSignal) => resolve(codeAndSignal));
    child.once('exit', (...codeAndSignal) => timers.push(setTimeout(resolve, CLOSE_WAIT_MS, codeAndSignal)));
  });
  stops.delete(stop);
  timers.forEach(clearTimeout);
  if (code !== 0) {
    kill(-pid, 'SIGKILL');
    removeRunFolders(pid);
  }
  return { code, signal, stopped: stopReason, output, isOutOfMemory: countMemoryKills() > killsBefore };
}

/** Kills a process or, by its negative id, a group. */
function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process or the whole group has ended.
  }
}

/** Removes the temporary folders of a killed Jest (test/support/run/runFolder.ts), and ends the processes in them. */
function removeRunFolders(pid) {
  for (const parent of new Set(['/dev/shm', tmpdir()])) {
    const names = existsSync(parent) ? readdirSync(parent) : [];
    for (const name of names.filter((fileName) => fileName.startsWith(`candlehouse-test-${pid}-`))) {
      const folder = join(parent, name);
      for (const leftPid of listProcesses(folder)) kill(leftPid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  }
}

/** Processes whose command line or environment names the folder. */
function listProcesses(folder) {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  return names
    .filter((name) => /^\d+$/.test(name))
    .filter((name) =>
      ['cmdline', 'environ'].some((file) => {
        try {
          return readFileSync(`/proc/${name}/${file}`, 'utf8').includes(folder);
        } catch {
          return false;
        }
      }),
    )
    .map(Number);
}
