/**
 * Reads from the node the creation events of all configured factories in a range of blocks before the start
 * block.
 */
import { z } from 'zod';

import type { EndpointPool } from '../../node/rpc/endpointPool';
import type { ChainLog } from '../../domain/block';
import {
  isAddress,
  isHash,
  isHexData,
  isQuantity,
  numberToHex,
  toLowerHex,
  type Hex,
} from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import { AppError } from '../../errors';
import type { PoolCreation, Protocol } from '../../protocols/protocol';
import { getManyTokenProtocol } from '../../protocols/registry';

/**
 * A pool from its creation event. A pool of many tokens has a `poolId`, and its `creation` is null.
 */
export interface OlderPool {
  readonly address: Hex;
  readonly dex: Dex;
  readonly protocol: Protocol | null;
  readonly creation: PoolCreation | null;
  readonly poolId: Hex | null;
  readonly block: number;
  readonly tx: Hex;
}

export interface SearchedDexes {
  readonly pairs: readonly { readonly dex: Dex; readonly protocol: Protocol }[];
  /** DEXes whose pools have many tokens. */
  readonly manyTokens: readonly Dex[];
}

const logShape = z.object({
  address: z.custom<Hex>(isAddress),
  topics: z.array(z.custom<Hex>(isHash)).max(4),
  data: z.custom<Hex>(isHexData),
  blockNumber: z.custom<Hex>(isQuantity),
  transactionHash: z.custom<Hex>(isHash),
  removed: z.literal(false).optional(),
});
const logsShape = z.array(logShape);
const receiptsShape = z.array(z.object({ logs: logsShape }));

/**
 * Lists the pools that were created in the blocks `from` to `to`, both included. Throws RpcError if the node
 * refuses the range.
 */
export async function readFactoryLogs(
  rpc: Pick<EndpointPool, 'call'>,
  dexes: SearchedDexes,
  range: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<OlderPool[]> {
  const { addresses, topics } = sourcesOf(dexes);
  const filter = {
    fromBlock: numberToHex(range.from),
    toBlock: numberToHex(range.to),
    address: [...addresses],
    topics: [[...topics]],
  };
  const logs = await rpc.call('eth_getLogs', [filter], toLogs, { signal, roundsMax: 2 });
  return toOlderPools(dexes, logs, range);
}

/** Like `readFactoryLogs`, for one block, by its receipts. For a node that refuses eth_getLogs for the block. */
export async function readFactoryReceipts(
  rpc: Pick<EndpointPool, 'call'>,
  dexes: SearchedDexes,
  block: number,
  signal: AbortSignal,
): Promise<OlderPool[]> {
  const { addresses, topics } = sourcesOf(dexes);
  const options = { signal, roundsMax: 2 };
  const receipts = await rpc.call('eth_getBlockReceipts', [numberToHex(block)], toReceipts, options);
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const own = logs.filter(
    ({ address, topics: [first = '0x'] }) =>
      addresses.has(toLowerHex(address)) && topics.has(toLowerHex(first)),
  );
  return toOlderPools(dexes, own, { from: block, to: block });
}

function sourcesOf({ pairs, manyTokens }: SearchedDexes): {
  readonly addresses: ReadonlySet<Hex>;
  readonly topics: ReadonlySet<Hex>;
} {
  const topics = new Set(pairs.flatMap(({ protocol }) => [...protocol.creationTopics]));
  for (const { protocol } of manyTokens)
    for (const topic of getManyTokenProtocol(protocol).creationTopics) topics.add(topic);
  return {
    addresses: new Set([...pairs.map(({ dex }) => dex.factory), ...manyTokens.map(({ factory }) => factory)]),
    topics,
  };
}

function toOlderPools(
  dexes: SearchedDexes,
  logs: z.infer<typeof logsShape>,
  range: { readonly from: number; readonly to: number },
): OlderPool[] {
  return logs.flatMap((log) => {
    const number = Number(log.blockNumber);
    return number < range.from || number > range.to ? [] : toOlderPool(dexes, log, number);
  });
}

function toReceipts(result: unknown): z.infer<typeof receiptsShape> {
  const parsed = receiptsShape.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new AppError('node_failed', 'the answer of eth_getBlockReceipts is not a list of receipts');
}

function toLogs(result: unknown): z.infer<typeof logsShape> {
  const parsed = logsShape.safeParse(result);
  if (parsed.success) return parsed.data;
  throw new AppError('node_failed', 'the answer of eth_getLogs is not a list of logs');
}

function toOlderPool(dexes: SearchedDexes, raw: z.infer<typeof logShape>, block: number): OlderPool[] {
  const log: ChainLog = {
    address: toLowerHex(raw.address),
    topics: raw.topics.map(toLowerHex),
    data: toLowerHex(raw.data),
    transactionHash: toLowerHex(raw.transactionHash),
    transactionIndex: 0,
    logIndex: 0,
  };
  const tx = log.transactionHash;
  const pair = dexes.pairs.find(
    ({ dex, protocol }) => dex.factory === log.address && protocol.creationTopics.has(log.topics[0] ?? '0x'),
  );
  if (pair !== undefined) {
    const creation = pair.protocol.decodeCreation(log);
    return creation === null ? [] : [{ address: creation.pool, ...pair, creation, poolId: null, block, tx }];
  }
  const dex = dexes.manyTokens.find(({ factory }) => factory === log.address);
  if (dex === undefined) return [];
  const manyTokenProtocol = getManyTokenProtocol(dex.protocol);
  const isCreation = manyTokenProtocol.creationTopics.has(log.topics[0] ?? '0x');
  const poolId = isCreation ? manyTokenProtocol.idOfLog(log, [log]) : null;
  if (poolId === null) return [];
  return [
    { address: manyTokenProtocol.poolOfId(poolId), dex, protocol: null, creation: null, poolId, block, tx },
  ];
}
