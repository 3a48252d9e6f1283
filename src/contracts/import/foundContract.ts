/**
 * The interface of importers: contracts are listed first and read one by one. Also the checks that all importers
 * share.
 */
import { isPrintable } from '../../domain/address';
import { isHexData, toLowerHex, type Hex } from '../../domain/hex';
import type { ContractId, VerificationStatus } from '../../domain/verifiedContract';
import type { VerifiedRecord } from '../verifiedRecord';

/** A record that cannot be imported, with the reason as text for people. The import continues without it. */
export class BrokenRecord extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenRecord';
  }
}

export interface FoundContract extends ContractId {
  readonly status: VerificationStatus;
  /**
   * Position from which the next import continues if this contract is the last one. Null if the import cannot stop
   * here.
   */
  readonly position: string | null;
  /** Throws BrokenRecord for an invalid record. */
  read(signal: AbortSignal): Promise<ImportedRecord>;
}

/** A record before its code hash is known. */
export interface ImportedRecord extends Omit<VerifiedRecord, 'codeHash'> {
  /** Runtime code that the server saw on the chain; null if not given. */
  readonly runtimeCode: Hex | null;
  /** The original text of the metadata file, whose hash is in the code; null if not given. */
  readonly metadataText: string | null;
}

/** A folder or server with verified contracts. */
export interface ContractSource {
  /** Key under which the position is stored, without secrets. */
  readonly key: string;
  /**
   * Whether new contracts appear only after the last position. If not, a completed import starts from the beginning
   * again.
   */
  readonly appendsOnly: boolean;
  list(position: string | null, signal: AbortSignal): AsyncIterable<FoundContract>;
}

/** Limits for records from folders and other servers. */
export const FILES_MAX = 2_000;
export const FILE_BYTES_MAX = 4 * 2 ** 20;
const RECORD_BYTES_MAX = 16 * 2 ** 20;
const NAME_MAX = 256;
const PATH_MAX = 1_024;

/** Throws for records with invalid text or too much data. */
export function checkLimits(record: ImportedRecord): ImportedRecord {
  const { contract, sources } = record;
  if (contract.name === '' || contract.name.length > NAME_MAX)
    throw new BrokenRecord(
      `the contract name has ${contract.name.length} characters; allowed: 1 to ${NAME_MAX}`,
    );
  const { name, compilerVersion, evmVersion, license, abi, libraries } = contract;
  if (!isPrintable([name, compilerVersion, evmVersion, license, abi, libraries]))
    throw new BrokenRecord(
      'the name, a compiler setting, the licence or the ABI contains control characters',
    );
  if (sources.length === 0) throw new BrokenRecord('the record has no source files');
  if (sources.length > FILES_MAX)
    throw new BrokenRecord(`the record has ${sources.length} source files; allowed: ${FILES_MAX}`);
  if (!isPrintable(sources.map((file) => file.path)) || !isPrintable(contract.path))
    throw new BrokenRecord('the path of a source file contains control characters');
  if (!sources.some((file) => file.path === contract.path)) {
    throw new BrokenRecord(
      `the sources do not contain ${contract.path.slice(0, 80)}, the file of the contract`,
    );
  }
  let bytes = 0;
  for (const { path, content } of sources) {
    if (path === '' || path.length > PATH_MAX)
      throw new BrokenRecord(
        `the path of a source file has ${path.length} characters; allowed: 1 to ${PATH_MAX}`,
      );
    if (content.length > FILE_BYTES_MAX)
      throw new BrokenRecord(
        `the file ${path.slice(0, 80)} has ${content.length} characters; allowed: ${FILE_BYTES_MAX}`,
      );
    bytes += content.length;
  }
  if (bytes > RECORD_BYTES_MAX)
    throw new BrokenRecord(`the sources have ${bytes} characters; allowed: ${RECORD_BYTES_MAX}`);
  return record;
}

/** Parses an ISO time to unix seconds; 0: absent or invalid. */
export function toUnixSeconds(text: string | null | undefined): number {
  const milliseconds = Date.parse(text ?? '');
  return Number.isFinite(milliseconds) ? Math.floor(milliseconds / 1_000) : 0;
}

/** Parses hex of whole bytes, with or without 0x; null if invalid. */
export function readBytes(value: unknown): Hex | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const hex = text.startsWith('0x') ? text : `0x${text}`;
  return isHexData(hex) ? toLowerHex(hex) : null;
}
