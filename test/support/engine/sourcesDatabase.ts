/** A database for tests of verified contracts, with its readers and writers. */
import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createSignatureReader } from '../../../src/query/contracts/signatures';
import { createVerifiedReader, type VerificationStore } from '../../../src/query/contracts/verifiedContracts';
import type { SignatureReader } from '../../../src/domain/verifiedContract';
import { createVerifiedStore, type VerifiedStore } from '../../../src/sources/storeVerified';
import { openTestStore } from './testStore';

export interface SourcesDatabase {
  readonly writerUrl: string;
  readonly writer: Database;
  /** Read-only and with limits, as in the API. */
  readonly runner: QueryRunner;
  readonly reader: VerificationStore;
  readonly signatures: SignatureReader;
  readonly store: VerifiedStore;
  close(): Promise<void>;
}

export async function openSourcesDatabase(): Promise<SourcesDatabase> {
  const { writerUrl, db: writer, runner, close } = await openTestStore();
  return {
    writerUrl,
    writer,
    runner,
    reader: createVerifiedReader(runner),
    signatures: createSignatureReader(runner),
    store: createVerifiedStore(writer, createQueryRunner(writer)),
    close,
  };
}
