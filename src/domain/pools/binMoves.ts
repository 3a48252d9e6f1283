/**
 * Changes of the bins of a pool by one event. A state row keeps them in `params`: three numbers for each bin, its id and the
 * changes of token0 and token1 modulo 2^256. A sum of changes modulo 2^256 is the reserve of the bin.
 */

/** Changes of the reserves of one bin, raw. */
export interface BinMove {
  readonly id: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Marks a swap whose event does not tell how it changed the bins. No bin has this id. `amount0` is 1. */
export const UNTOLD_BIN = 0;
/** Marks a state that tells the reserves of all bins. No bin has this id. `amount0` is 1. */
export const ALL_TOLD = 1;

const WIDTH = 3;

export function toBinParams(moves: readonly BinMove[]): bigint[] {
  return moves.flatMap(({ id, amount0, amount1 }) => [
    BigInt(id),
    BigInt.asUintN(256, amount0),
    BigInt.asUintN(256, amount1),
  ]);
}

export function readBinParams(params: readonly bigint[]): BinMove[] {
  const moves: BinMove[] = [];
  for (let at = 0; at + WIDTH <= params.length; at += WIDTH) {
    const [id = 0n, amount0 = 0n, amount1 = 0n] = params.slice(at, at + WIDTH);
    moves.push({
      id: Number(id),
      amount0: BigInt.asIntN(256, amount0),
      amount1: BigInt.asIntN(256, amount1),
    });
  }
  return moves;
}

const HALF_BITS = 128n;
const HALF_MASK = (1n << HALF_BITS) - 1n;

/** Both reserves of a bin in one signed number of 256 bits: token0 in the lower half, as the contracts pack amounts. */
export function packBin({ amount0, amount1 }: BinMove): bigint {
  return BigInt.asIntN(256, (amount1 << HALF_BITS) | amount0);
}

export function unpackBin(id: number, packed: bigint): BinMove {
  const value = BigInt.asUintN(256, packed);
  return { id, amount0: value & HALF_MASK, amount1: value >> HALF_BITS };
}
