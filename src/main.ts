/** The command line: parses options, loads the settings, runs a command and sets the exit code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Command, InvalidArgumentError } from 'commander';

import { findPackageRoot } from './clickhouse/client/packageRoot';
import { addDataCommands, type Started } from './commands/data/dataCommands';
import { runDev } from './commands/dev';
import { runAll, type RunParts } from './commands/runAll';
import { runBackfill } from './commands/backfill';
import { runImportSources } from './commands/data/importSources';
import { openStorage } from './commands/storage';
import { stopOnSignals } from './commands/stopSignal';
import { runVerify } from './commands/data/verify';
import { loadConfig } from './config';
import { errorText } from './errors';
import { createLog } from './log';

function start(): Started {
  const config = loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
  return { config, log: createLog(config.logLevel) };
}

/** `before`: the earlier value, if the option is given twice. */
function parseBlock(text: string, before?: number): number {
  const value = Number(text);
  if (before !== undefined) throw new InvalidArgumentError(`given twice: ${before} and "${text}"`);
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError(`expected a block number, got "${text}"`);
  return value;
}

function listChain(text: string, before: readonly number[]): readonly number[] {
  if (!['369', '943', '1'].includes(text))
    throw new InvalidArgumentError(`expected 369, 943 or 1, got "${text}"`);
  return [...before, Number(text)];
}

/** The program with all its commands; parsing runs one. */
export function createProgram(): Command {
  const version = (
    JSON.parse(readFileSync(join(findPackageRoot(), 'package.json'), 'utf8')) as { version: string }
  ).version;
  const program = new Command('candlehouse')
    .description('DEX analytics API over ClickHouse. Settings are environment variables: see .env.example.')
    .version(version)
    .showHelpAfterError();
  const parts = (name: string, text: string, which: RunParts): void => {
    program
      .command(name)
      .description(text)
      .action(async () => {
        const { config, log } = start();
        await runAll(config, log, stopOnSignals(), which);
      });
  };
  parts('serve', 'API and stream over what is stored', { api: true, ingest: false });
  parts('ingest', 'follow the chain and backfill, without an API', { api: false, ingest: true });
  parts('all', 'database (embedded unless CLICKHOUSE_URL is set), ingester and API in one', {
    api: true,
    ingest: true,
  });
  program
    .command('dev')
    .description('a local development chain with real Uniswap contracts and a trader, ingested and served')
    .action(async () => {
      const { config, log } = start();
      await runDev(config, process.env, log, stopOnSignals());
    });
  program
    .command('migrate')
    .description('create or upgrade the schema, then end')
    .action(async () => {
      const { config, log } = start();
      const storage = await openStorage(config, log, { besideIsEnough: true });
      await storage.close();
      process.stdout.write('The schema is up to date.\n');
    });
  program
    .command('backfill')
    .description('ingest final blocks A to B into an empty or continuing database, then end')
    .requiredOption('--from <block>', 'first block', parseBlock)
    .requiredOption('--to <block>', 'last block', parseBlock)
    .action(async (options: { from: number; to: number }) => {
      const { config, log } = start();
      await runBackfill(config, log, stopOnSignals(), options);
    });
  program
    .command('verify')
    .description('recompute bars and aggregates from the stored events; exits 1 naming each difference')
    .option('--from <block>', 'first block (default: the first stored)', parseBlock)
    .option('--to <block>', 'last block (default: the last final one)', parseBlock)
    .action(async (options: { from?: number; to?: number }) => {
      const { config, log } = start();
      process.exitCode = await runVerify(config, log, { from: options.from ?? null, to: options.to ?? null });
    });
  program
    .command('import-sources <source>')
    .description(
      'import verified contracts: the folder of a Sourcify repository, or the address of a Sourcify or Blockscout server; resumable',
    )
    .option(
      '--chain <id>',
      'only this chain: 369, 943 or 1 (repeatable; Blockscout: default 369)',
      listChain,
      [],
    )
    .option('--rpc <url>', 'node of the market chain, to compare the code with (default: RPC_URL)')
    .action(async (source: string, options: { chain: readonly number[]; rpc?: string }) => {
      const { config, log } = start();
      const { chain: chains, rpc = null } = options;
      await runImportSources(config, log, stopOnSignals(), source, { chains, rpc });
    });
  addDataCommands(program, start, parseBlock);
  return program;
}

/** Runs the command of process.argv. An error prints one line to stderr and sets exit code 1. */
export function main(): void {
  createProgram()
    .parseAsync(process.argv)
    .catch((error: unknown) => {
      process.stderr.write(`candlehouse: ${errorText(error)}\n`);
      process.exitCode = 1;
    });
}
