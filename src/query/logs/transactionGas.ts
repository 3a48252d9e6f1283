/** Reads the gas price and the gas used of the transactions of logs. */
import { nullable, u128, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { blockOfOrd } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { slicesOf } from '../head/inChunks';
import type { LogSource } from './logFilter';
import type { StoredLog } from './logs';

/** Number of transactions in one query, limited by the length of a parameter. */
const TRANSACTIONS_PER_QUERY = 2_000;

/** A row of logs/list_gas.sql, with the price in wei. */
const gasRow = rowType({
  number: u32,
  tx_index: u32,
  gas_price: nullable(u128),
  gas_used: nullable(u64),
});

export interface TransactionGas {
  /** Effective gas price in wei; null if the ingester did not read receipts or bodies of the block. */
  readonly price: bigint | null;
  /** Gas used by the transaction alone; null if the ingester did not read receipts of the block. */
  readonly used: bigint | null;
}

const UNKNOWN_GAS: TransactionGas = { price: null, used: null };

/** Returns a function that gives the gas of a log's transaction. At most 10,000 logs. */
export async function readGas(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  logs: readonly StoredLog[],
): Promise<(log: StoredLog) => TransactionGas> {
  const keyOf = (blockNumber: number, txIndex: number): string => `${blockNumber}-${txIndex}`;
  const transactions = new Map(
    logs.map(({ ord, txIndex }) => [
      keyOf(blockOfOrd(ord), txIndex),
      { number: blockOfOrd(ord), index: txIndex },
    ]),
  );
  const slices = slicesOf([...transactions.values()], TRANSACTIONS_PER_QUERY);
  const answers = await Promise.all(
    slices.map((slice) => {
      const params = {
        ...snapshotParams(head),
        final_to: head.finalTo,
        chain_id: chainId,
        numbers: slice.map(({ number }) => number),
        indexes: slice.map(({ index }) => index),
        limit: slice.length,
      };
      return runner.run('logs/list_gas', params, gasRow);
    }),
  );
  const gasByTransaction = new Map(
    answers.flat().map(({ number, tx_index, gas_price, gas_used }) => [
      keyOf(number, tx_index),
      {
        price: gas_price,
        used: gas_used === null ? null : BigInt(gas_used),
      },
    ]),
  );
  return ({ ord, txIndex }) => gasByTransaction.get(keyOf(blockOfOrd(ord), txIndex)) ?? UNKNOWN_GAS;
}
