/**
 * `npm run bench -- [group …] [--json] [--baseline]`: measures the figures that the project promises, each with a
 * limit from the same run. Without a group, all groups run except `peers`, `profile` and `growth`. `peers`
 * installs other indexers; `growth` loads data for 40 minutes. With `--baseline`, the exit code is 1 if a ratio is a quarter worse
 * than in baseline.json. `npm run bench -- plan` computes a plan from measured figures and starts no engine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { startEmbeddedServer } from '../../src/clickhouse/engine/server';
import { listWorse } from './baseline';
import { log, say, SWAPS, type Bench } from './bench';
import { printTable, type Figure } from './figure';
import { benchChains } from './groups/chains';
import { benchFootprint } from './groups/footprint';
import { benchHeads } from './groups/heads';
import { benchIdle } from './groups/idle';
import { benchIngest } from './groups/ingest/groupsOfIngest';
import { benchHoldings, benchLogs, benchReads, benchSizes, benchSourceSearch } from './groups/groupsOfReads';
import { benchReorgs, benchStream, benchStreamClients } from './groups/groupsOfStreams';
import { planText } from './plan/plan';
import { benchPeers } from './peers/benchPeers';
import { loadFolder } from './loaders/loadedFolder';
import { benchPricing } from './groups/ingest/pricing';
import { benchFlaky } from './groups/ingest/flaky';
import { benchProfile } from './groups/ingest/profile';
import { benchProof } from './groups/ingest/proof';
import { benchRawLogs } from './groups/ingest/rawLogs';
import { benchSources } from './groups/ingest/sources';
import { benchWorkers } from './groups/ingest/workers';
import { benchRecovery } from './groups/recovery';
import { benchWhileIngesting } from './groups/whileIngesting';

type Run = readonly [groups: readonly string[], run: (bench: Bench) => Promise<void>];

/** The benchmarks by group. */
const RUNS: readonly Run[] = [
  [['decode', 'backfill', 'insert'], benchIngest],
  [['proof'], benchProof],
  [['rawlogs'], benchRawLogs],
  [['footprint'], benchFootprint],
  [['sources'], benchSources],
  [['workers'], benchWorkers],
  [['flaky'], benchFlaky],
  [['pricing'], async ({ figures }) => void figures.push(...benchPricing())],
  [['ticks', 'lists', 'hot', 'compression', 'storage'], benchReads],
  [['balances'], benchHoldings],
  [['explorer'], benchLogs],
  [['sourcesearch'], benchSourceSearch],
  [['stream'], benchStream],
  [['fanout'], benchStreamClients],
  [['reorg'], benchReorgs],
  [['idle'], benchIdle],
  [['chains'], benchChains],
  [['heads'], benchHeads],
  [['recovery', 'ingesting'], benchLoadedFolder],
];

async function benchLoadedFolder({ folder, figures, isWanted }: Bench): Promise<void> {
  const loadedFolder = await loadFolder(folder, SWAPS, log, say);
  if (isWanted('recovery')) figures.push(...(await benchRecovery(loadedFolder, log, say)));
  say('measuring ticks while blocks are ingested …');
  if (isWanted('ingesting')) figures.push(...(await benchWhileIngesting(loadedFolder)));
  await loadedFolder.chain.close();
}

/** The benchmarks that run only by name. */
const RUNS_BY_NAME: readonly Run[] = [
  [['peers'], benchPeers],
  [['profile'], benchProfile],
  [['growth'], benchSizes],
];

/** If a group fails, earlier figures are still shown, and the run exits with an error. */
async function runOrTell(groups: readonly string[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    say(`${groups.join(', ')}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.exitCode = 1;
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  process.exit(130);
}

const knownGroups = [...RUNS, ...RUNS_BY_NAME].flatMap(([groups]) => groups);

const USAGE = `Usage: npm run bench -- [group ...] [--json] [--baseline]
Groups: ${knownGroups.join(', ')}.
Without a group, all run except ${RUNS_BY_NAME.flatMap(([groups]) => groups).join(', ')}.
\`plan\` computes what more swaps, chains and readers need, and measures nothing: npm run bench -- plan --help`;

/** Prints a plan. Returns false if the command is not `plan`. */
function printPlan([command, ...args]: readonly string[]): boolean {
  if (command !== 'plan') return false;
  try {
    process.stdout.write(planText(args));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  return true;
}

async function main(): Promise<void> {
  if (printPlan(process.argv.slice(2))) return;
  const { values, positionals: asked } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' }, baseline: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) return void process.stdout.write(`${USAGE}\n`);
  const unknown = asked.filter((group) => !knownGroups.includes(group));
  if (unknown.length > 0)
    throw new Error(`group: got ${unknown.join(', ')}; allowed: ${knownGroups.join(', ')}`);
  const isWanted = (group: string): boolean => asked.length === 0 || asked.includes(group);
  const isAsked = ([groups]: Run): boolean => groups.some((group) => asked.includes(group));
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-bench-'));
  const figures: Figure[] = [];
  try {
    const server = await startEmbeddedServer({ dataDir: folder, log });
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => void server.stop().finally(() => removeFolder(folder)));
    const bench = { server, folder, figures, isWanted };
    try {
      const runs = [...RUNS.filter(([groups]) => groups.some(isWanted)), ...RUNS_BY_NAME.filter(isAsked)];
      for (const [groups, run] of runs) await runOrTell(groups, () => run(bench));
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (values.json === true) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    printTable(figures);
    process.stdout.write(
      `\n${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}\n`,
    );
  }
  if (values.baseline === true) {
    const worseFigures = listWorse(figures, isWanted);
    for (const line of worseFigures) say(line);
    if (worseFigures.length > 0) process.exitCode = 1;
  } else if (figures.some((figure) => !figure.ok)) process.exitCode = 1;
}

main()
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  })
  // A group that failed may have left an API running. The exit of this process ends it.
  .finally(() => process.exit());
