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

/**
 * Returns the address in lower case, or null if no key gives this signature. @throws RangeError if the bytes are not
 * an encoded transaction. @throws UnknownFormat if it has no signature, as transactions of the system of some chains
 */
export function recoverSender(encoded: Uint8Array, keccak: Keccak): string | null {
  const { type, fields } = splitTransaction(encoded);
  const [v = 0n, r = 0n, s = 0n] = fields.slice(-SIGNATURE_FIELDS).map(({ content }) => integerOf(content));
  if (fields.length !== FIELD_COUNTS[type] || (r === 0n && s === 0n))
    throw new UnknownFormat('the transaction has no signature');
  const parity = type > 0 ? v : v < V_WITH_CHAIN ? v - V_WITHOUT_CHAIN : (v - V_WITH_CHAIN) % 2n;
  if (parity !== 0n && parity !== 1n) return null;
  const hash = keccak(signedBytes(type, fields.slice(0, -SIGNATURE_FIELDS), v, encoded.length));
  const key = recoverKey(hash, r, s, parity === 0n ? 0 : 1);
  return key === null ? null : `0x${Buffer.from(keccak(key.subarray(1)).subarray(12)).toString('hex')}`;
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

function recoverKey(hash: Uint8Array, r: bigint, s: bigint, parity: 0 | 1): Uint8Array | null {
  if (r >= 2n ** 256n || s >= 2n ** 256n) return null;
  const numbers = Buffer.from(
    [r, s].map((number) => number.toString(16).padStart(2 * WORD, '0')).join(''),
    'hex',
  );
  try {
    return recover(hash, numbers, parity, false);
  } catch (error) {
    // The library throws a TypeError for numbers that are outside the curve.
    if (error instanceof TypeError) return null;
    throw error;
  }
}
