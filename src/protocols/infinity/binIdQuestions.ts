/**
 * What the node is asked about bin pools whose creation was not seen. The storage of the BinPoolManager has a tree of the
 * bins with liquidity: bits of a word that stand for words, in two levels, and bits that stand for bins (TreeMath.sol,
 * BinPool.sol). A bin whose last shares were burned is not in the tree, and has a few units of each token.
 */
import type { ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { unpackBin } from '../../domain/pools/binMoves';
import type { IdQuestions, PoolCreation } from '../protocol';
import { callsOf, hashOf, poolSlot, readAllSlots, slotCalls } from '../uniswapV4/poolSlots';

/** The slot of the map of all pools (test/pool-bin/BinPoolManager.t.sol). */
const POOLS = 5n;
/** Places in the state of a pool, after the slot with the active bin: maps, and the words of the tree. */
const RESERVES = 1n;
const LEVEL0 = 4n;
const LEVEL1 = 5n;
const LEVEL2 = 6n;
/** A pool with more bins stays unknown. */
const BINS_MAX = 20_000;
const WORD_BITS = 256;
const ID_MASK = 0xffffffn;

export const binIdQuestions: Pick<IdQuestions, 'stateCalls' | 'readState'> = {
  stateCalls: (factory, creation, answers) => readTree(factory, creation, answers).calls,
  readState: (creation, answers) => readTree('0x0', creation, answers).state,
};

interface TreeReading {
  /** The next calls. */
  readonly calls: readonly ContractCall[];
  /** Null until all words are known. */
  readonly state: PoolState | null;
}

/** Four rounds: the active bin and the first word, the words of the second and of the third level, and the reserves. */
function readTree(factory: Hex, { id }: PoolCreation, answers: readonly (Hex | null)[]): TreeReading {
  const pool = poolSlot(id ?? '0x0', POOLS);
  let slots = [pool, pool + LEVEL0];
  let keys = [0n];
  let active = 0n;
  let at = 0;
  for (const place of [LEVEL1, LEVEL2, RESERVES]) {
    const words = readAllSlots(slots, answers.slice(at));
    if (words === null) return { calls: at === answers.length ? slotCalls(factory, slots) : [], state: null };
    at += callsOf(slots);
    if (place === LEVEL1) active = (words.shift() ?? 0n) & ID_MASK;
    keys = words.flatMap((word, i) => listBits(word).map((bit) => (keys[i] ?? 0n) * BigInt(WORD_BITS) + bit));
    if (keys.length > BINS_MAX) return { calls: [], state: null };
    slots = keys.map((key) => hashOf(key, pool + place));
  }
  const reserves = readAllSlots(slots, answers.slice(at));
  if (reserves === null || active === 0n)
    return { calls: at === answers.length ? slotCalls(factory, slots) : [], state: null };
  const bins = reserves.map((packed, i) => unpackBin(Number(keys[i] ?? 0n), packed));
  const sum = (side: 'amount0' | 'amount1'): bigint => bins.reduce((all, bin) => all + bin[side], 0n);
  const [reserve0, reserve1] = [sum('amount0'), sum('amount1')];
  return { calls: [], state: { ...EMPTY_STATE, reserve0, reserve1, tick: Number(active), bins } };
}

function listBits(word: bigint): bigint[] {
  const bits: bigint[] = [];
  for (let bit = 0n; word >> bit !== 0n; bit += 1n) if (((word >> bit) & 1n) === 1n) bits.push(bit);
  return bits;
}
