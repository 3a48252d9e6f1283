/** Reorgs of the newest blocks, in the two ways in which a client may see a reorg. */
import type { BlockMaker, DevTransaction } from './blockMaker';
import { getBlockHead, type DevRpc } from './devRpc';

/**
 * Reorg in one step: replaces the transactions of the last `blocks.length` blocks; height and timestamps
 * stay. The replaced transactions are dropped. `blocks[0]` is the oldest.
 */
export async function replaceBlocks(
  rpc: DevRpc,
  maker: BlockMaker,
  blocks: readonly (readonly DevTransaction[])[],
): Promise<void> {
  const head = await getBlockHead(rpc);
  const requests = await maker.prepare(blocks.flat(), head.number - blocks.length);
  const offsets = blocks.flatMap((transactions, offset) => transactions.map(() => offset));
  await rpc.call('anvil_reorg', [blocks.length, requests.map((request, index) => [request, offsets[index]])]);
  await maker.reset();
}

/**
 * Reorg in several steps: removes `depth` blocks, then mines the given blocks, which may be fewer or more.
 * Between the two, the node's head is lower, without a notification. `blocks` have their own timestamps (unix
 * seconds, ascending, above the parent's).
 */
export async function rollBack(
  rpc: DevRpc,
  maker: BlockMaker,
  depth: number,
  blocks: readonly { readonly transactions: readonly DevTransaction[]; readonly timestamp: number }[],
): Promise<void> {
  await rpc.call('anvil_rollback', [depth]);
  await maker.reset();
  for (const { transactions, timestamp } of blocks) {
    for (const transaction of transactions) maker.add(transaction);
    await maker.mine(timestamp);
  }
}
