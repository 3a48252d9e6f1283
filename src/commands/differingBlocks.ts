/** Compares blocks of a node with the stored rows, for the second look at final blocks. */
import { createQueryRunner } from '../clickhouse/client/namedQueries';
import type { Database } from '../clickhouse/client/database';
import type { ChainBlock } from '../domain/block';
import type { ChainDescription } from '../domain/chainDescription';
import { LogLedger } from '../ingest/store/logLedger';
import { readFloors } from '../ingest/store/retention';
import { readHead } from '../query/head/headState';
import { compareBlocks } from '../query/verify/compareBlocks';
import { readStoredRows } from '../query/verify/storedRows';

/** Numbers of the blocks whose stored logs differ from these, which are consecutive. */
export async function listDifferingBlocks(
  database: Database,
  { chainId, dexes }: Pick<ChainDescription, 'chainId' | 'dexes'>,
  blocks: readonly ChainBlock[],
): Promise<number[]> {
  const runner = createQueryRunner(database);
  const head = await readHead(runner, chainId);
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (head === null || first === undefined || last === undefined) return [];
  const ledger = new LogLedger(database);
  await ledger.load();
  const logsFrom = Math.max((await readFloors(database)).get('logs') ?? 0, ledger.wholeFrom());
  const logCount = blocks.reduce((sum, block) => sum + block.logs.length, 0);
  const rows = await readStoredRows(runner, chainId, head, { from: first.number, to: last.number, logCount });
  const differences = compareBlocks(blocks, rows, { dexes, logsFrom });
  return [...new Set(differences.flatMap(({ block, field }) => (field.startsWith('log') ? block : [])))];
}
