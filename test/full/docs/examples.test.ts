/**
 * Runs the worked examples of docs/development.md on one copy of the repository. Each example must have the
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
  copy = join(folder, 'repository');
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.test(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

/** The arguments of each command of a program, as `npx program …` in the examples. */
function argumentsOf(program: string): string[][] {
  return examples
    .flatMap(({ commands }) => commands)
    .filter((command) => command.startsWith(`npx ${program} `))
    .map((command) => command.split(' ').slice(2));
}

async function expectSuccess(what: string, running: Promise<Result>): Promise<void> {
  const { status, output } = await running;
  expect([what, status, status === 0 ? '' : output]).toEqual([what, 0, '']);
}

const DEX_ENTRIES = 'test/unit/chains/dexEntries.test.ts';

/** Writes a test into the copy: a chain description accepts each DEX that an example describes. */
function writeDexEntries(): void {
  writeFileSync(
    join(copy, DEX_ENTRIES),
    `const { parseChainDescription } = jest.requireActual("../../../src/chains/parseChainDescription");
     test('the entries are accepted', () => {
       const dexes = [${examples.flatMap(({ json }) => json).join(',')}];
       const text = JSON.stringify({ chainId: 369, dexes });
       expect(parseChainDescription(text, 'chain.json', 369).dexes).toEqual(dexes);
     });`,
  );
}

test('docs/development.md has three worked examples', () => {
  expect(examples.map(({ title }) => title)).toEqual([
    'Add a field to an endpoint',
    'Add a query with its endpoint',
    'Add a pool family',
  ]);
});

test.each(examples)('the worked example "$title" has the stated size, and runs its tests', (example) => {
  const { edits, commands, size } = example;
  expect(size).toBe(sizeOf(edits));
  for (const { path } of edits.filter(({ path }) => isTest(path)))
    expect(commands.join('\n')).toContain(path);
  for (const command of commands) expect(command).toMatch(/^npx (tsc|jest) /);
});

test('the worked examples compile, and their tests fail without the changes and pass with them', async () => {
  const edits = examples.flatMap((example) => example.edits);
  const tests = [...new Set(edits.map(({ path }) => path).filter(isTest))];
  for (const edit of edits.filter(({ path }) => isTest(path))) applyEdit(copy, edit);
  const before = await runJest(tests);
  expect(before.status).toBe(1);
  for (const path of tests) expect(before.output).toContain(`FAIL ${path}`);

  for (const edit of edits.filter(({ path }) => !isTest(path))) applyEdit(copy, edit);
  writeDexEntries();
  const files = [...new Set(edits.map(({ path }) => path))];
  const compiled = new Set(argumentsOf('tsc').map((args) => args.join(' ')));
  const paths = argumentsOf('jest').flatMap((args) =>
    args.filter((argument) => argument.startsWith('test/')),
  );
  await Promise.all([
    expectSuccess('prettier', run('prettier/bin/prettier.cjs', ['--check', '--ignore-unknown', ...files])),
    ...[...compiled].map((args) => expectSuccess('tsc', run('typescript/bin/tsc', args.split(' ')))),
    expectSuccess('jest', runJest(['-w', '1', ...new Set([...paths, DEX_ENTRIES])])),
  ]);
});
