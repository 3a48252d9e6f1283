/** A store for tests of verified contracts, with its readers and writers. */
import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { createSignatureReader } from '../../../src/query/contracts/signatures';
import { createVerifiedReader, type VerificationStore } from '../../../src/query/contracts/verifiedContracts';
import type { SignatureReader } from '../../../src/domain/verifiedContract';
import { createVerifiedStore, type VerifiedStore } from '../../../src/contracts/storeVerified';
import { openTestStore, type TestStore } from './testStore';

export interface SourcesDatabase extends TestStore {
  readonly writer: Database;
  readonly reader: VerificationStore;
  readonly signatures: SignatureReader;
  readonly store: VerifiedStore;
}

export async function openSourcesDatabase(): Promise<SourcesDatabase> {
  const opened = await openTestStore();
  const { db: writer, runner } = opened;
  return {
    ...opened,
    writer,
    reader: createVerifiedReader(runner),
    signatures: createSignatureReader(runner),
    store: createVerifiedStore(writer, createQueryRunner(writer)),
  };
}
