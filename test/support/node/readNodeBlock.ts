/** Reads a block of a node with its logs, without any check, for tests that decode real logs. */
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import { numberToHex, type Hex } from '../../../src/domain/hex';

type NodeLog = Omit<ChainLog, 'logIndex' | 'transactionIndex'> & {
  readonly logIndex: Hex;
  readonly transactionIndex: Hex;
};

export async function readNodeBlock(rpc: DevRpc, number: number): Promise<ChainBlock> {
  const receipts = (await rpc.call('eth_getBlockReceipts', [numberToHex(number)])) as {
    readonly logs: readonly NodeLog[];
  }[];
  const logs = receipts
    .flatMap((receipt) => receipt.logs)
    .map((log) => ({
      ...log,
      logIndex: Number(log.logIndex),
      transactionIndex: Number(log.transactionIndex),
    }));
  const { hash, parentHash, timestamp } = (await rpc.call('eth_getBlockByNumber', [
    numberToHex(number),
    false,
  ])) as { hash: Hex; parentHash: Hex; timestamp: Hex };
  return {
    number,
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFeePerGas: null,
    transactionCount: receipts.length,
    transactions: [],
    logs,
    proof: 'full',
  };
}
