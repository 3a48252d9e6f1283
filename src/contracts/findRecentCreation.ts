/** Finds the transaction that created a contract in the node's newest blocks, which the index has not reached yet. */
import { z } from 'zod';

import type { Endpoint } from '../node/rpc/endpoint';
import type { EndpointPool } from '../node/rpc/endpointPool';
import { RpcError } from '../node/rpc/rpcError';
import { findCreation, transactionShape, type Creation } from '../domain/creation';
import { isHexData, isQuantity, numberToHex, type Hex } from '../domain/hex';

/**
 * Number of newest blocks that are searched. Full nodes keep the state of 128 blocks; the difference allows the
 * head to move during the search.
 */
const RECENT_BLOCKS = 120;

/**
 * Returns null if the contract is older than these blocks, if another contract created it, or if no node has the
 * state of the blocks. Reads at most ten times from one node. Throws node_failed.
 */
export async function findRecentCreation(
  pool: Pick<EndpointPool, 'run'>,
  contract: Hex,
): Promise<Creation | null> {
  try {
    return await pool.run((endpoint, signal) => readCreation(endpoint, contract, signal), { roundsMax: 2 });
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'unknown_block') return null;
    throw error;
  }
}

async function readCreation(
  endpoint: Endpoint,
  contract: Hex,
  signal: AbortSignal,
): Promise<Creation | null> {
  const hasCode = (block: number): Promise<boolean> =>
    endpoint.call('eth_getCode', [contract, numberToHex(block)], parseHasCode, signal);
  const head = await endpoint.call('eth_blockNumber', [], toNumber, signal);
  // Binary search: there is no code after block `lower`, and there is code after block `upper`.
  let [lower, upper] = [Math.max(0, head - RECENT_BLOCKS), head];
  if (await hasCode(lower)) return null;
  if (!(await hasCode(upper)))
    throw new RpcError('unknown_block', `${endpoint.name}: the node has no code of the contract yet`);
  while (upper - lower > 1) {
    const middle = Math.floor((lower + upper) / 2);
    if (await hasCode(middle)) upper = middle;
    else lower = middle;
  }
  const block = await endpoint.call('eth_getBlockByNumber', [numberToHex(upper), true], toBlock, signal);
  if (block === null)
    throw new RpcError('unknown_block', `${endpoint.name}: the node does not have block ${upper}`);
  for (const transaction of block.transactions) {
    const creation = findCreation(transaction, contract);
    if (creation !== null) return creation;
  }
  return null;
}

const codeShape = z.custom<Hex>(isHexData);
const numberShape = z.custom<Hex>(isQuantity);
const blockShape = z.object({ transactions: z.array(transactionShape) }).nullable();

const parseHasCode = (code: unknown): boolean => codeShape.parse(code) !== '0x';
const toNumber = (quantity: unknown): number => Number(numberShape.parse(quantity));
const toBlock = (block: unknown): z.infer<typeof blockShape> => blockShape.parse(block);
