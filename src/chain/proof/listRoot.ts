/**
 * Root of the Merkle Patricia trie whose keys are rlp(0), rlp(1), … and whose values are the encoded transactions or
 * receipts of a block. The keys are known in order, so the trie is built from the leaves up, each node once.
 */
import type { Keccak } from './keccak';
import type { RlpWriter } from './rlpWriter';

/** Keccak of the RLP of an empty string: the root without values. */
const EMPTY_ROOT = '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const HASH_BYTES = 32;
/** Flags of the hex-prefix encoding of a path. */
const ODD = 1;
const LEAF = 2;

export function listRoot(values: readonly Uint8Array[], keccak: Keccak, scratch: RlpWriter): Buffer {
  if (values.length === 0) return Buffer.from(EMPTY_ROOT, 'hex');
  const order = sortedIndexes(values.length);
  const trie = new ListTrie(
    order.map((index) => nibblesOfKey(index)),
    order.map((index) => values[index] ?? new Uint8Array()),
    keccak,
    scratch,
  );
  const root = trie.node(0, order.length, 0);
  return root.length === HASH_BYTES ? Buffer.from(root) : keccak(root);
}

class ListTrie {
  private readonly keys: readonly Uint8Array[];
  private readonly values: readonly Uint8Array[];
  private readonly keccak: Keccak;
  private readonly scratch: RlpWriter;

  constructor(
    keys: readonly Uint8Array[],
    values: readonly Uint8Array[],
    keccak: Keccak,
    scratch: RlpWriter,
  ) {
    this.keys = keys;
    this.values = values;
    this.keccak = keccak;
    this.scratch = scratch;
  }

  /** Reference to the node of the keys `from` up to `to`: its hash, or the node itself if that is shorter. */
  node(from: number, to: number, depth: number): Uint8Array {
    const first = this.keys[from] ?? new Uint8Array();
    if (to - from === 1) return this.leaf(first, depth, this.values[from] ?? new Uint8Array());
    const last = this.keys[to - 1] ?? first;
    let fork = depth;
    while (first[fork] === last[fork]) fork += 1;
    const branch = this.branch(from, to, fork);
    return fork === depth ? branch : this.extension(first, depth, fork, branch);
  }

  private leaf(key: Uint8Array, depth: number, value: Uint8Array): Uint8Array {
    const { scratch } = this;
    const mark = scratch.size;
    scratch.bytes(value);
    this.path(key, depth, key.length, LEAF);
    scratch.list(mark);
    return this.reference(mark);
  }

  private extension(key: Uint8Array, depth: number, end: number, child: Uint8Array): Uint8Array {
    const { scratch } = this;
    const mark = scratch.size;
    this.child(child);
    this.path(key, depth, end, 0);
    scratch.list(mark);
    return this.reference(mark);
  }

  private branch(from: number, to: number, depth: number): Uint8Array {
    const children: Uint8Array[] = [];
    for (let next = from; next < to;) {
      const nibble = this.keys[next]?.[depth] ?? 0;
      let end = next + 1;
      while (end < to && this.keys[end]?.[depth] === nibble) end += 1;
      children[nibble] = this.node(next, end, depth + 1);
      next = end;
    }
    const { scratch } = this;
    const mark = scratch.size;
    // No key is the beginning of another key, so a branch has no value.
    scratch.byte(0x80);
    for (let nibble = 15; nibble >= 0; nibble -= 1) {
      const child = children[nibble];
      if (child === undefined) scratch.byte(0x80);
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

  /** The nibbles from `depth` to `end` in hex-prefix encoding. */
  private path(key: Uint8Array, depth: number, end: number, flags: number): void {
    const { scratch } = this;
    const mark = scratch.size;
    const isOdd = (end - depth) % 2 === 1;
    for (let at = end - 2; at >= depth + (isOdd ? 1 : 0); at -= 2)
      scratch.byte(((key[at] ?? 0) << 4) | (key[at + 1] ?? 0));
    scratch.byte(isOdd ? ((flags | ODD) << 4) | (key[depth] ?? 0) : flags << 4);
    scratch.string(mark);
  }
}

/** Indexes in the order of their keys: rlp(0) is 0x80, which lies between rlp(127) and rlp(128). */
function sortedIndexes(length: number): number[] {
  const order: number[] = [];
  for (let index = 1; index < Math.min(128, length); index += 1) order.push(index);
  order.push(0);
  for (let index = 128; index < length; index += 1) order.push(index);
  return order;
}

function nibblesOfKey(index: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = index; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  if (index === 0 || index > 127) bytes.unshift(0x80 + bytes.length);
  return Uint8Array.from(bytes.flatMap((byte) => [byte >> 4, byte & 15]));
}
