/** Reads stored verifications with their source files: by address, or else of a contract with the same code
 * hash (a twin). */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { verifiedContractsTable } from '../../clickhouse/schema/sourceTables';
import { parseAbi } from '../../domain/abi';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import type {
  ContractId,
  SourceFileRef,
  VerifiedContract,
  VerifiedReader,
} from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import { inChunks } from '../head/inChunks';
import { listContents } from '../sources/sourceFiles';

/** Largest number of contracts in one query. */
const CONTRACTS_PER_QUERY = 500;
/** Number of candidate twins per code hash and chain. If a candidate is outdated, the next candidate is used. */
const TWINS_PER_CODE = 4;
const TWINS_MAX = 100_000;
/** Number of parsed ABIs in memory. Requests often repeat the same few contracts. */
const ABIS_KEPT = 500;
const CONTRACTS_MAX = 1_000;
/** Chains 369 and 943 began as copies of this chain, with all its contracts. */
const ANCESTOR_CHAIN = 1;

const { outputs: outputsType, ...verifiedTypes } = verifiedContractsTable.types;
const verifiedRow = rowType(verifiedTypes);
type VerifiedRow = RowOf<typeof verifiedRow>;

const { code_hash, status, verified_at, chain_id, address } = verifiedTypes;
/** A row of list_twins.sql. */
const twinRow = rowType({ code_hash, status, verified_at, chain_id, address });
type TwinRow = RowOf<typeof twinRow>;

const librariesShape = z.record(z.string(), z.templateLiteral(['0x', z.string()]));

/** The creation of a contract, as stored with its verification. Unknown fields are null. */
export interface Deployment {
  readonly deployer: Hex | null;
  readonly transaction: Hex | null;
  readonly block: number | null;
}

/** A stored verification, with the code hash and the creation of its contract. */
export interface StoredVerification {
  readonly contract: VerifiedContract;
  /** Hash of the code that was verified; null if it was not stored. */
  readonly codeHash: Hex | null;
  readonly deployment: Deployment;
}

export interface VerificationStore extends VerifiedReader {
  /**
   * The contracts' own verifications in the given order, without those of twins; null for a contract without a
   * verification. With a code hash, the verification of this code, or of an unknown code; else the newest one.
   */
  listOwn(
    contracts: readonly (ContractId & { readonly codeHash?: Hex | null })[],
  ): Promise<(StoredVerification | null)[]>;
}

/** Reads the market chain's database, which stores the verifications of all chains. */
export function createVerifiedReader(runner: QueryRunner): VerificationStore {
  const abis = new LRUCache<string, VerifiedContract['abi']>({ max: ABIS_KEPT });
  const toStored = (row: VerifiedRow): StoredVerification => ({
    contract: toContract(row, abis),
    codeHash: row.code_hash === ZERO_HASH ? null : row.code_hash,
    deployment: { deployer: row.deployer, transaction: row.deployment_tx, block: row.deployment_block },
  });
  const readVerifications = async (
    contracts: readonly (ContractId & { readonly codeHash?: Hex | null })[],
    isNewest: boolean,
  ): Promise<Map<string, StoredVerification>> => {
    const keyOfContract = isNewest ? keyOf : codeKeyOf;
    const rows = await inChunks(
      [...new Set(contracts.map(keyOfContract))],
      (chunk) => {
        const params = {
          contracts: chunk,
          newest: isNewest,
          codes: !isNewest,
          limit: CONTRACTS_PER_QUERY,
        };
        return runner.run('sources/list_verified', params, verifiedRow);
      },
      CONTRACTS_PER_QUERY,
    );
    return new Map(
      rows.map((row) => {
        const id = { chainId: row.chain_id, address: row.address, codeHash: row.code_hash };
        return [keyOfContract(id), toStored(row)];
      }),
    );
  };
  const listOwn: VerificationStore['listOwn'] = async (contracts) => {
    const newestByKey = await readVerifications(contracts, true);
    const hasOtherCode = (contract: (typeof contracts)[number]): boolean => {
      const hash = newestByKey.get(keyOf(contract))?.codeHash ?? null;
      return hash !== null && contract.codeHash != null && contract.codeHash !== hash;
    };
    // The code at the address has changed since, or it is an older code.
    const changed = contracts.filter(hasOtherCode);
    const storedByCode =
      changed.length === 0 ? new Map<string, never>() : await readVerifications(changed, false);
    return contracts.map(
      (contract) =>
        (hasOtherCode(contract) ? storedByCode.get(codeKeyOf(contract)) : newestByKey.get(keyOf(contract))) ??
        null,
    );
  };
  const findMany: VerifiedReader['findMany'] = async (contracts) => {
    if (contracts.length > CONTRACTS_MAX)
      throw new AppError('internal', `got ${contracts.length} contracts; allowed: ${CONTRACTS_MAX}`);
    if (contracts.length === 0) return [];
    const ownVerifications = await listOwn(contracts);
    const unverified = contracts.filter((_, index) => ownVerifications[index] === null);
    const readNewest = (ids: readonly ContractId[]): ReturnType<typeof readVerifications> =>
      readVerifications(ids, true);
    const twins = await readTwins(runner, readNewest, unverified);
    return contracts.map(
      (contract, index) => ownVerifications[index]?.contract ?? twins.get(codeKeyOf(contract)) ?? null,
    );
  };
  return {
    findMany,
    find: async (contract, codeHash) => (await findMany([{ ...contract, codeHash }]))[0] ?? null,
    readOutputs: (contract) => readOutputs(runner, contract),
    readSources: (contract) => readSources(runner, contract.files),
    listOwn,
  };
}

/** Text form of a contract in the parameters of list_verified.sql. */
function keyOf({ chainId, address }: ContractId): string {
  return `${chainId}:${address.slice(2)}`;
}

