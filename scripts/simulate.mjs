/**
 * `npm run simulate -- --seed N [--seeds M] [--engine] [--jobs J]`: runs one or more seeds of the simulation. The rows
 * are stored in a model of the database. With --engine they are stored in ClickHouse and compared with the model.
 * Prints seeds, seeds a minute and mismatches, and exits 1 on a mismatch. SIMULATION_TRACE=1 prints every step of a
 * seed. `npm run simulate -- --properties [--seed N --seeds M]`: runs the random-case tests with five times as many
 * cases as `npm run test:full`. Then compares the ingester with the oracle on M seeds. `npm run simulate -- --lies [--seed N
 * --seeds M --jobs J]`: tries M lies, which are wrong answers about the recorded blocks of a real node.
 */
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    engine: { type: 'boolean', default: false },
    properties: { type: 'boolean', default: false },
    lies: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
  },
});
const first = Number(values.seed);
const seeds = Number(values.seeds);
const jobs = Math.max(1, Math.min(Number(values.jobs), seeds));
if (![first, seeds, jobs].every(Number.isSafeInteger)) {
  console.error(
    'Usage: npm run simulate -- [--seed N] [--seeds N] [--engine | --properties | --lies] [--jobs N]; each N is an integer',
  );
  process.exit(2);
}

const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
if (values.properties) {
  const tests = [
    'test/full/property',
    'test/unit',
    'test/full/hostile/compilerImports.test.ts',
    'test/full/hostile/fuzz.test.ts',
    'test/integration/api/market/tokenTicks.test.ts',
    'test/integration/tail/streamReconnect.test.ts',
  ];
  const env = {
    ...process.env,
    PROPERTY_SHARE: '1',
    SIMULATION_FIRST_SEED: String(first),
    SIMULATION_SEEDS: String(seeds),
  };
  const { status } = spawnSync(process.execPath, [jest, ...tests], { cwd: root, stdio: 'inherit', env });
  process.exit(status ?? 1);
}

/** Runs some of the seeds; resolves to whether all passed. */
function runPart(from, count) {
  const test = values.lies
    ? 'full/simulation/lies/lyingNode'
    : values.engine
      ? 'full/simulation/engineSeeds'
      : 'simulation/seeds';
  const args = [jest, '-i', `test/${test}.test.ts`, '-t', `seeds ${from} to`, '--reporters=summary'];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      SIMULATION_FIRST_SEED: String(from),
      SIMULATION_SEEDS: String(count),
      SIMULATION_ENGINE_SEEDS: String(count),
    },
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
    // Prints only complete lines with the beginning of a line of the simulation. Jest's report, which repeats them, is
    // left out.
    const lines = output.split('\n');
    output = lines.pop() ?? '';
    for (const line of lines) if (/^(seed \d+:|model:|engine:|\d+ )/.test(line)) console.log(line);
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code === 0)));
}

const size = Math.ceil(seeds / jobs);
const parts = [];
for (let from = first; from < first + seeds; from += size) {
  parts.push(runPart(from, Math.min(size, first + seeds - from)));
}
const began = performance.now();
const fine = (await Promise.all(parts)).every(Boolean);
const minutes = (performance.now() - began) / 60_000;
const rate = Math.round(seeds / minutes);
console.log(
  `${seeds} seeds from ${first} in ${minutes.toFixed(1)} minutes, ${rate} seeds per minute: ${fine ? 'no mismatch' : 'MISMATCHES, see the lines above'}`,
);
process.exit(fine ? 0 : 1);
