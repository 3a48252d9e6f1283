/** Reads the times of the blocks in which old pools were created, and stores the creations. */
import { z } from 'zod';

import type { RpcCall } from '../../node/rpc/rpcTransport';
import type { Database } from '../../clickhouse/client/database';
import { insertRows } from '../../clickhouse/rows/inserter';
import { poolBirthsTable } from '../../clickhouse/schema/olderPoolTables';
import { isQuantity, numberToHex, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { EthCalls } from '../../node/calls/askContracts';
import type { OlderPool } from './factoryLogs';

const UINT32_MAX = 2 ** 32 - 1;
const headerShape = z.object({ number: z.custom<Hex>(isQuantity), timestamp: z.custom<Hex>(isQuantity) });

/**
 * Throws a retryable error if the node does not return a block, because a creation without a time must not be
 * stored.
 */
export async function storeBirths(
  {
    database,
    rpc,
    version,
  }: { readonly database: Database; readonly rpc: EthCalls; readonly version: number },
  pools: readonly OlderPool[],
  signal: AbortSignal,
): Promise<void> {
  const blocks = [...new Set(pools.map(({ block }) => block))];
  const calls = blocks.map((block): RpcCall => ({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(block), false],
  }));
  const times = new Map<number, number>();
  if (calls.length > 0) {
    const outcomes = await rpc.batchOutcomes(calls, toTime, { signal, roundsMax: 2 });
    outcomes.forEach((outcome, index) => {
      const block = blocks[index];
      if ('error' in outcome) throw outcome.error;
      if (block !== undefined && outcome.value.number === block) times.set(block, outcome.value.timestamp);
    });
  }
  const rows = pools.map(({ address, block, tx }) => {
    const time = times.get(block);
    if (time === undefined) throw new AppError('node_failed', `the node did not return block ${block}`);
    return { address, created_block: block, created_at: time, created_tx: tx, version };
  });
  await insertRows(database, poolBirthsTable, rows);
}

function toTime(header: unknown): { readonly number: number; readonly timestamp: number } {
  const parsed = headerShape.safeParse(header);
  if (!parsed.success) throw new AppError('node_failed', 'the answer of the node is not a block header');
  const [number, timestamp] = [Number(parsed.data.number), Number(parsed.data.timestamp)];
  if (timestamp > UINT32_MAX) throw new AppError('node_failed', 'the time of a block is beyond 32 bits');
  return { number, timestamp };
}
