/**
 * Runs the worked examples of docs/development.md on copies of the repository. Each example must have the
 * stated size, compile, and contain a test that fails without its change.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { applyEdit, readExamples, sizeOf } from './workedExamples';

const ROOT = join(__dirname, '..', '..', '..');
/** Folders and files of the root that no command of an example reads. */
const LEFT_OUT = /^(\.git|\.data|node_modules|dist|build|coverage)$/;
/** A program that hangs is stopped before the test times out, so that its output is shown. */
const PROGRAM_MS_MAX = 240_000;
const isTest = (path: string): boolean => path.startsWith('test/');

interface Result {
  readonly status: number | null;
  readonly output: string;
}

/**
 * The settings of Jest for a copy of the repository. Its tests use the engine of the present test run, so the settings
 * omit the global set-up.
 */
const { transform, moduleNameMapper, setupFiles, testMatch, testTimeout } =
  jest.requireActual<Readonly<Record<string, unknown>>>('../../../jest.config.js');
const jestConfig = { transform, moduleNameMapper, setupFiles, testMatch, testTimeout };

const examples = readExamples(readFileSync(join(ROOT, 'docs/development.md'), 'utf8'));
let folder = '';
let copy = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'));
  // All copies have the same path, so that Jest compiles a file only once.
  copy = join(folder, 'repository');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(() => {
  rmSync(copy, { recursive: true, force: true });
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.test(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});

/** Runs a program of node_modules in the copy. */
function run(program: string, args: readonly string[]): Promise<Result> {
  const env = { ...process.env, FORCE_COLOR: '0' };
  const options = { cwd: copy, env, timeout: PROGRAM_MS_MAX };
  const child = spawn(process.execPath, [join('node_modules', program), ...args], options);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });
}

function runJest(args: readonly string[]): Promise<Result> {
  const config = { ...jestConfig, rootDir: copy, cacheDirectory: join(folder, 'jest') };
  // A failed test may leave a server open, which would keep Jest running.
  return run('jest/bin/jest.js', ['--config', JSON.stringify(config), '--forceExit', ...args]);
}

/** Runs a command as the document shows it. The compiler keeps its results, which makes the next example
 * faster. */
function runCommand(command: string): Promise<Result> {
  const [npx, program, ...args] = command.split(' ');
  if (npx === 'npx' && program === 'jest') return runJest(args);
  if (npx === 'npx' && program === 'tsc') {
    const kept = ['--incremental', '--tsBuildInfoFile', join(folder, 'types.json')];
    return run('typescript/bin/tsc', [...args, ...kept]);
  }
  throw new Error(`an example has another command than tsc and jest: ${command}`);
}

async function expectSuccess(what: string, running: Promise<Result>): Promise<void> {
  const { status, output } = await running;
  expect([what, status, status === 0 ? '' : output]).toEqual([what, 0, '']);
}

/** Runs a test in the copy: a chain description accepts each DEX that the example describes. */
function runDexEntries(json: readonly string[]): Promise<Result> {
  const file = 'test/unit/chains/dexEntries.test.ts';
  writeFileSync(
    join(copy, file),
    `const { parseChainDescription } = jest.requireActual("../../../src/chains/parseChainDescription");
     test('the entries are accepted', () => {
       const dexes = [${json.join(',')}];
       const text = JSON.stringify({ chainId: 369, dexes });
       expect(parseChainDescription(text, 'chain.json', 369).dexes).toEqual(dexes);
     });`,
  );
  return runJest([file]);
}

test('docs/development.md has three worked examples', () => {
  expect(examples.map(({ title }) => title)).toEqual([
    'Add a field to an endpoint',
    'Add a query with its endpoint',
    'Add a protocol',
  ]);
});

test.each(examples)(
  'the worked example "$title" has the stated size, compiles, and its test fails without the change',
  async (example) => {
    const { title, edits, commands, json } = example;
    const size = sizeOf(edits);
    process.stdout.write(`${title}: ${size}\n`);
    expect(example.size).toBe(size);

    const tests = edits.filter(({ path }) => isTest(path));
    for (const { path } of tests) expect(commands.join('\n')).toContain(path);
    for (const edit of tests) applyEdit(copy, edit);
    const before = await runJest(tests.map(({ path }) => path));
    expect([before.status, before.output]).toEqual([1, expect.stringContaining('FAIL test/')]);

    for (const edit of edits.filter(({ path }) => !isTest(path))) applyEdit(copy, edit);
    const files = edits.map(({ path }) => path);
    const checks = [
      expectSuccess('prettier', run('prettier/bin/prettier.cjs', ['--check', '--ignore-unknown', ...files])),
      ...commands.map((command) => expectSuccess(command, runCommand(command))),
    ];
    if (json.length > 0) checks.push(expectSuccess('the chain description', runDexEntries(json)));
    await Promise.all(checks);
  },
);
