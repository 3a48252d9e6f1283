/** Checks the plan for many swaps: its options, its sources, its formulas, and its output in docs/scale.md. */
import { listBreakPoints, roomOf } from '../../../scripts/bench/plan/breakPoints';
import { planText } from '../../../scripts/bench/plan/plan';
import { parsePlanInput, planUsage, type PlanInput } from '../../../scripts/bench/plan/planInput';
import { bytesPerSwap, planNumbers } from '../../../scripts/bench/plan/planNumbers';
import { showNumber } from '../../../scripts/bench/plan/planRow';
import { LIMITS, UNITS } from '../../../scripts/bench/plan/unitFigures';
import { listFiles, sectionOf, textOf } from '../../support/documents';

const DOCUMENTED = ['--swaps', '1e10', '--chains', '20', '--readers', '500'];

const input = (changes: Partial<PlanInput> = {}): PlanInput => ({
  ...parsePlanInput(DOCUMENTED),
  ...changes,
});
function pointOf(asked: PlanInput, part: string): ReturnType<typeof listBreakPoints>[number] {
  const point = listBreakPoints(asked, planNumbers(asked)).find(({ subject }) => subject.includes(part));
  if (point === undefined) throw new RangeError(`no point contains ${part}`);
  return point;
}

test('each measured figure is in its row of docs/measurements.md, with the command that measures it', () => {
  const rows = textOf('docs/measurements.md')
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
  const missing = Object.entries(UNITS).filter(([, { row, written, command }]) => {
    const cells = rows.find(([name]) => name === row) ?? [];
    return !cells.slice(1, -1).some((cell) => cell.includes(written)) || !cells.at(-1)?.includes(command);
  });
  expect(missing.map(([name]) => name)).toEqual([]);
});

test('each written figure contains the value that the plan uses', () => {
  const wrong = Object.entries(UNITS).filter(
    ([, { written, value }]) =>
      !(written.replaceAll(',', '').match(/\d+(\.\d+)?/g) ?? []).some((text) => Number(text) === value),
  );
  expect(wrong.map(([name]) => name)).toEqual([]);
});

test('each limit of the code is in the file that sets it', () => {
  const wrong = Object.entries(LIMITS).filter(
    ([, { file, written, value }]) =>
      !textOf(file).includes(written) || !written.replaceAll('_', '').includes(String(value)),
  );
  expect(wrong.map(([name]) => name)).toEqual([]);
});

test('docs/scale.md contains the output of the command that it shows', () => {
  const shown = textOf('docs/scale.md').split('```text\n')[1]?.split('```')[0];
  expect(textOf('docs/scale.md')).toContain(`npm run bench -- plan ${DOCUMENTED.join(' ')}`);
  expect(shown).toBe(planText(DOCUMENTED));
});

test('docs/scale.md explains each option', () => {
  const options = [...planUsage().matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name = '']) => name);
  expect(options.length).toBeGreaterThan(12);
  expect(options.filter((name) => !textOf('docs/scale.md').includes(`\`${name}\``))).toEqual([]);
});

test('a plan is computed without an engine: its modules import only each other and node', () => {
  const imports = listFiles('scripts/bench/plan', /\.ts$/).flatMap((file) =>
    [...textOf(file).matchAll(/ from '([^']+)'/g)].map(([, path = '']) => path),
  );
  expect(imports.length).toBeGreaterThan(5);
  expect(imports.filter((path) => !/^(\.\/|node:util$)/.test(path))).toEqual([]);
});

test('a wrong option is an error that names the option, the value and what is allowed', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--swap', '3'], /^plan: got --swap; allowed: --swaps, --chains, /],
    [['growth'], /^plan: got growth; allowed: --swaps/],
    [['--swaps', '-3'], /^--swaps: got -3; allowed: a whole number from 1 to 100000000000000/],
    [['--swaps'], /^--swaps: got no value; allowed: /],
    [['--swaps='], /^--swaps: got ; allowed: /],
    [['--swaps', '0x10'], /^--swaps: got 0x10; allowed: /],
    [['--swaps', 'Infinity'], /^--swaps: got Infinity; allowed: /],
    [['--chains', '2.5'], /^--chains: got 2.5; allowed: a whole number from 1 to 10000/],
    [['--cached-share', '1.1'], /^--cached-share: got 1.1; allowed: a number from 0 to 1/],
    [['--chains', '2', '--chains', '3'], /^--chains: given twice; allowed: once/],
  ];
  for (const [args, message] of cases) expect(() => planText(args)).toThrow(message);
});

