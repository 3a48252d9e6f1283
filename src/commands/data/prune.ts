/**
 * The `prune` command: deletes old rows of the largest tables. Bars, prices, balances and all aggregates stay
 * unchanged.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from '../../clickhouse/client/database';
import { migrate } from '../../clickhouse/schema/migrate';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import {
  findBlockAt,
  KEPT_SECONDS,
  planPrune,
  prune,
  readPruning,
  type Prunable,
  type PrunePlan,
} from '../../ingest/store/retention';
import type { Logger } from '../../log';
import { attach, showBytes } from '../attach';
import type { CommandOutput } from './backup';
import { listChains } from '../chains';

export interface PruneOptions {
  /** Rows before this point are deleted. The point is a block number, or a time in unix seconds. */
  readonly before: { readonly block: number } | { readonly time: number };
  readonly what: readonly Prunable[];
  readonly chainId: number;
  /** True deletes the rows. Otherwise the command only shows its plan. */
  readonly yes: boolean;
  /** Rows younger than this age in seconds are never deleted. Default: KEPT_SECONDS. */
  readonly keptSeconds?: Readonly<Record<Prunable, number>>;
}

const POLL_MS = 500;

export async function runPrune(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  options: PruneOptions,
  output: CommandOutput = process.stdout,
): Promise<void> {
  const { chainId, what, before, yes, keptSeconds = KEPT_SECONDS } = options;
  const attached = await attach(config, log);
  try {
    const chain = listChains(config).find((candidate) => candidate.chainId === chainId);
    const name = attached.nameOf(chain ?? { suffix: `_${chainId}` });
    if (!(await attached.exists(name)))
      throw new AppError('bad_config', `--chain ${chainId}: the database ${name} does not exist`);
    const database = attached.open(name);
    await migrate(database, log);
    const bound = await findBound(database, chainId, before);
    const plans: PrunePlan[] = [];
    for (const table of what)
      plans.push(
        await planPrune(database, { table, chainId, beforeBlock: bound, keptSeconds: keptSeconds[table] }),
      );
    for (const { table, floorBlock, rows, bytes } of plans) {
      const description = `${rows} rows of ${table} before block ${floorBlock}, about ${showBytes(bytes)}`;
      output.write(`${yes ? 'dropping' : 'would drop'} ${description}\n`);
      if (floorBlock < bound)
        output.write(
          `  (not before block ${bound}: the ingester writes blocks in ranges, and only whole ranges are dropped. ` +
            `Block ${floorBlock} is the first block of the range that contains block ${bound - 1})\n`,
        );
    }
    if (!yes) {
      output.write('Nothing was dropped. Add --yes to drop these rows.\n');
      return;
    }
    for (const plan of plans) if (plan.rows > 0) await prune(database, plan);
    for (;;) {
      const { parts, failure } = await readPruning(database);
      if (parts === 0) break;
      if (failure !== '')
        throw new AppError(
          'unavailable',
          `ClickHouse has not dropped the rows yet: ${failure.slice(0, 300)}`,
        );
      await delay(POLL_MS, undefined, { signal });
    }
    output.write('Done. The disk space is free within about ten minutes.\n');
  } finally {
    await attached.close();
  }
}

/** The first block to keep, from the option --before. Throws `bad_config` if all stored blocks are older. */
async function findBound(
  database: Database,
  chainId: number,
  before: PruneOptions['before'],
): Promise<number> {
  if ('block' in before) return before.block;
  const block = await findBlockAt(database, chainId, before.time);
  if (block !== null) return block;
  const time = new Date(before.time * 1_000).toISOString();
  throw new AppError('bad_config', `--before: got ${time}; all stored blocks are older`);
}
