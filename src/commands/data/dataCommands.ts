/** Command line of the commands that work on stored data: backup, restore, prune and reindex. */
import { InvalidArgumentError, type Command, type Option } from 'commander';

import { EXPLORER_CHAINS } from '../../chains/chainSettings';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import { PRUNABLE, type Prunable } from '../../ingest/store/retention';
import type { Logger } from '../../log';
import { runBackup } from './backup';
import { runImportTokens } from './importTokens';
import { runPrune, type PruneOptions } from './prune';
import { runReindex } from './reindex';
import { runRestore } from './restore';
import { listChains } from '../chains';
import { stopOnSignals } from '../stopSignal';

export interface Started {
  readonly config: Config;
  readonly log: Logger;
}

/** How a command that works on one chain starts. */
export interface OneChain {
  /** Returns settings with this chain only; without `chain`, with the first one. */
  start(chain?: number): Started;
  /** The option `--chain`, whose value `start` takes. */
  chainOption(description?: string): Option;
}

/**
 * Adds the commands to the program. `start` starts a command of all chains, `one` a command of one chain. `parseBlock`
 * returns a block number, or throws.
 */
export function addDataCommands(
  program: Command,
  start: () => Started,
  one: OneChain,
  parseBlock: (text: string, before?: number) => number,
): void {
  addCopies(program, start);
  program
    .command('import-tokens <list>')
    .description('import the logos of a token list (tokenlists.org) from a file or an http(s) URL')
    .option('--allow-private', 'allow a host name that resolves to a private or loopback address', false)
    .action(async (list: string, options: { allowPrivate: boolean }) => {
      const { config, log } = start();
      await runImportTokens(config, log, stopOnSignals(), list, options);
    });
  program
    .command('prune')
    .description('drop old rows of logs or swaps; bars, prices and balances stay')
    .requiredOption(
      '--before <block|date>',
      'drop rows before this block or date (UTC), such as 2026-01-31',
      readBound,
    )
    .option('--what <list>', `comma-separated list of ${PRUNABLE.join(', ')}`, readTables, ['logs'])
    .addOption(
      one.chainOption(
        `id of a chain of CHAINS (default: the first one), or ${EXPLORER_CHAINS.map((explorerChain) => explorerChain.chain.chainId).join(' or ')}`,
      ),
    )
    .option('--yes', 'really drop the rows; without this option the command only reports them', false)
    .action(
      async (options: {
        before: PruneOptions['before'];
        what: readonly Prunable[];
        chain?: number;
        yes: boolean;
      }) => {
        const { config, log } = start();
        const { before, what, chain = config.chainId, yes } = options;
        const allowedChains = listChains(config).map(({ chainId }) => chainId);
        if (!allowedChains.includes(chain))
          throw new AppError('bad_config', `--chain: got ${chain}; allowed: ${allowedChains.join(' or ')}`);
        await runPrune(config, log, stopOnSignals(), { before, what, chainId: chain, yes });
      },
    );
  program
    .command('reindex')
    .description(
      'read final blocks from the node again; replace stored rows that differ and rebuild their aggregates',
    )
    .requiredOption('--from <block>', 'first block', parseBlock)
    .requiredOption('--to <block>', 'last block', parseBlock)
    .option('--check', 'only report differences; the exit code is 1 if there is one', false)
    .addOption(one.chainOption())
    .action(async (options: { from: number; to: number; check: boolean; chain?: number }) => {
      const { config, log } = one.start(options.chain);
      process.exitCode = await runReindex(config, log, stopOnSignals(), options);
    });
}

function addCopies(program: Command, start: () => Started): void {
  program
    .command('backup <place>')
    .description(
      'back up all data as of one moment; the program may run. <place> is a name below DATA_DIR/backups or a folder. ' +
        "With CLICKHOUSE_URL, <place> is File('…'), Disk('…', '…') or S3('…', '…', '…')",
    )
    .action(async (place: string) => {
      const { config, log } = start();
      await runBackup(config, log, stopOnSignals(), place);
    });
  program
    .command('restore <place>')
    .description('restore a backup into an empty database; stop the program first')
    .option('--replace', 'replace the current data after the backup is restored completely', false)
    .action(async (place: string, options: { replace: boolean }) => {
      const { config, log } = start();
      await runRestore(config, log, place, options);
    });
}

/** Parses a block number, a date or an ISO 8601 time. A text without an offset is in UTC. */
function readBound(text: string): PruneOptions['before'] {
  if (/^\d{1,10}$/.test(text)) return { block: Number(text) };
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const zonedText = isDate && text.includes('T') && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text;
  const time = isDate ? Date.parse(zonedText) : Number.NaN;
  if (Number.isNaN(time))
    throw new InvalidArgumentError(`expected a block or a date such as 2026-01-31, got "${text}"`);
  return { time: Math.floor(time / 1_000) };
}

function readTables(text: string): readonly Prunable[] {
  const names = text.split(',');
  const tables = PRUNABLE.filter((table) => names.includes(table));
  if (tables.length !== new Set(names).size)
    throw new InvalidArgumentError(
      `expected a comma-separated list of ${PRUNABLE.join(', ')}, got "${text}"`,
    );
  return tables;
}
