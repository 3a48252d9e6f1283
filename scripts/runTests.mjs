/**
 * Runs Jest for `npm test` (the gate: all tests but those in test/full) and `npm run test:full` (all tests). With paths,
 * both run the tests below these paths. `--part 2/4` runs the second of four parts, `--record` stores the seconds of each
 * file in test/support/run/durations.json.
 *
 * A file that fails runs once more, alone, at the end. A file that passes then is flaky: it is listed in the closing lines
 * and in build/flaky.jsonl. The run fails if a file fails twice, or if more than FLAKY_MAX files are flaky. The results of
 * all files are in build/gate.json or build/full.json.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FLAKY_MAX = 3;
/** With more failed files than this, the program or the machine is broken, so no file runs again. */
const REPEATED_MAX = 10;
const SLOWEST_SHOWN = 10;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const build = join(root, 'build');
const [suite, ...givenArguments] = process.argv.slice(2);
const startedAt = performance.now();

/** Takes `--part K/N` and `--record` out of the arguments; the others go to Jest. */
function readArguments(args) {
  const options = { part: undefined, isRecorded: false, jest: [] };
  for (let index = 0; index < args.length; index += 1) {
    const [, inlineValue] = /^--part=(.*)$/.exec(args[index]) ?? [];
    if (inlineValue !== undefined || args[index] === '--part') {
      options.part = inlineValue ?? args[(index += 1)];
      const [, part, parts] = /^(\d+)\/(\d+)$/.exec(options.part ?? '') ?? [];
      if (!(Number(part) >= 1 && Number(part) <= Number(parts)))
        fail(`--part is ${options.part ?? 'empty'}; allowed are a part and the number of parts, such as 2/4`);
    } else if (args[index] === '--record') options.isRecorded = true;
    else options.jest.push(args[index]);
  }
  return options;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

let child;
let wasStopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    wasStopped = true;
    child?.kill(signal);
  });

/** Runs Jest. Resolves to its exit code and the results of its files. */
async function runJest(args) {
  const resultsFile = join(build, `results-${process.pid}.json`);
  rmSync(resultsFile, { force: true });
  child = spawn(process.execPath, [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_RESULTS: resultsFile },
  });
  const code = await new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)));
  const files = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : [];
  rmSync(resultsFile, { force: true });
  return { code, files };
}

/** Runs each failed file once more, alone. Returns the files that passed then. */
async function repeatFailed(failedFiles) {
  const flaky = [];
  if (failedFiles.length > REPEATED_MAX) return flaky;
  for (const { file, failure } of failedFiles) {
    if (wasStopped) break;
    console.error(`\n${file} failed. It runs once more, alone.`);
    const { code, files } = await runJest(['--runInBand', '--runTestsByPath', file]);
    if (code !== 0 || files.length !== 1) continue;
    flaky.push({ file, failure });
    const line = { at: new Date().toISOString(), suite, file, failure };
    appendFileSync(join(build, 'flaky.jsonl'), `${JSON.stringify(line)}\n`);
    failedFiles.find((result) => result.file === file).retried = files[0];
  }
  return flaky;
}

/** The test that failed and what it says, in one line. */
const shortenFailure = (failure) =>
  failure
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 3)
    .join(' ');

/** Stores the seconds of each file. Files that no longer exist are left out. */
function record(files) {
  const path = join(root, 'test', 'support', 'run', 'durations.json');
  const secondsByFile = { ...(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}) };
  for (const { file, seconds } of files) secondsByFile[file] = seconds;
  const rows = Object.entries(secondsByFile).filter(([file]) => existsSync(join(root, file)));
  writeFileSync(
    path,
    `${JSON.stringify(Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`,
  );
}

/** Prints the slowest files (all files of a full run), failed and flaky files, and the numbers of tests. */
function report(files, failedFiles, flakyFiles) {
  const bySeconds = [...files].sort((a, b) => b.seconds - a.seconds);
  const shownFiles = suite === 'full' ? bySeconds : bySeconds.slice(0, SLOWEST_SHOWN);
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(
    `\n${files.length} test files, ${total.toFixed(0)} s over all workers, ${minutes} minutes in all:`,
  );
  for (const { file, seconds } of shownFiles) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
  for (const { file, failure } of failedFiles) console.log(`failed: ${file}: ${shortenFailure(failure)}`);
  for (const { file, failure } of flakyFiles) console.log(`flaky: ${file}: ${shortenFailure(failure)}`);
  const finalResults = files.map((result) =>
    flakyFiles.some(({ file }) => file === result.file) ? result.retried : result,
  );
  const sum = (name) => finalResults.reduce((total, result) => total + result[name], 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
}

mkdirSync(build, { recursive: true });
const { part, isRecorded, jest: jestArguments } = readArguments(givenArguments);
const isGate = suite === 'gate' && !jestArguments.some((argument) => !argument.startsWith('-'));
const { code, files } = await runJest([
  ...(isGate ? ['--testPathIgnorePatterns', '/test/full/', '/node_modules/'] : []),
  ...(part === undefined ? [] : [`--shard=${part}`]),
  ...(isGate ? ['--'] : []),
  ...jestArguments,
]);
if (files.length === 0 || wasStopped) process.exit(code === 0 && !wasStopped ? 0 : code || 130);
const failedFiles = files.filter((result) => result.failed > 0);
const flakyFiles = await repeatFailed(failedFiles);
const failedTwice = failedFiles.filter(
  ({ file }) => !flakyFiles.some((flakyFile) => flakyFile.file === file),
);
if (isRecorded) record(files);
report(files, failedTwice, flakyFiles);
writeFileSync(
  join(build, `${suite}.json`),
  `${JSON.stringify({ files: files.map(({ file, seconds, passed, failed: failedTests }) => ({ file, seconds, passed, failed: failedTests })), failed: failedTwice, flaky: flakyFiles }, null, 2)}\n`,
);
if (flakyFiles.length > FLAKY_MAX)
  console.error(`${flakyFiles.length} files are flaky; at most ${FLAKY_MAX} may be.`);
// A run without a failed test fails too if Jest fails, for example because a test left a process.
if (code !== 0 && failedFiles.length === 0)
  console.error(`Jest ended with code ${code}, although no test failed.`);
// Jest's exit code counts only if no test failed: with a failed test, the second run decides.
const isGood =
  failedTwice.length === 0 && flakyFiles.length <= FLAKY_MAX && (code === 0 || failedFiles.length > 0);
process.exit(isGood ? 0 : 1);
