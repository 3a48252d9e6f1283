/** The sender of an encoded transaction, from its signature. Takes 0.3 ms, nearly all of it to recover the key. */
import { recover } from 'tiny-secp256k1';

import type { Keccak } from './keccak';
import { splitTransaction } from './encodedBlock';
import { integerOf, type RlpItem } from './rlpReader';
import { RlpWriter, UnknownFormat } from './rlpWriter';

/** Bytes of a word of the chain. */
const WORD = 32;

/** Number of fields of a signed transaction by its type. The last three are `v` (or `yParity`), `r` and `s`. */
const FIELD_COUNTS: Readonly<Record<number, number>> = { 0: 9, 1: 11, 2: 12, 3: 14, 4: 13 };
const SIGNATURE_FIELDS = 3;
/** Smallest `v` of a transaction without a type that names no chain, and of one that names chain 0 (EIP-155). */
const V_WITHOUT_CHAIN = 27n;
const V_WITH_CHAIN = 35n;

/** What a key is recovered from. */
export interface Signature {
  readonly hash: Uint8Array;
  /** The numbers r and s. */
  readonly numbers: Uint8Array;
  readonly parity: 0 | 1;
}

/**
 * Returns the address in lower case, or null if no key gives this signature. @throws RangeError if the bytes are not
 * an encoded transaction. @throws UnknownFormat if it has no signature, as transactions of the system of some chains
 */
export function recoverSender(encoded: Uint8Array, keccak: Keccak): string | null {
  const signature = readSignature(encoded, keccak);
  const key = signature === null ? null : recoverKey(signature);
  return key === null ? null : addressOfKey(key, keccak);
}

/** The signature, or null if no key can give it. @throws RangeError @throws UnknownFormat */
export function readSignature(encoded: Uint8Array, keccak: Keccak): Signature | null {
  const { type, fields } = splitTransaction(encoded);
  const [v = 0n, r = 0n, s = 0n] = fields.slice(-SIGNATURE_FIELDS).map(({ content }) => integerOf(content));
  if (fields.length !== FIELD_COUNTS[type] || (r === 0n && s === 0n))
    throw new UnknownFormat('the transaction has no signature');
  const parity = type > 0 ? v : v < V_WITH_CHAIN ? v - V_WITHOUT_CHAIN : (v - V_WITH_CHAIN) % 2n;
  if ((parity !== 0n && parity !== 1n) || r >= 2n ** 256n || s >= 2n ** 256n) return null;
  const numbers = [r, s].map((number) => number.toString(16).padStart(2 * WORD, '0')).join('');
  return {
    hash: keccak(signedBytes(type, fields.slice(0, -SIGNATURE_FIELDS), v, encoded.length)),
    numbers: Buffer.from(numbers, 'hex'),
    parity: parity === 0n ? 0 : 1,
  };
}

/** The address of an uncompressed key, which begins with one byte for its form. */
export function addressOfKey(key: Uint8Array, keccak: Keccak): string {
  return `0x${Buffer.from(keccak(key.subarray(1)).subarray(12)).toString('hex')}`;
}

/** The bytes whose hash is signed. `size` is the number of bytes of the transaction with its signature. */
function signedBytes(type: number, fields: readonly RlpItem[], v: bigint, size: number): Uint8Array {
  const writer = new RlpWriter(size + WORD);
  if (type === 0 && v >= V_WITH_CHAIN) {
    writer.quantity('0x0', 'r');
    writer.quantity('0x0', 's');
    writer.quantity(`0x${((v - V_WITH_CHAIN) / 2n).toString(16)}`, 'chainId');
  }
  for (const field of fields.toReversed()) writer.raw(field.encoded);
  writer.list(0);
  if (type > 0) writer.byte(type);
  return writer.since(0);
}

function recoverKey({ hash, numbers, parity }: Signature): Uint8Array | null {
  try {
    return recover(hash, numbers, parity, false);
  } catch (error) {
    // The library throws a TypeError for numbers that are outside the curve.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
