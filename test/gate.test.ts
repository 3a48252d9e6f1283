/**
 * Checks that no test of the gate (all tests outside test/full) depends on time, load or chance: real sleeps, the current
 * time, random numbers without a seed, time limits of single tests, and repeated tests are forbidden.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parseSync } from '@swc/core';

const ROOT = resolve(__dirname, '..');
const NOT_IN_GATE = ['test/full', 'test/smoke', 'test/support', 'test/golden'];
/** Longest sleep in ms, for example between two looks at a condition. */
const SLEEP_MAX_MS = 50;
/** The time limit of a test. A sleep of this length never ends in a test, so no result depends on it. */
const ENDLESS_MS = 600_000;

const SLEEPERS = /^(?:setTimeout|setInterval|delay|sleep|timeout)$/;
const READS = /^(?:Math\.random|Date\.now|performance\.now|process\.(?:hrtime|cpuUsage|memoryUsage))$/;
const TESTS = /^(?:test|it)(?:\.(?:only|each|concurrent|failing))*$/;
const HOOKS = /^(?:beforeAll|beforeEach|afterAll|afterEach)$/;

/** Files that may break a rule, with the expressions that they may contain and the reason. */
const ALLOWED: readonly (readonly [path: RegExp, expressions: RegExp, reason: string])[] = [
  [
    /^test\/simulation\/seeds\.test\.ts$/,
    /^(?:performance\.now|process\.cpuUsage|time limit)$/,
    'prints its progress; npm run simulate runs more seeds than the limit of one test allows',
  ],
  [
    /^test\/integration\/api\/market\/udf\.test\.ts$/,
    /^Date\.now$/,
    'the answer is a time of this process, between two readings of the same clock',
  ],
  [
    /^test\/unit\/node\/rpc\/socketTransport\.test\.ts$/,
    /^Date\.now$/,
    'a clock that runs faster than the system clock, so that pauses are short; no assertion reads it',
  ],
];

interface Node {
  readonly type: string;
  readonly span: { readonly start: number };
  readonly [name: string]: unknown;
}

interface Fault {
  readonly what: string;
  readonly at: number;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

/** The dotted name of an expression, such as Date.now. A call inside the name, as in test.each(…), is left out. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'Identifier') return String(node['value']);
  if (node.type === 'CallExpression') return nameOf(node['callee']);
  if (node.type !== 'MemberExpression') return '';
  return [nameOf(node['object']), nameOf(node['property'])].filter(Boolean).join('.');
}

/** What is wrong with a call, or with the creation of an object. */
function faultsOfCall(node: Node): string[] {
  const name = nameOf(node['callee']);
  const given = ((node['arguments'] ?? []) as { readonly expression: Node }[]).map(
    ({ expression }) => expression,
  );
  if (node.type === 'NewExpression') return name === 'Date' && given.length === 0 ? ['new Date()'] : [];
  const found: string[] = [];
  const isTable = nameOf(node['callee']).endsWith('.each') && !isCall(node['callee']);
  if ((TESTS.test(name) && !isTable && given.length > 2) || (HOOKS.test(name) && given.length > 1))
    found.push('time limit');
  if (/(?:^|\.)(?:retryTimes|jest\.setTimeout)$/.test(name)) found.push(name);
  if (SLEEPERS.test(name.split('.').at(-1) ?? ''))
    for (const { type, value } of given)
      if (type === 'NumericLiteral' && Number(value) > SLEEP_MAX_MS && Number(value) < ENDLESS_MS)
        found.push(`${name} of ${Number(value)} ms`);
  return found;
}

const isCall = (node: unknown): boolean => isNode(node) && node.type === 'CallExpression';

function listFaults(value: unknown, found: Fault[] = []): Fault[] {
  if (Array.isArray(value)) for (const one of value) listFaults(one, found);
  else if (typeof value === 'object' && value !== null) {
    if (isNode(value)) {
      const at = value.span?.start ?? 0;
      if (value.type === 'MemberExpression' && READS.test(nameOf(value)))
        found.push({ what: nameOf(value), at });
      if (value.type === 'CallExpression' || value.type === 'NewExpression')
        for (const what of faultsOfCall(value)) found.push({ what, at });
    }
    for (const child of Object.values(value)) listFaults(child, found);
  }
  return found;
}

/** The faults of a text, as `path:line: what`. */
function check(path: string, text: string): string[] {
  const bytes = Buffer.from(text);
  const { body, span } = parseSync(text, { syntax: 'typescript', target: 'es2022' });
  // swc counts bytes from the start of its first text of the process. A module's span starts at its first statement.
  const first = bytes.length - Buffer.byteLength(text.slice(firstToken(text)));
  const lineOf = (at: number): number =>
    bytes
      .subarray(0, at - span.start + first)
      .toString()
      .split('\n').length;
  const allowed = ALLOWED.filter(([allowedPath]) => allowedPath.test(path)).map(
    ([, expressions]) => expressions,
  );
  return listFaults(body)
    .filter(({ what }) => !allowed.some((expressions) => expressions.test(what)))
    .map(({ what, at }) => `${path}:${lineOf(at)}: ${what}`);
}

/** Index of the first character that is neither white space nor part of a comment. */
function firstToken(text: string): number {
  return /^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*/.exec(text)?.[0].length ?? 0;
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (NOT_IN_GATE.includes(path)) return [];
    if (entry.isDirectory()) return listFiles(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

test('no test of the gate sleeps, reads the current time or random numbers, or has a time limit of its own', () => {
  const files = listFiles('test');
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((path) => check(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

test.each([
  ['await delay(60);', ['delay of 60 ms']],
  ['await delay(50); clock.sleep(600_000);', []],
  ['setTimeout(() => {\n stop();\n}, 1_000);', ['setTimeout of 1000 ms']],
  ['const within = AbortSignal.timeout(500);', ['AbortSignal.timeout of 500 ms']],
  ['const end = Date.now() + 5;', ['Date.now']],
  ["const now = jest.spyOn(Date, 'now'); const date = new Date(1);", []],
  ['const date = new Date();', ['new Date()']],
  ['const a = Math.random() + performance.now();', ['Math.random', 'performance.now']],
  ['jest.retryTimes(2);', ['jest.retryTimes']],
  ["test('a', run, 5_000);", ['time limit']],
  ["test.each([1, 2, 3])('a', run, LIMIT);", ['time limit']],
  ["test.each([1], [2], [3])('a', run); it('b', run); beforeAll(run);", []],
  ['beforeAll(run, 5_000);', ['time limit']],
])('the rule finds what is wrong with: %s', (text, found) => {
  const lines = check('a.test.ts', `/** € */\n\n${text}\n`);
  expect(lines.map((line) => line.replace(/^a\.test\.ts:3: /, ''))).toEqual(found);
});
