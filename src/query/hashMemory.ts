/**
 * Hashes of many blocks in a fixed piece of memory, outside of the heap: 32 bytes each where whole neighbourhoods are known. What
 * was asked for longest ago is forgotten, a neighbourhood at a time.
 */
import { LRUCache } from 'lru-cache';

import type { Hex } from '../domain/hex';

/** Neighbours share a slot. As many as bits of `filled`. */
const NEIGHBOURS = 16;
const HASH_BYTES = 32;

export interface HashMemory {
  get(number: number): Hex | undefined;
  /** The 32 bytes that begin there. */
  set(number: number, bytes: Buffer, at: number): void;
}

/** Of `blocks` blocks at most, and of a sixteenth of them where none has a neighbour; takes 32 bytes for each, when first used. */
export function createHashMemory(blocks: number): HashMemory {
  const slots = Math.max(1, Math.floor(blocks / NEIGHBOURS));
  let hashes: Buffer | null = null;
  /** A bit for each neighbour of a slot. */
  const filled = new Uint16Array(slots);
  const free = Array.from({ length: slots }, (_, slot) => slot).reverse();
  const slotOf = new LRUCache<number, number>({
    max: slots,
    dispose: (slot) => {
      filled[slot] = 0;
      free.push(slot);
    },
  });
  const placeOf = (slot: number, number: number): number =>
    (slot * NEIGHBOURS + (number % NEIGHBOURS)) * HASH_BYTES;
  return {
    get(number) {
      const slot = slotOf.get(Math.floor(number / NEIGHBOURS));
      if (slot === undefined || hashes === null) return undefined;
      if (((filled[slot] ?? 0) & (1 << (number % NEIGHBOURS))) === 0) return undefined;
      const at = placeOf(slot, number);
      return `0x${hashes.toString('hex', at, at + HASH_BYTES)}`;
    },
    set(number, bytes, at) {
      hashes ??= Buffer.alloc(slots * NEIGHBOURS * HASH_BYTES);
      const group = Math.floor(number / NEIGHBOURS);
      let slot = slotOf.get(group);
      if (slot === undefined) {
        // The oldest goes first, so that its slot is free.
        if (free.length === 0) slotOf.pop();
        slot = free.pop() ?? 0;
        slotOf.set(group, slot);
      }
      bytes.copy(hashes, placeOf(slot, number), at, at + HASH_BYTES);
      filled[slot] = (filled[slot] ?? 0) | (1 << (number % NEIGHBOURS));
    },
  };
}
