/** Computes gas price suggestions from the newest blocks. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType } from '../../clickhouse/rows/rowType';
import { blocksTable } from '../../clickhouse/schema/tables';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** Number of newest blocks that the gas price of the overview and the suggestions use. */
export const GAS_BLOCKS = 20;

/** A row of list_gas_blocks.sql, with gas prices in wei. */
const gasRow = rowType(pick(blocksTable.types, ['number', 'transaction_count', 'base_fee', 'gas_prices']));

/** All prices in wei. */
export interface GasBlock {
  readonly transactions: number;
  /** Null before EIP-1559. */
  readonly baseFee: bigint | null;
  /** Prices paid by the transactions, ascending. Empty without transactions or receipts. */
  readonly paidPrices: readonly bigint[];
}

/** The newest blocks of the snapshot, oldest first. */
export async function listGasBlocks(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<GasBlock[]> {
  const params = {
    commits: snapshotParams(head)['commits'] ?? [],
    chain_id: chainId,
    after_block: Math.max(head.number - GAS_BLOCKS, 0),
    final_to: head.finalTo,
    limit: GAS_BLOCKS,
  };
  const rows = await runner.run('overview/list_gas_blocks', params, gasRow);
  return rows.map(({ transaction_count, base_fee, gas_prices }) => ({
    transactions: transaction_count,
    baseFee: base_fee,
    paidPrices: gas_prices.toSorted(compare),
  }));
}

/**
 * The lowest price that is at least as high as the prices of a given share of all transactions. Without transactions,
 * uses the base fees. Null without data.
 */
export function gasQuantile(blocks: readonly GasBlock[], share: number): bigint | null {
  const paidPrices = blocks.flatMap((block) => block.paidPrices);
  const baseFees = blocks.flatMap(({ baseFee }) => baseFee ?? []);
  const prices = (paidPrices.length > 0 ? paidPrices : baseFees).sort(compare);
  return prices[Math.min(prices.length - 1, Math.floor(share * prices.length))] ?? null;
}

/**
 * The number of blocks that would have accepted a transaction with this price. A block accepts its cheapest paid
 * price and higher prices. Without transactions it accepts its base fee and higher prices.
 */
export function countAcceptingBlocks(blocks: readonly GasBlock[], price: bigint): number {
  return blocks.filter(({ paidPrices, baseFee }) => {
    const cheapestPrice = paidPrices[0] ?? baseFee;
    return cheapestPrice !== null && price >= cheapestPrice;
  }).length;
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
