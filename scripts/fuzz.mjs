/**
 * `npm run fuzz -- --minutes N [--kind K] [--jobs J]`: runs random seeds of the simulation, lies, prices, properties and
 * HTTP calls for N minutes. Appends each failing seed to build/seeds.jsonl, with its commit and the command that repeats
 * it, and exits 1 if a seed failed. First it checks that it finds a known mistake (the canary); with 0 minutes it does
 * only that.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { KINDS, root } from './fuzz/kinds.mjs';
import { runChild, stopChildren } from './fuzz/runChild.mjs';
import { chooseKind, failureOf, findSmallestPart, verdictOf } from './fuzz/verdict.js';

/** Added to the time limit of a batch for the start of Jest, the engine and the development chain on a busy machine. */
const START_SECONDS = 120;
/** One seed in ten fails with FUZZ_CANARY=1. All of these pass once in 10^9 times. */
const CANARY_SEEDS = 200;
/** Largest first seed of a batch, so that all its seeds are 32-bit integers. */
const SEED_MAX = 2 ** 31 - 1_000;
const TELL_EVERY_MS = 30_000;
const USAGE = `Usage: npm run fuzz -- --minutes N [--kind ${KINDS.map(({ name }) => name).join('|')}] [--jobs J]`;

const { minutes, kinds, jobs } = readArguments();
const startedAt = performance.now();
const secondsSince = (time) => (performance.now() - time) / 1_000;
const totalsByKind = new Map(
  kinds.map(({ name }) => [name, { seeds: 0, failures: 0, killed: 0, seconds: 0 }]),
);
let wasStopped = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    wasStopped = true;
    stopChildren();
  });

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '10' },
        kind: { type: 'string' },
        jobs: { type: 'string', default: '1' },
      },
    });
    const chosenKinds = KINDS.filter(({ name }) => values.kind === undefined || name === values.kind);
    const [time, workers] = [Number(values.minutes), Number(values.jobs)];
    if (
      time >= 0 &&
      Number.isFinite(time) &&
      workers >= 1 &&
      Number.isSafeInteger(workers) &&
      chosenKinds.length > 0
    )
      return { minutes: time, kinds: chosenKinds, jobs: workers };
  } catch (error) {
    console.error(error.message);
  }
  console.error(USAGE);
  process.exit(2);
}

/** Runs seeds of a kind in one child process. */
async function runSeeds(kind, firstSeed, count, canary = '0') {
  const { args, env } = kind.child(firstSeed, count);
  const limitSeconds = START_SECONDS + count * kind.seconds;
  const childEnd = await runChild(
    { args, env: { ...env, FUZZ_CANARY: canary } },
    { limitMs: limitSeconds * 1_000 },
  );
  const verdict = wasStopped ? 'stopped' : verdictOf(childEnd, kind.ranMark);
  const failure =
    childEnd.stopped === 'limit'
      ? `took longer than ${limitSeconds} s`
      : childEnd.code === 0
        ? 'no test ran'
        : failureOf(childEnd.output);
  return { verdict, failure, output: childEnd.output };
}

/** The oracle of the simulation has a mistake with FUZZ_CANARY=1. Returns whether a seed shows it. */
async function findCanary() {
  const kind = KINDS.find(({ name }) => name === 'simulation');
  const run = (firstSeed, count) => runSeeds(kind, firstSeed, count, '1');
  for (let triedSeeds = 0; triedSeeds < CANARY_SEEDS && !wasStopped; triedSeeds += kind.batch) {
    const firstSeed = randomInt(1, SEED_MAX);
    const result = await run(firstSeed, kind.batch);
    if (result.verdict !== 'failed') continue;
    const smallest = await findSmallestPart(run, { first: firstSeed, count: kind.batch, result });
    if (wasStopped) return false;
    console.log(
      `canary: found after ${triedSeeds + kind.batch} seeds and ${secondsSince(startedAt).toFixed(0)} s, as it must be: FUZZ_CANARY=1 ${kind.command(smallest.first, smallest.count)}`,
    );
    return true;
  }
  return false;
}

/** Runs one batch of random seeds. */
async function runRound() {
  const kind = chooseKind(kinds, Math.random());
  const totals = totalsByKind.get(kind.name);
  const firstSeed = randomInt(1, SEED_MAX);
  const roundStartedAt = performance.now();
  const run = (firstOfPart, countOfPart) => runSeeds(kind, firstOfPart, countOfPart);
  const result = await run(firstSeed, kind.batch);
  if (result.verdict === 'passed' || result.verdict === 'failed') totals.seeds += kind.batch;
  if (result.verdict === 'killed') {
    totals.killed += 1;
    console.log(`killed for memory, totalsByKind neither way: ${kind.command(firstSeed, kind.batch)}`);
  }
  if (result.verdict === 'failed') {
    totals.failures += 1;
    record(kind, await findSmallestPart(run, { first: firstSeed, count: kind.batch, result }));
  }
  totals.seconds += secondsSince(roundStartedAt);
}

function record(kind, { first: firstSeed, count, result }) {
  const command = kind.command(firstSeed, count);
  const line = { at: new Date().toISOString(), commit, kind: kind.name, seed: firstSeed, command };
  mkdirSync(join(root, 'build'), { recursive: true });
  appendFileSync(
    join(root, 'build', 'seeds.jsonl'),
    `${JSON.stringify({ ...line, failure: result.failure })}\n`,
  );
  console.log(`FAILED: ${command}\n  ${result.failure}`);
}

/** The commit, with a plus if tracked files differ from it. */
function readCommit() {
  const args = ['describe', '--always', '--exclude=*', '--abbrev=40', '--dirty=+'];
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function printProgress() {
  const parts = [...totalsByKind].map(([name, { seeds }]) => `${name} ${seeds}`);
  const failures = [...totalsByKind.values()].reduce((sum, totals) => sum + totals.failures, 0);
  console.log(`${secondsSince(startedAt).toFixed(0)} s, seeds: ${parts.join(', ')}; ${failures} failures`);
}

function printTable() {
  const row = (cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(12) : cell.padStart(10))).join('');
  console.log(`\n${row(['kind', 'seeds', 'failures', 'killed', 'seconds'])}`);
  for (const [name, { seeds, failures, killed, seconds }] of totalsByKind)
    console.log(row([name, ...[seeds, failures, killed].map(String), seconds.toFixed(0)]));
}

const commit = readCommit();
if (!(await findCanary()) && !wasStopped) {
  console.error(`The fuzzer finds nothing: none of ${CANARY_SEEDS} seeds failed with FUZZ_CANARY=1.`);
  process.exit(1);
}
const progressTimer = setInterval(printProgress, TELL_EVERY_MS);
const runRounds = async () => {
  while (!wasStopped && secondsSince(startedAt) < minutes * 60) await runRound();
};
await Promise.all(Array.from({ length: jobs }, runRounds));
clearInterval(progressTimer);
printTable();
const hasFailed = [...totalsByKind.values()].some(({ failures }) => failures > 0);
process.exit(hasFailed ? 1 : wasStopped ? 130 : 0);
