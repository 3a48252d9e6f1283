/** The `reindex` command: reads final blocks from the node again and corrects stored rows that differ. */
import { createBlockSource } from '../../node/blocks/blockSource';
import { checkChainId } from '../../node/rpc/checkChainId';
import { createEndpointPool } from '../../node/rpc/endpointPool';
import { migrate } from '../../clickhouse/schema/migrate';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import { reindexBlocks } from '../../ingest/repair/reindexBlocks';
import type { Logger } from '../../log';
import { attach } from '../attach';
import { needNodeUrls } from '../chains';
import type { CommandOutput } from './backup';

interface ReindexOptions {
  readonly from: number;
  readonly to: number;
  /** True reports differences without correcting them. */
  readonly check: boolean;
}

/** Resolves to the exit code: 1 if differences remain. */
export async function runReindex(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  { from, to, check }: ReindexOptions,
  output: CommandOutput = process.stdout,
): Promise<number> {
  if (from > to)
    throw new AppError('bad_config', `--from ${from} is after --to ${to}; allowed: a block up to --to`);
  const urls = needNodeUrls(config, 'a node that has these blocks');
  const { chainId, chain } = config;
  const rpc = createEndpointPool({ urls, chainId, log });
  const attached = await attach(config, log);
  try {
    if (!(await attached.exists(attached.name)))
      throw new AppError('bad_config', `nothing to reindex: the database ${attached.name} does not exist`);
    const database = attached.open(attached.name);
    await migrate(database, log);
    await checkChainId(rpc, chainId, signal);
    const source = createBlockSource({ pool: rpc, log, proof: config.proof });
    const report = await reindexBlocks(
      { database, rpc, source, chain, log, signal },
      { from, to, replace: !check },
    );
    const blocksText = `blocks ${report.from}-${report.to}`;
    for (const { table, stored, read } of report.differences)
      output.write(`DIFFERENT ${table}: ${stored} rows stored, ${read} rows from the node\n`);
    if (report.differences.length === 0 && report.rebuilt.length === 0) {
      output.write(`The stored rows of ${blocksText} equal the rows from the node.\n`);
      return 0;
    }
    if (check) return 1;
    const rebuiltText = report.rebuilt.length === 0 ? '' : `; rebuilt: ${report.rebuilt.join(', ')}`;
    output.write(`Corrected ${blocksText}${rebuiltText}. Restart the ingester and the API.\n`);
    return 0;
  } finally {
    await attached.close();
    await rpc.close();
  }
}
