/**
 * `npm run soak -- --minutes 10 --seed 1`: mixed traffic on every endpoint at the machine's limit, with new blocks and
 * reorgs. No error may occur, every request must be answered, and memory must not grow. At the end, the stored data is
 * compared with an independent recomputation.
 */
import { percentile } from './bench/figure';
import { readOptions } from './options';
import type { MemoryReport } from './soak/memory';
import { runSoak, type SoakReport } from './soak/soakRun';

const USAGE =
  'Usage: npm run soak -- [--minutes N] [--seed N] [--askers N]; an asker is one client that sends requests in a row';
const DEFAULT_ASKERS = 8;
/** A shorter run consists of the warm-up only, so memory is shown but not judged. */
const JUDGED_SECONDS = 120;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function showMemory(name: string, { slope, median, max, flat }: MemoryReport): string {
  const showMib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return `  memory of the ${name}: ${showMib(median.middle)} → ${showMib(median.last)} (maximum ${showMib(max)}), growth ${showMib(slope)} per minute${flat ? '' : ', GROWS'}`;
}

function show(report: SoakReport, seconds: number): void {
  const { times, asked, late, paths, requests, memory, faults } = report;
  const percentileText = (percent: number): string => percentile([...times], percent).toFixed(1);
  say(
    `${requests} answers in ${seconds} s (${(requests / seconds).toFixed(0)} per second): p50 ${percentileText(50)} ms, p99 ${percentileText(99)} ms, maximum ${percentileText(100)} ms`,
  );
  say(`  ${late} requests were answered with 503, and were sent again`);
  const missingPaths = paths.filter((path) => !asked.has(path));
  say(
    `  ${asked.size} paths${missingPaths.length === 0 ? '' : `; not requested: ${missingPaths.join(', ')}`}`,
  );
  const slowestPaths = [...asked]
    .map(([path, times]) => ({ path, ms: percentile([...times], 99) }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 5);
  say(`  slowest by p99: ${slowestPaths.map(({ path, ms }) => `${path} ${ms.toFixed(0)} ms`).join(', ')}`);
  say(
    `  ${report.blocks} blocks, ${report.reorgs} reorgs; ${report.events} events over ${report.connections} streams`,
  );
  say(showMemory('program', memory.program));
  say(showMemory('engine', memory.engine));
  say(
    faults.length === 0
      ? '  no errors; all bars, events and streams equal the recomputed ones'
      : `  FAULTS:\n${faults.join('\n')}`,
  );
}

async function main(): Promise<void> {
  const options = readOptions(USAGE, ['minutes', 'seed', 'askers']);
  const seconds = Math.round(options.number('minutes', 10) * 60);
  const seed = options.number('seed', 1);
  say(`seed ${seed}`);
  const report = await runSoak({ seconds, seed, askers: options.number('askers', DEFAULT_ASKERS), say });
  show(report, seconds);
  const { program, engine } = report.memory;
  const doesMemoryGrow = seconds >= JUDGED_SECONDS && !(program.flat && engine.flat);
  if (report.faults.length > 0 || report.late > 0 || doesMemoryGrow) process.exitCode = 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
