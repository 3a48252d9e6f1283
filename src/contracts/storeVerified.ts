/**
 * Stores verified contracts. Files are written first and the contract's row last, so every stored contract has its
 * files. Safe to repeat: a stored record stays unless the new record is better.
 */
import { indexedBits, listSignatures } from '../domain/abi';
import { ZERO_HASH, type Hex } from '../domain/hex';
import { hashTexts } from '../domain/texts/textThread';
import type { VerificationSource } from '../domain/verifiedContract';
import type { Database } from '../clickhouse/client/database';
import { insertRows } from '../clickhouse/rows/inserter';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import {
  abiSignaturesTable,
  sourceFilesTable,
  sourceUsesTable,
  verifiedContractsTable,
  type AbiSignatureRow,
  type SourceUseRow,
  type VerifiedContractRow,
} from '../clickhouse/schema/sourceTables';
import { inChunks } from '../query/head/inChunks';
import { listKnownFiles } from '../query/sources/sourceFiles';
import { createVerifiedReader, type StoredVerification } from '../query/contracts/verifiedContracts';
import type { SourceFile, VerifiedRecord } from './verifiedRecord';

/** Number of contracts per insert. */
const RECORDS_MAX = 500;
/** Bytes of file content per insert. */
const BATCH_BYTES = 32 * 2 ** 20;

/**
 * Rank of a record by its source. If a contract has two records with the same status, the record with the higher rank
 * is stored.
 */
const SOURCE_RANK: Readonly<Record<VerificationSource, number>> = {
  local: 3,
  sourcify: 2,
  blockscout: 1,
  'ancestor:1': 0,
};

interface StoreResult {
  readonly stored: number;
  /** Number of records that added nothing to the stored data. */
  readonly unchangedCount: number;
}

export interface VerifiedStore {
  store(records: readonly VerifiedRecord[]): Promise<StoreResult>;
}

/** `runner` reads the database that `database` writes. Calls must not overlap, because versions must grow. */
export function createVerifiedStore(database: Database, runner: QueryRunner): VerifiedStore {
  const reader = createVerifiedReader(runner);
  let lastVersion = 0;
  return {
    async store(records) {
      // The best record of each contract in this call.
      const bestByContract = new Map<string, HashedRecord>();
      for (const record of await hashSources(records)) {
        const key = `${record.contract.chainId}:${record.contract.address}`;
        const bestSoFar = bestByContract.get(key);
        if (bestSoFar === undefined || isBetter(record, bestSoFar)) bestByContract.set(key, record);
      }
      const uniqueRecords = [...bestByContract.values()];
      const storedVerifications = await inChunks(uniqueRecords, (chunk) =>
        reader.listOwn(chunk.map((record) => record.contract)),
      );
      // A verification of another code does not compete, because each code keeps its own.
      const sameCodeVerifications = await inChunks(uniqueRecords, (chunk) =>
        reader.listOwn(chunk.map(({ contract, codeHash }) => ({ ...contract, codeHash }))),
      );
      const recordsToStore = uniqueRecords.flatMap((record, index) => {
        const sameCode = sameCodeVerifications[index] ?? null;
        return sameCode === null || isBetter(record, sameCode)
          ? [{ record, old: storedVerifications[index] ?? null }]
          : [];
      });
      for (let start = 0; start < recordsToStore.length; start += RECORDS_MAX) {
        const batch = recordsToStore.slice(start, start + RECORDS_MAX);
        const version = Math.max(Date.now() * 1_000, lastVersion + 1);
        lastVersion = version + batch.length - 1;
        await writeBatch(database, runner, batch, version);
      }
      return { stored: recordsToStore.length, unchangedCount: records.length - recordsToStore.length };
    },
  };
}

/** A record with the hash of each of its files. */
type HashedRecord = Omit<VerifiedRecord, 'sources'> & { readonly sources: readonly Required<SourceFile>[] };

async function hashSources(records: readonly VerifiedRecord[]): Promise<HashedRecord[]> {
  const files = records.flatMap(({ sources }) => sources.filter((file) => file.contentHash === undefined));
  const hashes = files.length === 0 ? [] : await hashTexts(files.map(({ content }) => content));
  const byFile = new Map(files.map((file, index) => [file, hashes[index] ?? ZERO_HASH]));
  return records.map((record) => ({
    ...record,
    sources: record.sources.map((file) => ({
      ...file,
      contentHash: file.contentHash ?? byFile.get(file) ?? ZERO_HASH,
    })),
  }));
}

type RankedRecord = Pick<VerifiedRecord, 'codeHash'> & {
  readonly contract: Pick<VerifiedRecord['contract'], 'status' | 'source' | 'constructorArguments'>;
};

/**
 * Whether a record is better than another record of the same contract. A partial match proves neither its comments nor
 * its names. So it replaces another one only if the code changed, or if it adds facts to the same sources.
 */
function isBetter(record: HashedRecord, otherRecord: HashedRecord | StoredVerification): boolean {
  const [contract, otherContract] = [record.contract, otherRecord.contract];
  if (contract.status !== otherContract.status) return contract.status === 'exact_match';
  const isSame = contract.status === 'exact_match' || isSameVerification(record, otherRecord);
  if (!isSame)
    return (
      record.codeHash !== null && otherRecord.codeHash !== null && record.codeHash !== otherRecord.codeHash
    );
  return addsFacts(record, otherRecord);
}

