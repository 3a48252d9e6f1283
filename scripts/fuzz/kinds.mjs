/** The kinds of seeds that `npm run fuzz` draws, with the command that repeats a seed. scripts/simulate.mjs uses some. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const JEST = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const HTTP_TEST = 'test/full/hostile/fuzz.test.ts';
const TEST_PASSED = /^Tests:.* \d+ passed/m;

/** Tests that take a first seed and a number of seeds. */
const SEED_TESTS = {
  simulation: { test: 'test/simulation/seeds.test.ts', option: '' },
  engine: { test: 'test/full/simulation/engineSeeds.test.ts', option: ' --engine' },
  lies: { test: 'test/full/simulation/lies/lyingNode.test.ts', option: ' --lies' },
};

/** Arguments and environment of a child process that runs seeds of SEED_TESTS. */
export function seedsChild(kind, firstSeed, count) {
  return {
    args: [JEST, '-i', SEED_TESTS[kind].test, '-t', `seeds ${firstSeed} to`],
    env: {
      SIMULATION_FIRST_SEED: String(firstSeed),
      SIMULATION_SEEDS: String(count),
      SIMULATION_ENGINE_SEEDS: String(count),
    },
  };
}

const seedTest = (kind) => ({
  ranMark: TEST_PASSED,
  child: (firstSeed, count) => seedsChild(kind, firstSeed, count),
  command: (firstSeed, count) =>
    `npm run simulate -- --seed ${firstSeed}${count === 1 ? '' : ` --seeds ${count}`}${SEED_TESTS[kind].option}`,
});

/** A Jest test that takes one seed as SEED. With a `share` of 5 it tries five times as many cases as with 1. */
const randomCases = (share, argumentsOf) => ({
  ranMark: TEST_PASSED,
  batch: 1,
  child: (seed) => ({
    args: [JEST, '-i', ...argumentsOf(seed)],
    env: { SEED: String(seed), PROPERTY_SHARE: String(share) },
  }),
  command: (seed) => {
    const quoted = argumentsOf(seed).map((text) => (text.includes(' ') ? `'${text}'` : text));
    return `SEED=${seed} PROPERTY_SHARE=${share} npx jest -i ${quoted.join(' ')}`;
  },
});

/** The tests with random cases. Left out are tests that a kind of their own runs. */
function listPropertyTests(folder = join(root, 'test')) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listPropertyTests(path);
      const isTest = entry.name.endsWith('.test.ts') && relative(root, path) !== HTTP_TEST;
      return isTest && readFileSync(path, 'utf8').includes("from 'fast-check'") ? [relative(root, path)] : [];
    })
    .sort();
}

const propertyTests = listPropertyTests();

/**
 * `seconds` is the time limit of one seed, `batch` the number of seeds of one child process. A kind with a weight of 6 runs
 * six times as often as one with a weight of 1. `ranMark` matches the output if a test ran.
 */
export const KINDS = [
  { name: 'simulation', weight: 6, batch: 20, seconds: 20, ...seedTest('simulation') },
  { name: 'engine', weight: 1, batch: 3, seconds: 120, ...seedTest('engine') },
  { name: 'lies', weight: 3, batch: 60, seconds: 5, ...seedTest('lies') },
  {
    name: 'prices',
    weight: 3,
    batch: 20,
    seconds: 20,
    ranMark: /^\d+ markets from seed/m,
    child: (firstSeed, count) => ({
      args: [
        join(root, 'build', 'scripts', 'attack.js'),
        ...['--suite', 'prices', '--seed', String(firstSeed), '--markets', String(count)],
      ],
      env: {},
    }),
    command: (firstSeed, count) => `npm run attack -- --suite prices --seed ${firstSeed} --markets ${count}`,
  },
  {
    name: 'properties',
    weight: 4,
    seconds: 600,
    ...randomCases(1, (seed) => [propertyTests[seed % propertyTests.length]]),
  },
  {
    name: 'http',
    weight: 2,
    seconds: 600,
    ...randomCases(4, () => [HTTP_TEST, '-t', 'random hostile calls']),
  },
];
