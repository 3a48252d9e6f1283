/** The command line: parses options, loads the settings, runs a command and sets the exit code. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';

import { findPackageRoot } from './clickhouse/client/packageRoot';
import { onlyChain } from './commands/chains';
import { addDataCommands, type Started } from './commands/data/dataCommands';
import { loadDevConfig, runDev } from './commands/dev';
import { runAll, type RunParts } from './commands/runAll';
import { runBackfill } from './commands/backfill';
import { DESCENDANTS, runImportSources } from './commands/data/importSources';
import { proveBlocks } from './commands/data/proveBlocks';
import { addSnapshotCommands } from './commands/snapshot/snapshotCommands';
import { openStorage } from './commands/storage';
import { stopOnSignals } from './commands/stopSignal';
import { runVerify } from './commands/data/verify';
import { loadConfig } from './config';
import { AppError, errorText } from './errors';
import { createLog } from './log';

const readText = (path: string): string => readFileSync(path, 'utf8');

function start(): Started {
  const config = loadConfig(process.env, readText);
  return { config, log: createLog(config.logLevel) };
}

/** `before` is the earlier value, if the option is given twice. */
function parseBlock(text: string, before?: number): number {
  const value = Number(text);
  if (before !== undefined)
    throw new InvalidArgumentError(`the option was given twice: ${before} and "${text}"`);
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError(`expected a block number, got "${text}"`);
  return value;
}

/** Starts a command that works on one chain. `chain` is the value of `--chain`. */
function startOne(chain?: number): Started {
  const { config, log } = start();
  return { config: onlyChain(config, chain), log };
}

function chainOption(description = 'id of a chain of CHAINS (default: the first one)'): Option {
  return new Option('--chain <id>', description).argParser(parseChain);
}

const WORKERS_MAX = 64;

function parseWorkers(text: string): number {
  const value = Number(text);
  if (!/^\d{1,3}$/.test(text) || value < 1 || value > WORKERS_MAX)
    throw new InvalidArgumentError(`expected a number from 1 to ${WORKERS_MAX}, got "${text}"`);
  return value;
}

function parseChain(text: string, before?: number): number {
  if (before !== undefined)
    throw new InvalidArgumentError(`the option was given twice: ${before} and "${text}"`);
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError(`expected a chain id, got "${text}"`);
  return Number(text);
}

const listChain = (text: string, before: readonly number[]): readonly number[] => [
  ...before,
  parseChain(text),
];

/** The program with all its commands. Parsing the arguments runs a command. */
export function createProgram(): Command {
  const program = new Command('candlehouse')
    .description('DEX analytics API over ClickHouse. Settings are environment variables: see .env.example.')
    .version(readVersion())
    .showHelpAfterError();
  addRunCommands(program);
  addStoreCommands(program);
  const one = { start: startOne, chainOption };
  addDataCommands(program, start, one, parseBlock);
  addSnapshotCommands(program, one, parseBlock);
  return program;
}

