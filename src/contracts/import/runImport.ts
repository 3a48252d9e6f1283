/** Imports the contracts of a source in batches. A batch is stored before its position, so nothing is lost if
 * the import stops. */
import type { Database } from '../../clickhouse/client/database';
import { insertRows } from '../../clickhouse/rows/inserter';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { rowType } from '../../clickhouse/rows/rowType';
import { importPositionsTable } from '../../clickhouse/schema/sourceTables';
import type { Hex } from '../../domain/hex';
import type { ChainCode } from '../chainCode';
import { createVerifiedStore } from '../storeVerified';
import { BrokenRecord, type ContractSource, type FoundContract, type ImportedRecord } from './foundContract';
import { attachCodes } from './attachCodes';

const BATCH_CONTRACTS = 100;
const READS_AT_ONCE = 4;

export interface ImportCounts {
  /** Number of contracts that the source listed. */
  found: number;
  /** Number of stored verifications. A contract of chain 1 may be stored once for each chain copied from it. */
  stored: number;
  /** Number of records that added nothing to the stored data. */
  known: number;
  /** Number of records that were refused. */
  broken: number;
}

interface ImportDeps {
  readonly database: Database;
  /** Reads the database that `database` writes. */
  readonly runner: QueryRunner;
  readonly chain: ChainCode;
  /** Chains that started as copies of chain 1. */
  readonly descendants: readonly number[];
  /** Called after each batch. */
  progress(counts: Readonly<ImportCounts>): void;
  /** Called for each skipped record. */
  skipped(contract: { readonly chainId: number; readonly address: Hex }, reason: string): void;
}

const positionRow = rowType({ position: importPositionsTable.types.position });

/** Runs until the source ends or the signal aborts. After an abort, `finished` is false and the next run continues. */
export async function runImport(
  deps: ImportDeps,
  source: ContractSource,
  signal: AbortSignal,
): Promise<{ readonly counts: ImportCounts; readonly finished: boolean }> {
  const counts: ImportCounts = { found: 0, stored: 0, known: 0, broken: 0 };
  const startPosition = await findPosition(deps.runner, source.key);
  const store = createVerifiedStore(deps.database, deps.runner);
  const importBatch = async (batch: readonly FoundContract[]): Promise<void> => {
    const records = await readAll(deps, batch, counts, signal);
    signal.throwIfAborted();
    const attachedCodes = await attachCodes(records, deps.chain, deps.descendants);
    const usableRecords = attachedCodes.flatMap((attachedCode, index) => {
      if ('records' in attachedCode) return attachedCode.records;
      const contract = records[index]?.contract;
      if (contract !== undefined) deps.skipped(contract, attachedCode.broken);
      counts.broken += 1;
      return [];
    });
    const { stored, unchangedCount } = await store.store(usableRecords);
    counts.stored += stored;
    counts.known += unchangedCount;
    counts.found += batch.length;
    const position = batch.findLast((contract) => contract.position !== null)?.position ?? null;
    if (position !== null) await savePosition(deps.database, source.key, position);
    deps.progress(counts);
  };
  try {
    let batch: FoundContract[] = [];
    for await (const foundContract of source.list(startPosition, signal)) {
      batch.push(foundContract);
      if (batch.length < BATCH_CONTRACTS) continue;
      await importBatch(batch);
      batch = [];
    }
    if (batch.length > 0) await importBatch(batch);
  } catch (error) {
    if (signal.aborted) return { counts, finished: false };
    throw error;
  }
  if (!source.appendsOnly) await savePosition(deps.database, source.key, '');
  return { counts, finished: true };
}

async function findPosition(runner: QueryRunner, source: string): Promise<string | null> {
  const [row] = await runner.run('sources/find_import_position', { source }, positionRow);
  return row === undefined || row.position === '' ? null : row.position;
}

async function savePosition(database: Database, source: string, position: string): Promise<void> {
  await insertRows(database, importPositionsTable, [{ source, position, version: Date.now() * 1_000 }]);
}

/** The records that could be read, in order. */
async function readAll(
  deps: ImportDeps,
  batch: readonly FoundContract[],
  counts: ImportCounts,
  signal: AbortSignal,
): Promise<ImportedRecord[]> {
  const records: (ImportedRecord | null)[] = batch.map(() => null);
  let nextIndex = 0;
  const readInTurn = async (): Promise<void> => {
    for (let index = nextIndex++; index < batch.length; index = nextIndex++) {
      const foundContract = batch[index];
      if (foundContract === undefined || signal.aborted) return;
      try {
        records[index] = await foundContract.read(signal);
      } catch (error) {
        if (!(error instanceof BrokenRecord)) throw error;
        counts.broken += 1;
        deps.skipped(foundContract, error.message);
      }
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readInTurn));
  return records.filter((record) => record !== null);
}
