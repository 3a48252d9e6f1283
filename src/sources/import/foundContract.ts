/** What an importer finds: a contract by name, read one by one, and the checks that all importers share. */
import { isPrintable } from '../../domain/address';
import { isHexData, toLowerHex, type Hex } from '../../domain/hex';
import type { ContractId, VerificationStatus } from '../../domain/verifiedContract';
import type { VerifiedRecord } from '../verifiedRecord';

/** A record that cannot be taken, with the reason for people. The import goes on without it. */
export class BrokenRecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenRecord';
  }
}

export interface FoundContract extends ContractId {
  readonly status: VerificationStatus;
  /** Where an import goes on behind this contract; null where it cannot stop here. */
  readonly position: string | null;
  /** Throws BrokenRecord for what is not as it should be. */
  read(signal: AbortSignal): Promise<ImportedRecord>;
}

/** A record before its code hash is settled. */
export interface ImportedRecord extends Omit<VerifiedRecord, 'codeHash'> {
  /** The runtime code as the source of the record saw it on the chain; null: not told. */
  readonly runtimeCode: Hex | null;
  /** The metadata file as it was written, whose hash stands in the code; null: none. */
  readonly metadataText: string | null;
}

/** Somewhere that contracts come from. */
export interface ContractSource {
  /** For the stored position: the place without secrets. */
  readonly key: string;
  /** Whether contracts that are added come behind the last position; else each import starts over when it has ended. */
  readonly appendsOnly: boolean;
  list(position: string | null, signal: AbortSignal): AsyncIterable<FoundContract>;
}

/** Limits that a stranger's record must keep. */
export const FILES_MAX = 2_000;
export const FILE_BYTES_MAX = 4 * 2 ** 20;
export const RECORD_BYTES_MAX = 16 * 2 ** 20;
const NAME_MAX = 256;
const PATH_MAX = 1_024;

/** Refuses records whose words would not fit, or that hold too much. */
export function checkLimits(record: ImportedRecord): ImportedRecord {
  const { contract, sources } = record;
  if (contract.name === '' || contract.name.length > NAME_MAX)
    throw new BrokenRecord('the contract has no usable name');
  const { name, compilerVersion, evmVersion, license, abi, libraries } = contract;
  if (!isPrintable([name, compilerVersion, evmVersion, license, abi, libraries]))
    throw new BrokenRecord('a name in the record has control characters');
  if (sources.length === 0) throw new BrokenRecord('there are no source files');
  if (sources.length > FILES_MAX) throw new BrokenRecord(`${sources.length} source files are too many`);
  if (!isPrintable(sources.map((file) => file.path)) || !isPrintable(contract.path))
    throw new BrokenRecord('the path of a source file has control characters');
  if (!sources.some((file) => file.path === contract.path)) {
    throw new BrokenRecord(
      `the file of the contract, ${contract.path.slice(0, 80)}, is not among the sources`,
    );
  }
  let bytes = 0;
  for (const { path, content } of sources) {
    if (path === '' || path.length > PATH_MAX) throw new BrokenRecord('a source file has no usable path');
    if (content.length > FILE_BYTES_MAX) throw new BrokenRecord(`the file ${path.slice(0, 80)} is too large`);
    bytes += content.length;
  }
  if (bytes > RECORD_BYTES_MAX) throw new BrokenRecord('the sources are too large');
  return record;
}

/** Hex of whole bytes, with or without 0x, else null. */
export function readBytes(value: unknown): Hex | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const hex = text.startsWith('0x') ? text : `0x${text}`;
  return isHexData(hex) ? toLowerHex(hex) : null;
}
