/**
 * The embedded engine's own process, started by src/clickhouse/engine/engineChild.ts: turns this Node process
 * into a ClickHouse server. One call into libchdb runs the server until the pipe on standard input closes.
 * This file is plain JavaScript, so it runs without a build.
 *
 * Arguments: the parent's pid, the path of ffi-rs, the path of libchdb, the folder the engine may write, then the
 * engine's own arguments.
 */
'use strict';

const { openSync, closeSync, constants } = require('node:fs');
const { dirname } = require('node:path');
const { Worker } = require('node:worker_threads');

const [parentPid, ffiPath, libraryPath, folder, ...engineArguments] = process.argv.slice(2);
const { open, load, DataType } = require(ffiPath);

/** When the parent process has ended, the engine has this long to shut down cleanly. Then it kills itself. */
const ORPHAN_GRACE_MS = 8_000;

/**
 * The call into the engine blocks this thread forever, so a second thread watches the parent process.
 * Normally the closed pipe ends the engine; the second thread ends an engine that hangs.
 */
function watchParent() {
  const code = `
    const timer = setInterval(() => {
      if (process.ppid === ${Number(parentPid)}) return;
      clearInterval(timer);
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ORPHAN_GRACE_MS});
    }, 500);
  `;
  new Worker(code, { eval: true });
}

/** System call numbers, the same on x64 and arm64; see landlock(7). */
const LANDLOCK_CREATE_RULESET = 444;
const LANDLOCK_ADD_RULE = 445;
const LANDLOCK_RESTRICT_SELF = 446;
const PR_SET_NO_NEW_PRIVS = 38;

/** Landlock access rights, bits 0 to 13. ABI 2 added bit 13, which allows a rename across folders. */
const ACCESS_ALL = (1n << 14n) - 1n;
const ACCESS_READ = (1n << 2n) | (1n << 3n);
const ACCESS_READ_FILE = 1n << 2n;
const ACCESS_WRITE_FILE = 1n << 1n;

/** Files that the engine reads outside its own folder: facts about the machine, the C library, its own symbols. */
const READ_FOLDERS = ['/sys', '/lib', '/lib64', '/usr/lib', '/usr/share/zoneinfo', dirname(libraryPath)];
const READ_FILES = ['/dev/urandom', '/dev/random', '/etc/hosts', '/etc/resolv.conf', '/etc/nsswitch.conf'];

/**
 * The readable parts of /proc: facts about the machine and this process. The environment of another process may hold keys, so it
 * stays closed. The kernel recreates an unused entry, and a rule does not cover the new one, so the descriptors stay open.
 */
const PROC_FOLDERS = ['/proc/self', '/proc/sys', '/proc/pressure'];
const PROC_FILES = ['cpuinfo', 'diskstats', 'filesystems', 'loadavg', 'meminfo', 'stat', 'uptime', 'vmstat'];

function systemCall(number, types, values) {
  return load({
    library: 'libc',
    funcName: 'syscall',
    retType: DataType.I64,
    paramsType: [DataType.I64, ...types],
    paramsValue: [number, ...values],
  });
}

/**
 * Restricts this thread, and threads that it starts, to the engine's files. The SQL function `file` can read
 * any path, and no grant limits it. Without this restriction, an SQL injection could read the user's disk.
 */
function confineFiles() {
  if (process.platform !== 'linux') return `Landlock does not exist on ${process.platform}`;
  open({ library: 'libc', path: 'libc.so.6' });
  const { I64, I32, U8Array } = DataType;
  const none = Buffer.alloc(0);
  const version = systemCall(LANDLOCK_CREATE_RULESET, [U8Array, I64, I64], [none, 0, 1]);
  if (version < 2) return 'the kernel has no Landlock of version 2';
  const attributes = Buffer.alloc(8);
  attributes.writeBigUInt64LE(ACCESS_ALL);
  const ruleset = systemCall(LANDLOCK_CREATE_RULESET, [U8Array, I64, I64], [attributes, 8, 0]);
  if (ruleset < 0) return 'Landlock refused the rules';
  const allowAndClose = (path, access) => closeAll(allow(ruleset, path, access));
  allowAndClose(folder, ACCESS_ALL);
  for (const path of READ_FOLDERS) allowAndClose(path, ACCESS_READ);
  for (const path of READ_FILES) allowAndClose(path, ACCESS_READ_FILE);
  allowAndClose('/dev/null', ACCESS_READ_FILE | ACCESS_WRITE_FILE);
  for (const path of PROC_FOLDERS) allow(ruleset, path, ACCESS_READ);
  for (const name of PROC_FILES) allow(ruleset, `/proc/${name}`, ACCESS_READ_FILE);
  load({
    library: 'libc',
    funcName: 'prctl',
    retType: I32,
    paramsType: [I32, I64, I64, I64, I64],
    paramsValue: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0],
  });
  const restricted = systemCall(LANDLOCK_RESTRICT_SELF, [I64, I64], [ruleset, 0]);
  closeSync(ruleset);
  return restricted === 0 ? null : 'Landlock refused';
}

/** The reason why files are not confined; null when they are confined. */
function tryToConfineFiles() {
  try {
    return confineFiles();
  } catch (error) {
    return error.message;
  }
}

/** Adds a rule for `path` and everything below. Returns the open descriptor in a list; an unreadable path gives an empty list. */
function allow(ruleset, path, access) {
  let descriptor;
  try {
    descriptor = openSync(path, constants.O_RDONLY);
  } catch {
    return [];
  }
  // struct landlock_path_beneath_attr, packed: the rights, then the descriptor of the path.
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(access);
  rule.writeInt32LE(descriptor, 8);
  const { I64, U8Array } = DataType;
  const done = systemCall(LANDLOCK_ADD_RULE, [I64, I64, U8Array, I64], [ruleset, 1, rule, 0]);
  if (done !== 0) throw new Error(`Landlock refused the rule for ${path}`);
  return [descriptor];
}

function closeAll(descriptors) {
  for (const descriptor of descriptors) closeSync(descriptor);
}

function main() {
  watchParent();
  open({ library: 'engine', path: libraryPath });
  const unconfined = tryToConfineFiles();
  if (unconfined !== null) process.stderr.write(`files are not confined: ${unconfined}\n`);
  const argv = ['clickhouse', ...engineArguments];
  load({
    library: 'engine',
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
  });
  process.exit(0);
}

main();
