/** The record of a verified contract. All dialects of the explorer build their answers from it. */
import type { Hex } from './hex';

/** `exact_match`: the metadata hash matches too; `match`: everything except the metadata hash. */
export type VerificationStatus = 'exact_match' | 'match';

/**
 * Origin of a verification: an importer (sourcify, blockscout), a compilation by this service (local), or a
 * verification of the same code on the chain from which this chain was copied (ancestor).
 */
export type VerificationSource = 'sourcify' | 'blockscout' | 'local' | 'ancestor:1';

export interface ContractId {
  readonly chainId: number;
  readonly address: Hex;
}

export interface SourceFileRef {
  readonly path: string;
  /** keccak256 of the UTF-8 content, which is the key in `source_files`. */
  readonly contentHash: Hex;
}

/** One ABI entry in solc's format. */
export interface AbiEntry {
  readonly type: string;
  readonly name?: string;
  readonly anonymous?: boolean;
  readonly stateMutability?: string;
  readonly inputs?: readonly AbiParameter[];
  readonly outputs?: readonly AbiParameter[];
}

export interface AbiParameter {
  readonly name: string;
  readonly type: string;
  readonly internalType?: string;
  readonly indexed?: boolean;
  readonly components?: readonly AbiParameter[];
}

export interface VerifiedContract extends ContractId {
  readonly status: VerificationStatus;
  readonly source: VerificationSource;
  /**
   * The contract to which the verification belongs, if it is another contract with the same code. Null if the
   * contract has its own verification.
   */
  readonly twinOf: ContractId | null;
  /** Number that grows with each stored verification, as decimal text. */
  readonly matchId: string;
  /** Time of the verification, unix seconds. */
  readonly verifiedAt: number;
  readonly name: string;
  /** Path of the file in `files` that holds the contract. */
  readonly path: string;
  readonly language: 'Solidity' | 'Vyper' | 'Yul';
  /** Name of the compiler: `solc` or `vyper`. */
  readonly compiler: string;
  /** Version of the compiler without a leading v: `0.8.20+commit.a1b79de6`. */
  readonly compilerVersion: string;
  readonly optimization: boolean;
  readonly runs: number;
  /** EVM version; null means the compiler's default. */
  readonly evmVersion: string | null;
  /** SPDX identifier of the licence. */
  readonly license: string | null;
  readonly abi: readonly AbiEntry[];
  /** The ABI-encoded arguments at the end of the creation code. Null if unknown; `0x` if there are none. */
  readonly constructorArguments: Hex | null;
  /** Result of the comparison of the creation code; null if it was not compared. */
  readonly creationMatch: VerificationStatus | null;
  /** Addresses of libraries by fully qualified library name. */
  readonly libraries: Readonly<Record<string, Hex>>;
  /** `settings` of the standard JSON input, as JSON text, without outputSelection. */
  readonly settings: string;
  readonly files: readonly SourceFileRef[];
}

/** Reads the newest verifications from the database. */
export interface VerifiedReader {
  /**
   * The contract's own verification, or a verification of a contract with the same code on any chain, or null. With a
   * code hash, only a verification of this code counts, or one whose code is unknown.
   */
  find(contract: ContractId, codeHash: Hex | null): Promise<VerifiedContract | null>;
  /** Like `find`, for at most 1,000 contracts. */
  findMany(
    contracts: readonly (ContractId & { readonly codeHash: Hex | null })[],
  ): Promise<(VerifiedContract | null)[]>;
  /**
   * Further outputs of the compiler by the names of its standard JSON: metadata, storageLayout, userdoc, devdoc and evm.
   * Unknown outputs are missing.
   */
  readOutputs(contract: VerifiedContract): Promise<Readonly<Record<string, unknown>>>;
  /** The files with their contents, in the order of `files`. */
  readSources(contract: VerifiedContract): Promise<{ readonly path: string; readonly content: string }[]>;
}

/** An event, function or error known from any ABI. */
export interface KnownSignature {
  readonly kind: 'event' | 'function' | 'error';
  /** topic0 of an event (32 bytes), or the selector of a function or error (4 bytes). */
  readonly selector: Hex;
  /** The signature, such as `Transfer(address,address,uint256)`. */
  readonly signature: string;
  /** One ABI entry with this signature. Entries of one event differ in which parameters are indexed. */
  readonly entry: AbiEntry;
}

export interface SignatureReader {
  /** Finds the signatures with these selectors; at most 1,000 selectors. */
  listBySelectors(selectors: readonly Hex[]): Promise<KnownSignature[]>;
  /** Finds signatures whose name starts with the text, in any letter case. Returns at most `limit`, the
   * shortest first. */
  listByPrefix(text: string, limit: number): Promise<KnownSignature[]>;
}
