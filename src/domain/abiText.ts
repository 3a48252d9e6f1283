/** Decodes the answers of a token's `symbol()` and `name()`, which may contain anything. Pure. */
import { normaliseText } from './address';
import type { Hex } from './hex';

export const SYMBOL_CALL = '0x95d89b41';
export const NAME_CALL = '0x06fdde03';
/** Length limit of a shown symbol, in characters. */
export const SYMBOL_MAX = 64;
export const NAME_MAX = 128;
/** Length limit of a hex answer, in characters: enough for the longest name in four-byte characters. */
const TEXT_HEX_MAX = 2 + 64 * 2 + NAME_MAX * 8;
/** Size limit in bytes of an answer of the node that contains a name or symbol. */
export const TEXT_ANSWER_BYTES_MAX = 2_048;

/**
 * Decodes a string or bytes32 answer (MKR's symbol is a bytes32) and removes unsafe characters. Returns null
 * for an answer of another type, and for an answer that is too long.
 */
export function readAbiText(data: Hex | null | undefined, lengthMax: number): string | null {
  if (data == null || data.length < 66 || data.length > TEXT_HEX_MAX) return null;
  if (data.length === 66) {
    const bytes = Buffer.from(data.slice(2), 'hex');
    const end = bytes.indexOf(0);
    return normaliseText(bytes.subarray(0, end === -1 ? 32 : end).toString('utf8'), lengthMax);
  }
  const offset = Number(BigInt(`0x${data.slice(2, 66)}`));
  const start = 2 + offset * 2;
  if (!Number.isSafeInteger(offset) || start + 64 > data.length) return null;
  const length = BigInt(`0x${data.slice(start, start + 64)}`);
  const available = data.length - start - 64;
  if (length * 2n > BigInt(available)) return null;
  const bytes = Buffer.from(data.slice(start + 64, start + 64 + Number(length) * 2), 'hex');
  return normaliseText(bytes.toString('utf8'), lengthMax);
}
