/** Computes the 2,048-bit bloom of a block's logs (Yellow Paper 4.3.1): three bits for each address and topic. */
import { createKeccak, type IHasher } from 'hash-wasm';

import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { RecentValues } from '../../domain/recentValues';

export const BLOOM_BYTES = 256;
/** Number of values of a bit number. */
const BITS = 8 * BLOOM_BYTES;
const BITS_SQUARED = BITS ** 2;
/** Number of entries in each half of the cache. Both together take about 10 MB. */
const CACHE_ITEMS = 32_768;

/**
 * One WebAssembly hasher for all builders. Each hash is computed without waiting, so builders can share the
 * hasher.
 */
let hasher: Promise<IHasher> | null = null;

/** Builds blooms. Caches the bits of recent addresses and topics in bounded memory. */
export class BloomBuilder {
  /** Three bit numbers of 11 bits each, packed into one 33-bit number. */
  private readonly bits: RecentValues<Hex, number>;

  private constructor(keccak: IHasher) {
    this.bits = new RecentValues(CACHE_ITEMS, (item) =>
      packBits(
        keccak
          .init()
          .update(Buffer.from(item.slice(2), 'hex'))
          .digest('binary'),
      ),
    );
  }

  static async create(): Promise<BloomBuilder> {
    hasher ??= createKeccak(256);
    return new BloomBuilder(await hasher);
  }

  /** Computes the bloom of the logs: 256 bytes in the order that the header uses. */
  build(logs: readonly ChainLog[]): Uint8Array {
    const bloom = new Uint8Array(BLOOM_BYTES);
    for (const log of logs) {
      this.add(bloom, log.address);
      for (const topic of log.topics) this.add(bloom, topic);
    }
    return bloom;
  }

  private add(bloom: Uint8Array, item: Hex): void {
    const bits = this.bits.get(item);
    setBit(bloom, bits % BITS);
    setBit(bloom, Math.floor(bits / BITS) % BITS);
    setBit(bloom, Math.floor(bits / BITS_SQUARED));
  }
}

/** The bit numbers are the low 11 bits of the first three big-endian 16-bit words of the hash. */
function packBits(hash: Uint8Array): number {
  const bitAt = (index: number): number => (((hash[index] ?? 0) & 7) << 8) | (hash[index + 1] ?? 0);
  return bitAt(0) + bitAt(2) * BITS + bitAt(4) * BITS_SQUARED;
}

/** Sets one bit. Bit 0 is the lowest bit of the last byte. */
function setBit(bloom: Uint8Array, bit: number): void {
  const index = BLOOM_BYTES - 1 - (bit >> 3);
  bloom[index] = (bloom[index] ?? 0) | (1 << (bit & 7));
}

/** Writes a bloom as the hex text of a header's field logsBloom. */
export function bloomToHex(bloom: Uint8Array): Hex {
  return `0x${Buffer.from(bloom.buffer, bloom.byteOffset, bloom.length).toString('hex')}`;
}

/** Returns true if no bit of the bloom is set: the block has no logs, or the chain leaves blooms empty. */
export function isEmptyBloom(bloom: Hex): boolean {
  return /^0x0*$/.test(bloom);
}
