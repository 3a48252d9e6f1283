/** What gas cost in the newest blocks, for those who ask what to offer. */
import { z } from 'zod';

import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from '../logs/logFilter';

/** As the overview's. */
export const GAS_BLOCKS = 20;

const gasRowShape = z.object({
  number: z.int(),
  base_fee: z.string().nullable(),
  gas_prices: z.array(z.string()),
});

/** Wei. */
export interface GasBlock {
  /** Null before EIP-1559. */
  readonly baseFee: bigint | null;
  /** What each transaction paid, rising; empty where it has none, or where receipts were not read. */
  readonly paid: readonly bigint[];
}

/** The newest blocks of the snapshot, the oldest first. */
export async function listGasBlocks({ runner, chainId }: LogSource, head: HeadSnapshot): Promise<GasBlock[]> {
  const params = {
    commits: snapshotParams(head)['commits'] ?? [],
    chain_id: chainId,
    after_block: Math.max(head.number - GAS_BLOCKS, 0),
    final_to: head.finalTo,
    limit: GAS_BLOCKS,
  };
  const rows = await runner.run('explorer/list_gas_blocks', params, gasRowShape);
  return rows.map(({ base_fee, gas_prices }) => ({
    baseFee: base_fee === null ? null : BigInt(base_fee),
    paid: gas_prices.map(BigInt).sort(compare),
  }));
}

/** The price that a share of all transactions of the blocks paid at most; without any, that share of the base fees. Null: nothing is known. */
export function gasQuantile(blocks: readonly GasBlock[], share: number): bigint | null {
  const paid = blocks.flatMap((block) => block.paid);
  const fees = blocks.flatMap(({ baseFee }) => baseFee ?? []);
  const prices = (paid.length > 0 ? paid : fees).sort(compare);
  return prices[Math.min(prices.length - 1, Math.floor(share * prices.length))] ?? null;
}

/** In how many of the blocks a transaction at this price would have found a place: at the cheapest one's, else at the base fee. */
export function countTaking(blocks: readonly GasBlock[], price: bigint): number {
  return blocks.filter(({ paid, baseFee }) => {
    const cheapest = paid[0] ?? baseFee;
    return cheapest !== null && price >= cheapest;
  }).length;
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
