import { EncodeError } from './rlpWriter';

/** An item of an encoded list. */
export interface RlpItem {
  /** The item as it is encoded, with its length. */
  readonly whole: Uint8Array;
  /** The bytes of a string; the encoded items of a list. */
  readonly value: Uint8Array;
}

/** The items of one encoded list, without the items of inner lists. @throws EncodeError if the bytes are not a list */
export function readItems(encoded: Uint8Array): RlpItem[] {
  const list = readItem(encoded);
  if ((encoded[0] ?? 0) < 0xc0 || list.whole.length !== encoded.length)
    throw new EncodeError('the bytes are not one RLP list');
  const items: RlpItem[] = [];
  for (let rest = list.value; rest.length > 0;) {
    const item = readItem(rest);
    items.push(item);
    rest = rest.subarray(item.whole.length);
  }
  return items;
}

/** The first item of the bytes. The first byte says what follows, see appendix B of Ethereum's yellow paper. */
function readItem(bytes: Uint8Array): RlpItem {
  const first = bytes[0] ?? 0;
  if (bytes.length > 0 && first < 0x80) return { whole: bytes.subarray(0, 1), value: bytes.subarray(0, 1) };
  const base = first < 0xc0 ? 0x80 : 0xc0;
  const isLong = first - base > 55;
  const start = isLong ? 1 + (first - base - 55) : 1;
  let length = isLong ? 0 : first - base;
  for (const byte of isLong ? bytes.subarray(1, start) : []) length = length * 256 + byte;
  const end = start + length;
  if (bytes.length === 0 || end > bytes.length) throw new EncodeError('an RLP item is cut off');
  return { whole: bytes.subarray(0, end), value: bytes.subarray(start, end) };
}