test('numbers may have an exponent, and each reader has a stream unless --streams is given', () => {
  expect(parsePlanInput(['--swaps=2.5e9', '--readers', '7'])).toMatchObject({ swaps: 2.5e9, streams: 7 });
  expect(parsePlanInput(['--readers', '7', '--streams', '0']).streams).toBe(0);
});

test('the largest chain has at least an equal part, and a single chain has everything', () => {
  expect(parsePlanInput(['--chains', '2', '--largest-share', '0.1'])['largest-share']).toBe(0.5);
  expect(parsePlanInput(['--chains', '1'])['largest-share']).toBe(1);
});

test('the disk of one copy is the sum of the bytes of all tables, for each swap', () => {
  const { swapBytes, barsPerSwap, barBytes, eventsPerSwap, eventBytes, eventProjectionBytes } = UNITS;
  const perSwap =
    swapBytes.value +
    barsPerSwap.value * barBytes.value +
    eventsPerSwap.value * (eventBytes.value + eventProjectionBytes.value) +
    UNITS.otherBytes.value +
    7 * UNITS.logBytes.value;
  expect(bytesPerSwap(input({ 'logs-per-swap': 7 }))).toBeCloseTo(perSwap, 6);
  expect(planNumbers(input({ 'logs-per-swap': 7 })).bytesOfCopy).toBeCloseTo(1e10 * perSwap, -3);
});

test('smaller disks need more machines and shards, and each replica needs its own machines', () => {
  const large = planNumbers(input({ 'disk-tb': 100, cores: 1_000 }));
  const small = planNumbers(input({ 'disk-tb': 0.1, cores: 1_000 }));
  expect([large.shards, large.machinesOfCopy, large.machines]).toEqual([1, 1, 2]);
  expect(small.machinesOfCopy).toBe(Math.ceil((1e10 * bytesPerSwap(input())) / 0.07e12));
  expect(small.shards).toBe(Math.ceil((3e9 * bytesPerSwap(input())) / 0.07e12));
  expect(small.machines).toBe(2 * small.machinesOfCopy);
});

test('more readers need more API processes, and each chain has one for each replica at least', () => {
  expect(planNumbers(input({ readers: 0, streams: 0 })).apiProcesses).toBe(40);
  expect(planNumbers(input({ readers: 0, streams: 0, replicas: 3 })).apiProcesses).toBe(60);
  const many = planNumbers(input({ readers: 100_000, streams: 0 }));
  const uncached = UNITS.readMs.value * (1 - UNITS.engineReadPart.value);
  const perRequest = (UNITS.cachedMicroseconds.value / 1_000 + uncached) / 2 / 1_000;
  expect(many.largest.requestsPerSecond).toBe(15_000);
  expect(many.largest.apiProcesses).toBe(
    Math.ceil((15_000 * perRequest) / (0.7 - UNITS.headSeconds100k.value / 10)),
  );
});

test('no number of API processes is enough when the lists of a head take longer than the block time', () => {
  const fast = input({ 'block-seconds': 1 });
  expect(planNumbers(fast).largest.apiProcesses).toBe(Infinity);
  expect(roomOf(pointOf(fast, 'lags behind'))).toBeLessThan(1);
});

test('break points are sorted by room, and the least room is below 1 when a limit is passed', () => {
  const rooms = listBreakPoints(input(), planNumbers(input())).map(roomOf);
  expect(rooms).toEqual([...rooms].sort((a, b) => a - b));
  expect(rooms.length).toBeGreaterThanOrEqual(5);
  const busy = input({ days: 1 });
  expect(roomOf(pointOf(busy, 'one writer'))).toBeLessThan(1);
});

test('lists for four million pairs break the limit of rows of one statement', () => {
  expect(pointOf(input({ pairs: 4_000_000 }), 'one statement')).toMatchObject({
    limit: 2_000_000,
    planned: 4_000_000,
  });
});

test('docs/scale.md explains each break point, in the order of the output, with its limit', () => {
  const asked = parsePlanInput(DOCUMENTED);
  const points = listBreakPoints(asked, planNumbers(asked)).map(
    ({ subject, limit, unit }) => `${subject} breaks at ${showNumber(limit)} ${unit}`,
  );
  const items = sectionOf('docs/scale.md', 'What breaks first').matchAll(
    /^\d+\. \*\*(.+)\.\*\* Breaks at ([^(]+) \(/gm,
  );
  const explained = [...items].map(([, what = '', limit = '']) => `${what} breaks at ${limit}`);
  expect(explained.map((text) => text.toLowerCase())).toEqual(points.map((text) => text.toLowerCase()));
});
