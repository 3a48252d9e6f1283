/**
 * The state-sync transaction of a Polygon block before the Madhugiri fork. Nodes list it as the last transaction of the
 * block, but the roots and the bloom of the header lack it. Its hash follows from the number and the hash of the block:
 * https://github.com/0xPolygon/bor/blob/master/core/types/bor_receipt.go
 */
import type { Keccak } from './keccak';

const PREFIX = Buffer.from('matic-bor-receipt-');

export function stateSyncHash(keccak: Keccak, number: number, hash: string): string {
  const key = Buffer.alloc(PREFIX.length + 8 + 32);
  PREFIX.copy(key);
  key.writeBigUInt64BE(BigInt(number), PREFIX.length);
  key.write(hash.slice(2), PREFIX.length + 8, 'hex');
  return `0x${Buffer.from(keccak(key)).toString('hex')}`;
}
