/** Reads the items of an RLP list: https://ethereum.org/developers/docs/data-structures-and-encoding/rlp */

const STRING = 0x80;
const LIST = 0xc0;
/** Longest item whose length is in its first byte. */
const SHORT_MAX = 55;
/** Bytes of the longest length that is read. */
const LENGTH_BYTES_MAX = 4;

/** An item: its content without its header, and the position after it. */
interface Item {
  readonly isList: boolean;
  readonly content: Uint8Array;
  readonly end: number;
}

/**
 * The items of one list, which must take all bytes. An item that is a list itself is returned as the bytes of its items.
 * @throws RangeError if the bytes are not a list
 */
export function readList(bytes: Uint8Array): Uint8Array[] {
  const list = readItem(bytes, 0);
  if (!list.isList || list.end !== bytes.length) throw new RangeError('the bytes are not an RLP list');
  const items: Uint8Array[] = [];
  for (let at = 0; at < list.content.length;) {
    const item = readItem(list.content, at);
    items.push(item.content);
    at = item.end;
  }
  return items;
}

function readItem(bytes: Uint8Array, at: number): Item {
  const first = bytes[at];
  if (first === undefined) throw new RangeError('the bytes of an RLP item are missing');
  if (first < STRING) return { isList: false, content: bytes.subarray(at, at + 1), end: at + 1 };
  const isList = first >= LIST;
  const size = first - (isList ? LIST : STRING);
  const lengthBytes = Math.max(0, size - SHORT_MAX);
  if (lengthBytes > LENGTH_BYTES_MAX) throw new RangeError('an RLP item is too long');
  const start = at + 1 + lengthBytes;
  const length = lengthBytes === 0 ? size : Number(integerOf(bytes.subarray(at + 1, start)));
  const end = start + length;
  if (end > bytes.length) throw new RangeError('the bytes of an RLP item are missing');
  return { isList, content: bytes.subarray(start, end), end };
}

/** An integer from its bytes, the largest first. */
export function integerOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes));
}

/** The bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
}
