/** The record of a verified contract, from which all dialects of the explorer answer. */
import type { Hex } from './hex';

/** `exact_match`: the metadata hash matches too; `match`: everything except the metadata hash. */
export type VerificationStatus = 'exact_match' | 'match';

/**
 * Origin of a verification: an importer, our own compilation, or the same code on the chain that this chain was copied
 * from.
 */
export type VerificationSource = 'sourcify' | 'blockscout' | 'local' | 'ancestor:1';

export interface ContractId {
  readonly chainId: number;
  readonly address: Hex;
}

export interface SourceFileRef {
  readonly path: string;
  /** keccak256 of the UTF-8 content, the key in `source_files`. */
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
  /** The contract with the same code that this verification comes from; null: the contract itself. */
  readonly twinOf: ContractId | null;
  /** Unix seconds. */
  readonly verifiedAt: number;
  readonly name: string;
  /** Path of the file in `files` that holds the contract. */
  readonly path: string;
  readonly language: 'Solidity' | 'Vyper' | 'Yul';
  /** `solc` or `vyper`. */
  readonly compiler: string;
  /** Without a leading v: `0.8.20+commit.a1b79de6`. */
  readonly compilerVersion: string;
  readonly optimization: boolean;
  readonly runs: number;
  /** Null: the compiler's default. */
  readonly evmVersion: string | null;
  /** SPDX identifier. */
  readonly license: string | null;
  readonly abi: readonly AbiEntry[];
  /** The ABI-encoded arguments at the end of the creation code. Null: unknown; `0x`: none. */
  readonly constructorArguments: Hex | null;
  /** Addresses by fully qualified library name. */
  readonly libraries: Readonly<Record<string, Hex>>;
  /** `settings` of the standard JSON input, as JSON text, without outputSelection. */
  readonly settings: string;
  readonly files: readonly SourceFileRef[];
}

/** Reads the newest verifications from the database. */
export interface VerifiedReader {
  /** The contract's own verification, or one of a contract with the same code on any chain, or null. */
  find(contract: ContractId, codeHash: Hex | null): Promise<VerifiedContract | null>;
  /** Like `find`, for at most 1,000 contracts. */
  findMany(
    contracts: readonly (ContractId & { readonly codeHash: Hex | null })[],
  ): Promise<(VerifiedContract | null)[]>;
  /** The files with their contents, in the order of `files`. */
  readSources(contract: VerifiedContract): Promise<{ readonly path: string; readonly content: string }[]>;
}

/** An event, function or error known from any ABI. */
export interface KnownSignature {
  readonly kind: 'event' | 'function' | 'error';
  /** topic0 (32 bytes) or a selector (4 bytes). */
  readonly selector: Hex;
  /** `Transfer(address,address,uint256)`. */
  readonly signature: string;
  /** One ABI entry with this signature. Entries of one event differ in which parameters are indexed. */
  readonly entry: AbiEntry;
}

export interface SignatureReader {
  /** Signatures with these selectors, at most 1,000 selectors. */
  listBySelectors(selectors: readonly Hex[]): Promise<KnownSignature[]>;
  /** Signatures whose name starts with the text, in any letter case. At most `limit`, the shortest first. */
  listByPrefix(text: string, limit: number): Promise<KnownSignature[]>;
}
