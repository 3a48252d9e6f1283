/** Root of a Merkle tree over SHA-256: https://www.rfc-editor.org/rfc/rfc6962#section-2.1 */
import { createHash } from 'node:crypto';

/** The prefixes differ, so that no node can pass for a leaf. */
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** The root as hex. The order and the number of the leaves count. */
export function merkleRoot(leaves: readonly Buffer[]): string {
  return rootOf(leaves).toString('hex');
}

function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) return sha256();
  if (leaves.length === 1) return sha256(LEAF, first);
  let split = 1;
  while (2 * split < leaves.length) split *= 2;
  return sha256(NODE, rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

function sha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
