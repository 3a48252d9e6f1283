/** What is known of a contract whose source was verified: one record from which every dialect of the explorer is answered. */
import type { Hex } from './hex';

/** `exact_match`: the metadata hash agrees too; `match`: everything but it. */
export type VerificationStatus = 'exact_match' | 'match';

/** Where a verification came from: an importer, our own recompilation, or the same code on the chain that this one was copied from. */
export type VerificationSource = 'sourcify' | 'blockscout' | 'local' | 'ancestor:1';

export interface ContractId {
  readonly chainId: number;
  readonly address: Hex;
}

export interface SourceFileRef {
  readonly path: string;
  /** keccak256 of the UTF-8 content, by which `source_files` keeps it once. */
  readonly contentHash: Hex;
}

/** One entry of a contract's ABI as solc prints it. */
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
  /** The contract with the same code whose verification this is; null: its own. */
  readonly twinOf: ContractId | null;
  /** Unix seconds. */
  readonly verifiedAt: number;
  readonly name: string;
  /** Of the file in `files` that holds the contract. */
  readonly path: string;
  readonly language: 'Solidity' | 'Vyper' | 'Yul';
  /** `solc` or `vyper`. */
  readonly compiler: string;
  /** Without a leading v: `0.8.20+commit.a1b79de6`. */
  readonly compilerVersion: string;
  readonly optimization: boolean;
  readonly runs: number;
  /** null: the compiler's default. */
  readonly evmVersion: string | null;
  /** SPDX identifier. */
  readonly license: string | null;
  readonly abi: readonly AbiEntry[];
  /** The ABI-encoded arguments at the end of the creation code; null: unknown. `0x`: none. */
  readonly constructorArguments: Hex | null;
  /** Addresses by fully qualified library name. */
  readonly libraries: Readonly<Record<string, Hex>>;
  /** `settings` of the standard JSON input, as JSON text, without outputSelection. */
  readonly settings: string;
  readonly files: readonly SourceFileRef[];
}

/** Reads verified contracts; what is newest in the database. */
export interface VerifiedReader {
  /** A contract's own verification, else that of a contract with the same code on any chain, else null. */
  find(contract: ContractId, codeHash: Hex | null): Promise<VerifiedContract | null>;
  /** The same for many; null where there is none. At most 1,000. */
  findMany(
    contracts: readonly (ContractId & { readonly codeHash: Hex | null })[],
  ): Promise<(VerifiedContract | null)[]>;
  /** Its files with their contents, in the order of `files`. */
  readSources(contract: VerifiedContract): Promise<{ readonly path: string; readonly content: string }[]>;
}

/** An event or function as known from any ABI. */
export interface KnownSignature {
  readonly kind: 'event' | 'function' | 'error';
  /** topic0 of 32 bytes, or a selector of 4. */
  readonly selector: Hex;
  /** `Transfer(address,address,uint256)`. */
  readonly signature: string;
  /** One of the ABI entries that has it; those of one event differ in which parameters are indexed. */
  readonly entry: AbiEntry;
}

export interface SignatureReader {
  /** Everything known by these selectors. At most 1,000. */
  listBySelectors(selectors: readonly Hex[]): Promise<KnownSignature[]>;
  /** Signatures whose name begins with the text, any letter case; at most `limit`, the shortest first. */
  listByPrefix(text: string, limit: number): Promise<KnownSignature[]>;
}
