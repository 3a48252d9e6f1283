/** Encodes logs by hand, for the simulated chain and the stub chain. */
import { createHash } from 'node:crypto';

import type { ChainLog } from '../../src/domain/block';
import type { Hex } from '../../src/domain/hex';

export type Draft = Pick<ChainLog, 'address' | 'topics' | 'data'>;

const TWO_POW_256 = 1n << 256n;
const word = (value: bigint | Hex): string =>
  typeof value === 'bigint'
    ? (((value % TWO_POW_256) + TWO_POW_256) % TWO_POW_256).toString(16).padStart(64, '0')
    : value.slice(2).padStart(64, '0');

/** Encodes static words, one after another. */
export function dataOf(...values: (bigint | Hex)[]): Hex {
  return `0x${values.map(word).join('')}`;
}

/** Encodes data as Solidity does: the offsets of the arrays, then the static words, then the arrays. */
export function arrayData(arrays: readonly (readonly (bigint | Hex)[])[], ...statics: bigint[]): Hex {
  let nextOffset = BigInt(arrays.length + statics.length) * 32n;
  const offsets = arrays.map((items) => {
    const offset = nextOffset;
    nextOffset += BigInt(items.length + 1) * 32n;
    return offset;
  });
  return dataOf(...offsets, ...statics, ...arrays.flatMap((items) => [BigInt(items.length), ...items]));
}

export const topicOf = (value: Hex | bigint): Hex => dataOf(value);

export function digest(text: string, bytes: number): Hex {
  return `0x${createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2)}`;
}
