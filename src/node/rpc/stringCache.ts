/**
 * Keeps short ASCII strings that occur again and again in the answers of nodes: keys, hashes, addresses, topics. Each
 * string is made once, so that it takes no memory again and later look-ups do not hash it again.
 */

/** Lengths of the strings that are kept. The longest are 32-byte words as 0x-hex. */
export const CACHED_BYTES_MIN = 4;
const CACHED_BYTES_MAX = 66;
/** The cache has 2^SLOT_BITS slots, each with room for the bytes of one string. */
const SLOT_BITS = 13;
const SLOT_BYTES = 72;

export class StringCache {
  private readonly texts = new Array<string>(2 ** SLOT_BITS).fill('');
  /** The bytes of the texts. */
  private readonly slotBytes = new DataView(new ArrayBuffer(SLOT_BYTES * 2 ** SLOT_BITS));
  /** Hash of the last string without a slot. Only a string that comes twice gets the slot. */
  private readonly lastHashBySlot = new Uint32Array(2 ** SLOT_BITS);

  /**
   * The kept string with the bytes of `view` from `firstByte` on; undefined if there is none. The length is one of those
   * that are kept.
   */
  find(view: DataView, firstByte: number, length: number): string | undefined {
    const slot = hashOf(view, firstByte, length) >>> (32 - SLOT_BITS);
    return this.isInSlot(slot, view, firstByte, length) ? this.texts[slot] : undefined;
  }

  /** The string of `length` bytes of `bytes` from `firstByte` on, which are ASCII. `view` shows the same bytes. */
  get(bytes: Buffer, view: DataView, firstByte: number, length: number): string {
    if (length > CACHED_BYTES_MAX || length < CACHED_BYTES_MIN)
      return bytes.toString('latin1', firstByte, firstByte + length);
    const hash = hashOf(view, firstByte, length);
    const slot = hash >>> (32 - SLOT_BITS);
    if (this.isInSlot(slot, view, firstByte, length)) return this.texts[slot] ?? '';
    const text = bytes.toString('latin1', firstByte, firstByte + length);
    if (this.lastHashBySlot[slot] === hash) {
      this.texts[slot] = text;
      const start = slot * SLOT_BYTES;
      for (let index = 0; index < length; index += 1)
        this.slotBytes.setUint8(start + index, view.getUint8(firstByte + index));
    } else this.lastHashBySlot[slot] = hash;
    return text;
  }

  private isInSlot(slot: number, view: DataView, firstByte: number, length: number): boolean {
    if (this.texts[slot]?.length !== length) return false;
    const start = slot * SLOT_BYTES;
    const lastWordStart = length - 4;
    if (this.slotBytes.getUint32(start + lastWordStart) !== view.getUint32(firstByte + lastWordStart))
      return false;
    for (let index = 0; index < lastWordStart; index += 4)
      if (this.slotBytes.getUint32(start + index) !== view.getUint32(firstByte + index)) return false;
    return true;
  }
}

/** A hash of the first, the last and four bytes in the middle. */
function hashOf(view: DataView, firstByte: number, length: number): number {
  const ends = Math.imul(view.getInt32(firstByte), 31) ^ view.getInt32(firstByte + length - 4);
  const middle = view.getInt32(firstByte + ((length - 4) >> 1));
  return Math.imul(Math.imul(ends, 0x85eb_ca6b) ^ middle ^ length, 0x9e37_79b1) >>> 0;
}
