/**
 * Root of the Merkle Patricia trie whose keys are rlp(0), rlp(1), … and whose values are the encoded transactions or
 * receipts of a block. The keys are known in order, so the trie is built from the leaves up, each node once.
 */
import type { Keccak } from './keccak';
import type { RlpWriter } from './rlpWriter';

/** Keccak of the RLP of an empty string: the root without values. */
const EMPTY_ROOT = '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const HASH_BYTES = 32;
/** The RLP of an empty string: an empty place of a branch. */
const EMPTY = 0x80;
/** Flags of the hex-prefix encoding of a path. */
const ODD = 1;
const LEAF = 2;

export function listRoot(values: readonly Uint8Array[], keccak: Keccak, scratch: RlpWriter): Uint8Array {
  if (values.length === 0) return Buffer.from(EMPTY_ROOT, 'hex');
  const root = new ListTrie(values, keccak, scratch).node(0, values.length, 0);
  return root.length === HASH_BYTES ? root : keccak(root);
}

class ListTrie {
  private readonly values: readonly Uint8Array[];
  private readonly keccak: Keccak;
  private readonly scratch: RlpWriter;

  constructor(values: readonly Uint8Array[], keccak: Keccak, scratch: RlpWriter) {
    this.values = values;
    this.keccak = keccak;
    this.scratch = scratch;
  }

  /**
   * Reference to the node of the keys from position `from` up to `to` in sorted order: its hash, or the node itself if
   * that is shorter.
   */
  node(from: number, to: number, depth: number): Uint8Array {
    const firstIndex = this.indexAt(from);
    if (to - from === 1) return this.leaf(firstIndex, depth);
    const lastIndex = this.indexAt(to - 1);
    let branchDepth = depth;
    while (nibbleOf(firstIndex, branchDepth) === nibbleOf(lastIndex, branchDepth)) branchDepth += 1;
    const branch = this.branch(from, to, branchDepth);
    return branchDepth === depth ? branch : this.extension(firstIndex, depth, branchDepth, branch);
  }

  /** The index whose key has this position. rlp(0) is 0x80, which lies between rlp(127) and rlp(128). */
  private indexAt(position: number): number {
    const positionOfZero = Math.min(128, this.values.length) - 1;
    if (position === positionOfZero) return 0;
    return position < positionOfZero ? position + 1 : position;
  }

  private leaf(index: number, depth: number): Uint8Array {
    const { scratch } = this;
    const mark = scratch.size;
    scratch.bytes(this.values[index] ?? new Uint8Array());
    this.path(index, depth, nibblesOf(index), LEAF);
    scratch.list(mark);
    return this.reference(mark);
  }

  private extension(index: number, depth: number, end: number, child: Uint8Array): Uint8Array {
    const { scratch } = this;
    const mark = scratch.size;
    this.child(child);
    this.path(index, depth, end, 0);
    scratch.list(mark);
    return this.reference(mark);
  }

  private branch(from: number, to: number, depth: number): Uint8Array {
    const children: Uint8Array[] = [];
    for (let start = from; start < to;) {
      const nibble = nibbleOf(this.indexAt(start), depth);
      let end = start + 1;
      while (end < to && nibbleOf(this.indexAt(end), depth) === nibble) end += 1;
      children[nibble] = this.node(start, end, depth + 1);
      start = end;
    }
    const { scratch } = this;
    const mark = scratch.size;
    // No key is the beginning of another key, so a branch has no value.
    scratch.byte(EMPTY);
    for (let nibble = 15; nibble >= 0; nibble -= 1) {
      const child = children[nibble];
      if (child === undefined) scratch.byte(EMPTY);
      else this.child(child);
    }
    scratch.list(mark);
    return this.reference(mark);
  }

  private child(reference: Uint8Array): void {
    if (reference.length === HASH_BYTES) this.scratch.bytes(reference);
    else this.scratch.raw(reference);
  }

  private reference(mark: number): Uint8Array {
    const encoded = this.scratch.since(mark);
    return encoded.length < HASH_BYTES ? Buffer.from(encoded) : this.keccak(encoded);
  }

  /** The nibbles of the key of `index` from `depth` to `end` in hex-prefix encoding. */
  private path(index: number, depth: number, end: number, flags: number): void {
    const { scratch } = this;
    const mark = scratch.size;
    const isOdd = (end - depth) % 2 === 1;
    for (let nibble = end - 2; nibble >= depth + (isOdd ? 1 : 0); nibble -= 2)
      scratch.byte((nibbleOf(index, nibble) << 4) | nibbleOf(index, nibble + 1));
    scratch.byte(isOdd ? ((flags | ODD) << 4) | nibbleOf(index, depth) : flags << 4);
    scratch.string(mark);
  }
}

/** Number of nibbles of rlp(index). An index has at most 24 bits. */
function nibblesOf(index: number): number {
  if (index < 128) return 2;
  if (index < 2 ** 8) return 4;
  return index < 2 ** 16 ? 6 : 8;
}

/** The nibble of rlp(index) at this depth. */
function nibbleOf(index: number, depth: number): number {
  const nibbles = nibblesOf(index);
  const isHeader = nibbles > 2 || index === 0;
  if (isHeader && depth < 2) return depth === 0 ? 8 : nibbles / 2 - 1;
  return (index >>> (4 * (nibbles - 1 - depth))) & 15;
}
