/**
 * `npm run kills -- --kills 200 --seed 1`: a crash test. Kills the database server, the ingester, both, and both again
 * during recovery, at random moments under load with reorgs. Compares every bar and event of the API with the oracle
 * after each recovery. `--scenario creation` instead kills first starts while they create the schema,
 * `writers` starts new writers while older ones live, and `standby` kills the writer while a standby waits.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Random } from '../test/support/random';
import { endPrograms, runProgram } from '../test/support/server/program';
import { percentile } from './bench/figure';
import { startStubChain } from '../test/support/stub/stubChain';
import { stubDescription } from '../test/support/stub/stubDescription';
import { killCreations } from './kills/creation';
import { allInOne, separate, type Deployment } from './kills/deployment';
import { ChainLoad, KILL_PLANS, KillRun, type KillPlan } from './kills/killRun';
import { fightOverDatabase, killWriters, type WritersReport } from './kills/writers';
import { readOptions } from './options';

const USAGE = 'Usage: npm run kills -- [--kills N] [--seed N] [--scenario load|creation|writers|standby]';

/** Kills per chain and data folder. Then the test continues with a new folder, so that its first backfill is
 * killed too. */
const KILLS_PER_EPISODE = 20;
const BLOCKS_MAX = 500;
const FIRST_HEAD_MAX = 200;
/** Number of newest blocks whose activity is compared after each kill: more than a reorg can change. At the
 * end, all blocks are compared. */
const COMPARED_BLOCKS = 100;

/** Most mismatches of one comparison that are shown. */
const MISMATCHES_SHOWN = 5;

interface Totals {
  kills: number;
  mismatches: string[];
  /** Seconds of each recovery. */
  readonly seconds: number[];
  readonly byPlan: Map<KillPlan, number>;
  reorgs: number;
  blocks: number;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function runEpisode(seed: number, killsMax: number, totals: Totals): Promise<void> {
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-kills-'));
  const chain = await startStubChain({ blocks: 2, logsPerBlock: 32, pairs: 14, seed, families: true });
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription(true)));
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
  };
  const dataDir = join(folder, 'data');
  const deployment = random.chance(0.5) ? allInOne(settings, dataDir) : separate(settings, dataDir);
  const run = new KillRun(chain, deployment, random);
  const load = new ChainLoad(chain, random, BLOCKS_MAX);
  chain.setHead(random.int(100, FIRST_HEAD_MAX));
  try {
    while (run.kills < killsMax) await runRound(run, load, random, totals, () => chain.head);
    load.pause();
    await run.untilHead();
    totals.mismatches.push(...(await run.compare()).slice(0, MISMATCHES_SHOWN));
    await deployment.stop();
    await checkEnd(deployment, settings, dataDir, totals);
  } finally {
    load.pause();
    await deployment.stop();
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  }
  totals.kills += run.kills;
  totals.reorgs += load.reorgs;
  totals.blocks += chain.head;
  say(`seed ${seed}: ${deployment.name}, ${run.kills} kills, ${load.reorgs} reorgs, ${chain.head} blocks`);
}

/**
 * Kills the program by a random plan, waits for its recovery and compares its data. `head` returns the number of the
 * chain's newest block.
 */
async function runRound(
  run: KillRun,
  load: ChainLoad,
  random: Random,
  totals: Totals,
  head: () => number,
): Promise<void> {
  load.begin();
  await run.deployment.start();
  await delay(random.int(50, 2_000));
  const plan = random.pick(KILL_PLANS);
  const killedAt = await run.kill(plan);
  const { seconds } = await run.recover(killedAt);
  load.pause();
  await run.untilHead();
  const mismatches = await run.compare(Math.max(0, head() - COMPARED_BLOCKS));
  totals.seconds.push(seconds);
  process.stderr.write(`${run.deployment.name}: killed ${plan}, recovered after ${seconds.toFixed(1)} s\n`);
  totals.byPlan.set(plan, (totals.byPlan.get(plan) ?? 0) + 1);
  for (const line of mismatches.slice(0, MISMATCHES_SHOWN))
    totals.mismatches.push(`${run.deployment.name}, ${plan}: ${line}`);
}

