/** A verified contract on its way into the store: the record with the contents of its files. Importers and the verification make these. */
import { keccak256, toUtf8Bytes } from 'ethers';

import type { Hex } from '../domain/hex';
import type { VerifiedContract } from '../domain/verifiedContract';
import type { Deployment } from '../query/contracts/verifiedContracts';

export interface SourceFile {
  readonly path: string;
  readonly content: string;
  /** keccak256 of the content, where whoever found the file has computed it: that takes longer than all else. */
  readonly contentHash?: Hex;
}

export interface VerifiedRecord {
  /** With `twinOf` null; `files` follows from `sources`. */
  readonly contract: Omit<VerifiedContract, 'twinOf' | 'files'>;
  /** keccak256 of the runtime code on the chain; null: unknown, then it has no twins. */
  readonly codeHash: Hex | null;
  readonly deployment: Deployment;
  readonly sources: readonly SourceFile[];
}

export const NO_DEPLOYMENT: Deployment = { deployer: null, transaction: null, block: null };

/** keccak256 of a file's content, as `source_files` and Solidity's metadata name it. */
export function hashContent(content: string): Hex {
  return toHash(keccak256(toUtf8Bytes(content)));
}

/** keccak256 of bytes in hex. */
export function hashCode(code: Hex): Hex {
  return toHash(keccak256(code));
}

function toHash(text: string): Hex {
  return `0x${text.slice(2)}`;
}
