/** Decodes the newest block of a local node as the ingester does, with the details of the pools that it creates. */
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { readCreations } from '../../../src/ingest/pools/poolDetails';
import type { BlockFacts } from '../../../src/ingest/rows/blockRows';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { RpcError } from '../../../src/node/rpc/rpcError';

type NodeLog = Omit<ChainLog, 'logIndex' | 'transactionIndex'> & { logIndex: Hex; transactionIndex: Hex };

export async function decodeNewest(context: DecodeContext, rpc: DevRpc): Promise<BlockFacts> {
  return decodeNumber(context, rpc, (await getBlockHead(rpc)).number);
}

export async function decodeNumber(context: DecodeContext, rpc: DevRpc, number: number): Promise<BlockFacts> {
  const block = await readNodeBlock(rpc, number);
  return decodeBlock(context, block, [], false, await readCreations(callsOf(rpc), context, [block], false));
}

/** The block with its logs, without transactions. */
export async function readNodeBlock(rpc: DevRpc, number: number): Promise<ChainBlock> {
  const at = numberToHex(number);
  const receipts = (await rpc.call('eth_getBlockReceipts', [at])) as { logs: NodeLog[] }[];
  const { hash, parentHash, timestamp } = (await rpc.call('eth_getBlockByNumber', [at, false])) as {
    hash: Hex;
    parentHash: Hex;
    timestamp: Hex;
  };
  return {
    number,
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFeePerGas: null,
    transactionCount: receipts.length,
    transactions: [],
    logs: receipts
      .flatMap(({ logs }) => logs)
      .map((log) => ({
        ...log,
        logIndex: Number(log.logIndex),
        transactionIndex: Number(log.transactionIndex),
      })),
    proof: 'full',
  };
}

/** A call that the node refuses is a revert. */
export function callsOf(rpc: DevRpc): EthCalls {
  return {
    batchOutcomes: (calls, parse) =>
      Promise.all(
        calls.map(async ({ method, params }, index) => {
          try {
            return { value: parse(await rpc.call(method, params), index) };
          } catch (cause) {
            return { error: new RpcError('revert', 'the node refused the call', { cause }) };
          }
        }),
      ),
  };
}