function codeKeyOf(contract: ContractId & { readonly codeHash?: Hex | null }): string {
  return `${keyOf(contract)}:${(contract.codeHash ?? ZERO_HASH).slice(2)}`;
}

/** The best verification with the same code for each contract, by the key of contract and code. */
async function readTwins(
  runner: QueryRunner,
  readNewest: (contracts: readonly ContractId[]) => Promise<Map<string, StoredVerification>>,
  contracts: readonly (ContractId & { readonly codeHash: Hex | null })[],
): Promise<Map<string, VerifiedContract>> {
  const hashes = [...new Set(contracts.flatMap(({ codeHash }) => codeHash ?? []))];
  const rows = await inChunks(
    hashes,
    (chunk) => {
      const params = { hashes: chunk.map((hash) => hash.slice(2)), each: TWINS_PER_CODE, limit: TWINS_MAX };
      return runner.run('sources/list_twins', params, twinRow);
    },
    CONTRACTS_PER_QUERY,
  );
  if (rows.length === 0) return new Map();
  const candidatesByCode = new Map<string, TwinRow[]>();
  for (const row of rows)
    candidatesByCode.set(row.code_hash, [...(candidatesByCode.get(row.code_hash) ?? []), row]);
  const storedByKey = await readNewest(rows.map((row) => ({ chainId: row.chain_id, address: row.address })));
  const twins = new Map<string, VerifiedContract>();
  for (const contract of contracts) {
    const { chainId, address, codeHash } = contract;
    if (codeHash === null) continue;
    const twinVerification = [...(candidatesByCode.get(codeHash) ?? [])]
      .sort((a, b) => compareTwins(a, b, chainId))
      .map((row) => storedByKey.get(keyOf({ chainId: row.chain_id, address: row.address })))
      .find((verification) => verification?.codeHash === codeHash);
    if (twinVerification === undefined) continue;
    const twinOf = { chainId: twinVerification.contract.chainId, address: twinVerification.contract.address };
    // A twin at the same address of the ancestor chain is the original of this contract, so the constructor
    // arguments are the same too.
    const isCopied = twinOf.chainId === ANCESTOR_CHAIN && twinOf.address === address;
    // Contracts with the same code may have different constructor arguments. Only if the constructor takes no
    // arguments are they equal.
    const noArguments = twinVerification.contract.constructorArguments === '0x' ? ('0x' as const) : null;
    const facts = isCopied
      ? { source: 'ancestor:1' as const }
      : { constructorArguments: noArguments, creationMatch: null };
    twins.set(codeKeyOf(contract), { ...twinVerification.contract, ...facts, chainId, address, twinOf });
  }
  return twins;
}

/**
 * Sorts verifications: exact_match before match, then the contract's own chain before other chains, then the oldest
 * first.
 */
function compareTwins(a: TwinRow, b: TwinRow, chainId: number): number {
  if (a.status !== b.status) return a.status === 'exact_match' ? -1 : 1;
  const [isOwnA, isOwnB] = [a.chain_id === chainId, b.chain_id === chainId];
  if (isOwnA !== isOwnB) return isOwnA ? -1 : 1;
  return a.verified_at - b.verified_at || a.chain_id - b.chain_id || (a.address < b.address ? -1 : 1);
}

function toContract(row: VerifiedRow, abis: LRUCache<string, VerifiedContract['abi']>): VerifiedContract {
  let abi = abis.get(row.abi);
  if (abi === undefined) {
    abi = parseAbi(row.abi) ?? [];
    abis.set(row.abi, abi);
  }
  return {
    chainId: row.chain_id,
    address: row.address,
    status: row.status,
    source: row.source,
    twinOf: null,
    matchId: String(row.version),
    verifiedAt: row.verified_at,
    name: row.name,
    path: row.path,
    language: row.language,
    compiler: row.compiler,
    compilerVersion: row.compiler_version,
    optimization: row.optimization,
    runs: row.runs,
    evmVersion: row.evm_version,
    license: row.license,
    abi,
    constructorArguments: row.constructor_arguments,
    creationMatch: row.creation_match === '' ? null : row.creation_match,
    libraries: parseLibraries(row.libraries),
    settings: row.settings,
    files: row.file_paths.map((path, index) => ({ path, contentHash: row.file_hashes[index] ?? ZERO_HASH })),
  };
}

/**
 * Parses the libraries of a verification. Returns none if the text cannot be read, so that the other fields
 * of the record stay usable.
 */
function parseLibraries(text: string): z.infer<typeof librariesShape> {
  try {
    return librariesShape.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

async function readSources(
  runner: QueryRunner,
  files: readonly SourceFileRef[],
): Promise<{ readonly path: string; readonly content: string }[]> {
  const contents = await listContents(
    runner,
    files.map((file) => file.contentHash),
  );
  return files.map(({ path, contentHash }) => {
    const content = contents.get(contentHash);
    if (content === undefined)
      throw new AppError('broken_invariant', `the source file ${contentHash} is not stored`);
    return { path, content };
  });
}

const outputsRow = rowType({ outputs: outputsType });
const outputsShape = z.record(z.string(), z.unknown());

async function readOutputs(
  runner: QueryRunner,
  { chainId, address, twinOf, matchId }: VerifiedContract,
): Promise<z.infer<typeof outputsShape>> {
  const owner = twinOf ?? { chainId, address };
  const params = { chain_id: owner.chainId, address: owner.address.slice(2), match_id: matchId };
  const [row] = await runner.run('sources/find_outputs', params, outputsRow);
  return row === undefined || row.outputs === '' ? {} : outputsShape.parse(JSON.parse(row.outputs));
}
