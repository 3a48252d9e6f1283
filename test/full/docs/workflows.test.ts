/** The workflows are valid by GitHub's schema, run scripts that exist, and cover the supported versions of Node. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { load } = jest.requireActual<{ load(text: string): unknown }>('js-yaml');

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly strategy?: { readonly matrix?: Readonly<Record<string, readonly unknown[]>> };
  readonly steps: readonly { readonly run?: string; readonly with?: Readonly<Record<string, unknown>> }[];
}

const ROOT = join(__dirname, '..', '..', '..');
const FOLDER = '.github/workflows';
/** Even major versions of Node, from the version in `engines` of package.json on. Node maintains even
 * versions for years. */
const NODE_VERSIONS = [20, 22, 24];
/** Commands that npm itself provides, without a script. */
const NPM_COMMANDS = ['ci'];

const paths = readdirSync(join(ROOT, FOLDER)).map((name) => join(FOLDER, name));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
};
const jobsOf = (path: string): Job[] =>
  Object.values((load(readFileSync(join(ROOT, path), 'utf8')) as Workflow).jobs);

const listFaults = (files: readonly string[]): string[] =>
  execFileSync(process.execPath, [join(__dirname, 'listWorkflowFaults.mjs'), ...files], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((line) => line !== '');

test("every GitHub workflow is valid by GitHub's schema", () => {
  expect(paths).toContain(join(FOLDER, 'test.yml'));
  expect(listFaults(paths)).toEqual([]);
});

const FAULTS: readonly (readonly [fault: string, line: string])[] = [
  ["Unexpected value 'time-out'", 'time-out: 60'],
  ["Unrecognized named-value: 'matrixx'", 'name: ${{ matrixx.node }}'],
  ['at least one job with no dependencies', 'needs: build'],
];

test.each(FAULTS)('a workflow with the fault %p is refused', (fault, line) => {
  const folder = mkdtempSync(join(tmpdir(), 'workflow-'));
  const file = join(folder, 'wrong.yml');
  const lines = ['on: push', 'jobs:', '  test:', '    runs-on: ubuntu-latest', `    ${line}`];
  writeFileSync(file, [...lines, '    steps:', '      - run: echo', ''].join('\n'));
  const faults = listFaults([file]);
  rmSync(folder, { recursive: true });
  expect(faults).toEqual([expect.stringContaining(fault)]);
});

test('every npm command in a workflow runs a script of package.json', () => {
  const commands = paths
    .flatMap(jobsOf)
    .flatMap(({ steps }) => steps.flatMap(({ run = '' }) => [...run.matchAll(/\bnpm (?:run )?([\w:-]+)/g)]))
    .map(([, command = '']) => command);
  expect(commands).toEqual(expect.arrayContaining(['ci', 'check', 'test']));
  expect(commands.filter((name) => !NPM_COMMANDS.includes(name) && !(name in manifest.scripts))).toEqual([]);
});

test('the workflow runs the tests on every supported version of Node', () => {
  const [job] = jobsOf(join(FOLDER, 'test.yml'));
  expect(job?.strategy?.matrix?.['node']).toEqual(NODE_VERSIONS);
  const versions = job?.steps.flatMap(({ with: inputs }) => inputs?.['node-version'] ?? []);
  expect(versions).toEqual(['${{ matrix.node }}']);
  expect(manifest.engines.node).toMatch(new RegExp(`^>=${NODE_VERSIONS[0]}\\.`));
});
