/**
 * The creation of a contract: the transaction whose sender and nonce determine the address, and the constructor
 * arguments after the code.
 */
import { AbiCoder, getCreateAddress, ParamType } from 'ethers';
import { z } from 'zod';

import { errorText } from '../errors';
import { isAddress, isHash, isHexData, isQuantity, toLowerHex, type Hex } from './hex';
import type { AbiEntry } from './verifiedContract';

export interface Creation {
  readonly transaction: Hex;
  /** Creation code with the constructor arguments. */
  readonly code: Hex;
}

/** A transaction as the node returns it. */
export const transactionShape = z.object({
  from: z.custom<Hex>(isAddress),
  to: z.unknown(),
  nonce: z.custom<Hex>(isQuantity),
  hash: z.custom<Hex>(isHash),
  input: z.custom<Hex>(isHexData),
});

/** Returns how the transaction created the contract. Null if the transaction did not create it directly. */
export function findCreation(
  { from, to, nonce, hash, input }: z.infer<typeof transactionShape>,
  contract: Hex,
): Creation | null {
  if (to != null || getCreateAddress({ from, nonce: BigInt(nonce) }).toLowerCase() !== contract) return null;
  return { transaction: toLowerHex(hash), code: toLowerHex(input) };
}

export function constructorOf(abi: readonly AbiEntry[]): NonNullable<AbiEntry['inputs']> {
  return abi.find((entry) => entry.type === 'constructor')?.inputs ?? [];
}

/**
 * Checks the bytes after the creation code. They must decode as the constructor's arguments and encode to the same
 * bytes. Returns the problem, or null.
 */
export function checkArguments(abi: readonly AbiEntry[], bytes: Hex): string | null {
  const inputs = constructorOf(abi);
  if (inputs.length === 0) {
    return bytes === '0x'
      ? null
      : `the constructor has no arguments, but ${bytes.length / 2 - 1} bytes follow the creation code`;
  }
  try {
    const types = inputs.map((input) => ParamType.from(input));
    const coder = AbiCoder.defaultAbiCoder();
    const reencoded = coder.encode(types, coder.decode(types, bytes));
    return reencoded === bytes ? null : 'the constructor arguments are not in canonical ABI encoding';
  } catch (error) {
    return `the constructor arguments cannot be decoded: ${errorText(error).slice(0, 120)}`;
  }
}
