/** Reads the items of an RLP list: https://ethereum.org/developers/docs/data-structures-and-encoding/rlp */

const STRING = 0x80;
const LIST = 0xc0;
/** Longest item whose length is in its first byte. */
const SHORT_MAX = 55;
/** Bytes of the longest length that is read. */
const LENGTH_BYTES_MAX = 4;

export interface RlpItem {
  readonly isList: boolean;
  /** The bytes of a string, or the encoded items of a list. */
  readonly content: Uint8Array;
  /** The content with the header that says its length. */
  readonly encoded: Uint8Array;
}

/** The items of one list, which must take all bytes. @throws RangeError if the bytes are not a list */
export function readItems(bytes: Uint8Array): RlpItem[] {
  const list = readItem(bytes, 0);
  if (!list.isList || list.encoded.length !== bytes.length)
    throw new RangeError('the bytes are not an RLP list');
  const items: RlpItem[] = [];
  for (let position = 0; position < list.content.length;) {
    const item = readItem(list.content, position);
    items.push(item);
    position += item.encoded.length;
  }
  return items;
}

function readItem(bytes: Uint8Array, start: number): RlpItem {
  const firstByte = bytes[start];
  if (firstByte === undefined) throw new RangeError('the bytes of an RLP item are missing');
  if (firstByte < STRING) {
    const byte = bytes.subarray(start, start + 1);
    return { isList: false, content: byte, encoded: byte };
  }
  const isList = firstByte >= LIST;
  const size = firstByte - (isList ? LIST : STRING);
  const lengthBytes = Math.max(0, size - SHORT_MAX);
  if (lengthBytes > LENGTH_BYTES_MAX) throw new RangeError('an RLP item is too long');
  const contentStart = start + 1 + lengthBytes;
  const length = lengthBytes === 0 ? size : Number(integerOf(bytes.subarray(start + 1, contentStart)));
  const contentEnd = contentStart + length;
  if (contentEnd > bytes.length) throw new RangeError('the bytes of an RLP item are missing');
  return {
    isList,
    content: bytes.subarray(contentStart, contentEnd),
    encoded: bytes.subarray(start, contentEnd),
  };
}

/** An integer from its bytes, the largest first. */
export function integerOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes));
}

/** The bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
}
