/**
 * A verified contract before it is stored: the record with the contents of its files. Importers and the
 * verification of sources create such records.
 */
import { keccak256 } from 'ethers';

import type { Hex } from '../domain/hex';
import type { VerifiedContract } from '../domain/verifiedContract';
import type { Deployment } from '../query/contracts/verifiedContracts';

export interface SourceFile {
  readonly path: string;
  readonly content: string;
  /** keccak256 of the content, the key in `source_files` and in Solidity's metadata, if already computed. */
  readonly contentHash?: Hex;
}

export interface VerifiedRecord {
  /**
   * The record as it is stored, but without `twinOf`, which is always null, `files`, which follow from `sources`, and
   * `matchId`, which the store assigns.
   */
  readonly contract: Omit<VerifiedContract, 'twinOf' | 'files' | 'matchId'>;
  /** keccak256 of the runtime code on the chain. Null if unknown; then no other contract can share this
   * verification. */
  readonly codeHash: Hex | null;
  readonly deployment: Deployment;
  readonly sources: readonly SourceFile[];
  /** Further outputs of the compiler, as in VerifiedReader.readOutputs; absent if unknown. */
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export const NO_DEPLOYMENT: Deployment = { deployer: null, transaction: null, block: null };

export function hashCode(code: Hex): Hex {
  return `0x${keccak256(code).slice(2)}`;
}

/** The license identifier in a source file. https://docs.soliditylang.org/en/latest/layout-of-source-files.html */
export function findLicense(content: string): string | null {
  return /SPDX-License-Identifier:[ \t]*([\w.+-]{1,60})/.exec(content)?.[1] ?? null;
}