function addsFacts(record: RankedRecord, otherRecord: RankedRecord): boolean {
  const [contract, otherContract] = [record.contract, otherRecord.contract];
  if ((record.codeHash === null) !== (otherRecord.codeHash === null)) return record.codeHash !== null;
  const rank = SOURCE_RANK[contract.source] - SOURCE_RANK[otherContract.source];
  if (rank !== 0) return rank > 0;
  if ((contract.constructorArguments === null) !== (otherContract.constructorArguments === null))
    return contract.constructorArguments !== null;
  // The code at an address can change after a self-destruct. The record of the current code is better.
  return record.codeHash !== otherRecord.codeHash;
}

/** Whether both records have the same origin, contract, settings and files. */
function isSameVerification(record: HashedRecord, otherRecord: HashedRecord | StoredVerification): boolean {
  const [contract, otherContract] = [record.contract, otherRecord.contract];
  const isSame =
    contract.source === otherContract.source &&
    contract.name === otherContract.name &&
    contract.path === otherContract.path &&
    contract.settings === otherContract.settings;
  return isSame && listFiles(record).join('\n') === listFiles(otherRecord).join('\n');
}

function listFiles(record: HashedRecord | StoredVerification): string[] {
  const files = 'sources' in record ? record.sources : record.contract.files;
  return files.map(({ path, contentHash }) => `${contentHash} ${path}`).sort();
}

interface Replacement {
  readonly record: HashedRecord;
  /** The stored verification of the same contract; null without one. */
  readonly old: StoredVerification | null;
}

async function writeBatch(
  database: Database,
  runner: QueryRunner,
  batch: readonly Replacement[],
  firstVersion: number,
): Promise<void> {
  const contentByHash = new Map<Hex, string>();
  const useRows: SourceUseRow[] = [];
  const rows: VerifiedContractRow[] = [];
  for (const [index, { record, old }] of batch.entries()) {
    // Lists of contracts are paged by version, so each row needs a version of its own.
    const version = firstVersion + index;
    for (const { contentHash, content } of record.sources) contentByHash.set(contentHash, content);
    const hashes = record.sources.map((file) => file.contentHash);
    rows.push(contractRow(record, hashes, version));
    useRows.push(...makeUseRows(record, hashes, old, version));
  }
  await writeFiles(database, runner, contentByHash);
  await insertRows(database, sourceUsesTable, useRows);
  await insertRows(database, abiSignaturesTable, signatureRows(batch));
  await insertRows(database, verifiedContractsTable, rows);
}

async function writeFiles(
  database: Database,
  runner: QueryRunner,
  contents: ReadonlyMap<Hex, string>,
): Promise<void> {
  const storedFiles = await listKnownFiles(runner, [...contents.keys()]);
  let batch: { content_hash: Hex; content: string }[] = [];
  let batchBytes = 0;
  for (const [content_hash, content] of contents) {
    if (storedFiles.has(content_hash)) continue;
    batch.push({ content_hash, content });
    batchBytes += content.length;
    if (batchBytes < BATCH_BYTES) continue;
    await insertRows(database, sourceFilesTable, batch);
    batch = [];
    batchBytes = 0;
  }
  await insertRows(database, sourceFilesTable, batch);
}

function contractRow(
  { contract, codeHash, deployment, sources, outputs }: VerifiedRecord,
  hashes: readonly Hex[],
  version: number,
): VerifiedContractRow {
  return {
    chain_id: contract.chainId,
    address: contract.address,
    code_hash: codeHash ?? ZERO_HASH,
    status: contract.status,
    source: contract.source,
    verified_at: contract.verifiedAt,
    name: contract.name,
    path: contract.path,
    language: contract.language,
    compiler: contract.compiler,
    compiler_version: contract.compilerVersion,
    optimization: contract.optimization,
    runs: contract.runs,
    evm_version: contract.evmVersion,
    license: contract.license,
    abi: JSON.stringify(contract.abi),
    constructor_arguments: contract.constructorArguments,
    libraries: JSON.stringify(contract.libraries),
    settings: contract.settings,
    file_paths: sources.map((file) => file.path),
    file_hashes: hashes,
    deployer: deployment.deployer,
    deployment_tx: deployment.transaction,
    deployment_block: deployment.block,
    creation_match: contract.creationMatch ?? '',
    outputs: outputs === undefined ? '' : JSON.stringify(outputs),
    version,
  };
}

/** Rows for the contract's current files, and removals of its former files. */
function makeUseRows(
  { contract, sources }: VerifiedRecord,
  hashes: readonly Hex[],
  old: StoredVerification | null,
  version: number,
): SourceUseRow[] {
  const row = (content_hash: Hex, path: string, removed: number): SourceUseRow => ({
    content_hash,
    chain_id: contract.chainId,
    address: contract.address,
    path,
    contract_name: contract.name,
    language: contract.language,
    status: contract.status,
    version,
    removed,
  });
  const currentUses = sources.map(({ path }, index) => row(hashes[index] ?? ZERO_HASH, path, 0));
  const currentFiles = new Set(currentUses.map((use) => `${use.content_hash} ${use.path}`));
  const removedFiles = (old?.contract.files ?? []).filter(
    ({ contentHash, path }) => !currentFiles.has(`${contentHash} ${path}`),
  );
  return [...currentUses, ...removedFiles.map(({ contentHash, path }) => row(contentHash, path, 1))];
}

function signatureRows(batch: readonly Replacement[]): AbiSignatureRow[] {
  const rows = new Map<string, AbiSignatureRow>();
  for (const { record } of batch) {
    for (const { kind, selector, signature, entry } of listSignatures(record.contract.abi)) {
      const indexed = kind === 'event' ? indexedBits(entry) : 0;
      const key = `${kind} ${indexed} ${signature}`;
      if (!rows.has(key)) rows.set(key, { selector, kind, signature, indexed, entry: JSON.stringify(entry) });
    }
  }
  return [...rows.values()];
}
