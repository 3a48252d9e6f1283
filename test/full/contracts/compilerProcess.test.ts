/** Limits on a compiler process, tested with fake compilers that use as many resources as possible. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findCompilers } from '../../../src/contracts/verify/compilers';

/** A fake solc. The path of the source selects its behaviour. `content` is a file in which the process
 * records facts. */
const GREEDY = `
const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
const { getPriority } = require('node:os');
exports.version = () => '9.9.9+commit.00000000';
const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
const deeds = {
  threads: () => ({ contracts: { priorities: readdirSync('/proc/self/task').map((id) => getPriority(Number(id))) } }),
  cpu: () => { for (;;); },
  warnings: () => ({ errors: Array(200_000).fill({ severity: 'warning', message: 'w'.repeat(100) }), contracts: {} }),
  answer: () => ({ contracts: { a: 'x'.repeat(9 * 2 ** 20) } }),
  wasm: (file) => {
    const memory = new WebAssembly.Memory({ initial: 0, maximum: 65_536 });
    for (;;) {
      const from = memory.buffer.byteLength;
      memory.grow(64);
      new Uint8Array(memory.buffer).fill(1, from);
      writeFileSync(file, String(peak()));
    }
  },
  heap: (file) => {
    for (const kept = []; ; writeFileSync(file, String(peak()))) kept.push(Array(500_000).fill(kept.length));
  },
};
exports.compile = (text) => {
  const [[path, { content }]] = Object.entries(JSON.parse(text).sources);
  return JSON.stringify(deeds[path](content));
};
`;

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'candlehouse-greedy-'));
  const folder = join(root, 'node_modules', 'solc');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "solc", "version": "9.9.9", "main": "index.js" }');
  writeFileSync(join(folder, 'index.js'), GREEDY);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const compile = (deed: string, bounds: Parameters<typeof findCompilers>[0] = {}, content = '') =>
  findCompilers(bounds, root).compile('9.9.9', { language: 'Solidity', sources: { [deed]: { content } } });

test('every thread of a compilation has the lowest priority', async () => {
  const { output } = await compile('threads');
  const { priorities } = (output as { contracts: { priorities: number[] } }).contracts;
  expect(priorities.length).toBeGreaterThan(2);
  expect(new Set(priorities)).toEqual(new Set([19]));
});

test('a compilation that uses up its processor time ends with an error of the sources (bad_request)', async () => {
  await expect(compile('cpu', { cpuSeconds: 1, niceness: 0 })).rejects.toMatchObject({
    code: 'bad_request',
    message: 'the compiler exceeded 1 s of processor time',
  });
});

test('a compilation that the machine does not finish in time is no error of the sources (unavailable)', async () => {
  await expect(compile('cpu', { clockMs: 500 })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the compiler did not end within 0.5 s',
  });
});

test.each(['wasm', 'heap'])('a compilation that exceeds its memory limit fails: %s', async (deed) => {
  const file = join(root, deed);
  await expect(compile(deed, { memoryMax: 400 * 2 ** 20, niceness: 0 }, file)).rejects.toMatchObject({
    code: 'bad_request',
    message: 'the compiler exceeded its memory limit of 400 MiB',
  });
  const peakMib = Number(readFileSync(file, 'utf8'));
  expect(peakMib).toBeGreaterThan(150);
  // On a busy machine a process exceeds its limit for a moment. Without a limit it takes gigabytes.
  expect(peakMib).toBeLessThan(1_000);
});

test('warnings are removed from the compiler output', async () => {
  expect(await compile('warnings')).toMatchObject({ output: { errors: [], contracts: {} }, size: 28 });
});

test('compiler output beyond the size limit is an error', async () => {
  await expect(compile('answer')).rejects.toMatchObject({
    code: 'bad_request',
    message: /its answer has more than 8388608 characters/,
  });
});
