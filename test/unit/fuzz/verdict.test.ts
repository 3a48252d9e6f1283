/** Tests the rules of `npm run fuzz`: the choice of a kind, the meaning of a child's end, and the search for the seed. */
interface Batch {
  readonly first: number;
  readonly count: number;
  readonly result: { readonly verdict: string; readonly output: string };
}
interface Rules {
  chooseKind(kinds: readonly { weight: number }[], random: number): { weight: number };
  failureOf(output: string): string;
  findSmallestPart(
    run: (first: number, count: number) => Promise<Batch['result']>,
    batch: Batch,
  ): Promise<Batch>;
  verdictOf(end: typeof PASSED, proof: RegExp): string;
}
const { chooseKind, failureOf, findSmallestPart, verdictOf } = jest.requireActual<Rules>(
  '../../../scripts/fuzz/verdict.js',
);

const PASSED: {
  code: number | null;
  signal: string | null;
  stopped: string | null;
  isOutOfMemory: boolean;
  output: string;
} = { code: 0, signal: null, stopped: null, isOutOfMemory: false, output: 'Tests: 1 passed' };

test('a kind is chosen as often as its weight says', () => {
  const kinds = [{ weight: 3 }, { weight: 1 }];
  expect([0, 0.74, 0.75, 0.999].map((random) => kinds.indexOf(chooseKind(kinds, random)))).toEqual([
    0, 0, 1, 1,
  ]);
});

test.each([
  ['passed', {}],
  ['failed', { output: 'Tests: 1 skipped' }],
  ['failed', { code: 1 }],
  ['failed', { code: null, signal: 'SIGSEGV' }],
  ['failed', { code: null, signal: 'SIGKILL', stopped: 'limit' }],
  ['stopped', { code: 143, stopped: 'asked' }],
  ['killed', { code: null, signal: 'SIGKILL' }],
  ['killed', { code: 137 }],
  // The kernel killed the engine of the test.
  ['killed', { code: 1, isOutOfMemory: true }],
  ['passed', { isOutOfMemory: true }],
])('a child counts as %s if it ends with %j', (verdict, end) => {
  expect(verdictOf({ ...PASSED, ...end }, /\d+ passed/)).toBe(verdict);
});

test('the failure is the line of a seed, otherwise the report of Jest, otherwise the last line', () => {
  const report = '  ● Console\n\n  x\n\n  ● a name\n\n    expected 1\n';
  expect(failureOf(`started\n${report}seed 7: a row is missing\n`)).toBe('seed 7: a row is missing');
  expect(failureOf(`started\n${report}`)).toBe('● a name expected 1');
  expect(failureOf('started\nSegmentation fault\n')).toBe('Segmentation fault');
});

/** Runs a batch of 20 seeds from 100 on. Returns what `findSmallestPart` found, and the batches that it tried. */
async function search(output: string, fails: (first: number, count: number) => boolean) {
  const tried: string[] = [];
  const run = (first: number, count: number) => {
    tried.push(`${first}+${count}`);
    return Promise.resolve({ verdict: fails(first, count) ? 'failed' : 'passed', output });
  };
  const { first, count } = await findSmallestPart(run, {
    first: 100,
    count: 20,
    result: { verdict: 'failed', output },
  });
  return { found: `${first}+${count}`, tried };
}
const holds = (seed: number) => (first: number, count: number) => first <= seed && seed < first + count;

test('the seed that the output names is tried first', async () => {
  const { found, tried } = await search('seed 7 is of another batch, seed 113 failed', holds(113));
  expect([found, tried]).toEqual(['113+1', ['113+1']]);
});

test('without a named seed, halves of the batch lead to the seed', async () => {
  expect((await search('out of time', holds(113))).found).toBe('113+1');
  expect((await search('out of time', holds(119))).found).toBe('119+1');
});

test('seeds that fail only together stay a batch', async () => {
  expect((await search('out of time', (_first, count) => count === 20)).found).toBe('100+20');
});