function readVersion(): string {
  const text = readFileSync(join(findPackageRoot(), 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** Commands that run until a signal ends them. */
function addRunCommands(program: Command): void {
  const parts = (name: string, text: string, which: RunParts): void => {
    program
      .command(name)
      .description(text)
      .action(async () => {
        const { config, log } = start();
        await runAll(config, log, stopOnSignals(), which);
      });
  };
  parts('serve', 'serve the API and the stream from stored data, without an ingester', {
    api: true,
    ingest: false,
  });
  program
    .command('ingest')
    .description('ingest the chain, without an API; an ingester that writes the same database already ends')
    .option('--standby', 'wait while another ingester writes, and take over within 30 s when it ends', false)
    .action(async ({ standby }: { standby: boolean }) => {
      const { config, log } = start();
      await runAll(config, log, stopOnSignals(), { api: false, ingest: true, standby });
    });
  parts(
    'all',
    'run the ingester and the API in one process, with the embedded ClickHouse unless CLICKHOUSE_URL is set',
    {
      api: true,
      ingest: true,
    },
  );
  program
    .command('dev')
    .description(
      'run a local development chain with Uniswap contracts and a trader, and ingest and serve its data',
    )
    .action(async () => {
      const config = loadDevConfig(process.env, readText);
      await runDev(
        { env: process.env, readFile: readText },
        config,
        createLog(config.logLevel),
        stopOnSignals(),
      );
    });
}

function addBackfill(program: Command): void {
  program
    .command('backfill')
    .description(
      'ingest final blocks up to --to, then exit; a database with blocks continues after its last block',
    )
    .option(
      '--from <block>',
      'first block of an empty database (default with --parquet: of the files)',
      parseBlock,
    )
    .option('--to <block>', 'last block (default with --parquet: of the files)', parseBlock)
    .option(
      '--parquet <files...>',
      "read blocks from cryo's Parquet files, such as 'dir/*.parquet' or s3://…; others from the node",
    )
    .option(
      '--source <url>',
      'read blocks from a service: sqd+https://host/datasets/network or hypersync+https://host',
    )
    .option(
      '--workers <count>',
      'start 1 to 64 processes that fetch and prove blocks ahead of the one that stores them',
      parseWorkers,
    )
    .option('--worker', 'only fetch and prove blocks, for a backfill --workers that runs elsewhere', false)
    .addOption(chainOption())
    .action(async (options: Parameters<typeof runBackfill>[3] & { chain?: number }) => {
      const { config, log } = startOne(options.chain);
      await runBackfill(config, log, stopOnSignals(), options);
    });
}

/** Commands that fill or check the database and then end. */
function addStoreCommands(program: Command): void {
  program
    .command('migrate')
    .description('create or upgrade the schema, then exit')
    .action(async () => {
      const { config, log } = start();
      const storage = await openStorage(config, log, { mayShareServer: true });
      await storage.close();
      process.stdout.write('The schema is up to date.\n');
    });
  addBackfill(program);
  program
    .command('verify')
    .description(
      'recompute bars and aggregates from stored events and print differences; the exit code is 1 if there is one',
    )
    .option('--from <block>', 'first block (default: the first stored block)', parseBlock)
    .option(
      '--to <block>',
      'last block (default: the last final block; with --proof the newest block)',
      parseBlock,
    )
    .option('--proof', 'read the blocks from the node, prove them, and compare blocks, logs and swaps', false)
    .addOption(chainOption())
    .action(async (options: { from?: number; to?: number; proof: boolean; chain?: number }) => {
      const { config, log } = startOne(options.chain);
      const range = { from: options.from ?? null, to: options.to ?? null };
      process.exitCode = options.proof
        ? await proveBlocks(config, log, stopOnSignals(), range)
        : await runVerify(config, log, range);
    });
  program
    .command('import-sources <source>')
    .description(
      'import verified contracts from a Sourcify folder or a Sourcify or Blockscout URL; the next run continues a stopped import',
    )
    .addOption(
      new Option('--chain <id>', 'only this chain, such as 369; may be repeated')
        .argParser(listChain)
        .default([], `the market chain, ${DESCENDANTS.join(', ')} and 1; for Blockscout the market chain`),
    )
    .option('--rpc <url>', 'URL of a market chain node, to compare contract code (default: RPC_URL)')
    .option('--allow-private', 'allow a host name that resolves to a private or loopback address', false)
    .action(
      async (source: string, options: { chain: readonly number[]; rpc?: string; allowPrivate: boolean }) => {
        const { config, log } = start();
        const { chain: chains, rpc = null, allowPrivate } = options;
        await runImportSources(config, log, stopOnSignals(), source, { chains, rpc, allowPrivate });
      },
    );
}

/**
 * Adds the settings of a file to the environment: of ENV_FILE, or of `.env` beside package.json if it exists. A variable
 * that the environment has already keeps its value.
 */
function loadSettingsFile(): void {
  const givenFile = process.env['ENV_FILE'];
  const path = givenFile ? resolve(givenFile) : join(findPackageRoot(), '.env');
  if (!givenFile && !existsSync(path)) return;
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new AppError('bad_config', `${path}: the settings cannot be read (${errorText(error)})`);
  }
}

/** Runs the command of process.argv. An error prints one line to stderr and sets exit code 1. */
export function main(): void {
  Promise.resolve()
    .then(loadSettingsFile)
    .then(() => createProgram().parseAsync(process.argv))
    .catch((error: unknown) => {
      process.stderr.write(`candlehouse: ${errorText(error)}\n`);
      process.exitCode = 1;
    });
}
