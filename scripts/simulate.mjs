/**
 * `npm run simulate -- --seed N [--seeds M] [--engine] [--jobs J]`: runs one or more seeds of the simulation. The rows
 * are stored in a model of the database. With --engine they are stored in ClickHouse and compared with the model.
 * Prints seeds, seeds a minute and mismatches, and exits 1 on a mismatch. SIMULATION_TRACE=1 prints every step of a
 * seed. `npm run simulate -- --properties [--seed N --seeds M]`: runs the random-case tests with five times as many
 * cases as `npm run test:full`. Then compares the ingester with the oracle on M seeds. `npm run simulate -- --lies [--seed N
 * --seeds M --jobs J]`: tries M lies, which are wrong answers about the recorded blocks of a real node.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { root, seedsChild } from './fuzz/kinds.mjs';
import { runChild, stopChildren } from './fuzz/runChild.mjs';
import { failureOf } from './fuzz/verdict.js';

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
const firstSeed = Number(values.seed);
const seeds = Number(values.seeds);
const jobs = Math.max(1, Math.min(Number(values.jobs), seeds));
if (![firstSeed, seeds, jobs].every(Number.isSafeInteger)) {
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
    'test/integration/stream/streamReconnect.test.ts',
  ];
  const env = {
    ...process.env,
    PROPERTY_SHARE: '1',
    SIMULATION_FIRST_SEED: String(firstSeed),
    SIMULATION_SEEDS: String(seeds),
  };
  const { status } = spawnSync(process.execPath, [jest, ...tests], { cwd: root, stdio: 'inherit', env });
  process.exit(status ?? 1);
}

process.on('SIGINT', stopChildren);
process.on('SIGTERM', stopChildren);

/** Runs some of the seeds; resolves to whether all passed. */
async function runPart(firstSeedOfPart, count) {
  const kind = values.lies ? 'lies' : values.engine ? 'engine' : 'simulation';
  // Prints only lines with the beginning of a line of the simulation. Jest's report, which repeats them, is left out.
  const onLine = (line) => /^(seed \d+:|model:|engine:|lies:|\d+ )/.test(line) && console.log(line);
  const { code, stopped, output } = await runChild(seedsChild(kind, firstSeedOfPart, count), { onLine });
  if (stopped !== null) process.exit(130);
  if (code !== 0 && !/^seed \d+:/m.test(output)) console.log(failureOf(output));
  return code === 0;
}

const partSize = Math.ceil(seeds / jobs);
const runs = [];
for (let partSeed = firstSeed; partSeed < firstSeed + seeds; partSeed += partSize) {
  runs.push(runPart(partSeed, Math.min(partSize, firstSeed + seeds - partSeed)));
}
const startedAt = performance.now();
const allPassed = (await Promise.all(runs)).every(Boolean);
const minutes = (performance.now() - startedAt) / 60_000;
const seedsPerMinute = Math.round(seeds / minutes);
console.log(
  `${seeds} seeds from ${firstSeed} in ${minutes.toFixed(1)} minutes, ${seedsPerMinute} seeds per minute: ${allPassed ? 'no mismatch' : 'MISMATCHES, see the lines above'}`,
);
process.exit(allPassed ? 0 : 1);
