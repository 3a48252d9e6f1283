/**
 * Kills a first start at a random moment while the database server starts and creates the schema. Kills the program's
 * whole process group, and in half of the cases the server's too. Afterwards the folder must start, ingest and answer
 * correctly.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Random } from '../../test/support/random';
import {
  enginePid,
  isEngine,
  spawnProgram,
  type Settings,
  type Spawned,
} from '../../test/support/server/program';
import { startStubChain, type StubChain } from '../../test/support/stub/stubChain';
import { stubDescription } from '../../test/support/stub/stubDescription';
import { allInOne } from './deployment';
import { KillRun } from './killRun';

/** Most kills of one folder before it may start undisturbed. */
const KILLS_MAX = 5;
/** Shortest time in ms within which kills happen. A slow machine needs longer to create the schema. */
const KILL_WITHIN_MS = 2_500;
const BLOCKS = 120;

/** Progress of a start when it was killed. */
type Moment = 'before the engine answered' | 'while creating the schema' | 'after creating the schema';

interface CreationReport {
  kills: number;
  engineKills: number;
  folders: number;
  readonly byMoment: Map<Moment, number>;
  readonly mismatches: string[];
}

interface CreationOptions {
  readonly kills: number;
  readonly random: Random;
  readonly say: (text: string) => void;
}

export async function killCreations({ kills, random, say }: CreationOptions): Promise<CreationReport> {
  const report: CreationReport = {
    kills: 0,
    engineKills: 0,
    folders: 0,
    byMoment: new Map(),
    mismatches: [],
  };
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-kills-'));
  const chain = await startStubChain({
    blocks: BLOCKS,
    logsPerBlock: 16,
    pairs: 6,
    seed: random.int(1, 1e6),
  });
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const world = { chain, folder, random, report };
  try {
    const times = await timeFirstStart(world);
    const [engineMs, schemaMs] = [Math.round(times.engineMs), Math.round(times.schemaMs)];
    say(`first start: ${engineMs} ms until the engine answers, then ${schemaMs} ms to create the schema`);
    while (report.kills < kills) {
      const dataDir = join(folder, `data${report.folders}`);
      const killsMax = Math.min(KILLS_MAX, kills - report.kills);
      const mismatches = await killFolder(world, dataDir, killsMax, times);
      rmSync(dataDir, { recursive: true, force: true });
      report.folders += 1;
      for (const line of mismatches) report.mismatches.push(`folder ${report.folders}: ${line}`);
      const moments = [...report.byMoment].map(([moment, count]) => `${count} ${moment}`).join(', ');
      say(
        `${report.kills} of ${kills} kills (${moments}; ${report.engineKills} included the engine), ` +
          `${report.folders} folders, ${report.mismatches.length} mismatches`,
      );
      for (const line of mismatches) say(line);
    }
  } finally {
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return report;
}

interface World {
  readonly chain: StubChain;
  readonly folder: string;
  readonly random: Random;
  readonly report: CreationReport;
}

function settingsOf({ chain, folder }: World): Settings {
  return {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
  };
}

/** Waits until the start has passed the moment of the kill. Throws if the program ends. */
async function untilPast(program: Spawned, moment: Moment): Promise<void> {
  while (momentOf(program) === moment) {
    if (program.hasEnded()) throw new Error(program.lastWords());
    await delay(5);
  }
}

/** Duration of a start in ms: until the database server answers, and from then until the schema exists. */
interface StartTimes {
  readonly engineMs: number;
  readonly schemaMs: number;
}

async function timeFirstStart(world: World): Promise<StartTimes> {
  const dataDir = join(world.folder, 'timed');
  const beganAt = performance.now();
  const program = spawnProgram('all', { ...settingsOf(world), DATA_DIR: dataDir });
  try {
    await untilPast(program, 'before the engine answered');
    const engineMs = performance.now() - beganAt;
    await untilPast(program, 'while creating the schema');
    return { engineMs, schemaMs: performance.now() - beganAt - engineMs };
  } finally {
    await program.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Waits until a random moment of the start. Half of the moments are measured from the beginning. The others are
 * measured from the first answer of the database server, so that they hit the creation of the schema on a slow machine
 * too.
 */
async function untilKill(
  program: Spawned,
  random: Random,
  { engineMs, schemaMs }: StartTimes,
): Promise<void> {
  const startsAtEngine = random.chance(0.5);
  const withinMs = startsAtEngine ? schemaMs : Math.max(KILL_WITHIN_MS, engineMs + schemaMs);
  if (startsAtEngine) await untilPast(program, 'before the engine answered');
  await delay(random.int(0, Math.round(withinMs)));
}

/** Kills the first start of one folder 1 to `killsMax` times. Resolves to the problems found afterwards. */
async function killFolder(
  world: World,
  dataDir: string,
  killsMax: number,
  times: StartTimes,
): Promise<string[]> {
  const { chain, random } = world;
  // This URL never answers, so the second chain has a database without blocks.
  const secondChain: Settings = random.chance(0.5) ? { RPC_URL_943: 'http://127.0.0.1:1' } : {};
  const settings = { ...settingsOf(world), ...secondChain };
  const engines = new Set<number>();
  for (let killsLeft = random.int(1, killsMax); killsLeft > 0; killsLeft -= 1) {
    const outputOfEnd = await killStart(world, { ...settings, DATA_DIR: dataDir }, engines, times);
    if (outputOfEnd !== null) return [outputOfEnd];
  }
  const deployment = allInOne(settings, dataDir);
  try {
    const run = new KillRun(chain, deployment, random);
    await run.untilHead();
    return await run.compare();
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await deployment.stop();
    for (const pid of engines) if (isEngine(pid, dataDir)) process.kill(pid, 'SIGKILL');
  }
}

/** Starts the program and kills it; resolves to its last output if it ended by itself. */
async function killStart(
  { random, report }: World,
  settings: Settings,
  engines: Set<number>,
  times: StartTimes,
): Promise<string | null> {
  const program = spawnProgram('all', settings, { ownGroup: true, mayEnd: true });
  try {
    await untilKill(program, random, times);
    if (program.hasEnded()) return program.lastWords();
  } catch (error) {
    await program.end('SIGKILL');
    return error instanceof Error ? error.message : String(error);
  }
  const dataDir = settings['DATA_DIR'] ?? '';
  const engine = enginePid(dataDir);
  const killsEngine = engine !== null && random.chance(0.5) && isEngine(engine, dataDir);
  const programEnd = program.end('SIGKILL');
  // Kills the database server without waiting for the program's end, because the server ends by itself soon after the
  // program.
  if (killsEngine) report.engineKills += killGroup(engine) ? 1 : 0;
  await programEnd;
  if (engine !== null) engines.add(engine);
  report.kills += 1;
  const moment = momentOf(program);
  report.byMoment.set(moment, (report.byMoment.get(moment) ?? 0) + 1);
  return null;
}

/** Kills the process group of this leader. Returns false if the group no longer exists. */
function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

function momentOf(program: Spawned): Moment {
  if (!program.output().includes('embedded ClickHouse is up')) return 'before the engine answered';
  return program.output().includes('created the schema')
    ? 'after creating the schema'
    : 'while creating the schema';
}
