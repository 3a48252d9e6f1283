/** Command line of the commands of snapshots: export, fill and compare. */
import { join } from 'node:path';

import { InvalidArgumentError, type Command } from 'commander';

import { runBackfill } from '../backfill';
import type { Started } from '../data/dataCommands';
import { stopOnSignals } from '../stopSignal';
import { runCompare } from './compare';
import { runExport, type ExportOptions } from './export';

/** Adds the commands to the program. `start` returns settings and logger. `parseBlock` returns a block number, or throws. */
export function addSnapshotCommands(
  program: Command,
  start: () => Started,
  parseBlock: (text: string, before?: number) => number,
): void {
  program
    .command('export')
    .description(
      'write the final blocks of whole days as Parquet files that anyone can check; the program may run',
    )
    .requiredOption(
      '--days <first..last>',
      'days in UTC, such as 2026-01-01..2026-01-31, or one day',
      readDays,
    )
    .option('--out <place>', 'a folder or s3://bucket/folder (default: snapshot in DATA_DIR)')
    .action(async ({ days, out }: { days: ExportOptions['days']; out?: string }) => {
      const { config, log } = start();
      const place = out ?? join(config.dataDir, 'snapshot');
      await runExport(config, log, stopOnSignals(), { days, out: place });
    });
  program
    .command('fill')
    .description('store the blocks of a snapshot, each proven by its hash; a repeated run continues')
    .requiredOption('--snapshot <place>', 'a folder, an http(s) URL or s3://bucket/folder')
    .option('--from <block>', 'first block of an empty database (default: of the snapshot)', parseBlock)
    .option('--to <block>', 'last block (default: of the snapshot)', parseBlock)
    .action(async (options: { snapshot: string; from?: number; to?: number }) => {
      const { config, log } = start();
      await runBackfill(config, log, stopOnSignals(), options);
    });
  program
    .command('compare <url>')
    .description(
      'compare the stored rows with another instance, and name the first block that differs; the exit code is 1 then',
    )
    .action(async (url: string) => {
      const { config, log } = start();
      process.exitCode = await runCompare(config, log, stopOnSignals(), url);
    });
}

/** Parses one day or two days with `..` between, of which the second is not earlier. */
function readDays(text: string): ExportOptions['days'] {
  const [from = '', to = from, ...others] = text.split('..');
  const isDay = (day: string): boolean =>
    /^\d{4}-\d\d-\d\d$/.test(day) && new Date(day).toJSON()?.startsWith(day) === true;
  if (others.length > 0 || !isDay(from) || !isDay(to) || from > to)
    throw new InvalidArgumentError(`expected days such as 2026-01-01..2026-01-31, got "${text}"`);
  return { from, to };
}