/** Checks after the end that `verify` agrees and that no database server is left. */
async function checkEnd(
  deployment: Deployment,
  settings: Readonly<Record<string, string>>,
  dataDir: string,
  totals: Totals,
): Promise<void> {
  const { code, output } = await runProgram(['verify'], { ...settings, DATA_DIR: dataDir });
  if (code !== 0) totals.mismatches.push(`verify: ${output.slice(-500)}`);
  const runningEngines = deployment.enginesLeft();
  if (runningEngines.length > 0)
    totals.mismatches.push(
      `database servers still run after the stop, process ids: ${runningEngines.join(', ')}`,
    );
}

/** Kills a program that runs under load. */
async function runLoad(kills: number, seed: number): Promise<string[]> {
  const totals: Totals = { kills: 0, mismatches: [], seconds: [], byPlan: new Map(), reorgs: 0, blocks: 0 };
  for (let episode = 0; totals.kills < kills; episode += 1) {
    const killsLeft = kills - totals.kills;
    await runEpisode(seed + episode, Math.min(killsLeft, KILLS_PER_EPISODE), totals);
    const { mismatches } = totals;
    if (mismatches.length > 0) say(mismatches.join('\n'));
  }
  const percentileText = (percent: number): string => percentile(totals.seconds, percent).toFixed(1);
  say(`\n${totals.kills} kills over ${totals.blocks} blocks and ${totals.reorgs} reorgs`);
  for (const [plan, count] of totals.byPlan) say(`  ${plan}: ${count} rounds`);
  say(
    `  seconds to recovery: p50 ${percentileText(50)}, p99 ${percentileText(99)}, maximum ${percentileText(100)}`,
  );
  return totals.mismatches;
}

/** Kills programs during their first start. */
async function runCreation(kills: number, seed: number): Promise<string[]> {
  const report = await killCreations({ kills, random: new Random(seed), say });
  say(
    `\n${report.kills} kills on ${report.folders} folders; ${report.engineKills} kills included the engine`,
  );
  for (const [moment, count] of report.byMoment) say(`  ${moment}: ${count}`);
  return report.mismatches;
}

/** Number of blocks during which writers replace each other. */
const FIGHT_BLOCKS = 1_000;
/** Limit for the blocks of the standby scenario. The run ends earlier, after the given number of kills. */
const STANDBY_BLOCKS = 100_000;

/**
 * Starts new writers while older ones run or are stopped. The run ends after FIGHT_BLOCKS blocks, whatever the number
 * of kills.
 */
async function runWriters(_kills: number, seed: number): Promise<string[]> {
  const report = await fightOverDatabase({ random: new Random(seed), seed, blocks: FIGHT_BLOCKS, say });
  return sayWriters(report);
}

/** Kills the writer while a standby waits. */
async function runStandby(kills: number, seed: number): Promise<string[]> {
  const plan = { random: new Random(seed), seed, blocks: STANDBY_BLOCKS, say };
  const report = await killWriters(kills, plan);
  const percentileText = (percent: number): string => percentile(report.seconds, percent).toFixed(1);
  say(
    `\n  seconds to the first block of the standby: p50 ${percentileText(50)}, maximum ${percentileText(100)}`,
  );
  return sayWriters(report);
}

function sayWriters({ replaced, stops, blocks, reorgs, mismatches }: WritersReport): string[] {
  say(`\n${replaced} writers replaced, ${stops} stops, over ${blocks} blocks and ${reorgs} reorgs`);
  if (mismatches.length > 0) say(mismatches.join('\n'));
  return mismatches;
}

const SCENARIOS: Readonly<Record<string, typeof runLoad>> = {
  load: runLoad,
  creation: runCreation,
  writers: runWriters,
  standby: runStandby,
};

/** Exit code of a run that a signal ended. */
const STOPPED_CODE = 130;

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void endPrograms().finally(() => process.exit(STOPPED_CODE)));
  const options = readOptions(USAGE, ['kills', 'seed', 'scenario']);
  const kills = options.number('kills', 200);
  const seed = options.number('seed', 1);
  const name = options.text('scenario', 'load');
  const scenario = SCENARIOS[name];
  if (scenario === undefined)
    throw new Error(`--scenario: got ${name}; allowed: ${Object.keys(SCENARIOS).join(', ')}`);
  const startedAt = performance.now();
  const mismatches = await scenario(kills, seed);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  say(`  mismatches: ${mismatches.length}`);
  say(`  first seed ${seed}; ${minutes} minutes`);
  if (mismatches.length > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
