/**
 * Reads lists of hex values from the standard input and prints the root of each list as @ethereumjs/mpt computes it.
 * The packages are ES modules, so they run in a process of their own.
 */
import { text } from 'node:stream/consumers';

import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';

const lists = JSON.parse(await text(process.stdin));
const roots = [];
for (const list of lists) {
  const trie = await createMPT();
  for (const [index, value] of list.entries()) await trie.put(RLP.encode(index), Buffer.from(value, 'hex'));
  roots.push(Buffer.from(trie.root()).toString('hex'));
}
process.stdout.write(JSON.stringify(roots));
