/** Decodes the answers of a token's `symbol()` and `name()`, which may contain anything. Pure. */
import { normaliseText } from './address';
import type { Hex } from './hex';

/** Length limit of a shown symbol, in characters. */
export const SYMBOL_MAX = 64;
export const NAME_MAX = 128;
/** Number of bytes of a text that are read. Later bytes could only follow thousands of removed characters. */
const TEXT_BYTES_MAX = 4_096;
/** Size limit in bytes of an answer of the node that contains a name or symbol of usual length. */
export const TEXT_ANSWER_BYTES_MAX = 2_048;
/**
 * Size limit in bytes of an answer of the node with a long text, of which only the start is kept. It is below the
 * limit of one string in a node answer. The text may have 8 million bytes.
 */
export const LONG_TEXT_ANSWER_BYTES_MAX = 2 ** 24 - 4_096;

/**
 * Decodes a string or bytes32 answer (MKR's symbol is a bytes32), removes unsafe characters and cuts the text to
 * `lengthMax` characters. Returns null for an answer of another type, and for a string that is shorter than it claims.
 */
export function readAbiText(data: Hex | null | undefined, lengthMax: number): string | null {
  if (data == null || data.length < 66) return null;
  if (data.length === 66) {
    const bytes = Buffer.from(data.slice(2), 'hex');
    const zeroIndex = bytes.indexOf(0);
    return normaliseText(bytes.subarray(0, zeroIndex === -1 ? 32 : zeroIndex).toString('utf8'), lengthMax);
  }
  const offsetBytes = Number(BigInt(`0x${data.slice(2, 66)}`));
  const lengthStart = 2 + offsetBytes * 2;
  if (!Number.isSafeInteger(offsetBytes) || lengthStart + 64 > data.length) return null;
  const textBytes = BigInt(`0x${data.slice(lengthStart, lengthStart + 64)}`);
  const digitsAfterLength = data.length - lengthStart - 64;
  if (textBytes * 2n > BigInt(digitsAfterLength)) return null;
  const byteCount = Math.min(Number(textBytes), TEXT_BYTES_MAX);
  const bytes = Buffer.from(data.slice(lengthStart + 64, lengthStart + 64 + byteCount * 2), 'hex');
  // A character cut in half becomes U+FFFD, which is removed.
  return normaliseText(bytes.toString('utf8'), lengthMax);
}
