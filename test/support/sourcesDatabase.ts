/** A database of its own for tests of verified contracts, with what reads and writes them. */
import { openDatabase, type Database } from '../../src/clickhouse/database';
import { migrate } from '../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../src/clickhouse/namedQueries';
import { createLog } from '../../src/log';
import { createSignatureReader } from '../../src/query/signatures';
import { createVerifiedReader, type VerificationStore } from '../../src/query/verifiedContracts';
import type { SignatureReader } from '../../src/domain/verifiedContract';
import { createVerifiedStore, type VerifiedStore } from '../../src/sources/storeVerified';
import { createTestDatabase } from './engine';

export interface SourcesDatabase {
  readonly writerUrl: string;
  readonly writer: Database;
  /** As the API has it: read-only, with limits. */
  readonly runner: QueryRunner;
  readonly reader: VerificationStore;
  readonly signatures: SignatureReader;
  readonly store: VerifiedStore;
  close(): Promise<void>;
}

export async function openSourcesDatabase(): Promise<SourcesDatabase> {
  const test = await createTestDatabase();
  const writer = openDatabase({ url: test.writerUrl });
  await migrate(writer, createLog('silent', false));
  const readonly = openDatabase({ url: test.readerUrl });
  const runner = createQueryRunner(readonly);
  return {
    writerUrl: test.writerUrl,
    writer,
    runner,
    reader: createVerifiedReader(runner),
    signatures: createSignatureReader(runner),
    store: createVerifiedStore(writer, createQueryRunner(writer)),
    async close() {
      await readonly.close();
      await writer.close();
      await test.drop();
    },
  };
}
