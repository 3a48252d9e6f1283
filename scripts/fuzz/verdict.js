/**
 * The rules of the fuzzer that need no process: the choice of a kind, what the end of a child process means, and the
 * search for the seed that made a batch fail. This is CommonJS, so that Jest can load the file.
 */

const FAILURE_CHARACTERS_MAX = 500;

/**
 * Picks a kind by its weight. `random` is in [0, 1).
 * @param {readonly { weight: number }[]} kinds
 * @param {number} random
 */
function chooseKind(kinds, random) {
  let left = random * kinds.reduce((sum, { weight }) => sum + weight, 0);
  return kinds.find(({ weight }) => (left -= weight) < 0) ?? kinds[kinds.length - 1];
}

/**
 * Judges the seeds of a child process by how it ended. `killed` and `stopped` are neither a pass nor a failure. A child that ran no
 * test fails, because a renamed test would otherwise pass every seed.
 * @param {{ code: number | null, signal: string | null, stopped: 'limit' | 'asked' | null, isOutOfMemory: boolean, output: string }} end
 * @param {RegExp} ranMark what the output contains if a test ran
 * @returns {'passed' | 'failed' | 'killed' | 'stopped'}
 */
function verdictOf({ code, signal, stopped, isOutOfMemory, output }, ranMark) {
  if (stopped === 'asked') return 'stopped';
  if (stopped === 'limit') return 'failed';
  if (signal === 'SIGKILL' || code === 137) return 'killed';
  if (code === 0) return ranMark.test(output) ? 'passed' : 'failed';
  return isOutOfMemory ? 'killed' : 'failed';
}

/**
 * The first failure in the output, in one line: the line of a seed, otherwise Jest's report of the first failed test,
 * otherwise the last line.
 * @param {string} output
 */
function failureOf(output) {
  const [line] = /^seed \d+(:| \().*$/m.exec(output) ?? [];
  const [report] = /^ *● (?!Console)[^]*/m.exec(output) ?? [];
  const lines = (line ?? report ?? output)
    .split('\n')
    .map((text) => text.trim())
    .filter(Boolean);
  const shownLines = line === undefined && report === undefined ? lines.slice(-1) : lines;
  return shownLines.join(' ').slice(0, FAILURE_CHARACTERS_MAX);
}

/**
 * Finds the seed that makes a batch fail. Tries the seeds that the output names, then halves of the batch. Resolves to
 * the smallest failing batch: more than one seed if no half fails alone.
 * @template {{ verdict: string, output: string }} R
 * @param {(first: number, count: number) => Promise<R>} run
 * @param {{ first: number, count: number, result: R }} batch
 * @returns {Promise<{ first: number, count: number, result: R }>}
 */
async function findSmallestPart(run, { first, count, result }) {
  if (count === 1) return { first, count, result };
  const half = Math.ceil(count / 2);
  const namedSeed = [...result.output.matchAll(/\bseed (\d+)/g)]
    .map(([, seed]) => Number(seed))
    .find((seed) => seed >= first && seed < first + count);
  const parts = [
    ...(namedSeed === undefined ? [] : [[namedSeed, 1]]),
    [first, half],
    [first + half, count - half],
  ];
  for (const [from, size] of parts) {
    const again = await run(from, size);
    if (again.verdict === 'failed') return findSmallestPart(run, { first: from, count: size, result: again });
  }
  return { first, count, result };
}

module.exports = { chooseKind, failureOf, findSmallestPart, verdictOf };
